"""Layer 3: what was learnt from the outcomes of calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import read_call
from stanchion.dialects.guardian.contexts import similar
from stanchion.dialects.guardian.provided import shelf_for
from stanchion.dialects.guardian.settings import opened
from stanchion.dialects.guardian.sitting import Sitting
from stanchion.dialects.guardian.storage import ShelfStorage
from stanchion.experience.advice_context import AdviceContext
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.on_loop import adrive
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.learning.methods import context_of
from stanchion.runtime.learning.redacted import kept_name
from stanchion.runtime.shield import Shield

POLICY = {"name": "guardian-layer", "experience": {"tier": "persistent"}}


class ExperienceLayer:
    """Keeps what came of calls: of the session, in this process, and where the guardian is told
    to."""

    def __init__(self, db_path: Any = None, storage_provider: Any = None) -> None:
        shield = opened(POLICY, db_path, None)
        self._alone: Shield | None = shield
        self._join(Sitting(shield), storage_provider)

    def _join(self, sitting: Sitting, provider: Any) -> None:
        self._sitting = sitting
        self._storage: Any  # the program's own, or one of the same methods
        shield = sitting.shield
        if provider is None:
            self._storage = ShelfStorage(
                lambda: shield.experience.shelf(), shield.tenant, shield.clock
            )
        else:
            shield.experience.keep_on(shelf_for(provider))
            self._storage = provider

    @classmethod
    def within(cls, sitting: Sitting, provider: Any) -> ExperienceLayer:
        """The layer of a guardian."""
        made = cls.__new__(cls)
        made._alone = None
        made._join(sitting, provider)
        return made

    @property
    def session_id(self) -> str:
        """The session that calls belong to."""
        return self._sitting.run.id

    def start_new_session(self, session_id: str | None = None) -> str:
        """Begin another session, whose calls, counts and errors are its own; gives its id."""
        return self._sitting.begin(session_id)

    def log_incident(
        self,
        tool_call: Any,
        success: bool,
        error: Any = None,
        context_hint: str | None = None,
        *,
        result: Any = None,
    ) -> None:
        """Say what came of a call. In a guardian every layer learns of it, so say it once."""
        self._sitting.report(*read_call(tool_call), success, error, context_hint, result)

    async def log_incident_async(
        self,
        tool_call: Any,
        success: bool,
        error: Any = None,
        context_hint: str | None = None,
        *,
        result: Any = None,
    ) -> None:
        """`log_incident` for async code."""
        await self._sitting.areport(*read_call(tool_call), success, error, context_hint, result)

    def find_similar_success(
        self, tool_name: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The call of a tool that worked and is most like this one, and which arguments differ. It
        has its arguments where this session made it: of other sessions only names and kinds are
        told."""
        return similar(
            drive(self._context(tool_name, arguments), self._sitting.run.desk).similar_success
        )

    async def find_similar_success_async(
        self, tool_name: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """`find_similar_success` for async code."""
        return similar(
            (
                await adrive(self._context(tool_name, arguments), self._sitting.run.desk)
            ).similar_success
        )

    def get_tool_reliability(self, tool_name: str) -> float | None:
        """The share of a tool's calls that worked, from 0 to 1; `None` where nothing is known."""
        return drive(self._context(tool_name, None), self._sitting.run.desk).tool_reliability

    async def get_tool_reliability_async(self, tool_name: str) -> float | None:
        """`get_tool_reliability` for async code."""
        return (
            await adrive(self._context(tool_name, None), self._sitting.run.desk)
        ).tool_reliability

    def get_failure_count(self, tool_call: Any) -> int:
        """How often the tool of a call has failed in this session since it last worked."""
        return drive(self._context(*read_call(tool_call)), self._sitting.run.desk).failure_count

    def get_session_stats(self) -> dict[str, Any]:
        """What came of the calls of this session."""
        desk = self._sitting.run.desk
        keeper = self._sitting.shield.experience
        whose = kept_name(desk.plans, desk.info.tenant), kept_name(desk.plans, desk.info.id)
        met = [keeper.session(*whose, tool) for tool in keeper.tools(*whose)]
        good, bad = sum([one.successes for one in met]), sum([one.failures for one in met])
        return {
            "session_id": self.session_id,
            "total_calls": good + bad,
            "successes": good,
            "failures": bad,
        }

    def _context(self, tool_name: Any, arguments: Any) -> Flow[AdviceContext]:
        if not isinstance(tool_name, str) or not tool_name:
            raise DialectError(f"`tool_name` is `{tool_name!r}`: give the name of a tool")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise DialectError(
                f"`arguments` is `{type(arguments).__name__}`: give a mapping of names to values"
            )
        given = {} if arguments is None else dict(arguments)
        return context_of(self._sitting.run.desk, tool_name, given, patient=True)

    def close(self) -> None:
        """Let go of what is this layer's own."""
        if self._alone is not None:
            self._sitting.close()
            self._alone.close()
