"""Role × mode × urgency × time: who may say yes to a bypass in every cell, asked of a real
shield."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Shield
from stanchion.approvals import BypassRefused, State, TicketError
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.bypassing import WHY, Deeds, allowing, denies, refused

ROLES = ("reviewer", "architect", "supervisor", "human_operator")
PEOPLE = {role: operator(f"the-{role}") for role in ROLES}

MAY: dict[tuple[str, str], str] = {
    ("reviewer", "standard"): "reviewer architect supervisor human_operator",
    ("architect", "standard"): "architect supervisor human_operator",
    ("supervisor", "standard"): "supervisor human_operator",
    ("human_operator", "standard"): "human_operator",
    ("reviewer", "strict"): "supervisor human_operator",
    ("architect", "strict"): "supervisor human_operator",
    ("supervisor", "strict"): "supervisor human_operator",
    ("human_operator", "strict"): "human_operator",
    ("reviewer", "lockdown"): "human_operator",
    ("architect", "lockdown"): "human_operator",
    ("supervisor", "lockdown"): "human_operator",
    ("human_operator", "lockdown"): "human_operator",
    ("reviewer", "exhausted"): "",
    ("architect", "exhausted"): "",
    ("supervisor", "exhausted"): "",
    ("human_operator", "exhausted"): "",
}
"""Who may say yes at first, by the role that a guardrail asks for and the mode; each quarter of an
hour the first of them may no longer."""

SPENT = {"standard": 0.1, "strict": 0.55, "lockdown": 0.85, "exhausted": 1.0}
URGENCIES = ("normal", "urgent", "emergency")
QUARTER = 15 * 60_000
TIMES = (0, 59_999, 60_000, QUARTER - 1, QUARTER, 2 * QUARTER, 3 * QUARTER, 4 * QUARTER)


def policy(role: str) -> dict[str, Any]:
    """A guardrail that asks for a role, and a budget by which modes go."""
    known = {name: {"key": PEOPLE[name][1].key, "roles": [name]} for name in ROLES}
    return {
        "name": "p",
        "autonomy": True,
        "guards": [
            denies("first", "pay", "stop", **allowing(role)),
            {"use": "budget", "id": "money", "per": "run", "cost_usd": 1.0},
        ],
        "operators": {f"the-{name}": entry for name, entry in known.items()},
        "bypass": {"safety_responses": ["stop"]},
    }


def expected(role: str, mode: str, urgency: str, at: int) -> list[str]:
    """Who may say yes in a cell."""
    who = MAY[role, mode].split()
    if urgency == "normal":
        return who if at < QUARTER else []
    return who[at // QUARTER :]


def who_may(shield: Shield, ticket: str) -> list[str]:
    """Everybody whose yes would count; none of them is handed in."""
    may = []
    for role in ROLES:
        wish = shield.ticketing().wish(shield.ticket(ticket))
        try:
            shield.authority.said(wish, PEOPLE[role][0], yes=True)
            may.append(role)
        except TicketError:
            pass
    return may


@pytest.mark.parametrize(("role", "mode"), list(MAY))
@pytest.mark.parametrize("urgency", URGENCIES)
def test_every_cell(role: str, mode: str, urgency: str) -> None:
    """A tool that is no safety response: there is no way but a person's yes."""
    for at in TIMES:
        clock, deeds = FakeClock(), Deeds()
        shield = shield_for(policy(role), clock=clock)
        run = shield.run("bot")
        assert run.check("spend", {}, cost_usd=SPENT[mode]).proceeds
        refused(run, deeds.pay, 5)
        if mode == "exhausted":
            with pytest.raises(BypassRefused, match="nothing is left"):
                run.request_bypass("first", WHY, urgency)
            return
        made = run.request_bypass("first", WHY, urgency)
        clock.advance(at)
        may = expected(role, mode, urgency, at)
        if not may:
            assert shield.ticket(made.ticket).state is State.EXPIRED, (role, mode, urgency, at)
            refused(run, deeds.pay, 5)
            continue
        assert who_may(shield, made.ticket) == may, (role, mode, urgency, at)
        refused(run, deeds.pay, 5)
        shield.approve(made.ticket, by=PEOPLE[may[0]][0])
        run.call(deeds.pay, 5)
        assert deeds.done == [("pay", 5)], (role, mode, urgency, at)


@pytest.mark.parametrize("mode", SPENT)
@pytest.mark.parametrize("urgency", URGENCIES)
@pytest.mark.parametrize("at", TIMES)
def test_a_safety_response_goes_ahead_unanswered_in_the_cells_of_an_emergency(
    mode: str, urgency: str, at: int
) -> None:
    clock, deeds = FakeClock(), Deeds()
    shield = shield_for(policy("reviewer"), clock=clock)
    run = shield.run("bot")
    assert run.check("spend", {}, cost_usd=SPENT[mode]).proceeds
    refused(run, deeds.stop, 7)
    if mode == "exhausted" and urgency != "emergency":
        with pytest.raises(BypassRefused, match="nothing is left"):
            run.request_bypass("first", WHY, urgency)
        return
    run.request_bypass("first", WHY, urgency)
    clock.advance(at)
    turns = len(MAY["reviewer", mode].split())
    # Where nothing is left, what is gone past is the guardrail, and not the budget behind it.
    if urgency == "emergency" and 60_000 <= at < turns * QUARTER:
        run.call(deeds.stop, 7)
        assert deeds.done == [("stop", 7)]
    else:
        refused(run, deeds.stop, 7)


def test_a_yes_of_a_milder_mode_does_not_count_in_a_stricter_one() -> None:
    clock, deeds = FakeClock(), Deeds()
    shield = shield_for(policy("reviewer"), clock=clock)
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    made = run.request_bypass("first", WHY)
    shield.approve(made.ticket, by=PEOPLE["reviewer"][0])
    assert run.check("spend", {}, cost_usd=0.55).proceeds
    refused(run, deeds.pay, 5)
    assert deeds.done == []


def test_the_page_shows_the_same_table() -> None:
    from tools.pages.bypass import render

    page = render()
    assert (
        "| `reviewer` | normal | `reviewer`, `architect`, `supervisor`, `human_operator` |" in page
    )
    strict = page.partition("## Mode `strict`")[2].partition("## ")[0]
    row = next(line for line in strict.splitlines() if line.startswith("| `architect` | emergency"))
    assert [cell.strip() for cell in row.split("|")][3:9] == [
        "`supervisor`, `human_operator`",
        "`supervisor`, `human_operator`; override",
        "`human_operator`; override",
        "denied",
        "denied",
        "denied",
    ]
