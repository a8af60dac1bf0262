"""`stanchion tickets watch`: a line for everything that changes, and Ctrl-C leaves quietly; and
edits and kinds."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.ticket import Kind, State
from stanchion.cli.main import main
from stanchion.cli.terminal import Terminal
from stanchion.cli.ticket_lines import change_line, ticket_table
from stanchion.ops.views.people import TicketView, ticket_view, watch
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy
from tests.approvals.test_taken_back import asks
from tests.cli.signing import Signing
from tests.cli.test_tickets import ann, ask, file, told

__all__ = ["ann", "file"]

ANN, KNOWN = operator("ann")
BOB, KNOWN_BOB = operator("bob", "reviewer", "human_operator")


class Enough(Exception):
    """The watching is over."""


def watched(
    shield: Shield, steps: Sequence[Callable[[], object]], kind: Kind | None = None
) -> list[tuple[str, str]]:
    """What is told while those steps are taken, one between two looks."""
    said: list[tuple[str, str]] = []
    left = iter(steps)

    def rest() -> None:
        step = next(left, None)
        if step is None:
            raise Enough
        step()

    def put(word: str, ticket: TicketView) -> None:
        said.append((word, change_line(word, ticket, 0, Terminal())))

    with pytest.raises(Enough):
        watch(shield, None, kind, put, rest)
    return said


def test_every_change_is_a_line() -> None:
    clock = FakeClock()
    said = {**policy(), "tools": {"pay": {"risk": "critical"}}}
    shield = shield_for(said, clock=clock, store=MemoryStore(clock), operators=[KNOWN, KNOWN_BOB])
    paid = Paid()
    first = asks(shield, paid, 1)
    steps = [
        lambda: None,
        lambda: asks(shield, paid, 2),
        lambda: shield.approve(first, by=ANN),
        lambda: clock.advance(600_000),
        lambda: asks(shield, paid, 1, "other"),
        lambda: shield.deny(first, by="eve", comment="not today"),
        lambda: clock.advance(1_200_000),
    ]
    words = watched(shield, steps)
    assert [word for word, _ in words] == [
        "open",
        "open",
        "1 of 2 yes",
        "passed on",
        "passed on",
        "joined",
        "denied",
        "expired",
    ]
    assert f"{first} bot: pay(password=" in words[0][1]
    assert "critical: tool `pay` is on the denylist; asks reviewer" in words[0][1]
    assert "asks reviewer and human_operator" in words[3][1]
    assert words[6][1].endswith("; by eve: not today")
    assert not any("\n" in text for _, text in words)


def test_a_changed_call_is_shown_as_it_runs() -> None:
    shield = shield_for(
        {"name": "p", "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}]},
        operators=[KNOWN],
    )
    done: list[tuple[str, int]] = []

    def pay(to: str, amount: int) -> None:
        done.append((to, amount))

    run = shield.run("bot", "t")
    with pytest.raises(Refused) as refused:
        run.call(pay, to="x" * 200, amount=500)
    steps = [
        lambda: shield.approve(refused.value.ticket or "", by=ANN, edits={"amount": 5}),
        lambda: run.call(pay, to="x" * 200, amount=500),
    ]
    asked, *after = watched(shield, steps)
    assert "amount=5 (" not in asked[1]
    assert [word for word, _ in after] == ["approved", "used"]
    assert all('pay(amount=5 (changed from 500), to="xxx' in text for _, text in after)
    (listed, *_) = [ticket_view(one) for one in shield.tickets(state="all")]
    assert "amount=5 (changed from 500)" in "".join(ticket_table(0).lines([listed], Terminal()))
    assert done == [("x" * 200, 5)]


def test_only_the_kind_that_is_asked_for() -> None:
    shield, paid = shield_for(policy(), operators=[KNOWN]), Paid()

    def calls() -> None:
        with shield.run("bot", "t") as run:
            run.escalate("somebody please look")

    assert [word for word, _ in watched(shield, [lambda: asks(shield, paid), calls], Kind.RUN)] == [
        "open"
    ]


def test_ctrl_c_leaves_quietly(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ticket = ask(file)
    words = [sys.executable, "-m", "stanchion", "tickets", "watch", "--json"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as made:
        assert made.stdout is not None
        assert json.loads(made.stdout.readline())["id"] == ticket
        made.send_signal(signal.SIGINT)
        out, err = made.communicate(timeout=60)
    assert (made.returncode, out, err) == (130, "", "")


def test_it_waits_for_a_store_that_is_not_there_yet(file: Path) -> None:
    words = [sys.executable, "-m", "stanchion", "tickets", "watch", "--json"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as made:
        assert made.stdout is not None
        assert made.stderr is not None
        assert "nothing is kept yet" in made.stderr.readline()
        ticket = ask(file)
        assert json.loads(made.stdout.readline())["id"] == ticket
        made.send_signal(signal.SIGINT)
        made.communicate(timeout=60)


def test_what_is_in_memory_cannot_be_watched(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tickets", "watch", "--store", "memory:"]) == 2
    assert "there is nothing to watch" in capsys.readouterr().err


def test_approve_says_what_it_cannot_answer(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ticket = ask(file)
    assert main(["tickets", "deny", ticket, "--comment", "not today", "--by", "ann"]) == 0
    assert main(["tickets", "approve", ticket]) == 1
    assert "`approve` cannot answer it" in capsys.readouterr().err


def test_a_yes_changes_what_goes_ahead(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = ask(file, 500)
    assert main(["tickets", "approve", ticket, "--set", "amount=5", *ann.words()]) == 0
    out, err = capsys.readouterr()
    assert "the call goes ahead once, with amount=5, until" in out
    assert "the call goes ahead with other arguments: amount=5" in err, (
        "it is shown before it is signed"
    )
    (shown,) = told(capsys, "show", ticket)
    assert (shown["edits"], shown["content"]["amount"]) == ({"amount": 5}, 500)
    main(["tickets", "show", ticket])
    assert re.search(r"changed +amount=5", capsys.readouterr().out)
    assert ask(file, 500) == "paid"


def test_a_signature_made_elsewhere_changes_it_as_well(
    file: Path, ann: Signing, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    ticket = ask(file, 500)
    capfdbinary.readouterr()
    assert main(["tickets", "request", ticket]) == 0
    request, answer = tmp_path / "request", tmp_path / "answer"
    request.write_bytes(capfdbinary.readouterr().out)
    words = ["sign", str(request), "--as", "ann", "--set", "amount=5", *ann.words()]
    assert main(["tickets", *words]) == 0
    out, err = capfdbinary.readouterr()
    assert b"signed with other arguments: amount=5" in err
    answer.write_bytes(out)
    assert main(["tickets", "answer", str(answer)]) == 0
    assert ask(file, 500) == "paid"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["approve", "ID", "--set", "amount"], 2, "write `ARGUMENT=VALUE`"),
        (
            ["approve", "ID", "--set", "amount=five"],
            2,
            "for a text write `--set 'amount=\"five\"'`",
        ),
        (["approve", "ID", "--set", "sum=5"], 1, "the call has no argument `sum`"),
        (["approve", "ID", "--set", "amount=6", "--scope", "run"], 1, "can only be approved once"),
        (["deny", "ID", "--comment", "...", "--by", "ann"], 2, "with a reason in words"),
        (["deny", "ID", "--comment", "no", "--set", "amount=6"], 2, "takes no `--set`"),
        (["list", "--kind", "runs"], 2, "`--kind` is `runs`: did you mean `run`?"),
        (["show", "ID", "--kind", "run"], 2, "takes no `--kind`"),
    ],
)
def test_what_makes_no_sense_is_one_clear_line(
    words: list[str], status: int, says: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = ask(file)
    capsys.readouterr()
    assert main(["tickets", *[ticket if word == "ID" else word for word in words]]) == status
    (text,) = capsys.readouterr().err.splitlines()
    assert says in text
    assert [one["state"] for one in told(capsys, "list")] == ["open"]


def test_a_refusal_signed_elsewhere_needs_a_reason_too(
    file: Path, ann: Signing, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    ticket = ask(file)
    capfdbinary.readouterr()
    main(["tickets", "request", ticket])
    request = tmp_path / "request"
    request.write_bytes(capfdbinary.readouterr().out)
    assert main(["tickets", "sign", str(request), "--as", "ann", "--deny", *ann.words()]) == 2
    assert b"`stanchion tickets sign --deny` needs `--comment`" in capfdbinary.readouterr().err


def test_kinds_are_listed_and_chosen(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ticket = ask(file)
    with Shield.load({"name": "p"}, store=file) as shield, shield.run("bot", "t") as run:
        called = run.escalate("somebody please look")
    assert [(one["id"], one["kind"]) for one in told(capsys, "list")] == [
        (ticket, "action"),
        (called, "run"),
    ]
    assert [one["id"] for one in told(capsys, "list", "--kind", "run")] == [called]
    assert main(["tickets", "show", called]) == 0
    out = capsys.readouterr().out
    assert "OPEN  agent bot: will you look at its run?" in out
    assert re.search(r"kind +run", out)


def test_how_many_have_said_yes_is_shown(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {
        "name": "p",
        "tools": {"pay": {"risk": "critical"}},
        "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}],
        "escalation": {"quorum": 2},
    }
    with Shield.load(said, store=file) as shield, shield.run("bot", "t") as run:
        ticket = str(run.ticket(run.check("pay", {"amount": 5})))
    assert main(["tickets", "approve", ticket, *ann.words()]) == 0
    assert "has 1 yes of 2: another person has to say yes as well" in capsys.readouterr().out
    assert main(["tickets", "list"]) == 0
    assert "open, 1 of 2" in capsys.readouterr().out
    (shown,) = told(capsys, "show", ticket)
    assert (shown["said_yes"], shown["takes"], shown["state"]) == (["ann"], 2, State.OPEN)
    main(["tickets", "show", ticket])
    assert "1 of 2, each with their own key: ann" in capsys.readouterr().out


def test_a_view_without_operators_says_what_the_ticket_itself_says() -> None:
    clock = FakeClock()
    said = {**policy(quorum=3), "tools": {"pay": {"risk": "critical"}}}
    shield = shield_for(said, clock=clock, store=MemoryStore(clock), operators=[KNOWN])
    assert ticket_view(shield.ticket(asks(shield, Paid()))).takes == 3
