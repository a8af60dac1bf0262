"""Where a secret is told, by its fingerprint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from stanchion.kernel.findings import PathStep
from stanchion.kernel.names import Names
from stanchion.kernel.stages import Stage
from stanchion.readings.cover import Cover
from stanchion.readings.texts import TextLeaf, TextSpan
from stanchion.readings.word_lists import Strings

DIGITS: Final = 12


def fingerprint(kind: str, secret: str) -> str:
    """What a secret of a kind is called."""
    return sha256(f"{kind}\0{secret}".encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def not_allowed(
    text: str, spans: list[TextSpan], allowed: Names, cleared: Iterable[str]
) -> list[TextSpan]:
    """The spans of a text that are not allowed: neither by fingerprint nor by value, nor inside of
    what is."""
    if not spans or not (allowed.exact or allowed.globs or cleared):
        return spans
    free = Cover(
        (span.start, span.end)
        for span in spans
        if _free(span.kind, text[span.start : span.end], allowed, cleared)
    )
    return [span for span in spans if not free.holds(span.start, span.end)]


def _free(kind: str, secret: str, allowed: Names, cleared: Iterable[str]) -> bool:
    called = fingerprint(kind, secret)
    return called in allowed.exact or called in cleared or secret in allowed


ROOTS: Final = {
    Stage.TOOL_CALL: "args",
    Stage.TOOL_RESULT: "result",
    Stage.HANDOFF: "payload",
    Stage.HANDOFF_DONE: "payload",
    Stage.MODEL_CALL: "",
    Stage.EGRESS: "",
}
"""What the content of a stage is called; the others have a text."""
MOST: Final = 4
"""How many are told one by one."""
LONGEST_TOLD: Final = 60


class SecretArguments(NamedTuple):
    """The arguments of a finding, and the fingerprints of all that was found: of what several rules
    find as one and the same, one by each of its kinds, so that any of them can be allowed.
    `secrets` are those of what encoded ones say, which are the same however they are encoded, and
    of the others as they stand."""

    args: Strings
    fingerprints: Strings
    secrets: Strings


def told(
    stage: Stage, leaves: Sequence[TextLeaf], spans: Sequence[Sequence[TextSpan]]
) -> SecretArguments:
    """What is said of secrets in these texts."""
    secret = {leaf.text for leaf, here in zip(leaves, spans, strict=True) if leaf.named and here}
    found: dict[tuple[str, str, str], None] = {}
    fingerprints: dict[str, None] = {}
    secrets: dict[str, None] = {}
    for leaf, here in zip(leaves, spans, strict=True):
        end = -1
        named = (-1, -1)
        for span in here:
            if span.start >= end or (span.start, span.end) == named:
                called = fingerprint(span.kind, leaf.text[span.start : span.end])
                fingerprints[called] = None
                secrets[span.called if span.called else called] = None
                if span.start >= end:
                    found[span.kind, _place(stage, leaf, secret), called] = None
                    named = (span.start, span.end)
            end = max(end, span.end)
    first, *others = found
    kind, place, _ = first
    more = "".join([f"; {kind} in `{place}`" for kind, place, _ in others[: MOST - 1]])
    left = len(others) - (MOST - 1)
    more += f"; and {left} more" if left > 0 else ""
    names = ", ".join(dict.fromkeys([called for _, _, called in (first, *others)[:MOST]]))
    return SecretArguments((kind, place, more, names), tuple(fingerprints), tuple(secrets))


def _place(stage: Stage, leaf: TextLeaf, secret: set[str]) -> str:
    root = ROOTS.get(stage, "text")
    steps = [root] if root else []
    steps += [_step(step, secret) for step in leaf.path]
    if leaf.named:
        steps.append("(a name)")
    return ".".join(steps)


def _step(step: PathStep, secret: set[str]) -> str:
    if not isinstance(step, str):
        return str(step)
    if step in secret:
        return "[redacted]"
    seen = "".join(
        [char if char.isprintable() and char != "`" else "?" for char in step[: LONGEST_TOLD + 1]]
    )
    return seen if len(seen) <= LONGEST_TOLD else f"{seen[:LONGEST_TOLD]}…"
