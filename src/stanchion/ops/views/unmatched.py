"""Reconciling: what a transcript tells of, beside what a trail has decided. Each decision answers
for one call."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any, Final

from stanchion.audit.record import RecordEntry, digest_of
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.units import Unit
from stanchion.ops.views.transcript import Call, Reply, Transcript

DIGEST: Final = "$sha256"
CHANGES: Final = frozenset({"REDACT", "DEGRADE"})
REPORTED: Final = frozenset({Stage.CHARGE, Stage.MODEL_REPLY})
"""Where the tokens of a record were used; elsewhere they are an estimate of what would be."""
REPLIES: Final = "\0replies"
"""Under what name replies stand beside tools; no tool is called so."""


class Known(NamedTuple):
    """A decision as it is matched: the tool, the digest of its content, empty where that tells
    nothing, and whether it was refused."""

    about: str
    digest: str
    refused: bool


def known_of(entry: RecordEntry) -> Known:
    """The decision about a tool's call or a model's reply, as it is matched."""
    about = entry.tool if entry.stage == Stage.TOOL_CALL else REPLIES
    content = entry.content
    changed = any(said.action in CHANGES for said in entry.findings) or _is_withheld(content)
    digest = "" if changed else str(content[DIGEST]) if _is_digest(content) else _digest(content)
    return Known(about, digest, NAMES.index(entry.action) > PROCEEDS)


def tokens_of(entry: RecordEntry) -> int:
    """The tokens that a record counts as used: what a hold was settled to, or what was reported."""
    settled = sum([amounts[Unit.TOKENS] for _, amounts in entry.settles if amounts is not None])
    reported = entry.amounts[Unit.TOKENS] if entry.stage in REPORTED else 0
    return max(settled, reported)


class Left(NamedTuple):
    """What is left over of a transcript and of a trail once everything is matched. `unasked` counts
    calls that went ahead and that the transcript does not tell of."""

    calls: tuple[Call, ...]
    replies: tuple[Reply, ...]
    unasked: int


class Decided:
    """The calls and replies that a trail has decided about. What a guard has changed, and what was
    erased, cannot be told by its content any more: such a decision answers for any call of its
    tool."""

    def __init__(self) -> None:
        self._by_content: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._by_tool: defaultdict[str, int] = defaultdict(int)
        self._refused: defaultdict[tuple[str, str], int] = defaultdict(int)

    def add(self, known: Known) -> None:
        """Take a decision in."""
        if not known.digest:
            self._by_tool[known.about] += 1
        else:
            (self._refused if known.refused else self._by_content)[known.about, known.digest] += 1

    def left(self, transcript: Transcript) -> Left:
        """Match everything: by its content where that is possible, and the rest by its tool."""
        calls = deque(one for one in transcript.calls if not self._takes(one.tool, one.args))
        replies = deque(one for one in transcript.replies if not self._takes(REPLIES, one.text))
        open_calls = tuple([one for one in calls if not _take(self._by_tool, one.tool)])
        open_replies = tuple([one for one in replies if not _take(self._by_tool, REPLIES)])
        unasked = sum(count for (about, _), count in self._by_content.items() if about != REPLIES)
        return Left(open_calls, open_replies, unasked)

    def _takes(self, about: str, content: Any) -> bool:
        key = (about, _digest(masked(content)))
        return _take(self._by_content, key) or _take(self._refused, key)


def _take(counts: defaultdict[Any, int], key: Any) -> bool:
    """Take one of those that are left."""
    if counts.get(key, 0) <= 0:
        return False
    counts[key] -= 1
    return True


def _digest(content: Any) -> str:
    return str(digest_of(content)[DIGEST])


def _is_digest(content: Any) -> bool:
    return isinstance(content, dict) and DIGEST in content


def _is_withheld(content: Any) -> bool:
    return isinstance(content, dict) and "$withheld" in content
