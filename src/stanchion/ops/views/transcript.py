"""Transcripts: the calls and replies that a log tells of, matched with what a trail has decided."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Struct
from msgspec.structs import replace

from stanchion.audit.record import RecordEntry, digest_of
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.units import Unit
from stanchion.runtime.calling.model_bill import usage_of
from stanchion.runtime.values.words import words_of

USED: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
ANSWERED_AS: Final = {
    "tool_result": "tool_use_id",
    "mcp_tool_result": "tool_use_id",
    "function_call_output": "call_id",
}
"""The marks of a tool's answer, and where each names its call."""
REPLIED: Final = ("choices", "content", "output", "candidates")


class BadTranscript(ValueError):
    """A file that holds no JSON."""


class ToldCall(Struct, frozen=True):
    """A tool call in a transcript. `answered`: something came back for it, so it was carried out or
    refused."""

    id: str
    tool: str
    args: Any
    answered: bool = False


class ToldReply(Struct, frozen=True):
    """A model's reply in a transcript: the provider's id for it, what it says, and the tokens it
    reports."""

    id: str
    model: str
    text: str
    tokens: int = 0


class HostTranscript(Struct, frozen=True):
    """What a log tells of, in its order."""

    calls: tuple[ToldCall, ...]
    replies: tuple[ToldReply, ...]


def read_transcript(data: bytes) -> HostTranscript:
    """Read a log: one JSON value, or one a line. Raises `BadTranscript` where a line is none."""
    calls: dict[str, ToldCall] = {}
    replies: dict[str, ToldReply] = {}
    answered: set[str] = set()
    for value in _values(data):
        for one in _dicts(value):
            answer = _answer(one)
            if answer:
                answered.add(answer)
            for call in _calls(one):
                calls.setdefault(call.id if call.id else f"\0{len(calls)}", call)
            reply = _reply(one)
            if reply is not None:
                replies.setdefault(reply.id if reply.id else f"\0{len(replies)}", reply)
    told = [replace(call, answered=not call.id or call.id in answered) for call in calls.values()]
    return HostTranscript(tuple(told), tuple(replies.values()))


def _values(data: bytes) -> Iterator[Any]:
    try:
        yield msgspec.json.decode(data)
        return
    except DecodeError:
        lines = data.splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line)
            except DecodeError as error:
                raise BadTranscript(f"line {number} is no JSON: {error}") from None


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object, the outer before the inner, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _calls(one: dict[str, Any]) -> Iterator[ToldCall]:
    """The tool call that an object is, by the marks of whoever made it."""
    kind, function = one.get("type"), one.get("function")
    if isinstance(function, dict) and "arguments" in function:
        yield _call_of(one.get("id"), function.get("name"), function["arguments"])
    elif kind == "function_call" and "arguments" in one:
        yield _call_of(one.get("call_id", one.get("id")), one.get("name"), one["arguments"])
    elif kind in USED and "input" in one:
        yield _call_of(one.get("id"), one.get("name"), one["input"])
    elif kind == "tool_call" and "args" in one:
        yield _call_of(one.get("id"), one.get("name"), one["args"])
    elif one.get("method") == "tools/call" and isinstance(params := one.get("params"), dict):
        yield _call_of(_rpc(one), params.get("name"), params.get("arguments", {}))


def _call_of(name: Any, tool: Any, args: Any) -> ToldCall:
    if isinstance(args, str):
        with suppress(
            DecodeError
        ):  # a model's arguments need not be JSON: then they are what they are
            args = msgspec.json.decode(args) if args.strip() else {}
    return ToldCall(name if isinstance(name, str) else "", str(tool), args)


