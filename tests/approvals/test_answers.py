"""Who may say yes to what, cell by cell, through the runtime: the action starts where the rules say
so, or never."""

from __future__ import annotations

import json
import os
import unicodedata
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Refused, Run
from stanchion.approvals.act import Way
from stanchion.approvals.answerers import By
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.rules import AnswererRole, Asked, refusal
from stanchion.kernel.shown import UNSEEN
from stanchion.testing import shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy
from tests.approvals.cells import TYPED, WAYS, Cell, cells, expected, outcomes, played
from tests.approvals.test_taken_back import asks
from tests.cli.terminals import person

AT_A_TERMINAL = """
import json, pathlib, tempfile
from tests.approvals.cells import TYPED, outcomes, played
print(json.dumps(list(outcomes(played(*TYPED), pathlib.Path(tempfile.gettempdir())))))
"""


def wrong(came: list[tuple[Cell, bool]]) -> list[tuple[Cell, bool]]:
    """The cells that came out otherwise than the rules say."""
    return [(cell, started) for cell, started in came if started != expected(cell)]


def test_the_table_has_both_sides() -> None:
    starts = {way: sum(map(expected, cells(way))) for way in WAYS if any(map(expected, cells(way)))}
    assert starts == {
        "key": 85,
        "ssh-agent": 85,
        "signed elsewhere": 85,
        "terminal": 20,
        "program": 21,
        "link": 10,
        "chat": 10,
        "link that the policy takes": 20,
        "chat that the policy takes": 20,
    }


@pytest.mark.parametrize("way", [way for way in WAYS if way not in TYPED])
def test_a_yes_starts_what_it_may_and_nothing_else(way: str, tmp_path: Path) -> None:
    came = list(outcomes(played(way), tmp_path))
    assert [cell for cell, _ in came] == played(way)
    assert wrong(came) == []


def test_every_way_that_starts_something_is_played_on_both_sides() -> None:
    for way in WAYS:
        sides = {expected(cell) for cell in played(way)}
        assert sides == {expected(cell) for cell in cells(way)}
        assert {cell[:4] for cell in played(way)} == {cell[:4] for cell in cells(way)}, (
            "no mode and no risk is left out"
        )


def test_a_code_typed_at_a_terminal_starts_what_it_may_and_nothing_else() -> None:
    """One process at a real terminal, where somebody types every code that is asked for."""
    root = str(Path(__file__).parents[2])
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]),
        "NO_COLOR": "1",
    }
    with person() as somebody:
        made = somebody.begin(AT_A_TERMINAL, env=environ, cwd=root)
        while code := somebody.reads(r"Type ([A-Z0-9]{6}) to continue", until=made):
            somebody.screen = ""
            somebody.types(f"{code}\n")
        out, err = made.communicate()
    assert made.returncode == 0, err.decode()
    came = [(Cell(*cell), started) for cell, started in json.loads(out)]
    assert [cell for cell, _ in came] == played(*TYPED)
    assert wrong(came) == []


@pytest.mark.parametrize("enrolled", [True, False])
def test_a_no_is_everybody_s(enrolled: bool) -> None:
    reviewer, known = operator("bob", "reviewer")
    shield, paid = shield_for(policy(roles=["boss"]), operators=[known] if enrolled else []), Paid()
    people: list[By] = ["bot", "ann", *([reviewer] if enrolled else [])]
    for amount, by in enumerate(people):
        ticket = asks(shield, paid, amount)
        assert shield.deny(ticket, by=by, comment="no").state == "denied"
        asks(shield, paid, amount)
    assert paid.amounts == []


WIDE = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}


@cache
def nothing_to_see() -> st.SearchStrategy[str]:
    """Characters that nobody sees, and spaces."""
    unseen = [char for char in map(chr, range(0x110000)) if UNSEEN.match(char)]
    codes = [code for code in range(0x30000) if code not in range(0xD800, 0xE000)]
    blank = [chr(code) for code in codes if unicodedata.category(chr(code))[0] in "ZC"]
    return st.lists(st.sampled_from([*unseen, *blank, "\u0301"]), max_size=2).map("".join)


@st.composite
def respelled(draw: st.DrawFn, name: str) -> str:
    """A name as somebody could write it who wants to be taken for somebody else."""
    between = nothing_to_see()
    written = [
        draw(st.sampled_from([char, char.upper(), WIDE[char]])) + draw(between) for char in name
    ]
    return draw(between) + "".join(written)


@given(respelled("billing-bot"), st.sampled_from(["asked", "works for them", "below them"]))
@settings(deadline=None)
def test_nobody_answers_what_was_asked_for_by_them_however_it_is_spelled(
    name: str, how: str
) -> None:
    own = () if how == "asked" else (name,)
    answering = AnswererRole(
        Way.KEY, name if how != "works for them" else "ann", "human_operator", own, True
    )
    agents = {
        "asked": ("billing-bot",),
        "works for them": ("billing-bot",),
        "below them": ("other", "billing-bot"),
    }[how]
    assert "somebody else has to answer" in refusal(Asked(agents=agents), answering)


def test_nobody_answers_for_an_agent_that_works_for_them_or_below_them() -> None:
    ann, known = operator("ann", agents=("Lead",))
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    with shield.run("ｌｅａｄ", "t") as run, run.spawn("kid", "t") as child:
        ticket = refused_ticket(child, paid)
        with pytest.raises(AnswerRefused, match="somebody else has to answer"):
            shield.approve(ticket, by=ann)
        refused_ticket(child, paid)
    assert paid.amounts == []


def refused_ticket(run: Run, paid: Paid) -> str:
    """The ticket that a run waits for."""
    with pytest.raises(Refused) as refused:
        run.call(paid.pay, amount=5)
    return str(refused.value.ticket)


@pytest.mark.parametrize("change", ["revoke", "rotate"])
@pytest.mark.parametrize("scope", ["once", "run", "task", "time"])
def test_what_somebody_signed_counts_no_longer_than_their_key(
    scope: str, change: Literal["revoke", "rotate"]
) -> None:
    (ann, known), (boss, chief) = operator(), operator("chief")
    shield, paid = shield_for(policy(), operators=[known, chief]), Paid()
    with shield.run("bot", "t") as run:
        shield.approve(refused_ticket(run, paid), by=ann, scope=scope)
        other = known if change == "revoke" else msgspec.structs.replace(operator()[1], name="ann")
        shield.enrol(change, other, boss)
        refused_ticket(run, paid)
    assert paid.amounts == []
    refusals = [fact.why for fact in shield.journal.facts() if fact.what == "answer.refused"]
    assert len(refusals) == (1 if scope == "once" else 0)
