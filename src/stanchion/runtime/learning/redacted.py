"""Redaction before keeping: what guards hide, what looks like a secret and what promises one reaches no tier."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from stanchion.audit.redaction import masked
from stanchion.experience.bounded import bounded, cut
from stanchion.experience.incident import MOST_HINT, MOST_REASON
from stanchion.guards.secrets import Secrets
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of
from stanchion.kernel.events import Event, Failure, Prompt, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.patches import apply
from stanchion.kernel.soundness import sound_or_none
from stanchion.readings import read
from stanchion.runtime.deciding.discretion import arguments

WITHHELD: Final = "$withheld"
NOBODY: Final = RunInfo("")
ROOM: Final = 20_000
"""How much of an error's text is looked at; the rest is not kept anyway."""


@cache
def _secrets() -> Secrets:
    return Secrets()


def kept_args(plans: Plans, tool: str, args: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """A call's arguments as they are kept, without secrets and bounded; and whether all of them could be read."""
    call = ToolCall(id="", at=0, run=plans.run, tool=tool, args=args)
    shown = arguments(plans, call)
    whole = isinstance(shown, dict) and WITHHELD not in shown
    hidden = _without(ToolCall(id="", at=0, run=NOBODY, args=shown)) if whole else shown
    return bounded(masked(hidden)), whole


def kept_words(plans: Plans, event: Failure) -> str:
    """What a failure says, as it is kept: its kind, and its words without secrets."""
    text = _guarded(plans, event)
    shown = masked(str(_without(Prompt(id="", at=0, run=NOBODY, text=text[:ROOM])))) if text else ""
    said = f"{event.error}: {shown}" if shown and event.error else shown if shown else event.error
    return cut(kept_name(plans, said, MOST_REASON), MOST_REASON)


def kept_name(by: Any, name: str, most: int = MOST_HINT) -> str:
    """A name as it is shown under the policy of a shield or of a run's plans, cut where it is long."""
    return cut(by.policy.veil.name(name), most)


def _guarded(plans: Plans, event: Failure) -> str:
    """The words of a failure without what guards redact in it."""
    reading = plans.policy.read(event)
    patches: list[Any] = []
    try:
        for _, judge, _ in plans.of((event,), "").redactors:
            finding = sound_or_none(judge(reading))
            patches += () if finding is None else (*finding.patches, *finding.hides)
        return str(apply(event.text, patches))
    except Exception:  # noqa: BLE001 - a guard may raise anything; then all of it is withheld
        return "[withheld]"


def _without(event: Event) -> Any:
    """The content of an event without anything that looks like a secret."""
    found = _secrets().judge(read(event))
    content = content_of(event)
    return apply(content, (*found.patches, *found.hides)) if isinstance(found, Finding) else content
