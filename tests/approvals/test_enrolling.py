"""Operators who are added, pinned and given other keys, as somebody would do it at the command
line."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.keys import make_key_file
from stanchion.approvals.operators import RECORD
from stanchion.approvals.proof import rostered
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, When
from stanchion.runtime.people.authority import pinned_by
from stanchion.testing.operators import operator
from tests.approvals.homes import Home
from tests.approvals.test_honest_ways import WORDS, asked, enrolled, paid, with_fd

OTHER = "staple battery horse"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "here")


def pinning(home: Home, name: str = "ann", roles: str = "human_operator") -> str:
    """The lines of a policy that pin an operator by the key in their folder."""
    line = (home.keys / f"{name}.pub").read_text().rsplit(" ", 1)[0]
    return f"operators:\n  {name}: {{key: {line}, roles: [{roles}]}}\n"


def test_who_follows_from_a_first_operator_counts_also_where_that_one_is_pinned(home: Home) -> None:
    ann = enrolled(home)
    bob, known = operator("bob")
    public = home.project / "bob.pub"
    public.write_text(f"{known.key} bob\n")
    status, said = with_fd(
        home, "operators", "add", "bob", "--public", str(public), "--key", str(ann)
    )
    assert status == 0, said
    with home.shield("critical", f"{pinning(home)}\nescalation: {{quorum: 1}}\n") as shield:
        ticket = asked(shield)
        shield.approve(ticket, by=bob)
        assert paid(shield) == 5


def test_an_operator_is_as_they_are_pinned_whatever_a_first_change_says(home: Home) -> None:
    enrolled(home)
    with home.shield("critical", pinning(home, roles="reviewer")) as shield:
        assert shield.authority.known().operators["ann"].roles == ("reviewer",)
        _, value = shield.store.read(RECORD)
        more = [
            {
                **value[0],
                "operator": {**value[0]["operator"], "roles": ["human_operator", "architect"]},
            }
        ]
        shield.store.carry(Batch("more", FLEET, puts=((RECORD, more, When.JUDGED, 0, 0),)))
        assert rostered(pinned_by(shield.policy), more).operators["ann"].roles == ("reviewer",)


def test_a_first_change_with_another_key_does_not_replace_who_is_pinned(home: Home) -> None:
    enrolled(home)
    eve, known = operator("ann")
    with home.shield("critical", pinning(home)) as shield:
        _, value = shield.store.read(RECORD)
        forged = [{**value[0], "operator": msgspec.to_builtins(known)}]
        shield.store.carry(Batch("forge", FLEET, puts=((RECORD, forged, When.JUDGED, 0, 0),)))
        ticket = asked(shield)
        with pytest.raises(AnswerRefused):
            shield.approve(ticket, by=eve)
        assert shield.ticket(ticket).state == "open"


def test_a_key_that_was_made_for_nothing_leaves_again(home: Home) -> None:
    with home.shield("critical") as shield, shield.run("bot"):
        came = home.at_terminal("operators", "add", "ann", types=(WORDS, WORDS))
        assert came.status == 1
        assert "runs are open" in came.err
    assert list(home.keys.iterdir()) == []


def test_a_key_that_is_there_is_not_made_again_and_can_be_taken(home: Home) -> None:
    home.keys.mkdir(parents=True)
    make_key_file(home.keys / "ann", WORDS.encode(), "ann")
    again = home.runs("operators", "add", "ann")
    assert again.status == 2
    assert f"--public {home.keys / 'ann'}.pub" in again.err
    taken = home.at_terminal("operators", "add", "ann", "--public", str(home.keys / "ann.pub"))
    assert taken.status == 0, taken


def test_another_key_is_made_beside_the_one_that_it_replaces(home: Home) -> None:
    ann = enrolled(home)
    came = home.at_terminal(
        "operators", "rotate", "ann", "--key", str(ann), types=(OTHER, OTHER, WORDS)
    )
    assert came.status == 0, came
    with home.shield("critical") as shield:
        ticket = asked(shield)
        status, said = with_fd(home, "tickets", "approve", ticket, "--key", str(ann), "--as", "ann")
        assert status == 1, said
        status, said = with_fd(
            home, "tickets", "approve", ticket, "--key", f"{ann}-2", passphrase=OTHER
        )
        assert status == 0, said
        assert paid(shield) == 5


def test_what_is_pinned_says_for_which_agents_somebody_stands(home: Home) -> None:
    ann = enrolled(home)
    words = ("operators", "add", "bob", "--agents", "bobs-bot", "--key", str(ann))
    came = home.at_terminal(*words, types=(OTHER, OTHER, WORDS))
    assert came.status == 0, came
    assert "agents: [bobs-bot]}}" in came.out


def test_whoever_denies_without_a_key_is_named_as_the_user_is(home: Home) -> None:
    with home.shield() as shield:
        ticket = asked(shield)
        came = home.runs("tickets", "deny", ticket, "--comment", "wrong account", LOGNAME="ann")
        assert came.status == 0, came
        kept = shield.ticket(ticket)
        assert (kept.state, kept.answered_by, kept.proven) == ("denied", "ann", False)


def test_a_list_says_that_there_are_more_only_where_there_are(home: Home) -> None:
    ann, known = operator("ann")
    with home.shield(operators=[known]) as shield:
        shield.approve(asked(shield), by=ann)
        assert paid(shield) == 5
        asked(shield, 6)
    listed = home.runs("tickets", "list")
    assert listed.status == 0, listed
    assert len(listed.out.splitlines()) == 2


def test_where_a_policy_names_operators_nobody_answers_without_a_key(home: Home) -> None:
    _, known = operator("ann")
    with home.shield(operators=[known]) as shield:
        shield.run("bot")
        shield.halt("stop")
    came = home.at_terminal("state", "resume")
    assert came.status == 2
    assert "--key FILE" in came.err
    with home.shield() as shield:
        assert shield.standing().own.state == "halt"


MINE = "operators:\n  mallory: {{key: {key}}}\n"


@pytest.mark.parametrize("pinned", [False, True])
def test_nobody_brings_operators_of_their_own_to_a_store_that_has_some(
    home: Home, pinned: bool
) -> None:
    ann, known = operator("ann")
    mallory, own = operator("mallory")
    if pinned:
        with home.shield(operators=[known]) as shield:
            shield.run("bot")
    else:
        enrolled(home)
    with home.shield(more=MINE.format(key=own.key)) as theirs:
        theirs.run("bot")
        theirs.halt("stop")
        with pytest.raises(AnswerRefused):
            theirs.resume(by=mallory)
        with pytest.raises(AnswerRefused):
            theirs.enrol("add", operator("eve")[1], mallory)
        assert theirs.standing().own.state == "halt"
    with home.shield(operators=[known]) as shield:
        if pinned:
            shield.resume(by=ann)
            assert shield.standing().own.state == ""
