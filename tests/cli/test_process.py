"""A process that is one command ends as any other does."""

import subprocess
import sys

import pytest


def ended(code: str) -> subprocess.CompletedProcess[str]:
    """A process that does something and leaves."""
    lines = f"from stanchion.cli.process import leave\n{code}"
    return subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("status", [0, 3])
def test_what_was_written_is_out_and_the_status_is_told(status: int) -> None:
    done = ended(f"import sys\nprint('out')\nprint('err', file=sys.stderr)\nleave({status})\n")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", status)


def test_what_was_registered_for_the_end_is_called() -> None:
    assert ended("import atexit\natexit.register(print, 'last')\nleave(0)\n").stdout == "last\n"


def test_threads_that_are_at_work_are_waited_for() -> None:
    code = "import threading\ngo = threading.Event()\n"
    code += "def work():\n    go.wait()\n    print('done')\n"
    code += "threading.Thread(target=work).start()\n"
    code += "threading._register_atexit(go.set)\nleave(0)\n"
    assert ended(code).stdout == "done\n"


def test_msgspec_is_loaded_without_what_it_does_not_need() -> None:
    code = "import sys\nfrom stanchion.cli.main import load_msgspec\nload_msgspec()\n"
    code += "found = 'typing_extensions' in sys.modules\nimport msgspec, typing_extensions\n"
    code += (
        "print(found, msgspec.json.decode(b'[1]', type=list[int]), typing_extensions.Required "
        "is not None)\n"
    )
    assert ended(code).stdout == "False [1] True\n"
