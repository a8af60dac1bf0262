"""Which names a condition may read, and what type each of them has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stanchion.policy.conditions.kinds import Type
from stanchion.policy.nearest import nearest

_OPERATORS: Final = ("and", "or", "not", "in")


class Vocabulary:
    """Dotted names with their types. A name `a.b` is read as the attribute `a_b` of the view.
    `arguments` is the name of a call's arguments: nothing is compared with one that it lacks.
    `known` are those whose types are known; with them conditions are checked and not compiled."""

    def __init__(
        self, words: Mapping[str, Type], arguments: str = "", known: Mapping[str, Type] = {}
    ) -> None:
        self.words: Final = {**words, **known}
        self.arguments: Final = arguments
        self.groups: Final = frozenset(
            ".".join(parts[:count])
            for parts in (word.split(".") for word in self.words)
            for count in range(1, len(parts))
        )
        attributes = {attribute(word) for word in words}
        wrong = [name for name in attributes if not name.isidentifier() or name.startswith("_")]
        if wrong or len(attributes) != len(words):
            raise ValueError(
                f"names and attributes must correspond: look at {wrong or sorted(self.words)}"
            )

    def nearest(self, wrong: str) -> str | None:
        """The valid name that a wrong one stands for: the same within a group, or one that looks
        most like it."""
        first, _, rest = wrong.partition(".")
        for name in [f"{group}.{first}" for group in sorted(self.groups)] if rest else ():
            if name in self.words:
                return f"{name}.{rest}" if self.words[name].kind in ("map", "dyn") else name
        near = nearest(wrong, (*self.words, *_OPERATORS))
        if near is not None:
            return near
        group, _, last = wrong.rpartition(".")
        tails = {
            word.rpartition(".")[2]: word
            for word in self.words
            if not group or word.startswith(f"{group}.")
        }
        near = nearest(last, tuple(tails))
        return None if near is None else tails[near]


def attribute(word: str) -> str:
    """The attribute of a view that holds a name's value."""
    return word.replace(".", "_")
