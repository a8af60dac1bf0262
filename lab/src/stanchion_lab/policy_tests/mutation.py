"""Mutation of policies: what could go, or say less, without any case noticing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from multiprocessing import get_context
from typing import Any, Final

import msgspec

from stanchion import PolicyError
from stanchion.policy.document import DocumentNode
from stanchion.policy.load import load_policy, read_policy
from stanchion.testing.table_file import Case
from stanchion_lab.policy_tests.suite import INHERITED, played

WEAKER: Final = {"block": "warn", "quarantine": "block", "halt": "block", "escalate": "warn"}
"""What an action becomes in a weakened entry."""
KEYED: Final = ("tools", "agents", "tasks", "roles", "limits")
"""Sections whose entries are taken away one by one."""
CHUNK: Final = 4


class PolicyMutant(msgspec.Struct, frozen=True):
    """A policy with one thing changed: what that is, where it stands, and the policy."""

    what: str
    where: str
    policy: dict[str, Any]


class Verdict(msgspec.Struct, frozen=True):
    """Whether a case noticed a mutant: the first that did, or none. `broken` says that the mutant
    does not load, which nobody has to test."""

    what: str
    where: str
    noticed_by: str = ""
    broken: bool = False

    @property
    def survives(self) -> bool:
        """Whether no case noticed."""
        return not self.noticed_by and not self.broken


def plain(node: DocumentNode) -> Any:
    """A document as data."""
    if node.fields:
        return {name: plain(one) for name, one in node.fields.items()}
    if node.items:
        return [plain(one) for one in node.items]
    return node.value


def mutants(source: dict[str, Any] | str, inherited: bool = True) -> Iterator[PolicyMutant]:
    """Every policy that differs from another in one entry: without it, in shadow, with a weaker
    action; and without one entry of its tools, agents, tasks, roles and limits. What it has from
    packs counts only if it is `inherited`."""
    for one in _every_mutant(source):
        if inherited or not one.where.startswith(INHERITED):
            yield one


def _every_mutant(source: dict[str, Any] | str) -> Iterator[PolicyMutant]:
    document = read_policy(source).variant(None)
    whole: dict[str, Any] = plain(document.root)
    whole.pop("environments", None)
    listed = whole.get("guards")
    for at, entry in enumerate(listed if isinstance(listed, list) else []):
        where = str(document.place("guards", at))
        called = entry.get("id", entry.get("use", ""))
        yield PolicyMutant(f"without guard `{called}`", where, _with_guards(whole, at, None))
        if entry.get("mode") != "shadow":
            quiet = {**entry, "mode": "shadow"}
            yield PolicyMutant(f"guard `{called}` in shadow", where, _with_guards(whole, at, quiet))
        for option, value in entry.items():
            if option == "action" and value in WEAKER:
                mild = {**entry, option: WEAKER[value]}
                said = f"guard `{called}`: {option} `{WEAKER[value]}` for `{value}`"
                yield PolicyMutant(said, where, _with_guards(whole, at, mild))
    for section in KEYED:
        named = whole.get(section)
        if not isinstance(named, dict):
            continue
        for name in named:
            rest = {key: value for key, value in named.items() if key != name}
            where = str(document.place(section, name))
            yield PolicyMutant(f"without `{section}.{name}`", where, {**whole, section: rest})


def _with_guards(whole: dict[str, Any], at: int, entry: dict[str, Any] | None) -> dict[str, Any]:
    guards = [one for place, one in enumerate(whole["guards"]) if place != at]
    return {**whole, "guards": guards if entry is None else [*guards[:at], entry, *guards[at:]]}


def judge(
    source: dict[str, Any] | str,
    cases: Sequence[Case],
    processes: int,
    told: Callable[[int, int], None] | None = None,
    inherited: bool = True,
) -> list[Verdict]:
    """What becomes of each mutant of a policy under the cases that are for it."""
    each = list(mutants(source, inherited))
    asked = [(one, tuple(cases)) for one in each]
    found: list[Verdict] = []
    # Each process begins anew: a forked one would share locks with threads that it has not.
    with get_context("spawn").Pool(processes) if processes > 1 else nullcontext() as pool:
        done = map(_judged, asked) if pool is None else pool.imap(_judged, asked, CHUNK)
        for verdict in done:
            found.append(verdict)
            if told is not None:
                told(len(found), len(asked))
    return found


def _judged(work: tuple[PolicyMutant, tuple[Case, ...]]) -> Verdict:
    mutant, cases = work
    try:
        load_policy(mutant.policy)
    except PolicyError:
        return Verdict(mutant.what, mutant.where, broken=True)
    for case in cases:
        if played(msgspec.structs.replace(case, policy=mutant.policy)).complaints:
            return Verdict(mutant.what, mutant.where, case.name)
    return Verdict(mutant.what, mutant.where)
