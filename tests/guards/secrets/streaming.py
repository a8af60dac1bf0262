"""A stream as a runtime makes it: what is settled goes out, piece by piece, with what stood
before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stanchion.guards.secrets import Secrets
from stanchion.kernel.events import ModelChunk, RunInfo
from stanchion.kernel.patches import apply
from stanchion.readings import read

RUN = RunInfo("r", task="t")


def whole(guard: Secrets, text: str) -> str:
    """The redaction of a whole text that came as one piece."""
    return _patched(guard, ModelChunk(id="e", at=0, run=RUN, text=text, before=""))


def streamed(guard: Secrets, chunks: Iterable[str]) -> list[str]:
    """What comes out of a stream, piece by piece."""
    held, before, out = "", "", []
    for chunk in chunks:
        held += chunk
        at = guard.settled(held)
        assert 0 <= at <= len(held)
        assert len(held) - at <= 16_384
        if at:
            out.append(
                _patched(guard, ModelChunk(id="e", at=0, run=RUN, text=held[:at], before=before))
            )
            before, held = (before + held[:at])[-guard.CONTEXT :], held[at:]
    out.append(_patched(guard, ModelChunk(id="e", at=0, run=RUN, text=held, before=before)))
    return out


def _patched(guard: Secrets, event: Any) -> str:
    finding = guard.judge(read(event))
    return str(event.text if finding is None else apply(event.text, finding.patches))
