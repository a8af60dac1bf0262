"""A sitting: a shield, and the run that stands for the current session."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.locks import Lock
from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY

MOST_EARLIER: Final = 64
"""How many earlier sessions are waited for whose calls have not all reported back."""


class Sitting:
    """The session of a guardian: calls are judged and outcomes reported in its run."""

    def __init__(self, shield: Shield, session_id: str | None = None) -> None:
        self.shield: Final = shield
        self._earlier: deque[Run] = deque()
        self._lock: Final = Lock()
        self.run = shield.run(id=session_id)

    def begin(self, session_id: str | None = None) -> str:
        """Begin another session. Calls of the last one can still report back."""
        if session_id is not None and (not isinstance(session_id, str) or not session_id):
            raise DialectError(f"`session_id` is `{session_id!r}`: give a text, or leave it out")
        before, self.run = self.run, self.shield.run(id=session_id)
        self._earlier.append(before)
        self._leave(MOST_EARLIER)
        return self.run.id

    def _leave(self, most: int) -> None:
        """Close earlier sessions that nothing is open in, and those that are too many."""
        if not self._earlier:
            return
        with self._lock:
            for run in list(self._earlier):
                if not run.desk.has_open() or len(self._earlier) > most:
                    self._earlier.remove(run)
                    run.close()

    def report(self, tool: str, args: dict[str, Any], success: bool, error: Any, hint: Any, result: Any) -> None:
        """Say what came of a call."""
        run, call = self._meant(tool, args, success, error, hint)
        if success:
            run.result(tool, args, result, call=call)
        else:
            run.error(tool, *_failed(error), args=args, call=call, text=_words(error))
        self._leave(MOST_EARLIER)

    async def areport(self, tool: str, args: dict[str, Any], success: bool, error: Any, hint: Any, result: Any) -> None:
        """`report` for async code."""
        run, call = self._meant(tool, args, success, error, hint)
        if success:
            await run.aresult(tool, args, result, call=call)
        else:
            await run.aerror(tool, *_failed(error), args=args, call=call, text=_words(error))
        self._leave(MOST_EARLIER)

    def _meant(self, tool: str, args: dict[str, Any], success: Any, error: Any, hint: Any) -> tuple[Run, str | None]:
        """Which call an outcome belongs to. One whose arguments were made harmless first is the last of its tool."""
        if not isinstance(success, bool):
            raise DialectError(f"`success` is `{success!r}`: give True or False")
        if error is not None and not isinstance(error, str | BaseException):
            raise DialectError(f"`error` is `{type(error).__name__}`: give a text or an exception")
        if success and error:
            raise DialectError("a call that succeeded is reported with an `error`: give `success=False`, or no error")
        if hint is not None and not isinstance(hint, str):
            raise DialectError(f"`context_hint` is `{type(hint).__name__}`: give a text")
        found = ((run, run.desk.open_call(tool, args)) for run in (self.run, *reversed(tuple(self._earlier))))
        run, call = next((one for one in found if one[1]), (self.run, ""))
        if hint:
            self.shield.experience.meant(run.id, call if call else tool, hint)
        return run, call if call else None

    def close(self) -> None:
        """End every session."""
        self._leave(-1)
        self.run.close()


def _failed(error: Any) -> tuple[Any]:
    """An exception says its kind itself; of a text the kind is not known."""
    return (error,) if isinstance(error, BaseException) else ("",)


def _words(error: Any) -> str | None:
    return error if isinstance(error, str) else None


class Part:
    """A layer by itself: judged by its own guards alone. One that belongs to a guardian judges on the guardian's state
    and in its session."""

    def __init__(self, policy: dict[str, Any], host: Sitting | None) -> None:
        self._policy, self._host = policy, host
        self._own: Sitting | None = None

    @property
    def sitting(self) -> Sitting:
        """Where calls are judged by this layer alone; made when it is first asked."""
        host = self._host
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
            load_policy(self._policy), store=main.store, journal=main.journal, clock=main.clock, tenant=main.tenant
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
