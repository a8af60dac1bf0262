"""One process of an isolated guard, as its host has it: started, asked, ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from secrets import token_bytes
from typing import Any, Final

from stanchion.kernel.context import Context
from stanchion.kernel.events import Event
from stanchion.runtime.answers.isolated.wire import (
    MARK,
    ProcessDied,
    Raised,
    answer_received,
    answer_to,
    event_sent,
    send,
)
from stanchion.runtime.answers.pool import CONTEXT

KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""What the process has of its host's environment: nothing in which a secret stands."""

START_S: Final = 60.0
"""How long the process may take to import the guard's code."""

BEGIN: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from stanchion.runtime.answers.isolated.child import main; main(*sys.argv[2:])"
)


class GuardProcess:
    """A process that judges with the code at `call`; it is started at once, and is asked one thing
    at a time.

    `quiet` says that nothing is owed: every question so far has been answered, and by its own
    answer.
    """

    def __init__(self, call: str, deadline_ms: int) -> None:
        self._channel, theirs = socket.socketpair()
        self.quiet = True
        self._ready = self._contextual = False
        path = json.dumps([str(entry) for entry in sys.path])
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", *_flags(), "-c", BEGIN, path, call, str(deadline_ms)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except BaseException:
            self._channel.close()
            raise
        finally:
            theirs.close()
        self._end = weakref.finalize(self, _end, self._process, self._channel, os.getpid())

    @property
    def pid(self) -> int:
        """The number of the process."""
        pid: int = self._process.pid
        return pid

    @property
    def lives(self) -> bool:
        """Whether there is anybody to ask. One that speaks unasked is still asked, and fails."""
        if not self._end.alive:
            return False
        # Not by waiting for the process: whoever has waited for it cannot end the group of its
        # children any more.
        self._channel.settimeout(0)
        try:
            return bool(self._channel.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def ask(self, event: Event, context: Context | None, within_s: float) -> Any:
        """What the code says of an event; `TimeoutError` where it takes longer. What it needs to
        start comes on top. The context is sent where the code takes one."""
        body = event_sent(event)
        self.quiet = False
        try:
            if not self._ready:
                begun = self._asked(b"", START_S)
                if type(begun) is Raised:
                    raise begun.error
                self._ready, self._contextual = True, begun == CONTEXT
            said = self._asked(event_sent(event, context) if self._contextual else body, within_s)
        except ConnectionError:
            raise ProcessDied from None
        self.quiet = True
        if type(said) is Raised:
            raise said.error
        return said

    def _asked(self, body: bytes, within_s: float) -> Any:
        mark, until = token_bytes(MARK), time.monotonic() + within_s
        send(self._channel, mark, body, until)
        return answer_received(answer_to(mark, self._channel, until))

    def stop(self) -> None:
        """Kill it, from any thread; one that waits for its answer is told that it died."""
        _kill(self._process)
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Kill it, and leave nothing of it; for the thread that asks."""
        self._end()

    def forget(self) -> None:
        """In a forked process: it is the parent's, and only this side of the channel is closed."""
        self._end.detach()
        self._channel.close()
        self._process.returncode = 0  # nobody here can wait for it


def _flags() -> list[str]:
    """How this interpreter was started, as far as its code would see a difference."""
    optimized = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    compiled = ["-B"] if sys.flags.dont_write_bytecode else []
    return [*optimized, *compiled, "-X", f"utf8={sys.flags.utf8_mode}"]


def _end(process: subprocess.Popen[bytes], channel: socket.socket, owner: int) -> None:
    if os.getpid() == owner:
        _kill(process)
        channel.close()
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it has started: they are a group of their own. Not where its number
    may be another's."""
    if _is_ours(process):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _is_ours(process: subprocess.Popen[bytes]) -> bool:
    """Whether nobody has waited for a process yet, dead or alive: so long its number is given to no
    other."""
    if not hasattr(os, "waitid"):
        return process.poll() is None
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
