"""An isolated guard: its code answers in a process of its own, so that its deadline holds whatever
the code does."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any, Final
from weakref import WeakSet

from stanchion.kernel.context import Context
from stanchion.kernel.events import Event
from stanchion.locks import Lock
from stanchion.policy.errors import Fault, PolicyError
from stanchion.runtime.answers.isolated.process import GuardProcess

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
