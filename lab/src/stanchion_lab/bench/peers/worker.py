"""Plays sessions through one library, in that library's own Python: reads them line by line, answers what they took.

It imports nothing of Stanchion, and is run by its path: `python worker.py NAME STORAGE FOLDER`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns as clock
from typing import Any, Protocol


class Library(Protocol):
    """A library, asked before and told after each call."""

    def begin(self) -> None:
        """A session begins."""

    def call(self, tool: str, args: dict[str, Any]) -> bool:
        """Whether a call goes ahead."""

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """What came of it."""


class Guardian:
    """GuardianLayer: health, loops, experience and advice; with storage it asks a SQLite file for past calls."""

    def __init__(self, disk: bool, folder: Path) -> None:
        os.environ["GUARDIAN_MEMORY_DB"] = "false" if disk else "true"
        from GuardianLayer import GuardianLayer  # type: ignore[import-not-found]  # it is in its own environment

        self._layer = GuardianLayer(db_path=str(folder / "guardian.db")) if disk else GuardianLayer()

    def begin(self) -> None:
        """Forget the session before."""
        self._layer.reset()

    def call(self, tool: str, args: dict[str, Any]) -> bool:
        """Check the call."""
        return bool(self._layer.check({"tool": tool, "arguments": args})["allowed"])

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """Report whether it worked."""
        self._layer.report_result({"tool": tool, "arguments": args}, not failed, result if failed else None)


class Passes:
    """A deep rule for PenguiFlow that is asked about each call, and has nothing against it."""

    rule_id, version, enabled = "passes", "1", True
    supports_event_types = frozenset({"tool_call_start"})

    def __init__(self, guardrails: Any) -> None:
        self.cost, self.severity = guardrails.RuleCost.DEEP, guardrails.GuardrailSeverity.LOW

    async def evaluate(self, _event: Any, _context: Any) -> None:
        """Pass."""


class Penguin:
    """PenguiFlow: the gateway with all its built-in rules. With `deep` it has a rule more, which it does not wait for,
    because no tool has a risk."""

    def __init__(self, _disk: bool, _folder: Path, deep: bool = False) -> None:
        from penguiflow.planner import guardrails  # type: ignore[import-not-found]  # it is in its own environment
        from penguiflow.steering.guard_inbox import (  # type: ignore[import-not-found]  # the same
            InMemoryGuardInbox,
        )

        self._made = guardrails
        registry = guardrails.RuleRegistry()
        for rule in (guardrails.ToolAllowlistRule, guardrails.SecretRedactionRule, guardrails.InjectionPatternRule):
            registry.register(rule())
        if deep:
            registry.register(Passes(guardrails))
        self._inbox = InMemoryGuardInbox(guardrails.AsyncRuleEvaluator(registry))
        config = guardrails.GatewayConfig(async_enabled=deep)
        self._gateway = guardrails.GuardrailGateway(registry, self._inbox, config)
        self._loop = asyncio.new_event_loop()
        self._context: Any = None

    def begin(self) -> None:
        """Begin a run; what the last one left in the inbox would stay there for good."""
        self._inbox.drain_responses("r1")
        self._context = self._made.GuardrailContext(run_id="r1")

    def call(self, tool: str, args: dict[str, Any]) -> bool:
        """Evaluate the start of a call."""
        return self._evaluated("tool_call_start", tool_name=tool, tool_args=args, text_content=json.dumps(args))

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """Evaluate its result."""
        self._evaluated("tool_call_result", tool_name=tool, tool_args=args, text_content=result)

    def _evaluated(self, kind: str, **fields: Any) -> bool:
        event = self._made.GuardrailEvent(event_type=kind, run_id="r1", **fields)
        decision = self._loop.run_until_complete(self._gateway.evaluate(self._context, event))
        return decision.action.value in ("ALLOW", "REDACT")


class Veronica:
    """veronica-core: the policy engine before a call, and the containment of steps, cost and failures around it; with
    storage its audit log, secrets masked."""

    def __init__(self, disk: bool, folder: Path) -> None:
        from veronica_core import (  # type: ignore[import-not-found]  # it is in its own environment
            CircuitBreaker,
            ExecutionConfig,
            ExecutionContext,
            WrapOptions,
        )
        from veronica_core.audit.log import AuditLog  # type: ignore[import-not-found]  # the same
        from veronica_core.security.capabilities import CapabilitySet  # type: ignore[import-not-found]  # the same
        from veronica_core.security.masking import SecretMasker  # type: ignore[import-not-found]  # the same
        from veronica_core.security.policy_engine import PolicyHook  # type: ignore[import-not-found]  # the same
        from veronica_core.shield.pipeline import ShieldPipeline  # type: ignore[import-not-found]  # the same
        from veronica_core.shield.types import Decision, ToolCallContext  # type: ignore[import-not-found]  # the same

        self._about, self._allow, self._options = ToolCallContext, Decision.ALLOW, WrapOptions
        self._pipeline = ShieldPipeline(tool_dispatch=PolicyHook(caps=CapabilitySet.dev()))
        limits = ExecutionConfig(max_cost_usd=1e6, max_steps=500, max_retries_total=100)
        # The hook is asked with the call's own words: a context that is given it asks again without any, and halts.
        self._context: Callable[[], Any] = lambda: ExecutionContext(limits, circuit_breaker=CircuitBreaker())
        self._log = AuditLog(folder / "audit.jsonl", SecretMasker()) if disk else None
        self._run: Any = None

    def begin(self) -> None:
        """Begin a chain of calls."""
        self._run = self._context()

    def call(self, tool: str, args: dict[str, Any]) -> bool:
        """Evaluate the policy, and the limits around a call that does nothing."""
        action, words = _as_action(tool, args)
        about = self._about(request_id="r1", tool_name=tool, metadata={"action": action, "args": words})
        said = self._pipeline.before_tool_call(about)
        held = self._run.wrap_tool_call(_nothing, self._options(operation_name=tool))
        if self._log is not None:
            self._log.write("tool_call", {"tool": tool, "args": args, "decision": said.value})
        return bool(said == self._allow and held == self._allow)

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool) -> None:
        """It reads no results; with storage they are written down."""
        if self._log is not None:
            self._log.write("tool_result", {"tool": tool, "result": result, "failed": failed})


def _nothing() -> None:
    return None


def _as_action(tool: str, args: dict[str, Any]) -> tuple[str, list[str]]:
    """A call in the words of the policy engine."""
    if "command" in args and tool not in ("edit_file", "write_file"):
        return "shell", str(args["command"]).split()
    if "path" in args:
        return "file_read" if "read" in tool else "file_write", [str(args["path"])]
    return "net", [str(value) for value in args.values()]


LIBRARIES: dict[str, Callable[[bool, Path], Library]] = {
    "guardianlayer": Guardian,
    "penguiflow": Penguin,
    "penguiflow deep": partial(Penguin, deep=True),
    "veronica-core": Veronica,
}


def main() -> None:
    """Answer sessions with what each call and each result took, and whether the call goes ahead."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    name, storage, folder = sys.argv[1:]
    library = LIBRARIES[name](storage == "disk", Path(folder))
    for line in sys.stdin:
        library.begin()
        took = []
        for tool, args, result, failed in json.loads(line):
            begun = clock()
            ahead = library.call(tool, args)
            called = clock()
            library.result(tool, args, result, failed)
            took.append((called - begun, clock() - called, ahead))
        print(json.dumps(took), file=answers, flush=True)


if __name__ == "__main__":
    main()
