"""What else is wrong with a policy that has mistakes: its right parts are compiled, so that all is
told at once."""

from __future__ import annotations

from typing import Any, Final

from stanchion import typed
from stanchion.policy.compile import compile_policy
from stanchion.policy.document import Document, Node, Unreadable
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.schema import (
    GUARDS,
    AgentEntry,
    RoleEntry,
    TaskEntry,
    ToolEntry,
    any_file,
    entry_of,
)
from stanchion.policy.sections import Degrade
from stanchion.policy.struct_check import check

TABLES: Final[dict[str, Any]] = {
    "roles": RoleEntry,
    "agents": AgentEntry,
    "tasks": TaskEntry,
    "tools": ToolEntry,
}


def faults_of_the_rest(document: Document) -> list[Fault]:
    """What compiling finds in those entries of a document that are right in themselves.

    What could be the consequence of an entry that was left out is not told: a list that nothing
    seems to act on, a role that seems to be missing.
    """
    data: dict[str, Any] = {"name": "salvaged"}
    whole = True
    for table, kind in TABLES.items():
        entries = document.node(table).value
        if isinstance(entries, dict) and table in _keys(document):
            data[table] = {
                name: node.data() for name, node in entries.items() if _right(document, node, kind)
            }
            whole = whole and len(data[table]) == len(entries)
    if "degrade" in _keys(document):
        whole = whole and _right(document, document.node("degrade"), Degrade)
        data |= {"degrade": document.node("degrade").data()} if whole else {}
    guards = document.node("guards").value if "guards" in _keys(document) else None
    nodes = guards if isinstance(guards, list) else []
    kept = [at for at, node in enumerate(nodes) if _right(document, node, entry_of(tuple(GUARDS)))]
    data["guards"] = [nodes[at].data() for at in kept]
    whole = whole and len(kept) == len(nodes)

    def where(*path: Any) -> str:
        return document.where(
            *(("guards", kept[path[1]], *path[2:]) if path[0] == "guards" else path)
        )

    try:
        compile_policy(typed.convert(data, any_file()), where, whole=whole)
    except PolicyError as error:
        return list(error.faults)
    return []


def _keys(document: Document) -> set[str]:
    value = document.root.value
    return set(value) if isinstance(value, dict) else set()


def _right(document: Document, node: Node, kind: Any) -> bool:
    return _read(node) and not check(Document(document.origin, node), kind)


def _read(node: Node) -> bool:
    """Whether everything in it could be read; what could not has a fault already."""
    value = node.value
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not isinstance(value, Unreadable) and all(_read(child) for child in below)
