"""`stanchion audit` beyond what its transcripts show: files, pipes, terminals, keys, and records
that come."""

import io
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.layout import chains
from stanchion.audit.reader import FoundRecord, TrailReader, WantedRecords
from stanchion.audit.trail import Trail
from stanchion.cli.audit_reading import follow
from stanchion.cli.main import main
from stanchion.cli.printing import Progress
from stanchion.ops.views.amounts import size
from stanchion.ops.views.trails import digits_of
from tests.cli.test_command import started
from tests.cli.test_terminal import shown, tty


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail that commands read, with a few decisions in it."""
    folder = tmp_path / "trail"
    monkeypatch.setenv("STANCHION_AUDIT", str(folder))
    write(3)
    return folder


def write(count: int, tool: str = "t") -> None:
    """Let a shield decide a few times."""
    with Shield.load("default") as shield, shield.run("ann", id="r") as run:
        for number in range(count):
            run.check(tool, {"number": number})


def lines(capsys: pytest.CaptureFixture[str], *words: str) -> list[Any]:
    """What a command answers as lines of JSON."""
    capsys.readouterr()
    assert main(list(words)) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_comes_is_shown_once_until_somebody_interrupts(trail: Path) -> None:
    seen: list[str] = []
    turns = iter(["u", "v", "w"])

    def show(records: Iterable[FoundRecord]) -> None:
        seen.extend(found.stub.tool for found in records)

    def pause() -> None:
        tool = next(turns)
        if tool == "w":
            raise KeyboardInterrupt
        write(2, tool)

    wanted = WantedRecords(run="r", actions=frozenset({"ALLOW"}))
    with pytest.raises(KeyboardInterrupt):
        follow(TrailReader(trail), wanted, 2, show, pause)
    assert seen == ["t", "t", "u", "u", "v", "v"]


def test_what_shadow_mode_would_have_changed_is_chosen_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    guards = [
        {"use": "tool_denylist", "tools": ["rm", "ask"], "mode": "shadow"},
        {
            "use": "tool_denylist",
            "id": "ask-first",
            "tools": ["ask"],
            "action": "escalate",
            "mode": "shadow",
        },
        {
            "use": "tool_denylist",
            "id": "noted",
            "tools": ["look"],
            "action": "allow",
            "mode": "shadow",
        },
        {"use": "tool_denylist", "id": "never", "tools": ["wipe"]},
    ]
    with Shield.load({"name": "p", "guards": guards}) as shield, shield.run("ann", id="r") as run:
        for tool in ("rm", "ls", "look", "wipe", "ask"):
            run.check(tool, {})
    records = lines(capsys, "audit", "tail", "--shadow", "--json")
    assert [one["tool"] for one in records] == ["rm", "ask"]
    assert main(["audit", "tail", "--shadow"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert "ALLOW" in told[0]
    assert "shadow: would be BLOCK by tool-denylist (tool.denied)" in told[0]
    assert "shadow: would be BLOCK by tool-denylist" in told[1], "the severest of both"
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert ["would be" in line for line in listed] == [True, False, False, False, True]
    assert main(["audit", "export", "--shadow"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_what_shadow_mode_would_have_done_is_counted_by_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    guards = [
        {"use": "tool_denylist", "tools": ["rm", "wipe"], "mode": "shadow"},
        {
            "use": "tool_denylist",
            "id": "noted",
            "tools": ["look"],
            "action": "allow",
            "mode": "shadow",
        },
        {"use": "tool_denylist", "id": "never", "tools": ["wipe"], "priority": 900},
    ]
    with Shield.load({"name": "p", "guards": guards}) as shield:
        for name in ("r1", "r2"):
            with shield.run("ann", id=name) as run:
                for tool in ("rm", "ls", "look", "wipe"):
                    run.check(tool, {"run": name})
    (report,) = lines(capsys, "audit", "shadow", "--json")
    assert (report["decisions"], report["changed"]) == (8, 2)
    counted = [
        (one["guard"], one["action"], one["times"], one["changed"], one["runs"])
        for one in report["guards"]
    ]
    assert counted == [("tool-denylist", "BLOCK", 4, 2, 2), ("noted", "ALLOW", 2, 0, 2)]
    assert len(report["guards"][0]["examples"]) == 3
    assert main(["audit", "shadow", "--run", "r1"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    assert rows[1].split()[:5] == ["tool-denylist", "BLOCK", "tool.denied", "2", "1"]
    assert last == "1 of 4 decisions would have been more severe"
    assert main(["audit", "shadow", "--tool", "ls"]) == 0
    assert capsys.readouterr().out == "no guard in shadow mode has found anything in 2 decisions\n"


def test_ctrl_c_ends_following_quietly(trail: Path) -> None:
    with started("audit", "tail", "-f", "-n", "1") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "checkpoint" in process.stdout.readline()
        write(1, "later")
        while "later" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    "words", [["export"], ["tail"], ["tail", "--json"], ["show", "r"], ["heads"], ["verify"]]
)
def test_a_reader_that_leaves_is_no_error(
    words: list[str],
    trail: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words[0] == "show":
        (name,) = chains(trail)
        words = ["show", f"{name}:2"]
    read, sink = os.pipe()
    os.close(read)
    with open(sink, "w", encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert main(["audit", *words]) == 141
    assert capsys.readouterr().err == ""


# Exports to files.


def test_a_file_is_there_when_it_is_whole(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    file = out / "all.jsonl"
    assert main(["audit", "export", "--out", str(file)]) == 0
    records = len(list(TrailReader(trail).forwards()))
    assert capsys.readouterr().err == f"stanchion: {records} records are in {file}\n"
    assert len(file.read_bytes().splitlines()) == records
    assert list(out.iterdir()) == [file]
    assert main(["audit", "export", "--out", str(file), "--tool", "none"]) == 2
    assert len(file.read_bytes().splitlines()) == records
    assert main(["audit", "export", "--out", str(file), "--tool", "none", "--force"]) == 0
    assert file.read_bytes() == b""


def test_a_file_ending_in_parquet_is_one(trail: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq  # type: ignore[import-untyped,unused-ignore] # it has no types

    file = tmp_path / "all.parquet"
    assert main(["audit", "export", "--out", str(file), "--tool", "t"]) == 0
    assert pq.read_table(file).column("tool").to_pylist() == ["t"] * 3


def test_a_file_that_does_not_get_whole_leaves_nothing(
    trail: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["audit", "export", "--format", "parquet", "--out", str(out / "x")]) == 2
    assert (
        capsys.readouterr().err
        == "stanchion: Parquet needs a package: install the extra `parquet`\n"
    )
    assert list(out.iterdir()) == []


def test_times_are_relative_or_absolute(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = lines(capsys, "audit", "export")
    assert lines(capsys, "audit", "export", "--since", "1h") == everything
    assert lines(capsys, "audit", "export", "--until", "1h") == []
    assert (
        lines(
            capsys,
            "audit",
            "export",
            "--since",
            "2000-01-01",
            "--until",
            "2200-01-01T00:00:00+02:00",
        )
        == everything
    )


# Verifying.


def test_a_witness_knows_what_a_folder_does_not(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trail, tmp_path / "before")
    write(2)
    capsys.readouterr()
    assert main(["audit", "heads"]) == 0
    (tmp_path / "witness").write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["audit", "verify", "--witness", str(tmp_path / "witness")]) == 0
    assert main(["audit", "verify", str(tmp_path / "before")]) == 0
    assert (
        main(["audit", "verify", str(tmp_path / "before"), "--witness", str(tmp_path / "witness")])
        == 1
    )
    assert "TRUNCATED" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["hmac", "ed25519"])
def test_a_sealed_trail_is_verified_with_its_key(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key, public = tmp_path / "key", tmp_path / "public"
    if form == "hmac":
        key.write_text("ab" * 32, encoding="ascii")
        public = key
    else:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            PublicFormat,
        )

        private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
        key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public.write_bytes(
            private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        )
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(key))
    write(2)
    assert main(["audit", "verify"]) == 0
    assert "no key was given" not in capsys.readouterr().out
    monkeypatch.delenv("STANCHION_AUDIT_KEY")
    assert main(["audit", "verify", "--key", str(public)]) == 0
    (tmp_path / "other").write_text("cd" * 32, encoding="ascii")
    assert main(["audit", "verify", "--key", str(tmp_path / "other")]) == 1


def test_a_chain_without_a_head_is_named(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (name,) = chains(trail)
    (trail / name / "head").unlink()
    assert main(["audit", "heads"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        said.err == f"stanchion: chain {name} has no readable head: see `stanchion audit verify`\n"
    )


def test_the_bytes_of_a_record_have_its_hash(
    trail: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    from hashlib import sha256

    for found in TrailReader(trail).forwards():
        capsysbinary.readouterr()
        assert main(["audit", "show", f"{found.chain}:{found.stub.seq}", "--json"]) == 0
        body, _, kept = capsysbinary.readouterr().out.removesuffix(b"\n").partition(b',"kept":')
        assert sha256(body + b"}" * bool(kept)).hexdigest() == found.line.hash


# Damage.


def test_records_that_were_tampered_with_are_shown_as_far_as_they_go(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (segment,) = trail.rglob("*.jsonl")
    text = segment.read_bytes()
    text = text.replace(b'"action":"ALLOW"', b'"action":"MAYBE"').replace(
        b'"stage":"tool_call"', b'"stage":"nowhere"'
    )
    text = text.replace(b'"number":1}}', b'"number":"one"}}').replace(
        b'"policy":"', b'"policy":5,"x":"'
    )
    segment.write_bytes(text)
    (name,) = chains(trail)
    for words in (
        ["audit", "tail"],
        ["audit", "export"],
        ["runs"],
        ["explain"],
        *[["audit", "show", f"{name}:{n}"] for n in range(8)],
    ):
        assert main(words) in {0, 2}, words
    capsys.readouterr()
    assert main(["explain", f"{name}:3"]) == 2
    assert (
        capsys.readouterr().err
        == f"stanchion: the record of `{name}:3` cannot be read: see `stanchion audit verify`\n"
    )
    assert main(["audit", "verify"]) == 1


def test_an_unreadable_folder_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x").write_text("", encoding="utf-8")
    for words in (
        ["audit", "tail"],
        ["audit", "heads"],
        ["audit", "verify"],
        ["runs"],
        ["explain", "last"],
    ):
        assert main([*words, "--trail", str(tmp_path / "x")]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


# Terminals.


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, *words: str) -> list[str]:
    """The lines that a command shows on a terminal of that width."""
    stream = tty()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(list(words)) == 0
    return shown(stream).splitlines()


@pytest.mark.parametrize(
    "words", [["audit", "tail"], ["audit", "verify"], ["runs"], ["audit", "show", "r"]], ids=str
)
@pytest.mark.parametrize("columns", [50, 80, 200])
def test_lines_fit_the_terminal(
    words: list[str], columns: int, trail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if words[-1] == "r":
        (name,) = chains(trail)
        words = ["audit", "show", f"{name}:2"]
    found = on_terminal(monkeypatch, columns, *words)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in found]
    assert any("\x1b[" in line for line in found)
    assert max(map(len, plain)) <= columns


def test_a_day_is_told_once_on_a_terminal(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = on_terminal(monkeypatch, 120, "audit", "tail")
    assert re.fullmatch(r"\x1b\[1m\d{4}-\d\d-\d\d\x1b\[0m", first)
    assert [line for line in rest if re.match(r"(\x1b\[2m)?\d\d:\d\d:\d\d\.\d{3}  ", line)] == rest
    assert sum("\x1b[1;32mALLOW" in line for line in rest) == 3


def test_chains_are_told_apart_by_as_few_digits_as_do(tmp_path: Path) -> None:
    names = iter(["aaaaaa0000000000", "aaaaab0000000000", "b000000000000000"])
    trails = [Trail(tmp_path, names=lambda: next(names)) for _ in range(3)]
    assert digits_of(TrailReader(tmp_path)) == 6
    assert digits_of(TrailReader(tmp_path / "none")) == 4
    for one in trails:
        one.close()


def test_a_place_that_fits_two_chains_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = iter(["aaaaaa0000000000", "aaaaab0000000000"])
    for one in [Trail(tmp_path, names=lambda: next(names)) for _ in range(2)]:
        one.close()
    assert main(["audit", "show", "aaaa:0", "--trail", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err == "stanchion: `aaaa` matches 2 chains: write more digits of it\n"
    )
    assert main(["audit", "show", "aaaaab:0", "--trail", str(tmp_path)]) == 0


def test_progress_is_drawn_now_and_then_and_erased() -> None:
    now = [0.0]
    stream = io.StringIO()
    drawn = Progress("verifying", stream, lambda: now[0])
    drawn(1, 4096)
    assert stream.getvalue() == ""
    now[0] = 0.35
    drawn(1024, 4096)
    drawn(2048, 4096)
    now[0] = 0.5
    drawn(4096, 4096)
    drawn.erase()
    assert stream.getvalue() == (
        "\r\x1b[Kverifying  1.0 KiB of 4.0 KiB  25%\r\x1b[Kverifying  4.0 KiB of 4.0 KiB  "
        "100%\r\x1b[K"
    )


def test_work_that_is_quick_draws_nothing() -> None:
    stream = io.StringIO()
    drawn = Progress("verifying", stream, lambda: 0.0)
    drawn(5, 5)
    drawn.erase()
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (10**7, "9.5 MiB"), (10**13, "9.1 TiB")],
)
def test_sizes(count: int, words: str) -> None:
    assert size(count) == words


@pytest.mark.parametrize(
    "words",
    [
        ["tail", "--run", "r", "--run", "s"],
        ["tail", "-n", "1", "--lines", "2"],
        ["export", "--since", "1d", "--since", "1d"],
        ["verify", "--key", "a", "--key", "b"],
        ["erase", "--run", "r", "--run=s", "--dry-run"],
        ["erase", "--containing", "a", "--containing", "b", "--dry-run"],
        ["erase", "--task", "a", "--task", "b", "--dry-run"],
        ["erase", "--tenant", "a", "--tenant", "b", "--dry-run"],
        ["prune", "--project", "a", "--project", "b"],
    ],
)
def test_an_option_with_one_value_is_not_given_twice(
    words: list[str], trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever erases two runs, and erases the last alone, would not notice."""
    assert main(["audit", *words]) == 2
    assert "is given twice, but takes only one value" in capsys.readouterr().err


