"""The public API as it is: every public name, its signatures and its docstring.

Pages of the reference are made of it, and the list that a test compares.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple, get_overloads, is_typeddict

import msgspec

LIST = "docs/reference/api.txt"
WIDE = 100

BESIDE: dict[str, tuple[str, ...]] = {
    "stanchion.approvals.answerers": ("Person", "Signer"),
    "stanchion.approvals.bypass": ("BypassRequest",),
    "stanchion.approvals.errors": (
        "AnswerRefused",
        "BypassRefused",
        "TicketClosed",
        "TicketError",
        "UnknownTicket",
    ),
    "stanchion.approvals.grants": ("Grant",),
    "stanchion.approvals.operators": ("Operator",),
    "stanchion.approvals.ticket": ("State", "Ticket"),
    "stanchion.audit.journal": ("MemoryJournal",),
    "stanchion.hosts": (
        "Changed",
        "Host",
        "Hosted",
        "Part",
        "Refusal",
        "Told",
        "UnknownVersion",
        "as_text",
        "lesser",
        "opened",
        "own_work",
        "raised",
        "sealed",
        "survey",
        "tried",
    ),
    "stanchion.testing.host_suite": (
        "Call",
        "Driver",
        "Ended",
        "Scene",
        "Turn",
        "check",
        "check_probes",
    ),
    "stanchion.policy.lint": ("Linted", "Remark", "lint"),
    "stanchion.policy.load": ("load_policy", "packs"),
    "stanchion.runtime.calling.items": ("Items",),
    "stanchion.runtime.calling.clients": (
        "AiohttpOptions",
        "HttpxOptions",
        "RequestsOptions",
    ),
    "stanchion.runtime.calling.ingest": ("Ingested", "Ingesting"),
    "stanchion.runtime.calling.report_methods": ("Fields",),
    "stanchion.runtime.calling.reports": ("BadEvent",),
    "stanchion.runtime.calling.bound": ("RunThreads",),
    "stanchion.runtime.deciding.open_calls": ("OpenCall",),
    "stanchion.runtime.deciding.faults": ("Trouble",),
    "stanchion.runtime.deciding.undos": ("Undone",),
    "stanchion.runtime.operating.reload": ("Watcher",),
    "stanchion.runtime.options": ("ShieldOptions",),
    "stanchion.runtime.remote.run": ("RemoteRun",),
    "stanchion.runtime.remote.shield": ("RemoteShield",),
    "stanchion.stores.memory": ("MemoryStore",),
}
"""What public methods take and give, and has no place in `stanchion` itself."""


class Name(NamedTuple):
    """One public name: how it is written, what stands behind it, and what it does."""

    path: str
    signature: str
    doc: str
    overloads: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """How it is called, a line for each way."""
        return [
            f"{self.path}{one}" for one in (self.overloads if self.overloads else (self.signature,))
        ]


def members_of(
    module: str, names: tuple[str, ...] | None = None
) -> Iterator[tuple[Name, list[Name]]]:
    """The public names of a module in their order, each with what is public in it."""
    found = importlib.import_module(module)
    for name in sorted(found.__all__ if names is None else names):
        made = getattr(found, name)
        yield _name(name, made), list(_inside(name, made))


def lines() -> list[str]:
    """Every public name with its signature, a line each."""
    said = []
    for module, names in (("stanchion", None), ("stanchion.testing", None), *BESIDE.items()):
        for one, inside in members_of(module, names):
            said += [f"{module}.{line}" for each in (one, *inside) for line in each.lines()]
    return said


def _name(path: str, made: Any) -> Name:
    if not isinstance(made, type | FunctionType):
        kind = type(made).__name__
        return Name(path, f" = {_written(made)}" if kind.startswith("_") else f": {kind}", "")
    if isinstance(made, type) and issubclass(made, Enum):
        return Name(path, "", _doc(made))
    bare = is_typeddict(made) or (isinstance(made, type) and made.__init__ is Exception.__init__)
    return Name(path, "" if bare else _signature(made), _doc(made))


def _inside(path: str, made: Any) -> Iterator[Name]:
    if not isinstance(made, type):
        return
    if is_typeddict(made):
        docs = _field_docs(made)
        for key, kind in inspect.get_annotations(made).items():
            yield Name(f"{path}.{key}", f": {_written(kind)}", docs.get(key, ""))
        return
    if issubclass(made, Enum):
        for member in made:
            yield Name(f"{path}.{member.name}", f" = {member.value!r}", "")
        return
    ours = [cls for cls in reversed(made.__mro__) if cls.__module__.startswith("stanchion")]
    seen: dict[str, Any] = {}
    for cls in ours:
        for key in list(vars(cls)):
            getattr(
                cls, key, None
            )  # a method whose module is not loaded yet puts itself there when it is asked for
        seen |= {key: value for key, value in vars(cls).items() if not key.startswith("_")}
    fields = set(made.__struct_fields__) if issubclass(made, msgspec.Struct) else set()
    for key, value in sorted(seen.items()):
        bare = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(value, property):
            gives = "" if value.fget is None else _gives(inspect.signature(value.fget))
            yield Name(f"{path}.{key}", gives.replace(" -> ", ": "), _doc(value))
        elif isinstance(bare, FunctionType) and key not in fields:
            bound = not isinstance(value, staticmethod)
            ways = tuple([_signature(one, bound) for one in get_overloads(inspect.unwrap(bare))])
            yield Name(f"{path}.{key}", _signature(bare, bound), _doc(bare), ways)


def _signature(made: Any, bound: bool = False) -> str:
    try:
        signature = inspect.signature(made)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(signature.parameters.values())[1 if bound else 0 :]
    said: list[str] = []
    for at, one in enumerate(parameters):
        before = parameters[at - 1] if at else None
        if (
            before is not None
            and before.kind is one.POSITIONAL_ONLY
            and one.kind is not one.POSITIONAL_ONLY
        ):
            said.append("/")
        if one.kind is one.KEYWORD_ONLY and (
            before is None or before.kind not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        ):
            said.append("*")
        said.append(_parameter(one))
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        said.append("/")
    return f"({', '.join(said)}){'' if isinstance(made, type) else _gives(signature)}"


def _parameter(one: inspect.Parameter) -> str:
    stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    kind = "" if one.annotation is one.empty else f": {_written(one.annotation)}"
    if one.default is one.empty:
        return f"{stars}{one.name}{kind}"
    return f"{stars}{one.name}{kind}{' = ' if kind else '='}{_default(one.default)}"


def _default(value: Any) -> str:
    """A default as it is written; what has no short form, such as a function or an address, is left
    open."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    text = repr(value)
    return text if len(text) <= 60 and " at 0x" not in text and not callable(value) else "..."


