"""The isolated guards of a shield: one process each, kept over reloads, ended with the shield."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Collection, Iterable
from contextlib import suppress
from secrets import token_bytes
from typing import Any, Final
from weakref import WeakSet

from stanchion.kernel.context import Context
from stanchion.kernel.events import Event
from stanchion.kernel.guard import Placed
from stanchion.locks import Lock
from stanchion.policy.errors import Fault, PolicyError
from stanchion.runtime.answers.isolated.wire import (
    MARK,
    ProcessDied,
    RaisedInside,
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
                if type(begun) is RaisedInside:
                    raise begun.error
                self._ready, self._contextual = True, begun == CONTEXT
            said = self._asked(event_sent(event, context) if self._contextual else body, within_s)
        except ConnectionError:
            raise ProcessDied from None
        self.quiet = True
        if type(said) is RaisedInside:
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


HEARD_S: Final = 1.0
"""How long code that is ended waits at the most for its caller to have noticed that it is late."""


STEP_S: Final = 0.01


class Closed(Exception):
    """The shield is closed, and nobody judges any more."""


class Unwanted(Exception):
    """When its turn came, nobody waited for the answer any more."""


class IsolatedGuard:
    """Answers for a guard by asking a process, one question at a time. The process is started when
    it is first needed and stays; one that is late is killed, and another started in its place.

    `heard_late` says that an answer counts also where nobody waits for it any more.
    """

    def __init__(self, guard: str, call: str, deadline_ms: int, heard_late: bool) -> None:
        self._call, self._deadline_ms, self._heard_late = call, deadline_ms, heard_late
        why = _impossible(call)
        if why:
            raise PolicyError([Fault(f"guard {guard}", f"it cannot be `isolated`: {why}")])
        self._closed = False
        self._begin()
        _guards.add(self)

    def _begin(self) -> None:
        self._turn = Lock()
        self._process: GuardProcess | None = None

    def ready(self) -> None:
        """Have the process started, where there is none and nobody is at it; waits for nothing."""
        if self._process is None and not self._closed and not self._turn.locked:
            # In a thread, which no signal interrupts between taking the turn and giving it back.
            threading.Thread(target=self._start, name="stanchion-isolated", daemon=True).start()

    def _start(self) -> None:
        # Where the system cannot start one now, whoever asks fails, or finds that it can.
        with self._turn, suppress(OSError, Closed):
            self._living()

    def __call__(self, event: Event, stop: threading.Event, context: Context | None = None) -> Any:
        """What the code says of an event and its context. Raises what the code raises, by name, and
        says by which failure there is no answer."""
        with self._turn:
            if stop.is_set() and not self._heard_late:
                raise Unwanted
            process = self._living()
            try:
                return process.ask(event, context, self._deadline_ms / 1000)
            except TimeoutError:
                self._end()
                # Its caller finds that it is late, not that it failed: for a `deep` guard that is
                # not the same.
                stop.wait(HEARD_S)
                if not self._closed:
                    self._living()
                raise
            except BaseException:
                # Also where the one who asks is interrupted: the answer to its question is nobody
                # else's.
                if not process.quiet:
                    self._end()
                raise

    def close(self) -> None:
        """End the process; who waits for its answer is told that it died."""
        self._closed = True
        while True:
            with self._turn.within(STEP_S) as held:
                if held:
                    self._end()
                    return
            # Whoever has the turn may just have started it.
            process = self._process
            if process is not None:
                process.stop()

    def _living(self) -> GuardProcess:
        """The process; the caller holds the turn."""
        if self._process is not None and not self._process.lives:
            self._end()
        if self._closed:
            raise Closed
        if self._process is None:
            self._process = GuardProcess(self._call, self._deadline_ms)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def _forked(self) -> None:
        """In a forked process: the guard's process is the parent's, and so is who was at it."""
        if self._process is not None:
            self._process.forget()
        self._begin()


def _impossible(call: str) -> str:
    if os.name != "posix":
        return "it needs a POSIX system such as Linux or macOS"
    if not sys.executable or getattr(sys, "frozen", False):
        return "there is no Python interpreter to start"
    if call.startswith("__main__:"):
        return (
            f"`{call}` is defined in the main program: move it into a module that can be imported"
        )
    return ""


_guards: Final[WeakSet[IsolatedGuard]] = WeakSet()


def _after_fork() -> None:
    for guard in list(_guards):
        guard._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Isolation:
    """Gives what answers for isolated guards; one that is the same in a later policy keeps its
    process."""

    def __init__(self) -> None:
        self._guards: dict[tuple[str, str, int, bool], IsolatedGuard] = {}

    def answerers(self, isolated: Iterable[Placed]) -> dict[str, IsolatedGuard]:
        """What answers for these guards, by their ids; raises `PolicyError` where one cannot be
        isolated."""
        found = {}
        for placed in isolated:
            guard = placed.guard
            made = (placed.id, guard.call, guard.deadline_ms, placed.fail_open or guard.deep)
            if made not in self._guards:
                self._guards[made] = IsolatedGuard(*made)
            found[placed.id] = self._guards[made]
        return found

    def ready(self, answerers: Iterable[Any]) -> None:
        """Have the processes of these started, without waiting for them."""
        for answerer in answerers:
            if isinstance(answerer, IsolatedGuard):
                answerer.ready()

    def keep(self, answerers: Collection[Any]) -> None:
        """End the processes of all guards but these: no policy that is remembered has the
        others."""
        for made, guard in list(self._guards.items()):
            if guard not in answerers:
                del self._guards[made]
                guard.close()

    def close(self) -> None:
        """End all processes."""
        for guard in self._guards.values():
            guard.close()
