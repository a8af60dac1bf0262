"""The functions of the language: how each is called, on what, and what it gives."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.policy.conditions.kinds import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, Type

_TEXT: Final = ("string",)


class Function(msgspec.Struct, frozen=True):
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


def _method(name: str, shown: str, meaning: str) -> Function:
    return Function(name, (_TEXT, _TEXT), BOOL, True, False, shown, meaning)


def _conversion(name: str, takes: tuple[str, ...], gives: Type, meaning: str) -> Function:
    return Function(name, (takes,), gives, False, True, f"{name}(x)", meaning)


_NUMERIC: Final = ("int", "uint", "double", "string")

FUNCTIONS: Final[dict[str, Function]] = {
    each.name: each
    for each in (
        _method("startsWith", "text.startsWith(prefix)", "whether a text begins with another"),
        _method("endsWith", "text.endsWith(suffix)", "whether a text ends with another"),
        _method("contains", "text.contains(part)", "whether a text contains another"),
        Function(
            "matches",
            (_TEXT, _TEXT),
            BOOL,
            True,
            True,
            "text.matches(r'pattern')",
            "whether a regular expression (RE2 syntax, a literal) is found anywhere in a text",
            literal=True,
        ),
        Function(
            "glob",
            (_TEXT, _TEXT),
            BOOL,
            False,
            True,
            "glob(text, pattern)",
            "whether a whole text matches: `*` any characters but `/`, `?` one of them, `**` any "
            "folders",
        ),
        Function(
            "under",
            (_TEXT, _TEXT),
            BOOL,
            False,
            True,
            "under(path, folder)",
            "whether a path is the folder or lies in it, `.` and `..` worked out, without looking "
            "at the disk",
        ),
        Function(
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