def _gives(signature: inspect.Signature) -> str:
    return (
        ""
        if signature.return_annotation is signature.empty
        else f" -> {_written(signature.return_annotation)}"
    )


def _written(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text)
    return re.sub(r"\b(?:typing|collections\.abc|stanchion(?:\.\w+)*|msgspec)\.", "", text)


def _doc(made: Any) -> str:
    return inspect.cleandoc(made.__doc__) if made.__doc__ else ""


def _field_docs(made: Any) -> dict[str, str]:
    """What stands below each field of a class, which Python does not keep."""
    found: dict[str, str] = {}
    for cls in reversed([made, *_bases(made)]):
        for field, said in pairwise(_source(cls).body):
            match field, said:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(text))
                ):
                    found[name] = " ".join(text.split())
    return found


def page(title: str, introduction: str, modules: dict[str, tuple[str, ...] | None]) -> str:
    """A page of the reference: each name with its signature and what it does."""
    said = [f"# {title}", "", introduction, ""]
    for module, names in modules.items():
        for one, inside in members_of(module, names):
            said += [f"## `{one.path}`", "", f"`from {module} import {one.path}`", ""]
            said += ["```text", *_wrapped(one), "```", "", *([one.doc, ""] if one.doc else [])]
            short = [each for each in inside if "(" not in each.signature.partition(":")[0]]
            if short:
                said += ["| | | |", "|---|---|---|"]
                said += [
                    (
                        f"| `{each.path.rpartition('.')[2]}` | {_code(each.signature)} | "
                        f"{' '.join(each.doc.split())} |"
                    )
                    for each in short
                ]
                said.append("")
            for each in inside:
                if each not in short:
                    said += [f"### `{each.path}`", "", "```text", *_wrapped(each), "```", ""]
                    said += [each.doc, ""] if each.doc else []
    return "\n".join(said).rstrip() + "\n"


def _wrapped(name: Name) -> list[str]:
    """How it is called, each parameter in a line of its own where one line is too long."""
    said = []
    for line in name.lines():
        called, parted, rest = line.partition("(")
        depth, parts, end = 0, [""], len(rest)
        for at, char in enumerate(rest):
            depth += (char in "([{") - (char in ")]}")
            if depth < 0:
                end = at
                break
            if char == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += char
        if len(line) <= WIDE or not parted:
            said.append(line)
        else:
            said += [f"{called}(", *[f"    {part.strip()}," for part in parts], rest[end:]]
    return said


def _code(signature: str) -> str:
    text = signature.removeprefix(": ").removeprefix(" = ").replace("|", "\\|")
    return f"`{text}`" if text else ""


def _bases(made: Any) -> list[type]:
    """The classes that a class is made of. Python 3.11 forgets those of a `TypedDict`: its source
    has their names."""
    if is_typeddict(made):
        home = importlib.import_module(made.__module__)
        found = [getattr(home, one.id) for one in _source(made).bases if isinstance(one, ast.Name)]
    else:
        found = list(getattr(made, "__orig_bases__", ()))
    return [one for one in found if isinstance(one, type)]


def _source(cls: type) -> ast.ClassDef:
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    return body
