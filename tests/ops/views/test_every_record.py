"""Every kind of record that Stanchion keeps has words: whoever adds one says how it is read."""

from __future__ import annotations

import ast
from pathlib import Path

from stanchion.ops.views.record_says import KINDS
from stanchion.ops.views.stored import REGISTERS

SRC = Path(__file__).resolve().parents[3] / "src/stanchion"
KEEPS = ("approvals", "audit", "guards", "kernel", "policy", "runtime", "stores")
TOLD_OTHERWISE = {"experience", "run", "shield", "unpaid"}
COUNTED = {
    "asks",
    "budget",
    "grant",
    "lease",
    "lender",
    "lent",
    "reliability",
    "steps",
    "strikes",
    "warn",
}
"""Counters, whose number is what it says."""


def kinds_in(source: str) -> set[str]:
    """The first words of all names that a file makes keys of."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("key", "scope_key")
        ):
            at = 1 if node.func.id == "key" else 2
            word = node.args[at] if len(node.args) > at else None
            if isinstance(word, ast.Constant) and isinstance(word.value, str):
                found.add(word.value)
    return found


def test_every_kind_is_worded_or_counted() -> None:
    files = [file for room in KEEPS for file in (SRC / room).rglob("*.py")]
    used = set().union(*[kinds_in(file.read_text(encoding="utf-8")) for file in files])
    assert {"breaker", "budget", "ticket"} <= used, "the keys are not found any more"
    assert used - KINDS.keys() - REGISTERS - COUNTED - TOLD_OTHERWISE == set(), (
        "word it in `ops/views/record_says.py`"
    )


def test_a_kind_is_found_in_both_forms() -> None:
    assert kinds_in("key(tenant, 'one', x); scope_key(run, per, 'two'); key(tenant)") == {
        "one",
        "two",
    }
