"""Autonomy modes: who may bypass in each, and the words of warnings that refuse."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from model.directed.scene import RUN, Scene, watcher
from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import (
    BYPASSERS,
    EXHAUSTED,
    LOCKDOWN,
    MODES,
    STRICT,
    Share,
    may_bypass,
)
from stanchion.kernel.chain import EVERY_ACTION, Plans
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.state import Batch, Line
from stanchion.kernel.states import HALTED, NORMAL, SAFE

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "autonomy-modes.md"
LOCKED = "in lockdown, with so little left of a budget, warnings refuse"
ROLES = ("implementer", "reviewer", "architect", "supervisor", "human_operator", "")


@pytest.mark.parametrize(
    ("mode", "roles"),
    [
        (NORMAL, set(ROLES)),
        (STRICT, {"supervisor", "human_operator"}),
        (LOCKDOWN, {"human_operator"}),
        (EXHAUSTED, set()),
        (SAFE, set()),
        (HALTED, set()),
        ("unheard of", set()),
    ],
)
@pytest.mark.parametrize("role", ROLES)
def test_who_may_bypass(mode: str, role: str, roles: set[str]) -> None:
    assert may_bypass(mode, role) is (role in roles)


def test_every_mode_has_its_cell_and_none_is_freer_than_the_one_before() -> None:
    assert tuple(BYPASSERS) == MODES
    for milder, stricter in pairwise(MODES):
        assert {role for role in ROLES if may_bypass(stricter, role)} < {
            r for r in ROLES if may_bypass(milder, r)
        }


def test_the_page_names_who_may_bypass_as_the_table_has_it() -> None:
    rows = re.findall(
        r"^\| (\w+) \| .+ \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = {
        mode: set(re.findall(r"`(\w+)`", cell))
        for mode, cell in rows
        if mode in {"standard", *MODES}
    }
    assert shown == {
        mode if mode else "standard": roles if roles else set() for mode, roles in BYPASSERS.items()
    }


def in_lockdown(*guards: Placed, can: tuple[Action, ...] = EVERY_ACTION) -> Scene:
    """A scene with a budget of ten, nine of which are used."""
    scene = Scene(*guards, can=can)
    scene.budgets = (Share("k", 10),)
    scene.plans = Plans(scene, RUN, can)
    scene.store.carry(Batch("before", lines=(Line("k"),), amounts=(9, 0, 0, 0, 0)))
    return scene


class Loud(msgspec.Struct, frozen=True):
    """A pure guard that gives one finding."""

    finding: Finding
    kind: ClassVar[Kind] = Kind.PURE

    def judge(self, _reading: object) -> Finding:
        return self.finding


def test_a_warning_that_refuses_says_so_and_keeps_the_advice_its_author_wrote() -> None:
    own = Finding(Action.WARN, "scene.says", text="that is loud", guidance="whisper")
    decisions = [
        in_lockdown(Placed("w", Loud(said))).judge()
        for said in (own, Finding(Action.WARN, "scene.says"))
    ]
    assert [(decision.inputs.mode, decision.action) for decision in decisions] == [
        (LOCKDOWN, Action.BLOCK)
    ] * 2
    assert [decision.message for decision in decisions] == [
        f"that is loud; {LOCKED}",
        f"scene.says; {LOCKED}",
    ]
    assert [decision.advice for decision in decisions] == [
        "whisper",
        "do what nothing warns about, or ask for a larger budget",
    ]


def test_a_late_warning_that_refuses_says_so_too() -> None:
    late = Finding(Action.WARN, "kernel.late_answer", ("w", "odd"), guard="w")
    decision = in_lockdown().judge(late=(late,))
    assert decision.action == Action.BLOCK
    assert decision.message == f"a late answer from guard `w` about an earlier event: odd; {LOCKED}"


@pytest.mark.parametrize("action", [Action.REDACT, Action.ESCALATE, Action.BLOCK])
def test_what_is_no_warning_is_worded_as_ever(action: Action) -> None:
    edit = "whole" if action == Action.REDACT else ""
    decision = in_lockdown(watcher("w", action, edit=edit)).judge()
    assert (decision.action, decision.message) == (action, "scene.says")


def test_a_host_that_can_only_refuse_is_not_said_to_be_in_lockdown() -> None:
    decision = Scene(watcher("w", Action.WARN), can=(Action.ALLOW, Action.BLOCK)).judge()
    assert (decision.inputs.mode, decision.action) == (NORMAL, Action.BLOCK)
    assert decision.message == "scene.says; warnings refuse here"
