"""What a refusal is about: the same for calls that are refused for the same thing, however they are worded."""

from __future__ import annotations

from typing import Final

from stanchion.guards._fingerprint import digest, fingerprint
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding

AUTHORED: Final = frozenset({"rule.broken"})
"""Codes whose arguments are the policy's own words: they say what is asked of a call, and nothing of the call."""


def refusal(event: ToolCall, finding: Finding) -> str:
    """The guard, the code and the object of a refusal, in eight characters.

    The object is what the guard says it is about, or the texts that it names (a tool, a field, a host); numbers among
    them count how often or how much. Where it names nothing, it is what the call says, whatever its tool, its order
    and its numbers.
    """
    about = finding.about if finding.about else _named(finding)
    if not about and (not finding.args or finding.code in AUTHORED):
        about = fingerprint(event.tool, event.args).sketch
    return digest(finding.guard, finding.code, about)


def _named(finding: Finding) -> str:
    """The texts among a finding's arguments, without case and needless spaces."""
    if finding.code in AUTHORED:
        return ""
    texts = [" ".join(arg.casefold().split()) for arg in finding.args if isinstance(arg, str)]
    return "\n".join(texts)
