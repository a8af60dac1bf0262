"""A case: a decision's record with what explaining it needs besides, gathered from its trail."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.audit.again import run_of, withheld
from stanchion.audit.reading import Found, Reader
from stanchion.audit.record import OUTCOME, Entry
from stanchion.kernel.events import RunInfo
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.custom import BRAKE, with_guards
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy


class Case(msgspec.Struct, frozen=True):
    """A decision's record, who was at work, where the policy came from, and the arguments of an outcome's call.

    `source` is empty where the policy was handed in as data, and `None` where nothing is known of it.
    """

    entry: Entry
    run: RunInfo
    source: str | None = None
    env: str | None = None
    args: dict[str, Any] | None = None


def case_of(reader: Reader, found: Found) -> Case:
    """The case of a decision in a trail; what is no longer there is left out."""
    entry = found.entry()
    args = args_of(reader, entry)
    begun = reader.begun(found)
    if begun is None:
        return Case(entry, run_of(entry), args=args)
    return Case(entry, begun.run, begun.source, begun.env, args)


def args_of(reader: Reader, entry: Entry) -> dict[str, Any] | None:
    """The arguments of an outcome's call, which its intent has."""
    if entry.kind != OUTCOME or not entry.call or "args" in entry.beside:
        return None
    intent = reader.find(entry.call)
    content = None if intent is None else intent.entry().content
    return content if isinstance(content, dict) and not withheld(content) else None


def policy_of(case: Case) -> CompiledPolicy | None:
    """The policy that a decision was made under, as it is now; `None` where it cannot be loaded, or was handed in."""
    if not case.source:
        return None
    try:
        policy = load_policy(case.source, case.env)
    except PolicyError:
        return None
    if policy.hash == case.entry.policy or all(said.guard != BRAKE.id for said in case.entry.findings):
        return policy
    try:
        braked, _ = with_guards(policy, (), brake=True)
    except PolicyError:
        return policy
    return braked if braked.hash == case.entry.policy else policy
