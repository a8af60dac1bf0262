"""Layers by themselves: the health of tools (0), calls that are repeated without gain (1), what was
learnt from outcomes (3), and advice (4)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import (
    HEALTHY,
    AdviceContext,
    known,
    read_call,
    resolving,
    similar,
)
from stanchion.dialects.guardian.interfaces import CacheProvider, ProvidedTexts, held
from stanchion.dialects.guardian.provided import shelf_for
from stanchion.dialects.guardian.settings import (
    AdviceStyle,
    Breaking,
    Looping,
    alone,
    opened,
    seconds,
    style_name,
    takes_one,
)
from stanchion.dialects.guardian.sitting import Sitting, SoleLayer
from stanchion.dialects.guardian.storage import ShelfStorage
from stanchion.experience import advice_context as own
from stanchion.guards.breaker import circuit_key, circuit_of
from stanchion.guards.health import health_key
from stanchion.guards.loops import Metrics, history_key, metrics
from stanchion.kernel.decision import Decision
from stanchion.readings.history import LoopHistory
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.on_loop import adrive, is_async
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.learning.advising import Adviser
from stanchion.runtime.learning.methods import context_of
from stanchion.runtime.learning.redacted import kept_name

LAYER = "breaker"


class CircuitState(Enum):
    """Whether calls of a tool go ahead: all of them, none, or one at a time to see whether it works
    again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class ToolHealth(msgspec.Struct, frozen=True):
    """How a tool is: its score from 0 to 100, and the state of its circuit."""

    name: str
    score: int
    state: CircuitState
    cooldown: float = 0.0


class HealthMonitor:
    """Says whether a tool may be called, by how it has worked."""

    def __init__(
        self,
        failure_threshold: int = 5,
        base_cooldown: float = 60,
        max_cooldown: float = 3600,
        *,
        _host: Sitting | None = None,
    ) -> None:
        settings = Breaking(failure_threshold, base_cooldown, max_cooldown)
        self._part = SoleLayer(alone(settings.guards(), ("loops", "schema")), _host)

    def check_tool(self, tool_name: str) -> dict[str, Any]:
        """Whether a tool may be called: `allowed`, `advice`, `health_score`, `is_probe`. One that
        is let through to see whether the tool works again is taken: report what came of it."""
        return _checked(self._part.sitting.run.check(_named(tool_name), {}))

    async def check_tool_async(self, tool_name: str) -> dict[str, Any]:
        """`check_tool` for async code."""
        return _checked(await self._part.sitting.run.acheck(_named(tool_name), {}))

    def report_result(self, tool_name: str, success: bool, error_message: Any = None) -> None:
        """Say what came of a call of a tool, to this layer alone: `GuardianLayer.report_result`
        tells all of them."""
        self._part.sitting.report(_named(tool_name), {}, success, error_message, None, None)

    async def report_result_async(
        self, tool_name: str, success: bool, error_message: Any = None
    ) -> None:
        """`report_result` for async code."""
        await self._part.sitting.areport(_named(tool_name), {}, success, error_message, None, None)

    def reset_tool(self, tool_name: str, *, by: Any = "an operator") -> bool:
        """Let a tool be called again at once; says whether it was not."""
        return self._part.host.shield.reset_tool(_named(tool_name), by=by)

    def get_health(self, tool_name: str) -> ToolHealth:
        """How a tool is."""
        sitting = self._part.host
        shield, tenant = sitting.shield, sitting.run.desk.info.tenant
        score = shield.health(tool_name, tenant)
        key = circuit_key(sitting.run.desk.info, tool_name, LAYER)
        circuit = circuit_of(shield.store.read(key)[1])
        state = CircuitState(circuit.state(shield.clock()))
        return ToolHealth(
            tool_name, HEALTHY if score is None else score, state, circuit.cooldown_ms / 1000
        )

    def get_all_health(self) -> dict[str, dict[str, Any]]:
        """The score and the state of every tool that something was reported of."""
        return {
            name: {"score": one.score, "state": one.state.value}
            for name, one in sorted(self._tools.items())
        }

    @property
    def _tools(self) -> Mapping[str, ToolHealth]:
        return dict(self._known())

    def _known(self) -> Iterator[tuple[str, ToolHealth]]:
        sitting = self._part.host
        prefix = health_key(sitting.run.desk.info.tenant, "")
        for seen in sitting.shield.store.look(prefix):
            name = unquote(seen.key.removeprefix(prefix))
            yield name, self.get_health(name)

    def close(self) -> None:
        """Let go of what is this layer's own."""
        self._part.close()


def _named(tool_name: Any) -> str:
    if not isinstance(tool_name, str) or not tool_name:
        raise DialectError(f"`tool_name` is `{tool_name!r}`: give the name of a tool")
    return tool_name


def _checked(decision: Decision) -> dict[str, Any]:
    result = decision.guardian_result()
    return {
        "allowed": result.allowed,
        "advice": result.advice if result.allowed else f"{result.reason}; {result.suggestion}",
        "health_score": HEALTHY if result.health_score is None else result.health_score,
        "is_probe": result.is_probe,
    }


