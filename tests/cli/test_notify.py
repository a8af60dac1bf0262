"""`stanchion notify`: a test to every destination, what waits, and sending it; and commands beside
a broken file."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.runtime.standing.listeners import usual_file
from stanchion.telemetry.notices.post import Post
from stanchion.telemetry.notices.webhook import secrets_in
from tests.telemetry.receiver import SECRET, Receiver, receiving, status


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAGER_SECRET", SECRET)
    monkeypatch.setattr(
        Post.close, "__defaults__", (60.0,)
    )  # a busy machine may be slow to deliver
    path = tmp_path / "notify.yaml"
    monkeypatch.setenv("STANCHION_NOTIFY", str(path))
    return path


def configure(file: Path, receiver: Receiver, more: str = "") -> None:
    file.write_text(
        f"destinations:\n  pager: {{to: webhook, url: '{receiver.url}', secret_env: "
        f"PAGER_SECRET}}\n{more}"
    )


def test_a_test_goes_to_every_destination(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with receiving() as receiver:
        configure(file, receiver, "  desk: {to: command, command: [/bin/false]}\n")
        assert main(["notify", "test"]) == 1
        out = capsys.readouterr().out
        assert "delivered  pager: it answered 204" in out
        assert "desk: it ended with status 1" in out
        assert [got.kind for got in receiver.got] == ["notices.test"]
        configure(file, receiver)
        assert main(["notify", "test", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["delivered"] is True


def test_what_waits_is_listed_and_sent(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with receiving() as receiver:
        configure(file, receiver)
        receiver.answers = [status(503)]
        assert main(["state", "halt", "agent:ann", "--store", str(file.with_name("state.db"))]) == 0
        capsys.readouterr()
        assert main(["notify", "waiting"]) == 1
        out = capsys.readouterr().out
        assert "pager" in out
        assert "it answered 503" in out
        assert main(["notify", "send"]) == 0
        assert "pager: 1 delivered, 0 still wait" in capsys.readouterr().out
        assert len({got.id for got in receiver.got}) == 1
        assert [got.kind for got in receiver.got] == ["state.halt", "state.halt"]
        assert main(["notify", "waiting"]) == 0
        assert "no notice waits" in capsys.readouterr().out


def test_a_broken_file_keeps_nobody_from_halting(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("destinatons: {}")
    assert main(["notify", "test"]) == 2
    assert "did you mean `destinations`?" in capsys.readouterr().err
    assert main(["state", "halt", "agent:ann", "--store", str(file.with_name("state.db"))]) == 0
    said = capsys.readouterr()
    assert "this command sends no notices" in said.err
    assert "agent:ann is halted" in said.out


def test_a_check_that_only_tries_out_tells_nobody(file: Path, tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text(
        "name: p\nguards:\n  - {use: rule, id: s, when: 'true', action: halt, message: no}\n"
    )
    with receiving() as receiver:
        configure(file, receiver)
        main(["check", "--policy", str(policy), "--agent", "a", "--tool", "rm", "--args", "{}"])
        assert receiver.got == []


def test_a_trail_that_was_changed_is_told_by_verify(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from stanchion import Shield

    monkeypatch.setenv("STANCHION_METRICS_DIR", str(tmp_path / "metrics"))
    folder = tmp_path / "trail"
    with Shield.load({"name": "p"}, journal=str(folder), notify="none") as shield:
        shield.run("ann").check("read", {})
    (segment,) = folder.rglob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"read", b"rear"))
    with receiving() as receiver:
        configure(file, receiver)
        assert main(["audit", "verify", str(folder)]) == 1
        assert [got.kind for got in receiver.got] == ["trail.tampered"]
        said = receiver.got[0].data["text"]
    assert str(folder) in said
    assert f"edited at `{segment.parent.name}/{segment.name}:" in said
    capsys.readouterr()
    assert main(["metrics"]) == 0
    assert 'stanchion_occurrences_total{kind="trail.tampered"} 1\n' in capsys.readouterr().out


def test_verify_logs_what_it_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whether or not anybody gets notices."""
    from stanchion import Shield

    caplog.set_level(logging.INFO, "stanchion")
    folder = tmp_path / "trail"
    with Shield.load({"name": "p"}, journal=str(folder), notify="none") as shield:
        shield.run("ann").check("read", {})
    caplog.clear()
    assert main(["audit", "verify", str(folder)]) == 0
    (line,) = caplog.records
    assert (line.name, line.levelname) == ("stanchion.trail", "INFO")
    assert line.getMessage().startswith(f"verified trail={folder} records=")
    (segment,) = folder.rglob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"read", b"rear"))
    caplog.clear()
    assert main(["audit", "verify", str(folder)]) == 1
    (line,) = caplog.records
    assert (line.name, line.levelname) == ("stanchion.notices", "ERROR")
    assert line.getMessage().startswith(
        f"trail.tampered: `stanchion audit verify` says of `{folder}`"
    )


def test_what_was_changed_is_not_called_erased(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from stanchion import Shield

    folder = tmp_path / "trail"
    with Shield.load({"name": "p"}, journal=str(folder), notify="none") as shield:
        shield.run("ann").check("pay", {"to": "ACME"})
    (segment,) = folder.rglob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"ACME", b"EVIL"))
    assert main(["audit", "verify", str(folder)]) == 1
    said = capsys.readouterr().out
    assert "EDITED" in said
    assert "was erased" not in said


def test_a_secret_that_is_not_there_says_how_to_make_one(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(
        "destinations: {p: {to: webhook, url: 'https://example.org/', secret_file: "
        "/nowhere/p.secret}}"
    )
    assert main(["notify", "test"]) == 2
    said = capsys.readouterr().err
    assert (
        "there is no file `/nowhere/p.secret`: put there what `stanchion notify secret` prints"
        in said
    )
    assert "Errno" not in said


def test_a_secret_is_made_that_can_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notify", "secret"]) == 0
    assert len(secrets_in(capsys.readouterr().out)[0]) == 32


def test_without_a_file_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notify", "waiting"]) == 2
    assert f"write `{usual_file()}`, or set STANCHION_NOTIFY to a file" in capsys.readouterr().err
    assert main(["notify", "tset"]) == 2
    assert "did you mean `test`?" in capsys.readouterr().err
