"""Stanchion's side of the comparison: each dialect with what its original has, and the pack
`default`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian import GuardianLayer
from stanchion.dialects.penguiflow import (
    GuardrailAction,
    GuardrailEvent,
    GuardrailGateway,
    InjectionPatternRule,
    RuleRegistry,
    SecretRedactionRule,
    ToolAllowlistRule,
)
from stanchion.dialects.veronica import (
    AgentStepGuard,
    BudgetEnforcer,
    CircuitBreaker,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.packs.engines import choose
from stanchion_lab.bench.peers.library import ALL_RULES, DISK, MASKED, OUTCOMES, RECORDS

PACK: Final = "default"
GOES: Final = (GuardrailAction.ALLOW, GuardrailAction.REDACT)


class Storage:
    """Where things are kept: state in a file where a library keeps state, and records where it
    keeps records."""

    def __init__(self, storage: str, folder: Path) -> None:
        self.storage = storage
        self.store = str(folder / "state.db") if storage in (DISK, OUTCOMES) else MEMORY
        self.journal = str(folder / "trail") if storage in (DISK, RECORDS, MASKED) else MEMORY


class Guardian:
    """GuardianLayer's words: a check, and a report of whether it worked."""

    def __init__(self, ends: ExitStack, place: Storage) -> None:
        kept = None if place.store == MEMORY else place.store
        self._layer = ends.enter_context(GuardianLayer(kept, journal=place.journal))

    def begin(self) -> None:
        """Begin another conversation."""
        self._layer.reset()

    def call(self, tool: str, args: dict[str, Any], _result: str, _failed: bool) -> bool:
        """Check the call."""
        return bool(self._layer.check({"tool": tool, "arguments": args})["allowed"])

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """Report whether it worked."""
        self._layer.report_result(
            {"tool": tool, "arguments": args}, not failed, result if failed else None
        )


class Penguin:
    """PenguiFlow's words: a gateway with its built-in rules for tools and secrets, or with all of
    them, and its own configuration."""

    def __init__(self, ends: ExitStack, place: Storage) -> None:
        registry = RuleRegistry()
        registry.register(ToolAllowlistRule(denied_tools=frozenset({"rm"})))
        registry.register(SecretRedactionRule())
        if place.storage == ALL_RULES:
            registry.register(InjectionPatternRule())
        self._gateway = GuardrailGateway(registry, store=place.store, journal=place.journal)
        ends.callback(self._gateway.close)
        self._numbers, self._run = count(), ""

    def begin(self) -> None:
        """Begin another run."""
        if self._run:
            self._gateway.end(self._run)
        self._run = f"r{next(self._numbers)}"

    async def call(self, tool: str, args: dict[str, Any], _result: str, _failed: bool) -> bool:
        """Evaluate the start of a call."""
        said = await self._gateway.evaluate(
            GuardrailEvent("tool_call_start", self._run, None, tool, args)
        )
        return said.action in GOES

    async def result(self, tool: str, args: dict[str, Any], result: str, _failed: bool) -> None:
        """Evaluate its result; a STOP ends the run, and the next call begins another."""
        said = await self._gateway.evaluate(
            GuardrailEvent("tool_call_result", self._run, result, tool, args)
        )
        if said.action not in GOES:
            self.begin()


class Veronica:
    """VERONICA's words: an integration with its runtime core, which makes the call."""

    def __init__(self, ends: ExitStack, place: Storage) -> None:
        core = [AgentStepGuard(10**9), BudgetEnforcer(10**6), CircuitBreaker()]
        policy = (
            {"guards": [{"use": "secrets", "action": "redact"}]}
            if place.storage == MASKED
            else None
        )
        made = VeronicaIntegration(
            core=core, policy=policy, store=place.store, journal=place.journal
        )
        self._vi = ends.enter_context(made)
        self._made, self._comes, self._fails = False, "", False
        self._tool = self._called

    def begin(self) -> None:
        """One integration carries out all chains of calls."""

    def call(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> bool:
        """Have the call made, and its result judged; whether it was made."""
        self._made, self._comes, self._fails = False, result, failed
        # An error of the tool's own is the program's. What has no name of a tool is not called.
        with suppress(RuntimeError, DialectError):
            self._vi.execute(ToolCallContext("r1", tool_name=tool), self._tool, **args)
        return self._made

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """It was judged with the call."""

    def _called(self, **_args: Any) -> str:
        self._made = True
        if self._fails:
            raise RuntimeError(self._comes)
        return self._comes


class Default:
    """Stanchion under the pack `default`: a check, and a report with the result."""

    def __init__(self, ends: ExitStack, place: Storage) -> None:
        choose(PACK)
        self._shield = ends.enter_context(
            Shield.load(PACK, store=place.store, journal=place.journal)
        )
        self._run, self._call = self._shield.run(), ""

    def begin(self) -> None:
        """Begin another run."""
        self._run.close()
        self._run = self._shield.run()

    def call(self, tool: str, args: dict[str, Any], _result: str, _failed: bool) -> bool:
        """Check the call."""
        decision = self._run.check(tool, args)
        self._call = decision.id
        return decision.proceeds

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """Report what came of it."""
        if failed:
            self._run.error(tool, result, args=args, call=self._call)
        else:
            self._run.result(tool, args, result, call=self._call)


OURS: Final[dict[str, Callable[[ExitStack, Storage], Any]]] = {
    "guardian": Guardian,
    "penguiflow": Penguin,
    "veronica": Veronica,
    PACK: Default,
}
"""Who speaks for Stanchion, by name."""
