"""One process of an isolated guard, as its host has it: started, asked, ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from typing import Any, Final

from stanchion.kernel.events import Event
from stanchion.runtime.isolated.wire import LONGEST, ProcessDied, answer_received, event_sent, receive, send

KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""What the process has of its host's environment: nothing in which a secret stands."""

START_S: Final = 60.0
"""How long the process may take to import the guard's code."""

BEGIN: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from stanchion.runtime.isolated.child import main; main(*sys.argv[2:])"
)


class GuardProcess:
    """A process that judges with the code at `call`; it is started at once, and is asked one thing at a time.

    `ready` says that it has imported the code, and has been asked before.
    """

    def __init__(self, call: str, deadline_ms: int) -> None:
        self._channel, theirs = socket.socketpair()
        self.ready = False
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
        """Whether there is anybody to ask."""
        return self._end.alive and self._process.poll() is None

    def ask(self, event: Event, within_s: float) -> Any:
        """What the code says of an event; `TimeoutError` where it takes longer. What it needs to start comes on top."""
        try:
            if not self.ready:
                answer_received(receive(self._channel, time.monotonic() + START_S, LONGEST))
                self.ready = True
            until = time.monotonic() + within_s
            send(self._channel, event_sent(event), until)
            return answer_received(receive(self._channel, until, LONGEST))
        except ConnectionError:
            raise ProcessDied from None

    def stop(self) -> None:
        """Kill it, from any thread; one that waits for its answer is told that it died."""
        self._process.kill()
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
        process.kill()
        channel.close()
        process.wait()
