"""`stanchion audit witness`: once, until a signal, while a place is away; and `verify` with what it
wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.audit.verify import read_witness
from stanchion.cli.main import main
from tests.cli.test_command import STANCHION, started
from tests.ops.broker.brokers import serving


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail that commands read, with a few decisions in it."""
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    write(2)
    return tmp_path / "trail"


def write(count: int) -> None:
    """Let a shield decide a few times."""
    with Shield.load("default") as shield, shield.run("ann", id="r") as run:
        for number in range(count):
            run.check("t", {"number": number})


def test_a_trail_that_was_put_back_is_found(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "w.jsonl")
    shutil.copytree(trail, tmp_path / "before")
    write(2)
    assert main(["audit", "witness", place, "--once"]) == 0
    assert main(["audit", "verify", "--witness", place]) == 0
    said = capsys.readouterr().out
    assert "1 chain, 1 with a new head" in said
    assert f"`{place}` is a copy" in said
    assert f"the witness `{place}` is a copy" in said
    shutil.rmtree(trail)
    (tmp_path / "before").rename(trail)
    assert main(["audit", "verify"]) == 0
    assert main(["audit", "verify", "--witness", place]) == 1
    assert "TRUNCATED" in capsys.readouterr().out


def test_once_promises_a_next_line_only_where_it_says_when(trail: Path, tmp_path: Path) -> None:
    place = tmp_path / "w.jsonl"
    assert main(["audit", "witness", str(place), "--once"]) == 0
    assert main(["audit", "witness", str(place), "--once", "--every", "1h"]) == 0
    assert [line.every_s for line in read_witness("w", place.read_bytes()).lines] == [0, 3600]


