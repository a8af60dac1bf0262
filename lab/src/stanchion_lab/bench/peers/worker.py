"""Plays sessions through one library, in that library's own Python: reads them line by line,
answers what they took.

It imports nothing of Stanchion unless Stanchion is the library, and is run by its path:
`python worker.py NAME STORAGE FOLDER`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from inspect import iscoroutinefunction
from pathlib import Path
from time import perf_counter_ns as clock, process_time_ns as processor
from typing import Any, NamedTuple, Protocol

OURS = "stanchion "
"""How the names of Stanchion's own players begin."""


class Timed(NamedTuple):
    """What a step took, in nanoseconds: its call and its result, by the clock and of the processor;
    and whether it went ahead."""

    call: int
    result: int
    call_cpu: int
    result_cpu: int
    ahead: bool


class Library(Protocol):
    """A library, asked before and told after each call. Both may be coroutines."""

    def begin(self) -> None:
        """A session begins."""

    def call(self, tool: str, args: dict[str, Any], result: str, failed: bool, /) -> Any:
        """Whether a call goes ahead; one that makes the call itself has its result."""

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool, /) -> Any:
        """What came of it."""


class Guardian:
    """GuardianLayer with its defaults: health, loops, experience and advice; with storage, as it is
    without being told otherwise, it asks a SQLite file for past calls."""

    def __init__(self, storage: str, folder: Path) -> None:
        disk = storage == "disk"
        os.environ["GUARDIAN_MEMORY_DB"] = "false" if disk else "true"
        from GuardianLayer import GuardianLayer  # type: ignore[import-not-found]  # it is in its own environment

        self._layer = (
            GuardianLayer(db_path=str(folder / "guardian.db")) if disk else GuardianLayer()
        )

    def begin(self) -> None:
        """Forget the session before."""
        self._layer.reset()

    def call(self, tool: str, args: dict[str, Any], _result: str, _failed: bool, /) -> bool:
        """Check the call."""
        return bool(self._layer.check({"tool": tool, "arguments": args})["allowed"])

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool, /) -> None:
        """Report whether it worked."""
        self._layer.report_result(
            {"tool": tool, "arguments": args}, not failed, result if failed else None
        )


class Penguin:
    """PenguiFlow with its defaults: the gateway with its built-in rules for tools and secrets, or
    with all of them, told what its planner tells it."""

    def __init__(self, storage: str, _folder: Path) -> None:
        from penguiflow.planner import guardrails  # type: ignore[import-not-found]  # it is in its own environment
        from penguiflow.steering.guard_inbox import (  # type: ignore[import-not-found]  # the same
            InMemoryGuardInbox,
        )

        self._made = guardrails
        registry = guardrails.RuleRegistry()
        registry.register(guardrails.ToolAllowlistRule(denied_tools=frozenset({"rm"})))
        registry.register(guardrails.SecretRedactionRule())
        if storage == "all rules":
            registry.register(guardrails.InjectionPatternRule())
        self._inbox = InMemoryGuardInbox(guardrails.AsyncRuleEvaluator(registry))
        self._gateway = guardrails.GuardrailGateway(
            registry, self._inbox, guardrails.GatewayConfig()
        )
        self._context: Any = None

    def begin(self) -> None:
        """Begin a run; what the last one left in the inbox would stay there for good."""
        self._inbox.drain_responses("r1")
        self._context = self._made.GuardrailContext(run_id="r1")

    async def call(self, tool: str, args: dict[str, Any], _result: str, _failed: bool, /) -> bool:
        """Evaluate the start of a call."""
        return await self._evaluated("tool_call_start", tool_name=tool, tool_args=args)

    async def result(self, tool: str, args: dict[str, Any], result: str, _failed: bool, /) -> None:
        """Evaluate its result."""
        await self._evaluated(
            "tool_call_result", tool_name=tool, tool_args=args, text_content=result
        )

    async def _evaluated(self, kind: str, **fields: Any) -> bool:
        event = self._made.GuardrailEvent(event_type=kind, run_id="r1", **fields)
        decision = await self._gateway.evaluate(self._context, event)
        return decision.action.value in ("ALLOW", "REDACT")


