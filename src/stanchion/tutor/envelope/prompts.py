"""Layer 3 and what is asked: the prompts of a bundle, and those of the baseline where it has
none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.bundles.file import Bundle

SHOWN: Final = 3
"""How many of the last reasons a player is told."""
LONGEST: Final = 500
RECOVERY: Final = "Your reply was not taken. Give exactly one move, and mind what was wrong:"
EVIDENCE: Final = (
    "Nobody can decide this claim yet, and other words for it do not help. Make a "
    "move that brings evidence"
)
_FILLED: Final = regex(r"\{(task_description|context)\}")


def prompt_of(bundle: Bundle | None, goal: str, context: str) -> str:
    """What a model is asked in a turn; without a bundle that is the context alone."""
    if bundle is None:
        return context
    given = {"task_description": goal, "context": context}
    template = bundle.prompts.get("task_template", "{context}")
    parts = [bundle.prompts.get(name, "") for name in ("system", "action_menu")]
    parts += [_example(one.input, one.output, one.rationale) for one in bundle.exemplars]
    parts.append(_FILLED.sub(lambda found: given[found.group(1)], template))
    return "\n\n".join(part for part in parts if part)


def _example(given: str, reply: str, why: str) -> str:
    return f"Example:\n{given}\nReply:\n{reply}" + (f"\nBecause: {why}" if why else "")


def again_of(bundle: Bundle | None, prompt: str, reasons: Sequence[str]) -> str:
    """What a model is asked when it is asked again: the same, and what was wrong with its
    replies."""
    words = RECOVERY if bundle is None else bundle.prompts.get("error_recovery", RECOVERY)
    told = [f"- {one[:LONGEST]}" for one in reasons[-SHOWN:]]
    return "\n".join([prompt, "", words, *told])


def reason_of(verdict: CheckVerdict | None, why: str, missing: str) -> str:
    """What a player is told about a move that is not made; an open claim is answered by a demand
    for evidence."""
    if verdict is not CheckVerdict.UNDECIDABLE:
        return why
    return f"{EVIDENCE}: {missing}." if missing else f"{EVIDENCE}."
