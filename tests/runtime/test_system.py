"""Where the locks of the system are missing, nothing begins to guard without them."""

import subprocess
import sys

BLOCKED = """
import sys
sys.modules["fcntl"] = None
from stanchion import Shield
from stanchion.kernel.shown import StanchionError
try:
    Shield.load("default")
except StanchionError as error:
    print(type(error).__name__, error)
"""


def test_a_system_without_file_locks_is_refused_in_one_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        "NoLocks Stanchion needs the file locks of a POSIX system (`fcntl`)"
    )
    assert done.stdout.endswith("on Windows, in WSL\n")


def test_the_command_line_says_it_too() -> None:
    code = (
        "import sys; sys.modules['fcntl'] = None; from stanchion.cli.main import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "--tool", "x"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("stanchion: Stanchion needs the file locks")
