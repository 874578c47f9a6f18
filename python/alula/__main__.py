"""`python -m alula` tells versions and paths."""

import sys

from alula import environment


def main() -> int:
    """The exit status: 0 if programs can run."""
    environment.print_environment_info()
    print("use JAX_PLATFORMS=alula,cpu python model.py")
    return 1 if environment.get_environment_info()["runtime"].startswith("missing") else 0


if __name__ == "__main__":
    sys.exit(main())
