"""Answers of a user's code that nobody waits for: they enter the run's next event, so they are kept
short."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.findings import Finding

LONGEST: Final = 2_000
"""How many characters of an answer are read in all."""
MOST: Final = 64
"""How many arguments of a finding are, and how many edits it may ask for."""
LARGEST: Final = 1 << 20
"""How many bytes these edits have at the most: one cannot be left out, nor cut."""


def cut(text: str, longest: int = LONGEST) -> str:
    """A text that is no longer than that."""
    return text if len(text) <= longest else f"{text[: max(0, longest - 1)]}…"


def bounded(finding: Finding) -> Finding:
    """A finding as it is, or with its words cut; one with more edits than anybody needs is none."""
    if len(finding.patches) + len(finding.hides) + len(finding.effects) > MOST:
        raise TypeError(f"a finding has {MOST} edits and effects at the most")
    if finding.patches and len(msgspec.json.encode(finding.patches)) > LARGEST:
        raise TypeError(f"the edits of a finding have {LARGEST:,} bytes at the most")
    words = [
        finding.text,
        finding.guidance,
        finding.about,
        *[arg for arg in finding.args[:MOST] if isinstance(arg, str)],
    ]
    if len(finding.args) <= MOST and sum(map(len, words)) <= LONGEST:
        return finding
    left = LONGEST

    def shortened(value: Any) -> Any:
        nonlocal left
        if not isinstance(value, str):
            return value
        short = cut(value, left)
        left = max(0, left - len(short))
        return short

    return msgspec.structs.replace(
        finding,
        text=shortened(finding.text),
        guidance=shortened(finding.guidance),
        about=shortened(finding.about),
        args=tuple([shortened(arg) for arg in finding.args[:MOST]]),
    )
