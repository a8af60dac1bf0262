"""The rules of the linter about what is easily written by mistake and loads: shares for
percentages, regular expressions for names, code that is named as it is imported or is not there."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from typing import Any, Final, get_args

import msgspec

from stanchion.kernel.names import glob
from stanchion.kernel.option import GLOB
from stanchion.kernel.regex import regex
from stanchion.policy.document import DocumentNode
from stanchion.policy.lint_rules import Findings, LintSubject
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


def patterns(look: LintSubject) -> Findings:
    """Regular expressions where names and globs belong."""
    names = tuple(look.tools.names)
    for node, text in _names(look.document.root):
        if _is_pattern(text, names):
            said = (
                f"`{text}` looks like a regular expression, but this is a name: only `*` and "
                f"`?` are special here"
            )
            yield str(node.at), said, _instead(text)


def _names(
    node: DocumentNode, key: str = "", owner: str = ""
) -> Iterator[tuple[DocumentNode, str]]:
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


def units(look: LintSubject) -> Findings:
    """Shares where percentages are meant."""
    for at, seat in look.seated:
        guard = seat.placed.guard
        for field in msgspec.structs.fields(guard):
            value = getattr(guard, field.name)
            if _is_percentage(field.type) and isinstance(value, float) and 0 < value < 1:
                option = f"{field.name}: {round(value * 100, 6):g}"
                said = f"`{field.name}: {value:g}` of `{seat.placed.id}` is less than one percent"
                advice = f"it is a percentage: write `{option}` if you mean that share"
                yield look.at(at, field.name), said, advice


def unfindable(look: LintSubject) -> Findings:
    """Code that a guard names and that is not there."""
    for at, seat in look.seated:
        call = call_of(seat.placed.guard)
        if not isinstance(call, str):
            continue
        absent, advice = "", ""
        if _NAMED_CODE.fullmatch(call):
            absent = missing(call)
            advice = f"correct `call: {call}`, or name the folder of the module in PYTHONPATH"
        else:
            module, _, name = call.replace(":", ".").rpartition(".")
            absent, meant = f"`{call}` is not `module:name`", f"{module}:{name}"
            advice = "write the module, a colon, and the function"
            if _NAMED_CODE.fullmatch(meant):
                advice = f"write `{meant}`"
        if absent:
            yield look.at(at, "call"), f"`{seat.placed.id}` cannot find its code: {absent}", advice


def _is_percentage(kind: Any) -> bool:
    info = msgspec.inspect.type_info(kind)
    kinds = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    return any(isinstance(one, msgspec.inspect.FloatType) and one.le == 100 for one in kinds)


MOST_BYTES: Final = 2_000_000
"""How large a source is at most that is looked into."""


def missing(call: str) -> str:
    """What of `module:name` is not there, in words; empty where nothing is known to be missing.

    Importing would run the module, and a policy that is looked over may be anybody's. So modules
    are only searched for, as an import would, and their source is read.
    """
    module, _, name = call.partition(":")
    spec: ModuleSpec | None = None
    path: Sequence[str] | None = None
    parts = module.split(".")
    for at in range(len(parts)):
        whole = ".".join(parts[: at + 1])
        spec = _spec(whole, path)
        if spec is None:
            return f"there is no module `{whole}`"
        path = spec.submodule_search_locations
        if path is None and at + 1 < len(parts):
            return f"`{whole}` is no package, so it has no `{parts[at + 1]}`"
    first = name.partition(".")[0]
    names = None if spec is None else _names_in(spec)
    return (
        f"the module `{module}` has no `{first}`"
        if names is not None and first not in names
        else ""
    )


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """What an import would load, found as an import finds it."""
    for finder in sys.meta_path:
        found = finder.find_spec(name, path)
        if found is not None:
            return found
    return None


def _names_in(spec: ModuleSpec) -> set[str] | None:
    """The names that a module defines at its top; `None` where that cannot be told from its
    source."""
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        with open(spec.origin, "rb") as file:
            source = file.read(MOST_BYTES + 1)
        tree = ast.parse(source) if len(source) <= MOST_BYTES else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if tree is None:
        return None
    found = set(_bound(tree.body))
    return None if found & {"*", "__getattr__", "globals"} else found


def _bound(body: Sequence[ast.AST]) -> Iterator[str]:
    """Every name that statements bind in their own scope; what a function or a class does inside is
    its own."""
    waiting = list(body)
    while waiting:
        match waiting.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() as defined:
                yield defined.name
            case ast.alias() as alias:
                yield alias.asname if alias.asname is not None else alias.name.partition(".")[0]
            case ast.Name() as used:
                if isinstance(used.ctx, ast.Store) or used.id == "globals":
                    yield used.id
            case ast.Lambda():
                pass
            case other:
                waiting += ast.iter_child_nodes(other)
