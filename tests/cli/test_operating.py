"""The operator's commands: what they change is seen by every shield on the store, and is in the
trail."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion import Action, Shield
from stanchion.audit import notes
from stanchion.audit.reader import TrailReader
from stanchion.cli.main import main
from tests.cli.signing import Signing


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    return str(tmp_path / "state.db")


def decided(store: str, tool: str = "mail", agent: str = "ann") -> str:
    with Shield.load({"name": "bare"}, store=store, journal="memory:") as shield:
        decision = shield.run(agent).check(tool, {})
        return decision.code if decision.action != Action.ALLOW else "allowed"


@pytest.mark.parametrize(
    ("words", "says", "mail", "other"),
    [
        (
            ["state", "safe-mode", "on", "--why", "moving"],
            "tenant default is in safe mode",
            "safe_mode.tool_refused",
            None,
        ),
        (["state", "halt"], "tenant default is halted", "kernel.halted", None),
        (["state", "halt", "fleet"], "fleet is halted", "kernel.halted", None),
        (["state", "halt", "tool:mail"], "tool:mail is halted", "kernel.halted", "allowed"),
        (
            ["state", "quarantine", "tool:mail"],
            "tool:mail is in quarantine",
            "kernel.quarantined",
            "allowed",
        ),
        (
            ["state", "quarantine", "agent:ann", "--for", "2h"],
            "agent:ann is in quarantine",
            "kernel.quarantined",
            None,
        ),
    ],
)
def test_there_and_back(
    words: list[str],
    says: str,
    mail: str,
    other: str | None,
    store: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ann = Signing(Path(store).parent).enrolled(store)
    assert decided(store) == "allowed"
    assert main([*words, "--store", store]) == 0
    until = r" until \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ" if words[1] == "quarantine" else ""
    assert re.fullmatch(f"{says}{until}\n", capsys.readouterr().out)
    assert decided(store) == mail
    assert decided(store, "read") == (mail if other is None else other)
    scope = next((word for word in words[2:] if ":" in word or word == "fleet"), "")
    back = ["state", "resume", *([scope] if scope else []), "--store", store]
    assert main(back) == 2
    assert "operators have keys here: answer with yours" in capsys.readouterr().err
    assert decided(store) == mail
    assert main([*back, *ann.words()]) == 0
    assert capsys.readouterr().out.endswith("is normal\n")
    assert decided(store) == "allowed"


def test_what_was_done_is_in_the_trail(store: str, tmp_path: Path) -> None:
    main(["state", "halt", "--why", "drill", "--by", "ops", "--tenant", "acme", "--store", store])
    found = [
        one.note(notes.FactNote)
        for one in TrailReader(tmp_path / "trail").forwards()
        if one.stub.kind == notes.FACT
    ]
    assert [(note.what, note.about, note.tenant, note.by, note.why) for note in found] == [
        ("state.halt", "tenant:acme", "acme", "ops", "drill")
    ]
    assert found[0].data == {"before": "normal", "after": "halt"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["state", "quarantine", "mail"], "the scope is `mail`: give `tool:NAME`"),
        (["state", "quarantine", "tool:mail", "--for", "soon"], "is `soon`: give a time such as"),
        (["state", "safe-mode", "maybe"], "invalid choice"),
    ],
)
def test_mistakes(
    words: list[str], says: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--store", store]) == 2
    assert says in capsys.readouterr().err


def test_safe_mode_does_not_get_past_a_halt(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["state", "halt", "--store", store])
    assert main(["state", "safe-mode", "on", "--store", store]) == 2
    assert "is halted: only `resume` lets it continue" in capsys.readouterr().err
    assert decided(store) == "kernel.halted"


def test_a_store_that_was_removed_is_accepted(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = Signing(tmp_path)
    main(["state", "halt", "tool:bomb", "--store", store])
    for file in tmp_path.glob("state.db*"):
        file.unlink()
    assert (decided(store), decided(store, "bomb")) == ("kernel.store_forgot", "kernel.halted")
    capsys.readouterr()
    accepted = ["state", "accept", "--why", "drill", "--store", store]
    assert main(accepted) == 2
    assert "there is no terminal to ask a person in" in capsys.readouterr().err
    assert decided(store) == "kernel.store_forgot"
    ann.enrolled(store)
    assert main([*accepted, *ann.words()]) == 0
    assert capsys.readouterr().out == "the store is accepted: every process continues with it\n"
    assert decided(store) == "allowed"
    found = [
        one.note(notes.FactNote)
        for one in TrailReader(tmp_path / "trail").forwards()
        if one.stub.kind == notes.FACT
    ]
    assert [note.what for note in found] == ["state.halt", "answer.refused", "store.accepted"]
    assert (found[2].tenant, found[2].by, found[2].why, found[2].data["proven"]) == (
        "*",
        "ann",
        "drill",
        True,
    )


def test_a_backup_gives_no_approval_twice(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    policy = {
        "name": "ask",
        "guards": [
            {"use": "rule", "id": "ask", "when": 'event.tool == "mail"', "action": "escalate"}
        ],
    }
    with Shield.load(policy, store=store, journal="memory:") as shield:
        shield.run("bot").check("mail", {})
        (ticket,) = shield.tickets()
    ann = Signing(Path(store).parent).enrolled(store)
    assert main(["tickets", "approve", ticket.id, "--store", store, *ann.words()]) == 0
    assert (
        main(["state", "accept", "--restored", "--why", "drill", "--store", store, *ann.words()])
        == 0
    )
    assert capsys.readouterr().out.endswith("; 1 unused approval is withdrawn\n")
    with Shield.load(policy, store=store, journal="memory:") as shield:
        assert [str(one.state) for one in shield.tickets(state="all")] == ["withdrawn"]
        assert shield.tickets() == []


def test_a_store_in_memory_has_nothing_to_accept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "accept", "--why", "drill", "--store", "memory:"]) == 2
    assert "there is nothing to accept" in capsys.readouterr().err


def test_a_command_says_once_what_it_has_done(store: str) -> None:
    words = [sys.executable, "-m", "stanchion", "state", "halt", "--store", store]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("tenant default is halted\n", "")
    back = [sys.executable, "-m", "stanchion", "state", "resume", "--store", store]
    done = subprocess.run(
        back, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.stderr.splitlines() == [
        "stanchion: there is no terminal to ask a person in: run this in a terminal, or use a key"
    ]


LOCKING = {"name": "locking", "guards": [{"use": "locks", "timeout_s": 0}]}


def test_a_lock_is_broken_by_an_operator_alone(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = Signing(Path(store).parent).enrolled(store)
    with Shield.load(LOCKING, store=store, journal="memory:") as shield:
        bob, eve = shield.run("bob"), shield.run("eve")
        assert bob.check("write_file", {"path": "a"}).proceeds
        words = ["state", "unlock", "a", "--why", "bob is away", "--store", store]
        assert main(words) == 1
        assert "use a key" in capsys.readouterr().err
        assert eve.check("write_file", {"path": "a"}).code == "locks.held"
        assert main([*words, *ann.words()]) == 0
        assert capsys.readouterr().out == "a is free\n"
        assert eve.check("write_file", {"path": "a"}).proceeds


def test_a_lock_that_nobody_has_is_not_broken(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = Signing(Path(store).parent).enrolled(store)
    assert main(["state", "unlock", "a", "--store", store, *ann.words()]) == 2
    assert "nobody has locked `a`" in capsys.readouterr().err
