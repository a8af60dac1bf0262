"""Ways of playing that contradict themselves: guessing names that are not there, reading without a
question, taking on everything at once."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.tutor.advice.failures import PlayedStep

WINDOW: Final = 5
_MISSING: Final = ("not found", "no such file")
_FILE: Final = regex(r"[\w./-]+\.\w+")


def contradiction(steps: tuple[PlayedStep, ...], validated: int) -> str:
    """How the last steps contradict themselves, by the name that cards know; empty where they do
    not."""
    last = steps[-WINDOW:]
    if _guesses(steps[-2:]):
        return "repeated_failure"
    reads = [step for step in last if _is_read(step)]
    if len(reads) >= 2 and len(reads) > validated + 1:
        return "blind_reading"
    return "resource_depletion" if _takes_on_too_much(last) else ""


def _guesses(last: tuple[PlayedStep, ...]) -> bool:
    return len(last) == 2 and all(
        step.is_error and _is_missing(step.output.lower()) for step in last
    )


def _is_missing(output: str) -> bool:
    return any(one in output for one in _MISSING)


def _is_read(step: PlayedStep) -> bool:
    action = step.action.upper()
    return "READ" in action or "CAT " in action


def _takes_on_too_much(last: tuple[PlayedStep, ...]) -> bool:
    files = {name for step in last if _is_read(step) for name in _FILE.findall(step.action)}
    return len(files) >= 3 or sum(map(_is_of_many, last)) >= 2


def _is_of_many(step: PlayedStep) -> bool:
    action = step.action
    return action.lower().count("file") >= 2 or "*.txt" in action or action.count(";") > 1
