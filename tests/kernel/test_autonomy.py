"""Autonomy modes: who may bypass in each, and the words of warnings that refuse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.kernel.actions import Action
from holdfast.kernel.autonomy import BYPASSERS, EXHAUSTED, LOCKDOWN, MODES, STRICT, Share, may_bypass
from holdfast.kernel.chain import Plans
from holdfast.kernel.findings import Finding
from holdfast.kernel.gates import HALTED, NORMAL, SAFE
from model.directed.scene import RUN, Scene, watcher

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "autonomy-modes.md"
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
    for milder, stricter in zip(MODES, MODES[1:], strict=False):
        assert {role for role in ROLES if may_bypass(stricter, role)} < {r for r in ROLES if may_bypass(milder, r)}


def test_the_page_names_who_may_bypass_as_the_table_has_it() -> None:
    rows = re.findall(r"^\| (\w+) \| .+ \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    shown = {mode: set(re.findall(r"`(\w+)`", cell)) for mode, cell in rows if mode in {"standard", *MODES}}
    assert shown == {mode if mode else "standard": roles if roles else set() for mode, roles in BYPASSERS.items()}


def locked(scene: Scene, used: int = 9) -> Scene:
    """The scene with a budget of ten of which so much is used."""
    scene.budgets = (Share("k", 10),)
    scene.plans = Plans(scene, RUN, scene.plans.can)
    scene.put("k", None)
    scene.records["k"] = (used, None)
    return scene


def test_a_rule_that_warns_keeps_its_own_advice_where_warnings_refuse() -> None:
    own = Finding(Action.WARN, "scene.says", text="that is loud", guidance="whisper")
    plain = Finding(Action.WARN, "scene.says")
    said = [_in_lockdown(finding) for finding in (own, plain)]
    assert [finding.message for finding in said] == [
        "that is loud; in lockdown, with so little left of a budget, warnings refuse",
        "scene.says; in lockdown, with so little left of a budget, warnings refuse",
    ]
    assert [finding.advice for finding in said] == ["whisper", "do what nothing warns about, or ask for a larger budget"]
