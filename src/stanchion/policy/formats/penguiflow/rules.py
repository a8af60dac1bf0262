"""Rules: what each rule of a pack is among the guards of a policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from stanchion.policy.formats.penguiflow.schema import (
    Jailbreaks,
    NoConfig,
    OwnCode,
    Pack,
    Patterns,
    RuleEntry,
    Tools,
)
from stanchion.policy.schema import FollowUpName

STAGES: Final = {
    "llm_before": ("model_call",),
    "tool_call_start": ("tool_call",),
    "tool_call_result": ("tool_result", "error"),
    "llm_stream_chunk": ("model_chunk", "model_reply"),
}
"""Where each event is caught. What a tool fails with is a result as well, and a reply may come
whole."""
STOP: Final = "halt"
"""What a STOP is called in a policy: it ends the run."""
NOTHING: Final = "give `allowed_tools` or `denied_tools`, or leave the rule out"


class Part(NamedTuple):
    """One guard of a rule. `path` leads to where the rule's settings say it, `name` is what it is
    called behind the rule's id; the first has no name."""

    use: str
    options: dict[str, Any]
    name: str = ""
    path: tuple[str | int, ...] = ()


Parts = Callable[[Any, Pack, bool], Iterator[Part]]
"""Gives the guards of a rule by its settings, in a pack, as a deep rule or a fast one."""


class Binding(NamedTuple):
    """What a rule's id stands for. `deep` is the list that it belongs to, `effects` are what it
    does besides its action; `lacks` is what this version does not have, so that the rule can be
    switched off and not on."""

    deep: bool
    config: Any
    parts: Parts
    effects: tuple[FollowUpName, ...] = ()
    lacks: str = ""


def _injection(config: Jailbreaks, _pack: Pack, _deep: bool) -> Iterator[Part]:
    stages = ["error", "handoff", "model_call", "prompt", "tool_result"]
    yield Part("injection", {"action": STOP, "users": True, "stages": stages})
    for at, one in enumerate(config.patterns):
        when = (
            f"event.text != null and "
            f"event.text.matches({json.dumps(f'(?i){one.pattern}', ensure_ascii=False)})"
        )
        said = {
            "when": when,
            "action": STOP,
            "stages": ["prompt"],
            "message": f"this looks like `{one.intent}`",
        }
        yield Part("rule", said, f"pattern-{at + 1}", ("patterns", at))


def _tools(config: Tools, _pack: Pack, _deep: bool) -> Iterator[Part]:
    if config.allowed_tools is not None:
        yield Part(
            "tool_allowlist",
            {"tools": config.allowed_tools, "action": STOP},
            "",
            ("allowed_tools",),
        )
    if config.denied_tools is not None:
        name = "" if config.allowed_tools is None else "denied"
        yield Part(
            "tool_denylist", {"tools": config.denied_tools, "action": STOP}, name, ("denied_tools",)
        )


def _secrets(config: Patterns, _pack: Pack, _deep: bool) -> Iterator[Part]:
    own = [
        {"kind": name.lower().replace("_", "-"), "pattern": said}
        for name, said in config.patterns.items()
    ]
    stages = [*STAGES["tool_call_result"], *STAGES["llm_stream_chunk"]]
    yield Part(
        "secrets", {"action": "redact", "patterns": own, "stages": stages}, "", ("patterns",)
    )


def unusable(config: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where a rule's settings have a pattern of a secret that cannot be used, and why."""
    from stanchion.readings.scan.pattern import Pattern
    from stanchion.readings.scan.syntax import PatternError

    for name, pattern in config.patterns.items() if isinstance(config, Patterns) else ():
        try:
            Pattern(pattern)
        except PatternError as error:
            yield ("patterns", name), str(error)


def _scope(_config: NoConfig, _pack: Pack, _deep: bool) -> Iterator[Part]:
    yield Part("scope_classifier", {"action": "warn"})


def waits_of(pack: Pack) -> dict[str, int]:
    """How long a call waits for deep rules, by its risk, in the words of a policy's section
    `deep`."""
    router = pack.risk_router
    high, medium = round(router.high_risk_wait_ms), round(router.medium_risk_wait_ms)
    return {"critical_wait_ms": high, "high_wait_ms": high, "medium_wait_ms": medium}


def _own(config: OwnCode, pack: Pack, deep: bool) -> Iterator[Part]:
    """A rule of one's own. What is asked cannot stop single pieces of a reply: it judges the whole
    one."""
    stages = [stage for event in config.events for stage in STAGES[event] if stage != "model_chunk"]
    options: dict[str, Any] = {
        "call": config.call,
        "deep": deep,
        "stages": list(dict.fromkeys(stages)),
    }
    if deep:
        options["deadline_ms"] = max(DEADLINE_MS, *waits_of(pack).values())
    else:
        options["deadline_ms"] = round(pack.gateway.sync.timeout_ms)
    yield Part("python", options, "", ("call",))


def _none(_config: Any, _pack: Pack, _deep: bool) -> Iterator[Part]:
    yield from ()


DEADLINE_MS: Final = 1_000
"""How long the code of a deep rule has at the least, whoever waits for it."""

BINDINGS: Final = {
    "injection-patterns": Binding(
        False, Jailbreaks, _injection, ("flag_trajectory", "increment_strike")
    ),
    "tool-allowlist": Binding(False, Tools, _tools),
    "secret-redaction": Binding(False, Patterns, _secrets),
    "scope-classifier": Binding(True, NoConfig, _scope),
    "hf-jailbreak": Binding(True, dict, _none, lacks="classifier that loads a model by its name"),
}
"""The rules that a pack can name."""


def binding_of(rule: RuleEntry, deep: bool) -> Binding | None:
    """What a rule stands for: a rule of PenguiFlow's, or one's own, which names its code; `None`
    for no rule."""
    known = BINDINGS.get(rule.id)
    if known is None and "call" in rule.config:
        return Binding(deep, OwnCode, _own)
    return known