KINDS: Final = ("repeat", "cycle", "excessive")
"""The loops that there are: the same call in a row, in a short cycle, or too often."""


class LoopDetector:
    """Says whether a call is one of a loop."""

    def __init__(
        self, max_history: int = 10, max_repeats: int = 2, *, _host: Sitting | None = None
    ) -> None:
        guards = Looping(max_history, max_repeats).guards()
        self._most = max_history
        self._part = SoleLayer(alone(guards, ("health", "breaker", "schema")), _host)

    def check(self, tool_call: Any) -> tuple[bool, str | None]:
        """Whether a call is one of a loop, and why."""
        return _found(self._part.sitting.run.check(*read_call(tool_call)))

    async def check_async(self, tool_call: Any) -> tuple[bool, str | None]:
        """`check` for async code."""
        return _found(await self._part.sitting.run.acheck(*read_call(tool_call)))

    def reset(self) -> None:
        """Forget the calls so far, by beginning another session."""
        self._part.host.begin()

    def get_metrics(self) -> dict[str, Any]:
        """What was counted in this session."""
        counted: Metrics = metrics(self._record(), KINDS)
        found: dict[str, Any] = msgspec.to_builtins(counted)
        return found

    @property
    def _history(self) -> deque[str]:
        """The hashes of the last calls, the oldest first."""
        calls = LoopHistory.of(self._record()).calls
        return deque([one.exact for one in calls], maxlen=self._most)

    @property
    def _repeat_counts(self) -> dict[str, int]:
        """How often each of them was called."""
        return dict(Counter(self._history))

    def _record(self) -> Any:
        host = self._part.host
        info = host.run.desk.info
        return host.shield.store.read(history_key(info.tenant, info.id))[1]

    def close(self) -> None:
        """Let go of what is this layer's own."""
        self._part.close()


def _found(decision: Decision) -> tuple[bool, str | None]:
    return (False, None) if decision.proceeds else (True, decision.message)


TTL_S = 3600


class AdviceGenerator:
    """Words advice in a style, or as a program's own resolver does."""

    def __init__(
        self,
        style: AdviceStyle | str = AdviceStyle.CONCISE,
        cache_provider: CacheProvider | None = None,
        cache_ttl: float = TTL_S,
        *,
        _adviser: Adviser | None = None,
        _restyle: Callable[[AdviceStyle], None] | None = None,
    ) -> None:
        seconds("cache_ttl", cache_ttl)
        self._adviser = Adviser() if _adviser is None else _adviser
        self._restyle = _restyle
        self._style = AdviceStyle(style_name(style))
        if cache_provider is not None:
            self._adviser.texts = ProvidedTexts(held(cache_provider), cache_ttl)

    def generate(self, context: AdviceContext) -> str:
        """Advice from what is known; empty where there is nothing to say."""
        return self._adviser.words(style_name(self._style), known(context))

    def set_style(self, style: AdviceStyle | str) -> None:
        """Advise in another style."""
        self._style = AdviceStyle(style_name(style))
        if self._restyle is not None:
            self._restyle(self._style)

    def set_custom_resolver(self, resolver: Any) -> None:
        """Have a function word advice from an `AdviceContext`; `None` takes it away."""
        if resolver is not None and not callable(resolver):
            said = f"the advice resolver is `{type(resolver).__name__}`"
            raise DialectError(f"{said}: give a function of an `AdviceContext`, or None")
        if resolver is not None:
            takes_one(resolver, "the advice resolver", "an `AdviceContext`")
            if is_async(resolver):
                raise DialectError(
                    "the advice resolver has to be awaited: give a function that gives the text at "
                    "once"
                )
        self._adviser.resolver = None if resolver is None else resolving(resolver)

    def get_cache_stats(self) -> dict[str, Any]:
        """How often advice was at hand."""
        stats = self._adviser.stats()
        return {
            "cache_hits": stats.cache_hits,
            "cache_misses": stats.cache_misses,
            "hit_rate": stats.hit_rate,
        }


POLICY = {"name": "guardian-layer", "experience": {"tier": "persistent"}}


class ExperienceLayer:
    """Keeps what came of calls: of the session, in this process, and where the guardian is told
    to."""

    def __init__(
        self, db_path: Any = None, storage_provider: Any = None, *, _host: Sitting | None = None
    ) -> None:
        self._is_alone = _host is None
        self._sitting = Sitting(opened(POLICY, db_path, None)) if _host is None else _host
        self._storage: Any  # the program's own, or one of the same methods
        shield = self._sitting.shield
        if storage_provider is None:
            self._storage = ShelfStorage(
                lambda: shield.experience.shelf(), shield.tenant, shield.clock
            )
        else:
            shield.experience.keep_on(shelf_for(storage_provider))
            self._storage = storage_provider

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

    def _context(self, tool_name: Any, arguments: Any) -> Flow[own.AdviceContext]:
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
        if self._is_alone:
            self._sitting.close()
            self._sitting.shield.close()
