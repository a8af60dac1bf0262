"""Linting what is easily written by mistake and loads: shares for percentages, regular expressions
for names, and code that is named as it is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple, get_args

import msgspec

from stanchion.kernel.contract.values import Point
from stanchion.kernel.names import glob
from stanchion.kernel.option import GLOB
from stanchion.kernel.regex import regex
from stanchion.policy.code_lint import missing
from stanchion.policy.document import Node
from stanchion.policy.schema import GUARDS
from stanchion.policy.seat import call_of

NAMING: Final = frozenset({"tools", "agents", "tasks", "roles", "hosts", "tables", "functions"})
"""The last word of keys under which names stand."""
FOREIGN: Final = frozenset({"schema", "result_schema", "results"})
"""Keys under which something stands that is not of this format."""
PATHS: Final = frozenset(
    {"read", "write", "deny", "protected", "unprotected", "root", "roots", "code"}
)
"""Keys under which paths stand: a dot, a backslash or a dollar sign may be part of one."""

_ANCHORED: Final = regex(r"^\^|(?<!\\)\$$")
_SIGNS: Final = regex(
    r"\\[wdsbWDSBAzZ.]|\(\?|\([^()]*\|[^()]*\)|\.\+|\][+*{]|\\\.|\||^\.\*|[_-]\.\*"
)
_LOOSE: Final = regex(r"\.\*")
_NAMED_CODE: Final = regex(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class Trap(NamedTuple):
    """Something that is likely not meant: where, what, and what to write."""

    node: Node
    message: str
    advice: str


def about_names(root: Node, known: Iterable[str]) -> Iterator[Trap]:
    """Regular expressions where names and globs belong; `known` are names that the policy speaks
    of."""
    names = tuple(known)
    for node, text in _names(root):
        if _is_pattern(text, names):
            said = (
                f"`{text}` looks like a regular expression, but this is a name: only `*` and "
                f"`?` are special here"
            )
            yield Trap(node, said, _instead(text))


def _names(node: Node, key: str = "", owner: str = "") -> Iterator[tuple[Node, str]]:
    value = node.value
    plain = key.rstrip("+=")
    named = plain.rpartition("_")[2] in NAMING or plain in _globs(owner)
    if isinstance(value, list):
        for item in value:
            if isinstance(item.value, str) and named:
                yield item, item.value
            yield from _names(item, "", owner)
    if isinstance(value, dict):
        use = value.get("use")
        owner = use.value if use is not None and isinstance(use.value, str) else owner
        for name, child in value.items():
            if named:
                yield child, name
            if name not in FOREIGN and name.rstrip("+=") not in PATHS:
                yield from _names(child, name, owner)


@cache
def _globs(use: str) -> frozenset[str]:
    """The options of a guard that take names or globs."""
    if use not in GUARDS:
        return frozenset()
    return frozenset(
        {field.name for field in msgspec.structs.fields(GUARDS[use]) if _takes_globs(field.type)}
    )


def _takes_globs(kind: Any) -> bool:
    return GLOB in getattr(kind, "__metadata__", ()) or any(
        _takes_globs(part) for part in get_args(kind)
    )


def _is_pattern(text: str, known: tuple[str, ...]) -> bool:
    if _ANCHORED.search(text) or _SIGNS.search(text):
        return True
    # `fs.*` is a glob of names with a dot, unless there are none and names that a pattern would
    # fit.
    if not _LOOSE.search(text) or any(glob(text, name) for name in known):
        return False
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    try:
        return any(re2.fullmatch(text, name) is not None for name in known)
    except re2.error:
        return False


def _instead(text: str) -> str:
    plain = re.sub(r"\\([.\-_/])", r"\1", text.removeprefix("^").removesuffix("$"))
    plain = plain.replace(".*", "*").replace(".+", "?*")
    if "|" not in plain:
        plain = plain if text.startswith("^") or not text.endswith("$") else f"*{plain}"
        plain = plain if text.endswith("$") or not text.startswith("^") else f"{plain}*"
        plain = re.sub(r"\*+", "*", plain)
    if re.fullmatch(r"[\w.\-/:*?]+", plain):
        return f"write `{plain}`"
    if re.fullmatch(r"[\w.\-*?]+(?:\|[\w.\-*?]+)+", plain):
        return f"write each one separately: {', '.join([f'`{part}`' for part in plain.split('|')])}"
    several = re.fullmatch(r"([\w.\-*?]*)\((?:\?:)?([\w.\-|*?]+)\)([\w.\-*?]*)", plain)
    if several is not None:
        listed = [f"`{several[1]}{part}{several[3]}`" for part in several[2].split("|")]
        return f"write each one separately: {', '.join(listed)}"
    return "write the names, with `*` for any characters and `?` for one"


def about_options(guard_id: str, guard: Any) -> Iterator[Point]:
    """Options of a guard whose value can hardly be meant."""
    for field in msgspec.structs.fields(guard):
        value = getattr(guard, field.name)
        if _is_percentage(field.type) and isinstance(value, float) and 0 < value < 1:
            said = f"`{field.name}: {value:g}` of `{guard_id}` is less than one percent"
            advice = (
                f"it is a percentage: write `{field.name}: {round(value * 100, 6):g}` if you "
                f"mean that share"
            )
            yield Point("unit", "likely", said, advice, (field.name,))
    call = call_of(guard)
    if isinstance(call, str):
        yield from _about_code(guard_id, call)


def _about_code(guard_id: str, call: str) -> Iterator[Point]:
    """Code that a guard names and that is not there."""
    if not _NAMED_CODE.fullmatch(call):
        module, _, name = call.replace(":", ".").rpartition(".")
        said = f"`{guard_id}` cannot find its code: `{call}` is not `module:name`"
        meant = f"{module}:{name}"
        advice = (
            f"write `{meant}`"
            if _NAMED_CODE.fullmatch(meant)
            else "write the module, a colon, and the function"
        )
        yield Point("unfindable", "certain", said, advice, ("call",))
        return
    absent = missing(call)
    if absent:
        said = f"`{guard_id}` cannot find its code: {absent}"
        advice = f"correct `call: {call}`, or name the folder of the module in PYTHONPATH"
        yield Point("unfindable", "certain", said, advice, ("call",))


def _is_percentage(kind: Any) -> bool:
    info = msgspec.inspect.type_info(kind)
    kinds = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    return any(isinstance(one, msgspec.inspect.FloatType) and one.le == 100 for one in kinds)
