"""Policies compared: what is said to loosen nothing lets no event through that the old policy
refuses."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, strategies as st

from stanchion import Action, Decision, PolicyError, Shield
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.load import load_policy
from stanchion.policy.loosening import loosenings
from tests.policy.drawn_changes import AGENTS, changed, drawn_events, drawn_policy
from tests.properties.examples import sample

SEEDS = st.integers(0, 2**63)


@sample(70)
@given(SEEDS)
def test_what_loosens_nothing_lets_nothing_more_through(seed: int) -> None:
    """Both policies judge the same events until they first answer differently: then the new one is
    severer."""
    chance = Random(seed)
    pair = drawn_pair(chance)
    if pair is None or loosenings(*pair):
        return
    for _ in range(4):
        let = first_let_through(*pair, chance)
        assert let is None, let


def drawn_pair(chance: Random) -> tuple[CompiledPolicy, CompiledPolicy] | None:
    """A policy and one that was made from it; `None` where either is wrong."""
    old = drawn_policy(chance)
    try:
        return load_policy(old), load_policy(changed(old, chance))
    except PolicyError:
        return None


def first_let_through(old: CompiledPolicy, new: CompiledPolicy, chance: Random) -> Any:
    """The first event that the old policy refuses and the new one takes more lightly, where they
    agreed so far."""
    who = chance.choice(AGENTS[:2]), chance.choice(("mend", "other", ""))
    runs = [
        Shield(policy, clock=lambda: 1_000_000, safe_mode=False).run(*who, id="r")
        for policy in (old, new)
    ]
    for stage, fields in drawn_events(chance):
        old_one, new_one = [run.judge(stage, **fields) for run in runs]
        if not old_one.proceeds and new_one.action < old_one.action:
            return who, stage, fields, (old_one, new_one)
        if found(new_one) != found(old_one):
            # From here on they remember different things.
            return None
    return None


def found(decision: Decision) -> list[tuple[str, Action, str]]:
    """What guards had to say, by which a store remembers."""
    return [(finding.guard, finding.action, finding.code) for finding in decision.findings]
