"""Shields for tests of HTTP clients: names lead where a test says, and a guard hides one word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from stanchion import Shield
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.content import content_of
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.readings.texts import TextLeaf, TextSpan, hiding, leaves
from stanchion.testing import shield_for

WORD = "hunter2"


class Hides(msgspec.Struct, frozen=True):
    """A pure guard that hides one word wherever it stands in a request."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: frozenset[Stage] = frozenset({Stage.EGRESS})
    id: str = "hides"
    priority: int = 50
    category: Category = Category.SAFETY
    mode: str = "enforce"
    action: Action = Action.REDACT

    def judge(self, reading: Any, /) -> Finding | None:
        """Hide the word, or say what else is to be done about it."""
        event = reading.event
        content = content_of(event)
        found = leaves(content)
        spans = [_spans(leaf) for leaf in found]
        if not any(spans):
            return None
        patches = hiding(found, spans, lambda kind, _: f"[redacted:{kind}]")
        return Finding(self.action, "test.secret", text="a secret would leave", patches=patches)


def _spans(leaf: TextLeaf) -> Sequence[TextSpan]:
    at = leaf.text.find(WORD)
    return () if at < 0 else (TextSpan(at, at + len(WORD), "word"),)


def shield(
    names: dict[str, list[str]] | Any = None, guards: Sequence[Any] = (), **egress: Any
) -> Shield:
    """A shield whose only guard is `egress`; `names` says where names lead, as a table or a
    function."""
    known = {} if names is None else names
    resolver = known if callable(known) else lambda host, port: known.get(host, [])
    return shield_for(
        {"name": "http", "guards": [{"use": "egress", **egress}]},
        guards=guards,
        resolver=resolver,
    )


def judged(shield: Shield) -> list[Any]:
    """The records of what was decided about requests, in order."""
    return [one for one in (kept.read() for kept in shield.journal.kept()) if one.stage == "egress"]


def decided(shield: Shield) -> list[str]:
    """What was decided about requests, in order: the code of the first finding, or the action where
    there is none."""
    return [one.findings[0].code if one.findings else one.action for one in judged(shield)]
