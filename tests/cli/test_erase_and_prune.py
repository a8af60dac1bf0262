"""`stanchion audit erase` and `prune`: what leaves is shown first, whoever may not is told, and the
rest verifies."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.audit.reader import TrailReader
from stanchion.audit.retention import DAY_MS
from stanchion.audit.trail import Trail, wall_ms
from stanchion.audit.verify import verify
from stanchion.cli.main import main
from stanchion.runtime.operating.retention import USUAL
from stanchion.runtime.standing.places import keep_of
from stanchion.testing.clock import FakeClock
from tests.cli.signing import Signing

SECRET = "4 Privet Drive"


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail that commands are about, with what two agents said, one of them 100 days ago."""
    folder = tmp_path / "trail"
    monkeypatch.setenv("STANCHION_AUDIT", str(folder))
    monkeypatch.setenv("STANCHION_STORE", str(tmp_path / "state.db"))
    for name, days in (("a" * 16, 100), ("b" * 16, 0)):
        clock = FakeClock(wall_ms() - days * DAY_MS)
        holder = None if days else Trail(folder, clock=clock)
        journal = Trail(folder, clock=clock, names=partial(str, name))
        with (
            Shield.load("default", journal=journal, store="memory:", clock=clock) as shield,
            shield.run("ann" if days else "bob", "t1") as run,
        ):
            run.check("send", {"to": SECRET if days else "elsewhere"})
        if holder is not None:
            holder.close()
    return folder


def said(folder: Path) -> bytes:
    """All that is in the files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*.jsonl"))


def test_a_dry_run_changes_nothing(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = said(trail)
    assert main(["audit", "erase", "--agent", "ann", "--dry-run"]) == 0
    assert "the content of 2 records would be erased" in capsys.readouterr().out
    assert main(["audit", "prune", "--dry-run"]) == 0
    assert "1 segment, " in capsys.readouterr().out
    assert said(trail) == before


def test_an_operator_erases_and_the_trail_says_so(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = Signing(tmp_path).enrolled(os.environ["STANCHION_STORE"])
    assert main(["audit", "erase", "--containing", SECRET, "--why", "asked for"]) == 1
    assert "operators have keys here" in capsys.readouterr().err
    assert SECRET.encode() in said(trail)
    assert main(["audit", "erase", "--containing", SECRET, "--why", "asked for", *ann.words()]) == 0
    out = capsys.readouterr().out
    assert "the content of 1 record is erased" in out
    assert SECRET.encode() not in said(trail)
    assert verify(trail).faults == ()
    kinds = [found for found in TrailReader(trail).forwards() if found.stub.kind == "erased"]
    assert [(found.data()["by"], found.data()["why"]) for found in kinds] == [("ann", "asked for")]
    assert main(["audit", "erase", "--containing", SECRET, *ann.words()]) == 0
    assert "no record matches" in capsys.readouterr().out


def test_without_a_terminal_nobody_erases(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "erase", "--agent", "bob"]) == 1
    assert "terminal" in capsys.readouterr().err
    assert b"elsewhere" in said(trail)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["erase"], "say what to erase"),
        (["erase", "--containing", ""], "every record contains that"),
        (["erase", "--run", "r", "--trail", "x"], "takes no `--trail`"),
        (["prune", "--older-than", "soon"], "give days or weeks"),
        (["prune", "--larger-than", "much"], "give a size such as `500MB`"),
        (["prune", "--larger-than", "0MB"], "give a size such as `500MB`"),
        (["prune", "--older-than", "0d"], "give days or weeks"),
        (["prune", "--run", "r"], "takes no `--run`"),
        (["tail", "--dry-run"], "takes no `--dry-run`"),
    ],
)
def test_what_makes_no_sense_says_what_does(
    trail: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *words]) == 2
    assert why in capsys.readouterr().err


def test_what_is_old_leaves_and_the_rest_verifies(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though its chain never filled a segment, and nobody writes it any more."""
    assert main(["audit", "prune", "--older-than", "120d"]) == 0
    assert "nothing is older than 120 days" in capsys.readouterr().out
    assert main(["audit", "prune", "--older-than", "30d"]) == 0
    out = capsys.readouterr().out
    assert "stanchion audit export --until" in out
    assert "1 segment removed" in out
    assert SECRET.encode() not in said(trail)
    assert b"elsewhere" in said(trail)
    assert verify(trail).faults == ()
    assert main(["audit", "prune", "--older-than", "30d"]) == 0
    assert "nothing is older" in capsys.readouterr().out


