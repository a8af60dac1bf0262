"""What is asked of a reply: which actions there are, and how a move is made of one and its
fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.moves.typed import Misread, Unread

M = TypeVar("M")
Make = Callable[[str, dict[str, Any], str, bool], "M | Unread"]
"""Makes a move of an action, its fields and the whole reply, exactly or with what is nearly right
put right."""

REMARKS: Final = frozenset(
    {
        "thought", "thoughts", "thinking", "reasoning", "reason", "rationale", "explanation",
        "comment", "note", "notes", "confidence", "step", "turn", "plan", "why", "id", "status",
        "observation", "goal", "description", "expected", "intent", "kind", "domain",
    }
)  # fmt: skip
"""Fields by which models speak to themselves: they say nothing of what is to be done."""
NAMED: Final = frozenset({"action", "move", "type", "tool", "name", "function", "call"})
"""The last word of the names under which models put the action."""
PROSE: Final = 4
"""From how many words on a text in a field nobody knows is a remark."""
BLANK: Final = regex(
    r"\s*(?:\.{2,}|\u2026|[<\[{](?:your|insert|the|a|some|put|enter)\b[\w\s/.,'-]*[>\]}]|(?:your"
    r"|insert) [\w ]{1,30} here"
    r"|\{\{[\w\s.]{1,40}\}\}|\$\{\w{1,40}\})\s*",
    re.IGNORECASE,
)
"""What holds a place for a text."""
_LAST: Final = regex(r"(?:[A-Z]?[a-z0-9]+|[A-Z0-9]+)\s*\Z")


class ToolCall(msgspec.Struct, frozen=True):
    """The call of a tool that a reply means."""

    name: str
    arguments: dict[str, Any]


class Shape(msgspec.Struct, Generic[M], frozen=True):
    """What a reply can be. `names` has the actions as they are written, each with what it is
    called."""

    names: Mapping[str, str]
    make: Make[M]
    exactly: Callable[[str], M | Unread] | None
    """Reads a reply that is an object and nothing else, where there is a law that says how."""
    unchanged: Callable[[str], tuple[M, ...] | Unread]
    """Reads a reply as it is read without any layer."""
    words: Mapping[str, str]
    """Actions that can be said in words, each with the field that the words are."""

    def name_of(self, said: Any) -> str | None:
        """The action that is meant by a word; a word can say where it is from, as
        `functions.PROPOSE` does."""
        if not isinstance(said, str):
            return None
        whole = said.strip().upper()
        return self.names.get(whole, self.names.get(whole.rpartition(".")[2]))


def is_named(name: str) -> bool:
    """Whether the action is put under a name: `action`, `next_action`, `tool_name`."""
    return last_word(name) in NAMED


def last_word(name: str) -> str:
    """The last word of the name of a field, however it is written: `next_action`, `nextAction`."""
    found = _LAST.search(name)
    return name.strip().lower() if found is None else found.group().strip().lower()


def is_remark(name: str, value: Any) -> bool:
    """Whether a field that no move has says nothing of what is to be done; what might switch
    something does."""
    if value is None or value == "" or name.lower() in REMARKS:
        return True
    return isinstance(value, str) and len(value.split()) >= PROSE


def tools(names: Iterable[str]) -> Shape[ToolCall]:
    """The calls of some tools: whatever arguments they are given, for their own schemas to
    judge."""
    known = {name.strip().upper(): name for name in names}
    return Shape(
        known, _called, None, lambda _: Unread(Misread.NO_OBJECT, "tools have no other reading"), {}
    )


def _places(name: str) -> tuple[str, ...]:
    """How the name of an argument stands for what is to be put there."""
    said = name.lower()
    return f"<{said}>", f"[{said}]", f"{{{said}}}"


def _called(action: str, data: dict[str, Any], _text: str, _strict: bool) -> ToolCall | Unread:
    for name, value in data.items():
        if isinstance(value, str) and (
            BLANK.fullmatch(value) or value.strip().lower() in _places(name)
        ):
            return Unread(Misread.BAD_FIELD, f"`{name}` holds a place for a text: write the text")
    return ToolCall(action, data)