class Veronica:
    """veronica-core: the pipeline of an integration whose shield has everything off, as it is
    without being told otherwise, and the containment of steps, cost and failures around each call;
    with storage its audit log, with or without its masker of secrets."""

    def __init__(self, storage: str, folder: Path) -> None:
        from veronica_core import (  # type: ignore[import-not-found]  # it is in its own environment
            CircuitBreaker,
            ExecutionConfig,
            ExecutionContext,
            WrapOptions,
        )
        from veronica_core.audit.log import AuditLog  # type: ignore[import-not-found]  # the same
        from veronica_core.security.masking import SecretMasker  # type: ignore[import-not-found]  # the same
        from veronica_core.shield.pipeline import ShieldPipeline  # type: ignore[import-not-found]  # the same

        self._options = WrapOptions
        limits = ExecutionConfig(max_cost_usd=1e6, max_steps=10**9, max_retries_total=10**9)
        self._context: Callable[[], Any] = lambda: ExecutionContext(
            limits, pipeline=ShieldPipeline(), circuit_breaker=CircuitBreaker()
        )
        masker = SecretMasker() if storage == "masked records" else None
        self._log = None if storage == "memory" else AuditLog(folder / "audit.jsonl", masker)
        self._run: Any = None
        self._made = False

    def begin(self) -> None:
        """Begin a chain of calls."""
        self._run = self._context()

    def call(self, tool: str, args: dict[str, Any], result: str, failed: bool, /) -> bool:
        """Have the call made under all limits; whether it was made."""
        self._made = False
        said = self._run.wrap_tool_call(
            lambda: self._tool(result, failed, **args), self._options(operation_name=tool)
        )
        if self._log is not None:
            self._log.write("tool_call", {"tool": tool, "args": args, "decision": said.value})
            self._log.write("tool_result", {"tool": tool, "result": result, "failed": failed})
        return self._made

    def result(self, tool: str, args: dict[str, Any], result: str, failed: bool, /) -> None:
        """It reads no results."""

    def _tool(self, comes: str, fails: bool, /, **_args: Any) -> str:
        self._made = True
        if fails:
            raise RuntimeError(comes)
        return comes


LIBRARIES: dict[str, Callable[[str, Path], Library]] = {
    "guardianlayer": Guardian,
    "penguiflow": Penguin,
    "veronica-core": Veronica,
}


def played(library: Any, session: list[Any], loop: asyncio.AbstractEventLoop) -> list[Timed]:
    """What every step of a session took."""
    library.begin()
    if iscoroutinefunction(library.call):
        return loop.run_until_complete(_awaited(library, session))
    took = []
    for step in session:
        used, begun = processor(), clock()
        ahead = library.call(*step)
        called, used_called = clock(), processor()
        again = clock()
        if ahead:
            library.result(*step)
        ended, used_ended = clock(), processor()
        took.append(
            Timed(
                called - begun, ended - again, used_called - used, used_ended - used_called, ahead
            )
        )
    return took


async def _awaited(library: Any, session: list[Any]) -> list[Timed]:
    took = []
    for step in session:
        used, begun = processor(), clock()
        ahead = await library.call(*step)
        called, used_called = clock(), processor()
        again = clock()
        if ahead:
            await library.result(*step)
        ended, used_ended = clock(), processor()
        took.append(
            Timed(
                called - begun, ended - again, used_called - used, used_ended - used_called, ahead
            )
        )
    return took


def _made(name: str, storage: str, folder: Path, ends: ExitStack) -> Any:
    if not name.startswith(OURS):
        return LIBRARIES[name](storage, folder)
    from stanchion_lab.bench.peers import ours

    return ours.OURS[name.removeprefix(OURS)](ends, ours.Storage(storage, folder))


def main() -> None:
    """Answer sessions with what each call and each result took, and whether the call goes ahead."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    name, storage, folder = sys.argv[1:]
    loop = asyncio.new_event_loop()
    with ExitStack() as ends:
        library = _made(name, storage, Path(folder), ends)
        for line in sys.stdin:
            print(json.dumps(played(library, json.loads(line), loop)), file=answers, flush=True)


if __name__ == "__main__":
    main()