def test_an_old_witness_is_found(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "w.jsonl"
    assert main(["audit", "witness", str(place), "--once", "--every", "1h"]) == 0
    assert main(["audit", "verify", "--witness", str(place)]) == 0
    line = json.loads(place.read_bytes())
    place.write_text(
        json.dumps(line | {"at": line["at"] - 4 * 3_600_000}, separators=(",", ":")),
        encoding="ascii",
    )
    capsys.readouterr()
    assert main(["audit", "verify", "--witness", str(place)]) == 1
    said = capsys.readouterr().out
    assert "UNCOVERED" in said
    assert "4 intervals of 3600 s are not covered" in said
    assert "not verified: the witness stopped" in said


def test_the_environment_names_the_place(
    trail: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "witness", "--once"]) == 2
    assert "STANCHION_AUDIT_WITNESS" in capsys.readouterr().err
    place = tmp_path / "w.jsonl"
    monkeypatch.setenv("STANCHION_AUDIT_WITNESS", str(place))
    assert main(["audit", "witness", "--once"]) == 0
    assert main(["audit", "verify", "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(one["name"], one["copy"], one["lines"]) for one in report["witnesses"]] == [
        (str(place), True, 1)
    ]
    assert main(["audit", "verify", str(trail), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["witnesses"] == [], (
        "it is the witness of the usual trail alone"
    )
    assert main(["state", "--where"]) == 0
    assert f"witness  {place}" in capsys.readouterr().out
    monkeypatch.setenv("STANCHION_AUDIT_WITNESS", "git+https://ann:hunter2@vault.internal/w.git")
    assert main(["state", "--where", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["witness"] == "git+https://…@vault.internal/w.git"


def test_several_witnesses_of_several_kinds(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "w.git"], check=True)
    with Shield.load("default", journal="memory:") as shield, serving(shield) as socket:
        places = [
            str(tmp_path / "w.jsonl"),
            f"git+file://{tmp_path}/w.git#fleet",
            f"broker:{socket}#mine",
        ]
        for place in places:
            assert main(["audit", "witness", place, "--once"]) == 0
        capsys.readouterr()
        words = [word for place in places for word in ("--witness", place)]
        assert main(["audit", "verify", "--json", *words]) == 0
    names = [one["name"] for one in json.loads(capsys.readouterr().out)["witnesses"]]
    assert names == [places[0], f"git:{tmp_path}/w.git#fleet", places[2]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["witness", "s3://bucket", "--once"], "`s3:` is not a kind of place"),
        (["witness", ".", "--once"], "give a file in it"),
        (["witness", "w", "--every", "0s"], "is `0s`"),
        (["witness", "w", "--json"], "takes no `--json`"),
        (["tail", "--tsa-cert", "x"], "takes no `--tsa-cert`"),
        (["heads", "--every", "60s"], "takes no `--every`"),
        (
            ["verify", "--witness", "none"],
            "cannot read the witness `none`: No such file or directory",
        ),
        (["verify", "--witness", "git:none"], "does not appear to be a git repository"),
        (["verify", "--witness", "broker:none"], "no answer"),
        (["witness", "w", "--once", "--schema", "x"], "is for a database"),
    ],
)
def test_mistakes_are_told(
    words: list[str],
    says: str,
    trail: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["audit", *words]) == 2
    assert says in capsys.readouterr().err


def test_once_ends_where_the_place_is_away(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "witness", str(tmp_path / "none" / "w"), "--once"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_a_trail_that_is_not_there_yet_has_no_heads(tmp_path: Path) -> None:
    place = tmp_path / "w.jsonl"
    assert main(["audit", "witness", str(place), "--once", "--trail", str(tmp_path / "none")]) == 0
    assert read_witness("w", place.read_bytes()).heads == ()


def test_it_waits_for_its_place_and_writes_until_it_is_stopped(trail: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with started("audit", "witness", str(tmp_path / "pipe"), "--every", "1s") as program:
        assert program.stderr is not None
        assert "nobody reads the pipe" in program.stderr.readline()
        with open(tmp_path / "pipe", "rb") as pipe:
            lines = pipe.readline() + pipe.readline()
            program.send_signal(signal.SIGTERM)
            out, err = program.communicate()
            lines += pipe.read()
    assert program.returncode == 0, err
    assert "every 1 s" in out
    found = read_witness("w", lines)
    assert found.broken == ()
    assert [len(line.heads) for line in found.lines[:2]] == [1, 0]


@pytest.mark.parametrize("head", ["pipe", "link", "garbage"])
def test_a_head_that_is_none_holds_nobody_up(trail: Path, tmp_path: Path, head: str) -> None:
    """Whoever watches may be root, and the folder an agent's."""
    (chain,) = trail.iterdir()
    whole = (chain / "head").read_bytes()
    (chain / "head").unlink()
    match head:
        case "pipe":
            os.mkfifo(chain / "head")
        case "link":
            (tmp_path / "elsewhere").write_bytes(whole)
            (chain / "head").symlink_to(tmp_path / "elsewhere")
        case _:
            (chain / "head").write_bytes(b"nothing")
    place = tmp_path / "w.jsonl"
    assert main(["audit", "witness", str(place), "--once"]) == 0
    assert read_witness("w", place.read_bytes()).heads == ()


def test_the_next_one_goes_on_where_the_last_one_was_killed(trail: Path, tmp_path: Path) -> None:
    place = tmp_path / "w.jsonl"
    with started("audit", "witness", str(place), "--every", "1h") as program:
        assert program.stdout is not None
        assert "is only a copy" in program.stdout.readline()
        assert "every 3600 s, until SIGTERM" in program.stdout.readline()
        program.kill()
    assert main(["audit", "witness", str(place), "--once"]) == 0
    found = read_witness("w", place.read_bytes(), "a copy")
    assert (len(found.lines), found.broken) == (2, ())


def test_a_terminal_shows_a_line_for_each_write(trail: Path, tmp_path: Path) -> None:
    own, terminal = os.openpty()
    words = [*STANCHION, "audit", "witness", str(tmp_path / "w.jsonl"), "--every", "1s"]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL
    ) as program:
        os.close(terminal)
        shown = b""
        try:
            while b"1 chain, all as before" not in shown:
                shown += os.read(own, 4096)
            program.send_signal(signal.SIGINT)
            assert program.wait() == 0
        finally:
            program.kill()
            os.close(own)
