"""The words of a model's reply: what it says, as opposed to the envelope that it comes in, known by
its shape.

Replies of OpenAI (chat, responses, completions), Anthropic, Gemini, LangChain, LiteLLM, Ollama and
pydantic-ai are read as they are documented. In a reply of another shape every text counts, so that
nothing is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from stanchion.kernel.findings import Patch, PathStep

Path = tuple[PathStep, ...]

TEXT, REASONING, ARGUMENTS = "text", "reasoning", "arguments"

LISTS: Final = ("choices", "candidates", "generations", "output")
"""Where envelopes keep replies, one or several."""
INNER: Final = ("message", "delta", "content_block", "part")
"""Where they keep one."""
HOLDERS: Final = frozenset({*LISTS, *INNER})
SAID: Final = (
    "output_text", "text", "content", "parts", "response", "generated_text", "completion",
    "refusal", "output", "message",
)  # fmt: skip
"""Where a reply keeps its words, as a text or in blocks."""
THOUGHT: Final = ("reasoning_content", "reasoning", "thinking", "summary_text")
PASSED: Final = ("arguments", "partial_json", "args", "input_json")
CALLS: Final = (
    "tool_calls",
    "function_call",
    "functionCall",
    "tool_call_chunks",
    "function",
    "toolUse",
)
CALL_TYPES: Final = frozenset(
    {
        "tool_use",
        "function_call",
        "tool_call",
        "tool-call",
        "custom_tool_call",
        "computer_call",
        "mcp_call",
    }
)
KINDS: Final = ("type", "part_kind")
"""Where a block says what it is."""
MARKS: Final = frozenset({"tool_calls", "function_call", "tool_use", "toolUse"})
"""Why a reply ended, where it ended in order to call a tool."""
DELTAS: Final = {
    "output_text": TEXT,
    "refusal": TEXT,
    "reasoning": REASONING,
    "function_call_arguments": ARGUMENTS,
}
"""Channels by the names of events that bring the next piece of one."""
LOGPROBS: Final = "logprobs"
"""Where replies spell their words once more, token by token: what is redacted must not stand
there."""
ABOUT: Final = frozenset(
    {
        "id", "object", "type", "role", "model", "created", "created_at", "finish_reason",
        "stop_reason", "status", "system_fingerprint", "service_tier", "name", "event", "index",
        "item_id", "response_id", "stop_sequence", "usage", "usage_metadata", "response_metadata",
        "logprobs", "annotations", "signature",
    }
)  # fmt: skip
"""Fields of envelopes that are about a reply, and no words of it."""


class ReplyWords(NamedTuple):
    """Where the words of a reply are, channel by channel, and whether it calls no tool: then it is
    an answer."""

    places: tuple[tuple[Path, str], ...]
    final: bool

    def text(self, content: Any) -> str:
        """What a reply says: its words on the channel of texts, or whatever it says where there are
        none."""
        return "\n".join([found for _, found in self.spoken(content)])

    def spoken(self, content: Any) -> list[tuple[Path, str]]:
        """The texts that are the reply's words, and their places."""
        wanted = [(path, at(content, path)) for path, channel in self.places if channel == TEXT]
        return [(path, found) for path, found in wanted if found]


def words_of(content: Any) -> ReplyWords:
    """The words of a reply that was read, or of a piece of one."""
    places = tuple(_known(content, ()))
    if not places and not _is_envelope(content):
        places = tuple((path, TEXT) for path in texts_in(content) if not _is_about(path))
    return ReplyWords(places, not _calls(content))


def at(content: Any, path: Path) -> Any:
    """What stands at a place."""
    for step in path:
        content = content[step]
    return content


def texts_in(content: Any, path: Path = ()) -> Iterator[Path]:
    """The places of all texts."""
    match content:
        case str():
            yield path
        case dict():
            for name, item in content.items():
                yield from texts_in(item, (*path, name))
        case list():
            for place, item in enumerate(content):
                yield from texts_in(item, (*path, place))


