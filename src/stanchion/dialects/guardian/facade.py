"""Layer 2: tools by their definitions, and hooks of their calls."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec

from stanchion.approvals.errors import AnswerRefused
from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import call_of, read_call
from stanchion.dialects.guardian.interfaces import CacheProvider, ProvidedMemory, held
from stanchion.dialects.guardian.settings import alone, schema_guards, seconds, takes_one
from stanchion.dialects.guardian.sitting import Sitting, SoleLayer
from stanchion.guards.schema.tools import HOOKS_ID, CheckedDefinition, HookCall
from stanchion.kernel.decision import Decision
from stanchion.policy.nearest import hint
from stanchion.runtime.calling.tool_formats import definitions
from stanchion.runtime.calling.validation_cache import ValidationCache
from stanchion.runtime.shield import Shield
from stanchion.telemetry import loggers

Hook = Callable[[dict[str, Any]], Any]
TTL_S = 3600
"""How long it is remembered that a call is valid."""


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as it was registered: its name, its description, the schema of its parameters, and
    those it requires."""

    name: str
    description: str
    parameters: dict[str, Any]
    required: tuple[str, ...]


class MCPFacade:
    """Knows tools by their definitions, and says whether calls of them are valid."""

    def __init__(
        self,
        cache_provider: CacheProvider | None = None,
        cache_ttl: float = TTL_S,
        *,
        _host: Sitting | None = None,
        _register: Callable[[], None] | None = None,
    ) -> None:
        seconds("cache_ttl", cache_ttl)
        self._cache = None if cache_provider is None else held(cache_provider)
        self._ttl_s, self._host, self._register = cache_ttl, _host, _register
        self._tools: dict[str, ToolSchema] = {}
        self._given: list[tuple[set[str], Any]] = []
        self._hooks: list[tuple[str, Hook, bool]] = []
        self._unasked: set[str] = set()
        self._part = self._parted(registered=False)
        if _host is not None:
            self._remember(_host.shield)

    def ingest_mcp_tools(
        self, mcp_response: Any, *, repin: bool = False, by: Any = "an operator"
    ) -> int:
        """Register tools as an MCP server lists them; says how many. One whose definition has
        changed since it was first seen is refused until it is registered with `repin`."""
        if hasattr(type(mcp_response), "__await__"):
            raise DialectError(
                "the tools have yet to be awaited: write `await client.list_tools()`"
            )
        try:
            found = definitions(mcp_response)
            bad = next((one for one in map(CheckedDefinition, found) if one.bad), None)
            if bad is not None:
                raise DialectError(f"`{bad.name}` cannot be registered: {bad.bad}")
            if found and not self._tools:
                self._begin()
            for shield in self._shields():
                shield.ingest(mcp_response, repin=repin, by=by)
        except DialectError:
            raise
        except AnswerRefused as error:
            raise AnswerRefused(f"`repin` is an operator's: {error}; give it as `by=`") from None
        except (TypeError, ValueError) as error:
            raise DialectError(f"these tools cannot be registered: {error}") from None
        names = {one.name for one in found}
        self._given = [one for one in self._given if not one[0] <= names] + [(names, mcp_response)]
        self._tools |= {one.name: _schema(one) for one in found}
        self._say_unasked()
        return len(found)

    def _say_unasked(self) -> None:
        """Say of hooks that nobody will ask, once for each, that their tools are not among those
        registered."""
        for name in dict.fromkeys([name for name, *_ in self._hooks]) if self._tools else ():
            if name not in self._tools and name not in self._unasked:
                self._unasked.add(name)
                why = f"`{name}` is not registered: {hint(name, tuple(self._tools))}"
                loggers.say(
                    loggers.TELEMETRY,
                    loggers.WARNING,
                    "a hook is for a tool that is not there",
                    why=why,
                )

    def _begin(self) -> None:
        """From the first tools on, others are unknown."""
        self._part.close()
        self._part = self._parted(registered=True)
        if self._register is not None:
            self._register()

    def register_hook(self, tool_name: str, hook: Hook, *, cache: bool = True) -> None:
        """Have a function check every call of a tool: it is given the call as a mapping, and a text
        that it gives refuses it. What it says holds for equal calls until `cache_ttl` is over; with
        `cache=False` it is asked each time."""
        if not isinstance(tool_name, str) or not tool_name:
            raise DialectError(f"a hook is registered for `{tool_name!r}`: give the name of a tool")
        if not callable(hook):
            raise DialectError(
                f"the hook of `{tool_name}` is `{type(hook).__name__}`: give a function of a call"
            )
        takes_one(hook, f"the hook of `{tool_name}`", "the call")
        for shield in self._shields():
            shield.hook(tool_name, asked(hook), cache=cache)
        self._hooks.append((tool_name, hook, cache))
        self._say_unasked()

    def validate_call(self, tool_call: Any) -> dict[str, Any]:
        """Whether a call is valid, and if not, why and what to do."""
        tool, args = read_call(tool_call)
        return self._validated(tool, self._judging().run.check(tool, args))

    validate = validate_call

    async def validate_call_async(self, tool_call: Any) -> dict[str, Any]:
        """`validate_call` for async code."""
        tool, args = read_call(tool_call)
        return self._validated(tool, await self._judging().run.acheck(tool, args))

    def why_not(self, tool: str, decision: Decision) -> str:
        """Why a call is refused; where a hook has failed, which one that can be."""
        found = decision.determining
        if found is None or found.guard != HOOKS_ID or not found.code.startswith("kernel."):
            return decision.message
        names = [
            f"`{getattr(hook, '__name__', type(hook).__name__)}`"
            for name, hook, _ in self._hooks
            if name == tool
        ]
        said = "a hook gives a text to refuse and None to pass"
        return (
            f"{' or '.join(names)}, the hook of `{tool}`, gave no answer ({decision.message}): "
            f"{said}"
        )

    def _validated(self, tool: str, decision: Decision) -> dict[str, Any]:
        if decision.proceeds:
            return {"valid": True}
        return {
            "valid": False,
            "reason": self.why_not(tool, decision),
            "suggestion": decision.advice,
        }

    def get_tool(self, name: str) -> ToolSchema | None:
        """A tool that was registered."""
        return self._tools.get(name)

    def list_tools(self) -> list[str]:
        """The names of the tools that were registered."""
        return list(self._tools)

    def get_cache_stats(self) -> dict[str, Any]:
        """How often a call was known to be valid."""
        shield = self._judging().shield if self._host is None else self._host.shield
        stats = shield.validation_stats()
        return {
            "cache_hits": stats.cache_hits,
            "cache_misses": stats.cache_misses,
            "hit_rate": stats.hit_rate,
        }

    def close(self) -> None:
        """Let go of what is this layer's own."""
        self._part.close()

    def _parted(self, registered: bool) -> SoleLayer:
        return SoleLayer(
            alone(schema_guards(registered), ("health", "breaker", "loops")), self._host
        )

    def _shields(self) -> list[Shield]:
        """Those that tools and hooks are made known to now. The one of this layer alone is made
        when it is needed."""
        if self._host is None:
            return [self._judging().shield]
        return [self._host.shield, *([] if self._part.made is None else [self._part.made])]

    def _judging(self) -> Sitting:
        """Where calls are judged by this layer alone, by all tools and hooks so far."""
        if self._part.made is None:
            made = self._part.sitting.shield
            self._remember(made)
            for _, tools in self._given:
                made.ingest(tools)
            for tool, hook, cache in self._hooks:
                made.hook(tool, asked(hook), cache=cache)
        return self._part.sitting

    def _remember(self, shield: Shield) -> None:
        shield.remember_with(
            ValidationCache(ttl_s=self._ttl_s)
            if self._cache is None
            else ProvidedMemory(self._cache, self._ttl_s)
        )


def asked(hook: Hook) -> Callable[[HookCall], Any]:
    """A hook of a mapping as one of Stanchion's calls; it gets its own copy of the arguments."""

    @wraps(hook, updated=())
    def ask(call: HookCall) -> Any:
        return hook(call_of(call.tool, copy.deepcopy(call.args)))

    return ask


def _schema(one: Any) -> ToolSchema:
    schema = one.schema if isinstance(one.schema, dict) else {}
    properties, required = schema.get("properties"), schema.get("required")
    about = one.about.get("description") if isinstance(one.about, dict) else None
    return ToolSchema(
        one.name,
        about if isinstance(about, str) else "",
        properties if isinstance(properties, dict) else {},
        tuple(required) if isinstance(required, list) else (),
    )
