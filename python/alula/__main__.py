"""`python -m alula`, and `alula`, tell versions and paths; `alula report FILE` makes a
report of a program."""

import importlib
import sys

from alula import environment


def main() -> int:
    """The exit status: 0 if programs can run."""
    if sys.argv[1:2] == ["report"]:
        return _report(sys.argv[2:])
    if len(sys.argv) > 1:
        wrong = sys.argv[1] not in ("--help", "-h")
        usage = "usage: alula report FILE [options]; alula alone tells versions"
        print(usage, file=sys.stderr if wrong else sys.stdout)
        return 2 if wrong else 0
    environment.print_environment_info()
    print("use JAX_PLATFORMS=alula,cpu python model.py")
    return 1 if environment.get_environment_info()["runtime"].startswith("missing") else 0


def _report(arguments):
    try:
        report = importlib.import_module("alula.report")
    except ModuleNotFoundError as error:
        if error.name != "alula.report":
            raise
        sys.exit("alula report needs the compiler: pip install alula")
    return report.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
