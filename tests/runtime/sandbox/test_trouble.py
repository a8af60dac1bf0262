"""What goes wrong around a sandbox: whoever dies, in whichever order, nothing is left and nobody
waits for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

from stanchion.runtime.sandbox.sandbox import Confined, Sandbox, WallKind
from tests.runtime.sandbox.conftest import USER

SOON_S = 30.0


def processes(mark: str) -> list[str]:
    """The command lines of processes in which a mark stands."""
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in told.splitlines() if mark in line]


def until(holds: object) -> None:
    """Wait for something; fails if it does not come."""
    end = time.monotonic() + SOON_S
    while not holds():  # type: ignore[operator]  # a callable
        assert time.monotonic() < end, "it did not come"
        threading.Event().wait(0.02)


def owner(root: Path, kind: WallKind, seconds: str) -> subprocess.Popen[bytes]:
    """A process that has a command run which takes long."""
    code = f"""
        from stanchion.runtime.sandbox.sandbox import Limits
        from stanchion.runtime.sandbox.sandbox import Sandbox
        sandbox = Sandbox({str(root)!r}, Limits(timeout_s=600), user={USER!r}, kind={str(kind)!r})
        sandbox.run(["sh", "-c", "sleep {seconds} & sleep {seconds}"])
    """
    # A group of its own: Ctrl-C goes to a whole group.
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        start_new_session=True,
        stderr=subprocess.PIPE,
    )


def test_nothing_is_left_when_the_owner_is_killed(root: Path, kind: WallKind) -> None:
    seconds = f"4{os.getpid()}.25"
    with owner(root, kind, seconds) as started:
        until(lambda: len(processes(f"sleep {seconds}")) >= 2)
        started.kill()
    until(lambda: not processes(seconds))


def test_ctrl_c_ends_the_command_and_is_passed_on(root: Path, kind: WallKind) -> None:
    seconds = f"5{os.getpid()}.25"
    with owner(root, kind, seconds) as started:
        until(lambda: len(processes(f"sleep {seconds}")) >= 2)
        os.killpg(started.pid, signal.SIGINT)
        _, told = started.communicate(timeout=SOON_S)
    assert b"KeyboardInterrupt" in told
    until(lambda: not processes(seconds))


def test_a_keeper_that_dies_in_the_middle_ends_the_command(sandbox: Sandbox) -> None:
    seconds, came = f"6{os.getpid()}.25", list[Confined]()
    thread = threading.Thread(
        target=lambda: came.append(sandbox.run(["sh", "-c", f"sleep {seconds} & sleep {seconds}"]))
    )
    thread.start()
    until(lambda: len(processes(f"sleep {seconds}")) >= 2)
    assert sandbox._keeper is not None
    sandbox._keeper.process.kill()
    thread.join(SOON_S)
    assert [(one.ended, one.why) for one in came] == [(False, "it was killed, or the keeper was")]
    until(lambda: not processes(seconds))
    assert sandbox.run(["cat", "a.txt"]).stdout == b"hello\n", "another keeper is started"


def test_fifty_commands_at_once(sandbox: Sandbox) -> None:
    said: list[bytes] = []
    threads = [
        threading.Thread(
            target=lambda number=number: said.append(sandbox.run(["echo", str(number)]).stdout)
        )
        for number in range(50)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(SOON_S)
    assert sorted(said) == sorted(f"{number}\n".encode() for number in range(50))


def test_a_folder_that_was_made_anew_is_the_one_that_is_seen(sandbox: Sandbox, root: Path) -> None:
    assert sandbox.run(["cat", "a.txt"]).stdout == b"hello\n"
    root.rename(root.parent / "old")
    root.mkdir()
    root.chmod(0o777)
    (root / "a.txt").write_text("again\n")
    assert sandbox.run(["cat", "a.txt"]).stdout == b"again\n"


def test_a_closed_sandbox_leaves_neither_processes_nor_folders(root: Path, kind: WallKind) -> None:
    with Sandbox(root, user=USER, kind=kind) as made:
        made.run(["true"])
        assert made._keeper is not None
        base, keeper = Path(made._keeper._base), made._keeper.process
        assert base.is_dir()
    assert keeper.poll() == 0
    assert not base.exists()


def test_a_fork_of_the_owner_has_a_keeper_of_its_own(sandbox: Sandbox) -> None:
    assert sandbox.run(["cat", "a.txt"]).rc == 0
    child, same = os.fork(), False
    if not child:
        try:
            same = sandbox.run(["cat", "a.txt"]).stdout == b"hello\n"
            sandbox.close()
        finally:
            os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sandbox.run(["sh", "-c", "cat a.txt > $TMPDIR/b && cat $TMPDIR/b"]).stdout == b"hello\n"