def fields_of(content: Any, names: frozenset[str], path: Path = ()) -> Iterator[Path]:
    """Where fields of these names have something, the outermost of each."""
    if isinstance(content, dict):
        for name, item in content.items():
            if name not in names:
                yield from fields_of(item, names, (*path, name))
            elif item is not None:
                yield (*path, name)
    elif isinstance(content, list):
        for place, item in enumerate(content):
            yield from fields_of(item, names, (*path, place))


def patches_for(spoken: Sequence[tuple[Path, str]], patches: Sequence[Patch]) -> tuple[Patch, ...]:
    """Patches of a reply's words, as patches of the reply: what spans two places is put into the
    first."""
    made: list[Patch] = []
    for patch in patches:
        begins = 0
        value: Any = patch.value
        for path, text in spoken:
            ends = begins + len(text)
            if patch.start < 0:
                made.append(Patch(path, value))
                value = ""
            elif patch.start < ends and patch.end > begins:
                start, end = max(patch.start, begins) - begins, min(patch.end, ends) - begins
                made.append(Patch(path, value, start, end))
                value = ""
            begins = ends + 1
    return tuple(made)


def _is_about(path: Path) -> bool:
    return any(step in ABOUT for step in path if isinstance(step, str))


def _is_envelope(content: Any) -> bool:
    """Whether something has the shape of a reply, though it says nothing."""
    if not isinstance(content, dict):
        return False
    listed = any(isinstance(content.get(name), list) for name in (*LISTS, *SAID))
    inner = any(isinstance(content.get(name), dict) for name in INNER)
    silent = any(name in content and content[name] is None for name in SAID)
    return listed or inner or silent or any(content.get(name) for name in CALLS)


def _known(content: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The places of words in a reply of a known shape."""
    if isinstance(content, str):
        yield path, TEXT
    elif isinstance(content, list):
        for place, item in enumerate(content):
            yield from _block(item, (*path, place))
    elif isinstance(content, dict):
        yield from _envelope(content, path)


def _envelope(content: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    event = content.get("type")
    if isinstance(content.get("delta"), str):
        yield (*path, "delta"), _channel(event)
        return
    for name in LISTS:
        if isinstance(content.get(name), list):
            yield from _known(content[name], (*path, name))
    for name in INNER:
        if isinstance(content.get(name), dict):
            yield from _known(content[name], (*path, name))
    yield from _fields(content, path)


def _channel(event: Any) -> str:
    """The channel of an event by its name: `response.output_text.delta` brings text."""
    parts = event.split(".") if isinstance(event, str) else ()
    return next(
        (channel for name, channel in DELTAS.items() for part in parts if part.startswith(name)),
        TEXT,
    )


def _fields(content: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """The words that a message or a block has in its fields."""
    for names, channel in ((SAID, TEXT), (THOUGHT, REASONING), (PASSED, ARGUMENTS)):
        for name in names:
            given = content.get(name)
            if isinstance(given, str):
                yield (*path, name), channel
            elif isinstance(given, list | dict) and channel == TEXT and name not in HOLDERS:
                yield from _known(given, (*path, name))
    for name in CALLS:
        given = content.get(name)
        if isinstance(given, list | dict):
            yield from _known(given, (*path, name))


def _block(content: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The words of one block among several, or of one reply among several."""
    if _is_call(content):
        for name in ("arguments", "args"):
            if isinstance(content.get(name), str):
                yield (*path, name), ARGUMENTS
    elif isinstance(content, dict) and content.get("part_kind") == "thinking":
        if isinstance(content.get("content"), str):
            yield (*path, "content"), REASONING
    else:
        yield from _known(content, path)


def _is_call(content: Any) -> bool:
    """Whether a block calls a tool."""
    return isinstance(content, dict) and any(content.get(name) in CALL_TYPES for name in KINDS)


def _calls(content: Any) -> bool:
    """Whether a reply calls a tool."""
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            if any(one.get(name) for name in CALLS if name != "function") or _is_call(one):
                return True
            if one.get("finish_reason") in MARKS or one.get("stop_reason") in MARKS:
                return True
            waiting += [
                one[name]
                for name in (*LISTS, *INNER, "content", "parts", "additional_kwargs")
                if name in one
            ]
    return False
