"""`stanchion tickets bypass` says who asks to go past what; `review` ends what went past it
unanswered."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.cli.main import main
from tests.approvals.bypassing import WHY, Deeds, policy
from tests.cli.signing import Signing


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in a file, which commands find."""
    made = tmp_path / "state.db"
    monkeypatch.setenv("STANCHION_STORE", str(made))
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    return made


@pytest.fixture
def ann(file: Path, tmp_path: Path) -> Signing:
    """An operator with a key in that store."""
    return Signing(tmp_path).enrolled(file)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """What a command answers."""
    capsys.readouterr()
    assert main(["tickets", *words, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def asked(file: Path, urgency: str, **terms: Any) -> str:
    """A request of an agent, which calls again after it."""
    deeds = Deeds()
    with Shield.load(policy(**terms), store=file) as shield:
        run = shield.run("bot")
        with pytest.raises(Refused):
            run.call(deeds.stop, 7)
        ticket = run.request_bypass("first", WHY, urgency).ticket
        try:
            run.call(deeds.stop, 7)
        except Refused:
            assert deeds.done == []
    return ticket


def test_requests_are_listed_with_what_they_would_lift(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tickets", "bypass"]) == 0
    assert "nobody asks for a bypass" in capsys.readouterr().out
    ticket = asked(file, "urgent")
    assert main(["tickets", "bypass"]) == 0
    heading, line = capsys.readouterr().out.splitlines()
    assert "would lift" in heading
    for word in (ticket, "open", "bot", "stop", "first", "urgent", "reviewer or architect", WHY):
        assert word in line
    (one,) = told(capsys, "bypass")
    assert (one["kind"], one["bypass"]["guardrail"], one["bypass"]["reason"]) == (
        "bypass",
        "first",
        WHY,
    )
    assert main(["tickets", "approve", ticket, *ann.words()]) == 0
    assert [each["state"] for each in told(capsys, "bypass")] == ["approved"]
    assert main(["tickets", "deny", ticket, "--by", "ann", "--comment", "changed my mind"]) == 0
    assert told(capsys, "bypass") == []
    assert [each["state"] for each in told(capsys, "bypass", "--all")] == ["withdrawn"]


def test_an_emergency_says_when_it_goes_ahead(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(file, "emergency")
    assert main(["tickets", "bypass"]) == 0
    assert "goes ahead in" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["--wrong"]])
def test_a_review_is_ended_with_a_comment(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    asked(file, "emergency", emergency_s=0.001)
    (one,) = told(capsys, "bypass")
    assert (one["kind"], one["review"]["missed"]) == ("review", False)
    assert main(["tickets", "bypass"]) == 0
    assert "went past" in capsys.readouterr().out
    assert main(["tickets", "review", one["id"], *words, *ann.words()]) == 2
    assert "needs `--comment`" in capsys.readouterr().err
    assert main(["tickets", "deny", one["id"], "--by", "bot", "--comment", "all is well"]) == 1
    assert (
        main(["tickets", "review", one["id"], "--comment", "looked at it", *words, *ann.words()])
        == 0
    )
    assert f"{'wrong' if words else 'right'}: looked at it" in capsys.readouterr().out
    assert told(capsys, "bypass") == []
    assert main(["tickets", "review", one["id"], "--comment", "me too", *ann.words()]) == 1
    assert "already reviewed, by `ann`" in capsys.readouterr().err


def test_a_review_says_that_it_ran_and_when_it_is_due(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(file, "emergency", emergency_s=0.001)
    (one,) = told(capsys, "bypass")
    assert main(["tickets", "show", one["id"]]) == 0
    out = capsys.readouterr().out
    assert (
        "OPEN  agent bot called stop past first, and it ran: was that right? An operator reviews it"
        in out
    )
    assert re.search(r"until +.*, when the review is due, 23 h 59 min left", out)
    assert "wants to" not in out
    assert "refused" not in out
    assert main(["tickets", "list"]) == 0
    listed = capsys.readouterr().out
    assert "23 h 59 min" in listed
    assert "364 d" not in listed
