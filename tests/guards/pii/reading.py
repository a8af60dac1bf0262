"""What tests do with the guard: read a text, hide what is personal, and stream it in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stanchion.guards.pii import Pii
from stanchion.kernel.events import ModelChunk, ModelReply, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.patches import apply
from stanchion.readings import read

RUN = RunInfo("run", task="task")


def judged(guard: Pii, text: str) -> Finding | None:
    """What is said of a reply."""
    return guard.judge(read(ModelReply(id="e", at=0, run=RUN, text=text)))


def kinds(guard: Pii, text: str) -> list[str]:
    """The kinds of what is found in a text."""
    finding = judged(guard, text)
    return [] if finding is None else [patch.kind for patch in finding.patches]


def redacted(guard: Pii, text: str) -> str:
    """A text with what is personal hidden."""
    finding = judged(guard, text)
    return text if finding is None else str(apply(text, finding.patches))


def called(guard: Pii, args: dict[str, Any]) -> Any:
    """The arguments of a call with what is personal hidden."""
    finding = guard.judge(read(ToolCall(id="e", at=0, run=RUN, tool="t", args=args)))
    return args if finding is None else apply(args, finding.patches)


def pieces(guard: Pii, text: str, cuts: Iterable[int]) -> Iterator[str]:
    """What comes out piece by piece when a text comes in cut at some places."""
    held = before = ""
    last = 0
    for cut in [*sorted(cuts), len(text)]:
        held += text[last:cut]
        last = cut
        settled = guard.settled(held)
        assert 0 <= settled <= len(held)
        yield passed(guard, held[:settled], before)
        before = (before + held[:settled])[-guard.CONTEXT :]
        held = held[settled:]
    yield passed(guard, held, before)


def passed(guard: Pii, text: str, before: str) -> str:
    """A piece of a stream with what is personal hidden."""
    finding = guard.judge(read(ModelChunk(id="e", at=0, run=RUN, text=text, before=before)))
    return text if finding is None else str(apply(text, finding.patches))


def streamed(guard: Pii, text: str, cuts: Iterable[int]) -> str:
    """All that comes out of a stream."""
    return "".join(pieces(guard, text, cuts))
