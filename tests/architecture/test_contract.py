"""Policy and runtime know no shipped guard by its class: they ask for powers, so that any guard can
have them."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from stanchion.kernel.contract.checking import members, wrong_in
from stanchion.kernel.contract.powers import TOGETHER, Powers
from stanchion.policy.load import load_policy
from tests.sources import data_of, tree_of

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("policy", "runtime")
KERNEL = (*ROOMS, "kernel")
MEMBERS = {member.name for member in members(Powers)}
SIGNS = MEMBERS - {name for others in TOGETHER.values() for name in others}


def sources(rooms: tuple[str, ...]) -> list[Path]:
    """Every source file of some rooms."""
    return [
        file for room in rooms for file in sorted((ROOT / "src/stanchion" / room).rglob("*.py"))
    ]


def from_guards(tree: ast.AST) -> set[str]:
    """The names that a file imports from the room of guards."""
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name
        for node in imported
        if (node.module or "").startswith("stanchion.guards")
        for alias in node.names
    }


def known_by_class(source: str) -> Iterator[str]:
    """Where a file asks whether something is of a class from the room of guards."""
    tree = tree_of(source)
    guards = from_guards(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                asked = {one.id for one in ast.walk(kinds) if isinstance(one, ast.Name)}
            case ast.MatchClass(cls=ast.Name(id=name)):
                asked = {name}
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type")), comparators=[ast.Name(id=name)]
            ):
                asked = {name}
            case _:
                continue
        for name in sorted(asked & guards):
            yield (
                f"line {node.lineno}: it asks for `{name}`; ask for a power of "
                f"`stanchion.kernel.contract` instead"
            )


def asked_by_name(source: str) -> Iterator[str]:
    """Where a file asks a guard for a member of a power by its name."""
    for node in ast.walk(tree_of(source)):
        match node:
            case ast.Call(
                func=ast.Name(id="hasattr" | "getattr"), args=[_, ast.Constant(value=name), *_]
            ) if name in SIGNS:
                yield f"line {node.lineno}: it asks for `{name}` by name; ask for its power instead"
            case _:
                pass


OWN_WORDS = {
    "src/stanchion/policy/custom.py": {"deep", "isolated", "recalls"},
}
"""What a user's function says of itself has the same names."""


def test_no_shipped_guard_is_known_by_its_class() -> None:
    found = {
        file.relative_to(ROOT).as_posix(): list(known_by_class(file.read_text("utf-8")))
        for file in sources(ROOMS)
    }
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert found, "there is nothing to look at"


def test_no_power_is_asked_for_by_name() -> None:
    found: dict[str, list[str]] = {}
    for file in sources(KERNEL):
        path = file.relative_to(ROOT).as_posix()
        lines = [
            line
            for line in asked_by_name(file.read_text("utf-8"))
            if not any(f"`{name}`" in line for name in OWN_WORDS.get(path, ()))
        ]
        found |= {path: lines} if lines else {}
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "if isinstance(guard, Budget): ...",
        "if isinstance(guard, Rule | Budget): ...",
        "if isinstance(guard, (int, Budget)): ...",
        "match guard:\n    case Budget(): ...",
        "if type(guard) is Budget: ...",
    ],
)
def test_a_guard_that_is_known_by_its_class_is_found(code: str) -> None:
    (found,) = known_by_class(f"from stanchion.guards.budget import Budget\n{code}")
    assert "it asks for `Budget`" in found
    assert not list(known_by_class(f"from stanchion.policy.rules import Budget\n{code}"))


def test_a_power_that_is_asked_for_by_name_is_found() -> None:
    assert list(asked_by_name("hasattr(guard, 'settled')"))
    assert list(asked_by_name("getattr(guard, 'lease_ms', 0)"))
    assert not list(asked_by_name("getattr(event, 'duration_ms', 0)"))


def members_asked_for() -> set[str]:
    """What the sources ask guards for, by the contract's two functions."""
    calls = [
        node
        for file in (ROOT / "src/stanchion").rglob("*.py")
        if "having(" in (source := file.read_text("utf-8"))
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("having", "all_having")
    ]
    names = [call.args[1] for call in calls]
    return {str(name.value) for name in names if isinstance(name, ast.Constant)}


def test_what_guards_are_asked_for_is_what_the_page_of_powers_has() -> None:
    """A name that is mistyped would be as good as not there, and a guard would go unasked."""
    assert members_asked_for() == SIGNS
    assert set(TOGETHER) <= SIGNS


def test_every_power_says_when_it_is_asked_and_what_it_may_answer() -> None:
    (page,) = [
        node
        for node in tree_of((ROOT / "src/stanchion/kernel/contract/powers.py").read_text()).body
        if isinstance(node, ast.ClassDef)
    ]
    said = {
        one.target.id
        for one, text in pairwise(page.body)
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and isinstance(text, ast.Expr)
    }
    said |= {
        one.name for one in page.body if isinstance(one, ast.FunctionDef) and ast.get_docstring(one)
    }
    assert said == MEMBERS


def tables() -> list[Path]:
    """The tables of cases, in which every shipped guard stands."""
    return sorted((ROOT / "tests/tables").glob("*.yaml"))


@pytest.mark.parametrize("file", tables(), ids=lambda file: file.stem)
def test_the_shipped_guards_keep_the_contract(file: Path) -> None:
    policy = data_of(file.read_text("utf-8")).get("policy")
    for seat in load_policy(policy).seats if isinstance(policy, dict) else ():
        assert wrong_in(seat.placed.guard) == [], seat.placed.id
