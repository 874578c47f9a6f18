"""What ./dev installs: with a Debian that is made up."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# What stands for dpkg, apt and pip: they keep what is installed in a file, and write
# down what they are asked.
COMMANDS = {
    "dpkg-query": 'grep -qx "${@: -1}" "$FAKE/installed" && echo "install ok installed"',
    "apt-get": """
echo "apt-get $*" >>"$FAKE/asked"
[ "$1" = install ] || exit 0
for package in "$@"; do
  case $package in -*|install) continue ;; esac
  ! grep -qx "$package" "$FAKE/refused" || exit 100
  echo "$package" >>"$FAKE/installed"
done""",
    "apt-cache": '! grep -qx "$2" "$FAKE/unknown"',
    "sudo": '"$@"',
    "python3": """
mkdir -p .venv/bin .venv/lib/python3.11/site-packages
echo : >.venv/bin/pip
chmod +x .venv/bin/pip""",
}


def words(name):
    """A list of packages of ./dev."""
    (text,) = re.findall(rf'^{name}="([^"]*)"', (ROOT / "dev").read_text(), re.MULTILINE)
    return text.replace("$APT_DEMO", " ".join(words("APT_DEMO")) if "$" in text else "").split()


class Machine:
    def __init__(self, folder):
        self.folder, self.fake = folder, folder / "fake"
        self.fake.mkdir()
        for name, text in COMMANDS.items():
            (self.fake / name).write_text(f"#!/bin/bash\n{text}\n")
            (self.fake / name).chmod(0o755)
        for name in ("dev", "requirements.txt", "requirements-demo.txt"):
            shutil.copy(ROOT / name, folder / name)
        self.write("installed", [])
        self.write("unknown", [])
        self.write("refused", [])

    def write(self, name, lines):
        (self.fake / name).write_text("".join(f"{line}\n" for line in lines))

    def installed(self):
        return set((self.fake / "installed").read_text().split())

    def setup(self):
        """What apt-get was asked."""
        self.write("asked", [])
        subprocess.run(
            ["bash", "dev", "setup"],
            cwd=self.folder,
            env={"PATH": f"{self.fake}:/usr/bin:/bin", "FAKE": str(self.fake)},
            check=True,
            capture_output=True,
        )
        return (self.fake / "asked").read_text().splitlines()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_a_new_machine_gets_all(machine):
    assert len(machine.setup()) == 3  # update, what is needed, what is not
    assert machine.installed() == set(words("APT") + words("EXTRA"))
    assert machine.setup() == []


def test_a_machine_that_is_set_up_gets_what_is_optional(machine):
    machine.write("installed", words("APT") + ["qemu-user"])
    machine.write("unknown", ["libgloo-dev"])
    update, install = machine.setup()
    assert update.startswith("apt-get update")
    assert "libopenmpi-dev" in install and "qemu-user" not in install and "clang" not in install
    assert machine.installed() == set(words("APT") + words("EXTRA")) - {"libgloo-dev"}
    # It is asked once, until the list is another.
    assert machine.setup() == []
    machine.write("installed", words("APT"))
    assert "qemu-user" in machine.setup()[1]


def test_what_can_t_be_installed_is_asked_for_once(machine):
    machine.write("installed", words("APT"))
    machine.write("refused", words("EXTRA"))
    assert len(machine.setup()) == 2
    assert machine.setup() == []


def test_what_is_needed_must_be_had(machine):
    machine.write("refused", ["clang-19"])
    with pytest.raises(subprocess.CalledProcessError):
        machine.setup()
