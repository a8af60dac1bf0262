"""The five dialects: what each gives back, at its own entry points, for the steps of a case."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Final
from zlib import crc32

import msgspec

from stanchion.dialects import agent33, guardian, penguiflow, ragix, veronica
from stanchion.testing import FakeClock
from tools.decisions.case import Case, Judge
from tools.decisions.telling import GOT, Told

SHARE: Final = 20
"""Of how many stories one is told to the dialects."""
STORIES: Final = ("drawn/", "corpora/honest_sessions", "corpora/loops", "corpora/tool_errors")
"""How the names of stories begin; those under the pack `default` are told."""
IN_MEMORY: Final[dict[str, Any]] = {"store": "memory:", "journal": "memory:"}


def choose_dialects(case: Case) -> list[str]:
    """The dialects to which a case is told: all or none."""
    chosen = case.policy == "default" and case.name.startswith(STORIES)
    return list(DIALECTS) if chosen and (crc32(case.name.encode()) >> 9) % SHARE == 0 else []


def speak(case: Case, dialect: str) -> list[Told]:
    """What a dialect gives back for each step that it has a word for."""
    clock, told = FakeClock(), []
    with DIALECTS[dialect](clock) as answer:
        for step in [step for step in case.steps if isinstance(step, Judge)]:
            clock.advance(step.advance_ms)
            try:
                got = answer(step)
            except (ValueError, TypeError) as error:
                got = {"raised": f"{type(error).__name__}: {error}"}
            told += [] if got is None else [{GOT: got}]
    return told


Answer = Callable[[Judge], Told | None]

FEATURES: Final[dict[str, Any]] = {
    "budget": {"enabled": True, "max_calls": 20, "max_cost_usd": 2.0},
    "circuit_breaker": {"enabled": True},
    "egress": {"enabled": True, "allowed_hosts": ["example.org", "api.example.com"]},
    "secret_guard": {"enabled": True},
}
"""What of VERONICA's shield is switched on."""


@contextmanager
def _open_agent33(clock: FakeClock) -> Iterator[Answer]:
    """The five hooks."""
    with closing(agent33.Guardrails.load(clock=clock, **IN_MEMORY).shield) as shield:
        hooks = agent33.Guardrails(shield).hooks("ann", "work")

        def answer(step: Judge) -> Told | None:
            tool, args = step.fields.get("tool", ""), step.fields.get("args", {})
            match step.stage:
                case "tool_call":
                    result = hooks.pre_execution(tool, args)
                case "tool_result":
                    result = hooks.post_execution(tool, args, step.fields["result"])
                case "handoff":
                    result = hooks.pre_handoff(step.fields["to"], payload=step.fields["payload"])
                case "error":
                    failed = hooks.on_error(tool, step.fields["text"], args=args)
                    return {"severity": failed.severity, "recovery": failed.recovery}
                case _:
                    return None
            details = [[one.guardrail_id, one.result] for one in result.details]
            words = {"message": result.message, "remediation": result.remediation}
            return {"verdict": result.final_verdict, "details": details, **words}

        yield answer


@contextmanager
def _open_guardian(clock: FakeClock) -> Iterator[Answer]:
    """Checks, and what came of the calls."""
    with guardian.GuardianLayer(clock=clock, journal="memory:") as layer:

        def answer(step: Judge) -> Told | None:
            call = {"tool": step.fields.get("tool", ""), "arguments": step.fields.get("args", {})}
            match step.stage:
                case "tool_call":
                    return layer.check(call)
                case "tool_result":
                    layer.report_result(call, success=True, result=step.fields["result"])
                case "error":
                    layer.report_result(call, success=False, error=step.fields["text"])
                case _:
                    return None
            return {"awareness": layer.get_awareness_context()}

        yield answer


EVENTS: Final = {
    "prompt": "llm_before",
    "tool_call": "tool_call_start",
    "tool_result": "tool_call_result",
    "model_chunk": "llm_stream_chunk",
}


@contextmanager
def _open_penguiflow(clock: FakeClock) -> Iterator[Answer]:
    """The gateway with the rules that come with it."""
    registry = penguiflow.RuleRegistry()
    registry.register(penguiflow.SecretRedactionRule())
    registry.register(penguiflow.InjectionPatternRule())
    with closing(penguiflow.GuardrailGateway(registry, clock=clock)) as gateway:

        def answer(step: Judge) -> Told | None:
            if step.stage not in EVENTS:
                return None
            fields = step.fields
            payload = {"result": fields["result"]} if "result" in fields else {}
            about = (fields.get("text"), fields.get("tool"), fields.get("args"), payload)
            event = penguiflow.GuardrailEvent(EVENTS[step.stage], "run", *about, 0.0)
            told: Told = msgspec.to_builtins(gateway.evaluate_sync(event))
            return {name: value for name, value in told.items() if not name.endswith("_id")}

        yield answer


@contextmanager
def _open_veronica(clock: FakeClock) -> Iterator[Answer]:
    """The four boundaries, with everything switched on that lets calls pass."""
    config = veronica.ShieldConfig.from_dict(FEATURES)
    pipeline = veronica.VeronicaIntegration(shield=config, clock=clock)._shield_pipeline
    assert pipeline is not None
    numbers = itertools.count(1)
    with closing(pipeline):

        def answer(step: Judge) -> Told | None:
            fields = step.fields
            name, args = fields.get("tool"), fields.get("args", {})
            about = veronica.ToolCallContext(str(next(numbers)), tool_name=name, metadata=args)
            match step.stage:
                case "tool_call":
                    decision = pipeline.before_llm_call(about)
                case "egress":
                    decision = pipeline.before_egress(about, fields["url"], fields["method"])
                case "error":
                    decision = pipeline.on_error(about, ConnectionError(fields["text"]))
                case "charge":
                    decision = pipeline.before_charge(about, fields["cost_usd"])
                case _:
                    return None
            return {"decision": str(decision)}

        yield answer


class Shows:
    """Runs nothing, and shows a line for every command."""

    def is_safe(self, command: str) -> tuple[bool, str]:
        """Whether a command may run."""
        return "rm " not in command, "it removes something"

    def execute(self, command: str, mode: str = "read") -> tuple[int, str, str]:
        """What a command gives."""
        return 0, f"{len(command)} notes.txt\n", ""


@contextmanager
def _open_ragix(_clock: FakeClock) -> Iterator[Answer]:
    """An episode of one turn for each command."""
    tutor = ragix.Tutor("count", executor=Shows())
    tutor.setup_game("find out how long the notes are")
    envelope = ragix.TutorEnvelope(
        base_tutor=tutor,
        layer1_schema="lenient",
        layer2_repair="off",
        layer3_policy="off",
        manifest_enabled=False,
    )

    def answer(step: Judge) -> Told | None:
        command = step.fields.get("args", {}).get("command")
        if step.stage != "tool_call" or not isinstance(command, str):
            return None
        episode = envelope.run_episode(lambda *_, **__: f"I propose: {command}", turns=1)
        turns = episode.trace.turns
        moves = [[turn.move_type, turn.move_verdict, turn.score_delta] for turn in turns]
        return {"moves": moves, "score": episode.score}

    yield answer


DIALECTS: Final[dict[str, Callable[[FakeClock], AbstractContextManager[Answer]]]] = {
    "agent33": _open_agent33,
    "guardian": _open_guardian,
    "penguiflow": _open_penguiflow,
    "ragix": _open_ragix,
    "veronica": _open_veronica,
}
