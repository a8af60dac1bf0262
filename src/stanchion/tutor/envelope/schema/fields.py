"""The fields of an action while a move is made of them."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.shape import BLANK, is_remark
from stanchion.tutor.moves.typed import Misread, Unread

M = TypeVar("M")
COMMAND: Final = ("command", "cmd", "bash", "shell", "code")
"""Under which names models give a command."""
PLACEHOLDER: Final = regex(
    r"\s*(?:\.{2,}|\u2026|<[\w\s/.-]+>|\[[\w\s]+\]|\{\w+\}|(?:your |the |a )?command(?: here)?)\s*"
)


def texts_of(value: Any) -> list[str] | None:
    """Texts, where a value is some or one."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    return None


def bad(why: str) -> Unread:
    """That a field is wrong."""
    return Unread(Misread.BAD_FIELD, why)


class Fields:
    """The fields of an action while a move is made of them: each is taken once, and what is left is
    looked at."""

    def __init__(self, data: dict[str, Any], strict: bool) -> None:
        self._data, self._strict = {**data}, strict
        self.wrong: list[str] = []

    def text(self, *names: str, default: str | None = None) -> str:
        """A text under any of its names."""
        value = self.take(*names)
        if value is None and default is not None:
            return default
        if isinstance(value, str) and default is None and BLANK.fullmatch(value):
            self.wrong.append(f"`{names[0]}` holds a place for a text: write the text")
            return ""
        if isinstance(value, str) and (value.strip() or default is not None):
            return value
        if not self._strict and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self.wrong.append(f"`{names[0]}` has to be a text that says something")
        return ""

    def texts(self, name: str) -> list[str]:
        """Texts, or one of them."""
        value = self.take(name)
        found = [] if value is None else texts_of(value)
        if found is None or (self._strict and isinstance(value, str)):
            self.wrong.append(f"`{name}` has to be a list of texts")
            return []
        return found

    def take(self, *names: str) -> Any:
        """Whatever stands under one of some names."""
        found = [self._data.pop(name) for name in [*self._data] if self._named(name, names)]
        if any(one != found[0] for one in found):
            self.wrong.append(f"`{names[0]}` stands in it twice")
        return found[0] if found else None

    def _named(self, name: str, names: tuple[str, ...]) -> bool:
        return name in names or (not self._strict and name.strip().lower() in names)

    def rest(self) -> list[str]:
        """Fields that were not taken and cannot be left out."""
        return [
            name for name, value in self._data.items() if self._strict or not is_remark(name, value)
        ]

    def done(self, move: M) -> M | Unread:
        """The move, where nothing is wrong."""
        if self.wrong:
            return bad("; ".join(self.wrong))
        left = self.rest()
        return bad(f"no move has the field `{left[0]}`") if left else move


def bare(command: str) -> str:
    """A command without the backticks or the prompt that stand round it."""
    said = command.strip()
    if len(said) > 2 and said[0] == said[-1] == "`" and "`" not in said[1:-1]:
        said = said[1:-1].strip()
    return said[2:].strip() if said.startswith("$ ") else said
