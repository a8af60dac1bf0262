"""How much a deep rule may answer: what it says is cut, and an answer that is too large for a record is none."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.findings import Finding

LONGEST: Final = 4_000
"""How many characters of each text are kept."""
LARGEST: Final = 1 << 20
"""How many bytes a finding has at most; one with more is a failure, because a patch cannot be left out."""


def bounded(answer: str | Finding) -> str | Finding:
    """An answer with its texts cut; raises `ValueError` where it is too large even so."""
    if isinstance(answer, str):
        return answer[:LONGEST]
    finding = msgspec.structs.replace(
        answer,
        text=answer.text[:LONGEST],
        guidance=answer.guidance[:LONGEST],
        about=answer.about[:LONGEST],
        args=tuple([arg[:LONGEST] if isinstance(arg, str) else arg for arg in answer.args]),
    )
    if len(msgspec.json.encode(finding)) > LARGEST:
        raise ValueError(f"a finding has at most {LARGEST} bytes: have it say less")
    return finding