def test_what_is_too_much_leaves_oldest_first(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "prune", "--larger-than", "2KB"]) == 0
    assert SECRET.encode() not in said(trail)
    assert verify(trail).faults == ()


def test_where_operators_are_nothing_leaves_without_their_word(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", "memory:")
    ann = Signing(tmp_path).enrolled(os.environ["STANCHION_STORE"])
    monkeypatch.setenv("STANCHION_AUDIT", str(trail))
    assert main(["audit", "prune", "--older-than", "30d"]) == 1
    assert "see `stanchion audit retention`" in capsys.readouterr().err
    monkeypatch.setenv("STANCHION_AUDIT", "memory:")
    assert main(["audit", "retention", "--days", "60", *ann.words()]) == 0
    monkeypatch.setenv("STANCHION_AUDIT", str(trail))
    assert main(["audit", "prune", "--older-than", "30d"]) == 0
    assert "what is older than 60 days" in capsys.readouterr().out
    assert SECRET.encode() not in said(trail)


def test_a_shield_lets_the_old_leave_by_itself(trail: Path) -> None:
    """By default, when it ends: after 90 days, or more than a gigabyte."""
    with Shield.load("default") as shield:
        shield.run("bob").check("read", {})
    assert SECRET.encode() not in said(trail)
    assert b"elsewhere" in said(trail)
    assert verify(trail).faults == ()


def test_what_a_chain_said_long_ago_leaves_though_it_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that never fills a segment, in a project that is used now and then."""
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path))
    clock = FakeClock(wall_ms() - 100 * DAY_MS)
    for word in ("first", "second"):
        with Shield.load("default", store="memory:", clock=clock) as shield:
            shield.run("ann").check("send", {"to": word})
        clock.advance(100 * DAY_MS)
    assert b'"first"' not in said(tmp_path)
    assert b'"second"' in said(tmp_path)
    assert verify(tmp_path).faults == ()


def test_how_much_is_kept_is_said_and_can_be_changed(
    trail: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (keep_of({}, USUAL).days, keep_of({}, USUAL).size) == (90, 1 << 30)
    assert main(["state", "--where"]) == 0
    assert "the last 90 days, 1,024 MB at the most of the trail" in capsys.readouterr().out
    monkeypatch.setenv("STANCHION_AUDIT_KEEP_DAYS", "all")
    assert main(["state", "--where"]) == 0
    assert "the newest 1,024 MB of the trail" in capsys.readouterr().out
    monkeypatch.setenv("STANCHION_AUDIT_KEEP_MB", "all")
    assert main(["state", "--where"]) == 0
    assert "everything of the trail" in capsys.readouterr().out
    with Shield.load("default") as shield:
        shield.run("bob").check("read", {})
    assert SECRET.encode() in said(trail)


@pytest.mark.parametrize("name", ["STANCHION_AUDIT_KEEP_DAYS", "STANCHION_AUDIT_KEEP_MB"])
@pytest.mark.parametrize("value", ["0", "0.0", "-1", "none"])
def test_to_keep_nothing_is_refused(name: str, value: str) -> None:
    """It could be read as all, or as nothing."""
    with pytest.raises(ValueError, match="give a positive number, or `all` to keep everything"):
        keep_of({name: value}, USUAL)
