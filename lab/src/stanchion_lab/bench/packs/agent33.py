"""The pack `agent-33` beside the same guards in a policy that knows nothing of guardrails."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

from stanchion.policy.load import load_policy
from stanchion.policy.said import beyond_defaults
from stanchion.policy.schema import use_of
from stanchion_lab.bench.measure import cost_of
from stanchion_lab.bench.packs.engines import choose
from stanchion_lab.bench.packs.pack import ahead, at_home, beside, in_memory
from stanchion_lab.bench.packs.players import Player, Shielded, play_all
from stanchion_lab.bench.packs.sessions import drawn
from stanchion_lab.bench.table import Effort, Row, Section

PACK: Final = "agent-33"
PLAIN: Final = "the same guards by hand"
OF_GUARDRAILS: Final = ("part_of", "always", "bypass")
"""What an entry says only because it is of a guardrail."""

GIVEN: Final[dict[str, Any]] = {
    "limits": {"warnings": 10**9, "count_marks": True},
    "tasks": {
        "work": {
            "budget": {"tokens": 10**12, "time_s": 10**8, "api_calls": 10**12, "cost_usd": 10**8}
        }
    },
}
"""Budgets that nobody uses up, so that they are counted; and no warning that waits for a person."""


def by_hand() -> dict[str, Any]:
    """The guards of the pack, each for itself, and nothing measured."""
    guards = []
    for entry in load_policy(PACK).file.guards:
        said = {
            key: value for key, value in beyond_defaults(entry).items() if key not in OF_GUARDRAILS
        }
        guards.append({"use": use_of(entry), **said})
    return {"name": "by hand", "guards": guards, **GIVEN}


def agent33(effort: Effort) -> Section:
    """What guardrails cost beside their guards: one verdict for each, durations, and what is always
    active."""
    calls = drawn(effort)
    with ExitStack() as stack:
        stack.enter_context(at_home())
        choose(PACK)
        players: dict[str, Player] = {
            PLAIN: Shielded(in_memory(by_hand(), stack)),
            PACK: Shielded(in_memory({"name": "pack", "extends": PACK, **GIVEN}, stack)),
        }
        steps, played = ahead(calls, play_all(players, calls.sessions))
    rows = []
    for what in ("call", "result"):
        costs = {
            name: cost_of([getattr(one, what) for one in took]) for name, took in played.items()
        }
        rows += [
            Row(f"{what}: {PLAIN}", costs[PLAIN]),
            beside(f"{what}: {PACK}", costs[PACK], costs[PLAIN]),
        ]
    note = (
        f"{len(steps):,} calls of {len(calls.sessions)} sessions from {calls.source}, state in "
        f"memory"
    )
    return Section("packs: agent-33", note, rows)
