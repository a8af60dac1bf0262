"""A sitting: a shield, and the run that stands for the current session."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextvars import ContextVar
from typing import Any, Final
from weakref import WeakSet, finalize

from stanchion.dialects.errors import DialectError
from stanchion.kernel.decision import Decision
from stanchion.locks import Lock
from stanchion.policy.load import load_policy
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.reported import failure_in
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.on_loop import adrive
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY

MOST_EARLIER: Final = 64
"""How many earlier sessions are waited for whose calls have not all reported back."""


class _Session:
    """A run that calls are judged in, for as long as anything that can judge in it has it; and
    those before it."""

    __slots__ = ("__weakref__", "before", "run")

    def __init__(self, run: Run, before: tuple[Run, ...] = ()) -> None:
        self.run: Final = run
        self.before: Final = before


class Sitting:
    """The session of a guardian: calls are judged and outcomes reported in its run.

    Whoever makes a guardian begins sessions for all who have begun none. A thread or a task that
    begins one has it for itself, and for the tasks that it starts from then on.
    """

    def __init__(self, shield: Shield, session_id: str | None = None) -> None:
        self.shield: Final = shield
        self.closed = False
        self._over: Final[deque[Run]] = deque()
        self._lock: Final = Lock()
        self._sessions: Final[WeakSet[_Session]] = WeakSet()
        self._maker: Final = _who()
        self._shared = self._made(session_id, ())

    @property
    def run(self) -> Run:
        """The run of the session that the caller is in."""
        return self._session().run

    def _session(self) -> _Session:
        for sitting, session in _BEGUN.get():
            if sitting is self:
                return session
        return self._shared

    def _made(self, session_id: str | None, before: tuple[Run, ...]) -> _Session:
        run = self.shield.run(id=session_id)
        session = _Session(run, before)
        finalize(session, self._over.append, run).atexit = False
        self._sessions.add(session)
        return session

    def begin(self, session_id: str | None = None) -> str:
        """Begin another session. Calls of the last one can still report back."""
        if session_id is not None and (not isinstance(session_id, str) or not session_id):
            raise DialectError(f"`session_id` is `{session_id!r}`: give a text, or leave it out")
        self.used()
        before = (self.run, *self._session().before)[:MOST_EARLIER]
        session = self._made(session_id, before)
        others = [one for one in _BEGUN.get() if one[0] is not self and not one[0].closed]
        if _who() == self._maker:
            self._shared = session
        else:
            others.append((self, session))
        _BEGUN.set(tuple(others))
        self._leave(MOST_EARLIER)
        return session.run.id

    def used(self) -> None:
        """Raise `DialectError` where it is closed."""
        if self.closed:
            raise DialectError("this guardian is closed: make another")

    def _leave(self, most: int) -> None:
        """Close sessions that are over and nothing is open in, and those that are too many."""
        if not self._over:
            return
        with self._lock:
            for run in list(self._over):
                if not run.desk.has_open() or len(self._over) > most:
                    self._over.remove(run)
                    run.close()

    def report(self, *outcome: Any) -> None:
        """Say what came of a call: its tool and arguments, whether it succeeded, its error, a hint
        and its result. What cannot be read of it is left out, and it counts all the same."""
        drive(*self._reported(*outcome))

    async def areport(self, *outcome: Any) -> None:
        """`report` for async code."""
        await adrive(*self._reported(*outcome))

    def _reported(
        self, tool: str, args: dict[str, Any], success: bool, error: Any, hint: Any, result: Any
    ) -> tuple[Flow[None], Desk]:
        """The flow of both, and the desk that it is driven with."""
        run, call = self._meant(tool, args, success, error, hint)

        def judged(args: dict[str, Any], result: Any) -> Flow[Decision]:
            if success:
                return run._result(tool, args, result, call=call)
            return run._error(tool, *_failed(error), args=args, call=call, text=_words(error))

        def flow() -> Flow[None]:
            try:
                yield from judged(args, _meant_well(result))
            except BadEvent:
                yield from judged({}, None)
            self._leave(MOST_EARLIER)

        return flow(), run.desk

    def _meant(
        self, tool: str, args: dict[str, Any], success: Any, error: Any, hint: Any
    ) -> tuple[Run, str | None]:
        """Which call an outcome belongs to. One whose arguments were made harmless first is the
        last of its tool."""
        self.used()
        if not isinstance(success, bool):
            raise DialectError(f"`success` is `{success!r}`: give True or False")
        if error is not None and not isinstance(error, str | BaseException):
            raise DialectError(f"`error` is `{type(error).__name__}`: give a text or an exception")
        if success and error:
            raise DialectError(
                "a call that succeeded is reported with an `error`: give `success=False`, or no "
                "error"
            )
        if hint is not None and not isinstance(hint, str):
            raise DialectError(f"`context_hint` is `{type(hint).__name__}`: give a text")
        session = self._session()
        found = ((run, run.desk.open_call(tool, args)) for run in (session.run, *session.before))
        run, call = next((one for one in found if one[1]), (session.run, ""))
        if hint:
            self.shield.experience.meant(run.id, call if call else tool, hint)
        return run, call if call else None

    def close(self) -> None:
        """End every session."""
        self.closed = True
        self._leave(-1)
        for session in list(self._sessions):
            session.run.close()


_BEGUN: Final[ContextVar[tuple[tuple[Sitting, _Session], ...]]] = ContextVar("sessions", default=())
"""The sessions that were begun here, or where this task was started."""


def _who() -> tuple[int, int]:
    """The thread that asks, and its task where it has one."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.get_ident(), id(task)


def _meant_well(result: Any) -> Any:
    """A result of a call that is said to have succeeded: what it says of itself does not count."""
    return [result] if type(result) is dict and failure_in(result) is not None else result


def _failed(error: Any) -> tuple[Any]:
    """An exception says its kind itself; of a text the kind is not known."""
    return (error,) if isinstance(error, BaseException) else ("",)


def _words(error: Any) -> str | None:
    return error if isinstance(error, str) else None


class SoleLayer:
    """A layer by itself: judged by its own guards alone. One that belongs to a guardian judges on
    the guardian's state and in its session."""

    def __init__(self, policy: dict[str, Any], host: Sitting | None) -> None:
        self._policy, self._host = policy, host
        self._own: Sitting | None = None

    @property
    def sitting(self) -> Sitting:
        """Where calls are judged by this layer alone; made when it is first asked."""
        host = self._host
        if host is not None:
            host.used()
        if self._own is None:
            self._own = Sitting(self._shield(), None if host is None else host.run.id)
        elif host is not None and self._own.run.id != host.run.id:
            self._own.begin(host.run.id)
        return self._own

    @property
    def host(self) -> Sitting:
        """Whose state and session it is."""
        return self.sitting if self._host is None else self._host

    @property
    def made(self) -> Shield | None:
        """The shield of this layer, where it was asked before."""
        return None if self._own is None else self._own.shield

    def _shield(self) -> Shield:
        if self._host is None:
            return Shield.load(self._policy, store=MEMORY, journal=MEMORY)
        main = self._host.shield
        return Shield(
            load_policy(self._policy),
            store=main.store,
            journal=main.journal,
            clock=main.clock,
            tenant=main.tenant,
        )

    def close(self) -> None:
        """Let go of what is this layer's own."""
        if self._own is None:
            return
        if self._host is None:
            self._own.close()
            self._own.shield.close()
        else:
            self._own.shield.answers.close()