def test_a_line_that_is_no_text_is_left_out_and_told(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One byte on the disk has flipped: the rest is there, in every command that reads."""
    (segment,) = trail.rglob("*.jsonl")
    whole = segment.read_bytes()
    count = whole.count(b"\n")
    for part in (b'"tool":"t"', b'"content":'):
        at = whole.index(part) + 3
        segment.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        for words in (["tail", "-n", "1000", "--json"], ["export"]):
            capsys.readouterr()
            assert main(["audit", *words]) == 0
            told = capsys.readouterr()
            assert len(told.out.splitlines()) == count - 1
            assert (
                "1 line of the trail cannot be read and are left out: see `stanchion audit verify`"
                in told.err
            )
        for words in (
            ["audit", "tail"],
            ["runs"],
            ["explain", "last"],
            ["audit", "prune"],
            ["state"],
        ):
            assert main(words) == 0


def test_a_whole_trail_has_nothing_left_out(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "export"]) == 0
    assert capsys.readouterr().err == ""


def test_a_line_that_comes_and_is_no_text_is_told_once(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (segment,) = trail.rglob("*.jsonl")
    turns = iter([b"\xff\n", b"", None])

    def pause() -> None:
        more = next(turns)
        if more is None:
            raise KeyboardInterrupt
        with segment.open("ab") as file:
            file.write(more)

    with pytest.raises(KeyboardInterrupt):
        follow(TrailReader(trail), WantedRecords(), 2, lambda _: None, pause)
    assert capsys.readouterr().err.count("cannot be read") == 1
