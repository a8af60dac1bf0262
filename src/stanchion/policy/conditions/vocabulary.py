"""The words of the language: which names a condition may read, and its functions, with their
types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from stanchion.policy.conditions.kinds import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, Type
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


_TEXT: Final = ("string",)


class LanguageFunction(msgspec.Struct, frozen=True):
    """A function: the kinds each argument may have, the type it gives, and whether it is called on
    its first one."""

    name: str
    takes: tuple[tuple[str, ...], ...]
    gives: Type
    method: bool
    plain: bool
    shown: str
    meaning: str
    literal: bool = False


def _method(name: str, shown: str, meaning: str) -> LanguageFunction:
    return LanguageFunction(name, (_TEXT, _TEXT), BOOL, True, False, shown, meaning)


def _conversion(name: str, takes: tuple[str, ...], gives: Type, meaning: str) -> LanguageFunction:
    return LanguageFunction(name, (takes,), gives, False, True, f"{name}(x)", meaning)


_NUMERIC: Final = ("int", "uint", "double", "string")

FUNCTIONS: Final[dict[str, LanguageFunction]] = {
    each.name: each
    for each in (
        _method("startsWith", "text.startsWith(prefix)", "whether a text begins with another"),
        _method("endsWith", "text.endsWith(suffix)", "whether a text ends with another"),
        _method("contains", "text.contains(part)", "whether a text contains another"),
        LanguageFunction(
            "matches",
            (_TEXT, _TEXT),
            BOOL,
            True,
            True,
            "text.matches(r'pattern')",
            "whether a regular expression (RE2 syntax, a literal) is found anywhere in a text",
            literal=True,
        ),
        LanguageFunction(
            "glob",
            (_TEXT, _TEXT),
            BOOL,
            False,
            True,
            "glob(text, pattern)",
            "whether a whole text matches: `*` any characters but `/`, `?` one of them, `**` any "
            "folders",
        ),
        LanguageFunction(
            "under",
            (_TEXT, _TEXT),
            BOOL,
            False,
            True,
            "under(path, folder)",
            "whether a path is the folder or lies in it, `.` and `..` worked out, without looking "
            "at the disk",
        ),
        LanguageFunction(
            "size",
            (("string", "bytes", "list", "map"),),
            INT,
            True,
            True,
            "size(x)",
            "how many characters, bytes, elements or keys there are",
        ),
        _conversion(
            "int", _NUMERIC, INT, "a number, or a text of digits, as an int; fractions are cut off"
        ),
        _conversion("uint", _NUMERIC, UINT, "the same as an unsigned int"),
        _conversion("double", _NUMERIC, DOUBLE, "a number, or a text that is one, as a double"),
        _conversion(
            "string", (*_NUMERIC, "bool", "bytes"), STRING, "a scalar as text; bytes must be UTF-8"
        ),
        _conversion("bytes", ("string", "bytes"), BYTES, "a text as UTF-8"),
        _conversion(
            "bool",
            ("bool", "string"),
            BOOL,
            "a truth value, or `true`, `false`, `t`, `f`, `1`, `0` as text",
        ),
        _conversion("dyn", (), DYN, "the same value, with its type checked at evaluation"),
    )
}

MACROS: Final[dict[str, str]] = {
    "exists": "list.exists(x, test): whether one element passes",
    "all": "list.all(x, test): whether every element passes",
    "exists_one": "list.exists_one(x, test): whether exactly one element passes",
    "filter": "list.filter(x, test): the elements that pass",
    "map": "list.map(x, value) or list.map(x, test, value): a list of values",
}
