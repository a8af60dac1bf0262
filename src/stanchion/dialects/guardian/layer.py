"""The guardian: its layers, asked one after the other, and what they say of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Unpack

from stanchion.approvals.errors import AnswerRefused
from stanchion.audit.journal import Journal
from stanchion.dialects.errors import check_options
from stanchion.dialects.guardian.calls import AdviceContext, read_call, said
from stanchion.dialects.guardian.facade import TTL_S, Hook, MCPFacade
from stanchion.dialects.guardian.interfaces import (
    AsyncStorageProvider,
    CacheProvider,
    StorageProvider,
)
from stanchion.dialects.guardian.layers import (
    AdviceGenerator,
    ExperienceLayer,
    HealthMonitor,
    LoopDetector,
)
from stanchion.dialects.guardian.settings import (
    AdviceStyle,
    Breaking,
    Looping,
    Policy,
    opened,
    policy_of,
    schema_guards,
    style_name,
    warn_of_variables,
    whole,
)
from stanchion.dialects.guardian.sitting import Sitting
from stanchion.kernel.decision import Decision
from stanchion.runtime.learning.advising import adviser_of
from stanchion.runtime.options import ShieldOptions
from stanchion.stores.memory import wall_ms

TOKENS: Final = 250
"""What a call that does not go ahead is estimated to save."""
PARAMETERS: Final = (
    "db_path",
    "max_history",
    "max_repeats",
    "advice_style",
    "failure_threshold",
    "base_cooldown",
    "max_cooldown",
    "cache_ttl",
    "est_tokens_per_call",
    "storage_provider",
    "cache_provider",
    "journal",
    "clock",
    *ShieldOptions.__annotations__,
)


class GuardianLayer:
    """Checks tool calls by five layers, and learns from what came of them.

    Without `db_path` nothing outlives the program. With it, state and experience are kept in that
    file, or on the server of a URL. `journal`, `clock` and all other options are those of
    `Shield.load`.
    """

    def __init__(
        self,
        db_path: Any = None,
        max_history: int = 10,
        max_repeats: int = 2,
        advice_style: AdviceStyle | str = AdviceStyle.CONCISE,
        failure_threshold: int = 5,
        base_cooldown: float = 60,
        max_cooldown: float = 3600,
        cache_ttl: float = TTL_S,
        est_tokens_per_call: int = TOKENS,
        storage_provider: StorageProvider | AsyncStorageProvider | None = None,
        cache_provider: CacheProvider | None = None,
        *,
        journal: Journal | str | None = None,
        clock: Callable[[], int] = wall_ms,
        **options: Unpack[ShieldOptions],
    ) -> None:
        check_options(options, PARAMETERS, "GuardianLayer")
        whole("est_tokens_per_call", est_tokens_per_call, 0)
        warn_of_variables(
            {
                "db_path": db_path,
                "max_history": max_history,
                "max_repeats": max_repeats,
                "failure_threshold": failure_threshold,
                "base_cooldown": base_cooldown,
                "cache_ttl": cache_ttl,
                "advice_style": advice_style,
                "est_tokens_per_call": est_tokens_per_call,
            }
        )
        breaking = Breaking(failure_threshold, base_cooldown, max_cooldown)
        looping = Looping(max_history, max_repeats)
        self._tokens, self._saved_before = est_tokens_per_call, 0
        self._guards: Final = [*breaking.guards(), *looping.guards()]
        self._registered, self._style = False, style_name(advice_style)
        self.shield: Final = opened(self.policy, db_path, journal, clock=clock, **options)
        self._sitting: Final = Sitting(self.shield)
        try:
            self.experience: Final = ExperienceLayer(
                storage_provider=storage_provider, _host=self._sitting
            )
            self.health_monitor: Final = HealthMonitor(
                failure_threshold, base_cooldown, max_cooldown, _host=self._sitting
            )
            self.loop_detector: Final = LoopDetector(max_history, max_repeats, _host=self._sitting)
            self.mcp_facade: Final = MCPFacade(
                cache_provider, cache_ttl, _host=self._sitting, _register=self._register
            )
            self.advice_generator: Final = AdviceGenerator(
                advice_style,
                cache_provider,
                cache_ttl,
                _adviser=adviser_of(self.shield),
                _restyle=self._restyle,
            )
        except BaseException:
            self.shield.close()
            raise

    @property
    def policy(self) -> Policy:
        """The policy that calls are judged by, as `Shield.load` takes it."""
        return policy_of([*self._guards, *schema_guards(self._registered)], self._style)

    def ingest_tools(self, mcp_tools: Any, *, repin: bool = False, by: Any = "an operator") -> int:
        """Register tools as an MCP server lists them; says how many. From then on tools that are
        not among them are refused, and so is one whose definition changes, until it is registered
        with `repin`."""
        return self.mcp_facade.ingest_mcp_tools(mcp_tools, repin=repin, by=by)

    register_mcp_tools = ingest_tools

    def register_hook(self, tool_name: str, hook: Hook, *, cache: bool = True) -> None:
        """Have a function check every call of a tool: it is given the call as a mapping, and a text
        that it gives refuses it. So does one that raises, or does not answer in time. With
        `cache=False` it is asked about equal calls as well."""
        self.mcp_facade.register_hook(tool_name, hook, cache=cache)

    def check(self, tool_call: Mapping[str, Any]) -> dict[str, Any]:
        """Whether a call goes ahead: `allowed`, `reason`, `suggestion`, `advice`, `health_score`
        and `is_probe`."""
        tool, args = read_call(tool_call)
        run = self._sitting.run
        decision = run.check(tool, args)
        return self._worded(tool, decision, run.advice(tool, args))

    async def check_async(self, tool_call: Mapping[str, Any]) -> dict[str, Any]:
        """`check` for async code."""
        tool, args = read_call(tool_call)
        run = self._sitting.run
        decision = await run.acheck(tool, args)
        return self._worded(tool, decision, await run.aadvice(tool, args))

    def report_result(
        self,
        tool_call: Mapping[str, Any],
        success: bool,
        error: str | BaseException | None = None,
        context_hint: str | None = None,
        *,
        result: Any = None,
    ) -> None:
        """Say what came of a call, so that every layer learns from it. With its `result`, a call
        that is repeated and brings something else each time is no loop."""
        self.experience.log_incident(tool_call, success, error, context_hint, result=result)

    async def report_result_async(
        self,
        tool_call: Mapping[str, Any],
        success: bool,
        error: str | BaseException | None = None,
        context_hint: str | None = None,
        *,
        result: Any = None,
    ) -> None:
        """`report_result` for async code."""
        await self.experience.log_incident_async(
            tool_call, success, error, context_hint, result=result
        )

    def get_awareness_context(self) -> str:
        """What the agent should know of its tools, for its prompt; empty where there is nothing to
        say."""
        return self._sitting.run.awareness()

    async def get_awareness_context_async(self) -> str:
        """`get_awareness_context` for async code."""
        return await self._sitting.run.aawareness()

    def reset(self) -> None:
        """Begin another conversation: its session is new, and metrics count from zero."""
        self.experience.start_new_session()
        self._saved_before = self._events()

    def reset_tool(self, tool_name: str, *, by: Any = "an operator") -> None:
        """Let a tool be called again at once. Where state outlives the program, `by` is an operator
        with a key."""
        try:
            self.health_monitor.reset_tool(tool_name, by=by)
        except AnswerRefused as error:
            raise AnswerRefused(
                f"`reset_tool` is an operator's: {error}; give it as `by=`"
            ) from None

    def set_advice_style(self, style: AdviceStyle | str) -> None:
        """Advise in another style."""
        self.advice_generator.set_style(style)

    def set_custom_advice_resolver(self, resolver: Callable[[AdviceContext], str] | None) -> None:
        """Have a function word advice from an `AdviceContext`; `None` takes it away."""
        self.advice_generator.set_custom_resolver(resolver)

    def get_metrics(self) -> dict[str, Any]:
        """What the layers have counted since the conversation began."""
        events = self._events() - self._saved_before
        return {
            "roi": {
                "protection_events": events,
                "estimated_savings": {"tokens_saved": events * self._tokens},
            },
            "loop_detection": self.loop_detector.get_metrics(),
            "tool_health": self.health_monitor.get_all_health(),
            "session": self.experience.get_session_stats(),
            "val_cache": self.mcp_facade.get_cache_stats(),
            "advice_cache": self.advice_generator.get_cache_stats(),
        }

    def close(self) -> None:
        """Bring what is known to where it is kept, and let go of files and connections."""
        for part in (self.health_monitor, self.loop_detector, self.mcp_facade):
            part.close()
        self._sitting.close()
        self.shield.close()

    async def close_async(self) -> None:
        """`close` for async code."""
        import asyncio

        await asyncio.to_thread(self.close)

    def __enter__(self) -> GuardianLayer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _worded(self, tool: str, decision: Decision, advice: str) -> dict[str, Any]:
        result = said(decision.guardian_result(advice))
        return (
            result
            if result["allowed"]
            else {**result, "reason": self.mcp_facade.why_not(tool, decision)}
        )

    def _events(self) -> int:
        return self._sitting.run.guardian_metrics().roi.protection_events

    def _register(self) -> None:
        self._registered = True
        self.shield.reload(self.policy)

    def _restyle(self, style: AdviceStyle) -> None:
        self._style = style_name(style)
        self.shield.reload(self.policy)
