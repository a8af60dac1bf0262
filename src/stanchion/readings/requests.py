"""Requests: what a text of the user wants of the agent itself, and not of its work."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.signs import signs, suspicious

_GET: Final = (
    r"(?:give|grant|get|gain|obtain|enable|activate|unlock|turn on|switch "
    r"(?:on|to)|enter|run as|act as|become)"
)
_DROP: Final = (
    r"(?:bypass|disable|deactivate|remove|lift|ignore|skip|override|turn off|switch "
    r"off|get around|without)"
)
_POWER: Final = (
    r"(?:admin(?:istrator)?|root|sudo|superuser|system|elevated|full|unrestricted|"
    r"unlimited|developer|god|debug)"
)
_BOUND: Final = (
    r"(?:restrictions?|limits?|limitations?|guardrails?|filters?|safeguards?|permissions?|allow "
    r"?lists?|checks?"
    r"|polic(?:y|ies)|rules?)"
)
_WHOSE: Final = r"(?:your|tool|safety|security|content|access|usage)"
"""What tells the bounds of an agent from those of anything else."""
_POWERS: Final = regex(
    rf"\b(?:{_GET}\b[^.?!\n]{{0,40}}\b{_POWER} (?:mode|access|rights?|privileges?|permissions?)"
    rf"|(?:run|execute|act|log ?in|continue) as (?:an? |the )?(?:admin(?:istrator)?|root|superuser)"
    rf"|{_DROP} (?:(?:all|any|the|its|these|those) ){{0,2}}(?:{_WHOSE} ){{1,3}}{_BOUND})\b",
    re.IGNORECASE,
)
"""Getting powers that the agent was not given, or dropping what bounds it."""


def asks_for_instructions(text: str) -> bool:
    """Whether a text asks for what the agent was told, such as its system prompt."""
    return suspicious([text]) and any(sign.kind == "probe" for sign in signs(text))


def asks_for_powers(text: str) -> bool:
    """Whether a text asks the agent to have more power than it was given, or to leave what bounds
    it."""
    return _POWERS.search(text) is not None