def _answer(one: dict[str, Any]) -> str:
    """The id of the call that an object answers; empty where it answers none."""
    if one.get("role") == "tool" or (one.get("type") == "tool" and "tool_call_id" in one):
        return str(one.get("tool_call_id", ""))
    kind = one.get("type")
    if isinstance(kind, str) and kind in ANSWERED_AS:
        return str(one.get(ANSWERED_AS[kind], ""))
    if "jsonrpc" in one and "method" not in one and ("result" in one or "error" in one):
        return _rpc(one)
    return ""


def _rpc(one: dict[str, Any]) -> str:
    return f"jsonrpc:{one['id']}" if one.get("id") is not None else ""


def _reply(one: dict[str, Any]) -> ToldReply | None:
    """The reply that an object is: what a provider says, with what it used."""
    usage = usage_of(one)
    if usage is None or not any(isinstance(one.get(name), list) for name in REPLIED):
        return None
    name, model = one.get("id"), one.get("model")
    return ToldReply(
        name if isinstance(name, str) else "",
        model if isinstance(model, str) else "",
        words_of(one).text(one),
        usage.total,
    )


DIGEST: Final = "$sha256"
CHANGES: Final = frozenset({"REDACT", "DEGRADE"})
REPORTED: Final = frozenset({Stage.CHARGE, Stage.MODEL_REPLY})
"""Where the tokens of a record were used; elsewhere they are an estimate of what would be."""
REPLIES: Final = "\0replies"
"""Under what name replies stand beside tools; no tool is called so."""


class MatchableDecision(NamedTuple):
    """A decision as it is matched: the tool, the digest of its content, empty where that tells
    nothing, and whether it was refused."""

    about: str
    digest: str
    refused: bool


def known_of(entry: RecordEntry) -> MatchableDecision:
    """The decision about a tool's call or a model's reply, as it is matched."""
    about = entry.tool if entry.stage == Stage.TOOL_CALL else REPLIES
    content = entry.content
    changed = any(said.action in CHANGES for said in entry.findings) or _is_withheld(content)
    digest = "" if changed else str(content[DIGEST]) if _is_digest(content) else _digest(content)
    return MatchableDecision(about, digest, NAMES.index(entry.action) > PROCEEDS)


def tokens_of(entry: RecordEntry) -> int:
    """The tokens that a record counts as used: what a hold was settled to, or what was reported."""
    settled = sum([amounts[Unit.TOKENS] for _, amounts in entry.settles if amounts is not None])
    reported = entry.amounts[Unit.TOKENS] if entry.stage in REPORTED else 0
    return max(settled, reported)


class Unmatched(NamedTuple):
    """What is left over of a transcript and of a trail once everything is matched. `unasked` counts
    calls that went ahead and that the transcript does not tell of."""

    calls: tuple[ToldCall, ...]
    replies: tuple[ToldReply, ...]
    unasked: int


class DecidedCalls:
    """The calls and replies that a trail has decided about. What a guard has changed, and what was
    erased, cannot be told by its content any more: such a decision answers for any call of its
    tool."""

    def __init__(self) -> None:
        self._by_content: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._by_tool: defaultdict[str, int] = defaultdict(int)
        self._refused: defaultdict[tuple[str, str], int] = defaultdict(int)

    def add(self, known: MatchableDecision) -> None:
        """Take a decision in."""
        if not known.digest:
            self._by_tool[known.about] += 1
        else:
            (self._refused if known.refused else self._by_content)[known.about, known.digest] += 1

    def left(self, transcript: HostTranscript) -> Unmatched:
        """Match everything: by its content where that is possible, and the rest by its tool."""
        calls = deque(one for one in transcript.calls if not self._takes(one.tool, one.args))
        replies = deque(one for one in transcript.replies if not self._takes(REPLIES, one.text))
        open_calls = tuple([one for one in calls if not _take(self._by_tool, one.tool)])
        open_replies = tuple([one for one in replies if not _take(self._by_tool, REPLIES)])
        unasked = sum(count for (about, _), count in self._by_content.items() if about != REPLIES)
        return Unmatched(open_calls, open_replies, unasked)

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
