"""The policy reference: every key of a policy file, from the structs that are its schema."""

import inspect
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from stanchion.kernel.sizes import ReadLimits
from stanchion.policy.faults.entry import FaultEntries, TextEntry
from stanchion.policy.json_schema import meanings
from stanchion.policy.load import packs
from stanchion.policy.prices.entry import LongPrompt, PriceEntry
from stanchion.policy.schema import (
    GUARDS,
    AgentEntry,
    AppliesTo,
    Placement,
    RoleEntry,
    TaskEntry,
    ToolEntry,
    any_file,
)
from stanchion.policy.sections import (
    Advice,
    Bypassing,
    CredentialEntry,
    Deep,
    Degrade,
    DoorRules,
    Escalation,
    Experience,
    TaskFiles,
)

PATH = "docs/reference/policy.md"

INTRODUCTION = """\
# Policy files

One YAML document. Unknown keys, wrong types, unknown words, and whatever nothing acts on are errors with file, line,
column and the nearest valid word, all of them at once. Only `true` and `false` are booleans; a name in a list is
exact unless a glob (`*`, `?`) is written. `stanchion policy schema` prints the JSON Schema for editors. A first policy is
written step by step in the [tutorial](../tutorial/write-a-policy.md).
"""

PARTS: list[tuple[str, type[msgspec.Struct]]] = [
    ("The document", any_file()),
    ("`roles.<name>`", RoleEntry),
    ("`agents.<id>`", AgentEntry),
    ("`tasks.<name>`", TaskEntry),
    ("`tasks.<name>.files`", TaskFiles),
    ("`tools.<name>`", ToolEntry),
    ("`guards[]`: what every entry may say", Placement),
    ("`guards[].applies_to`", AppliesTo),
    ("`limits`", ReadLimits),
    ("`escalation`", Escalation),
    ("`bypass`", Bypassing),
    ("`door`", DoorRules),
    ("`credentials.<name>`", CredentialEntry),
    ("`degrade`", Degrade),
    ("`experience`", Experience),
    ("`deep`", Deep),
    ("`advice`", Advice),
    ("`faults`", FaultEntries),
    ("`faults.text[]`", TextEntry),
    ("`prices.<model>`", PriceEntry),
    ("`prices.<model>.long_prompt`", LongPrompt),
]

LAYERS = """\
## Layers

| key | meaning |
|---|---|
| `extends` | a pack's name or a file beside this one, or a list; later ones lie over earlier ones, this file over all |
| `environments` | by name, what changes in that environment; `Shield.load(path, env=…)` and `--env` choose one |

Mappings merge; lists of guards merge by `id` (by `use` where there is no id and it is the only one); `null` takes a key
away. Other lists say by their key what becomes of the inherited one:

| key | the inherited list |
|---|---|
| `tools+: [rm]` | stays, and `rm` is added to it; where a guard has a list of its own without being told, to that |
| `tools=: [rm]` | is replaced |
| `tools: [rm]` | is replaced as well; `stanchion policy lint` says what it drops |

[How to change an inherited policy](../how-to/change-an-inherited-policy.md) has examples. Shipped packs: {packs}.
"""


NOBODY = (type(None), msgspec.UnsetType)
"""What stands in a type for a value that is absent."""


def render() -> str:
    """Render a table for each part of the document, then one for each guard."""
    lines = [INTRODUCTION]
    for title, struct in PARTS:
        lines += [f"## {title}", "", _first(struct), ""]
        lines += _table(struct)
    lines += [LAYERS.format(packs=", ".join(f"`{pack}`" for pack in packs())), "## Guards", ""]
    lines += ["Each has a page with examples; these are its own options.", ""]
    for name, guard in sorted(GUARDS.items()):
        lines += [f"### `use: {name}`", "", f"{_first(guard)} [More](../guards/{name}.md).", ""]
        lines += _table(guard)
    return "\n".join(lines)


def _first(struct: Any) -> str:
    """The first paragraph of what a struct says of itself, in one line."""
    return " ".join(inspect.cleandoc(struct.__doc__ or "").split("\n\n")[0].split())


def _table(struct: Any) -> list[str]:
    fields = msgspec.structs.fields(struct)
    if not fields:
        return ["It has no options.", ""]
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for field in fields:
        default = (
            "required"
            if field.required
            else f"`{_shown(field.default)}`"
            if field.default != ""
            else ""
        )
        meaning = meanings(struct)[field.name]
        lines.append(f"| `{field.name}` | {_type(field.type)} | {default} | {meaning} |")
    return [*lines, ""]


def _shown(value: Any) -> str:
    if isinstance(value, msgspec.Struct):
        return "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if value is msgspec.UNSET or value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "{}" if value in ({}, msgspec.NODEFAULT) else str(value)


def _type(kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in args)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(part) for part in args if part not in NOBODY))
    if origin is tuple:
        return f"list of {_type(args[0])}"
    if origin is dict:
        return f"mapping to {_type(args[1])}"
    if origin is not None and args:
        return _type(args[0])
    names = {
        str: "text",
        int: "whole number",
        float: "number",
        bool: "`true` or `false`",
        Any: "anything",
    }
    return names.get(kind, "mapping")
