"""Verifying by itself: a copy of the folder runs without Stanchion, and says what it found to
people and programs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

import stanchion.audit.verifying
from stanchion.audit.verify import CannotVerify, Deed, as_json, as_text, main, verdict, verify
from stanchion.audit.witnessing.place import WitnessEntry, line_of
from tests.audit.forging import (
    KEY,
    ONE,
    OTHER_KEY,
    TWO,
    Draft,
    Drafts,
    crashed,
    many,
    several,
    single,
)

PACKAGE = Path(stanchion.audit.verifying.__file__).parent


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """The key in a file."""
    path = tmp_path / "key"
    path.write_bytes(KEY)
    return path


def forged(key: bytes | None = None) -> Drafts:
    """A trail of which a record was deleted."""
    drafts = several(key)
    del drafts[ONE].segments[2][2]
    return drafts


def test_a_copy_of_the_folder_runs_alone(key_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "verifying"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    trail = forged(KEY).write(tmp_path / "trail")
    # Without the site's packages there is no Stanchion to import.
    for command in ([str(copy)], ["-m", "verifying"]):
        done = subprocess.run(
            [sys.executable, "-S", *command, str(trail), "--key", str(key_file), "--json"],
            cwd=copy.parent,
            env={"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (1, "")
        (fault,) = json.loads(done.stdout)["faults"]
        assert (fault["chain"], fault["seq"], fault["deed"]) == (ONE, 9, "deleted")


def test_lines_of_several_witnesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drafts = many()
    trail = drafts.write(tmp_path / "trail")
    for name in (ONE, TWO):
        line = line_of(WitnessEntry((drafts[name].head or b"",), 1_700_000_000_000, 0), "0" * 64)
        (tmp_path / name).write_bytes(line + b"\n")
    words = ["--witness", str(tmp_path / ONE), "--witness", str(tmp_path / TWO)]
    assert main([str(trail), *words]) == 0
    assert f"the witness `{tmp_path / TWO}` is a copy" in capsys.readouterr().out
    shutil.rmtree(trail / TWO)
    assert main([str(trail), *words]) == 1


def test_as_a_module_of_stanchion(tmp_path: Path) -> None:
    trail = single().write(tmp_path / "trail")
    for module in ("stanchion.audit.verify", "stanchion.audit.verifying"):
        done = subprocess.run(
            [sys.executable, "-m", module, str(trail)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1] == "whole: 12 records in 1 chain; end not proven"


def test_what_people_read(tmp_path: Path) -> None:
    drafts = many(KEY)
    del drafts[TWO].segments[1][2:4]
    drafts[ONE].tail = b"rest"
    said = as_text(verify(drafts.write(tmp_path / "trail"), KEY)).splitlines()
    assert said == [
        (
            "chain             records  segments  from                 to                   "
            "checkpoints  sealed  state"
        ),
        (
            f"{ONE}  14       2         2023-11-14 22:13:20  2023-11-14 22:13:20  2            2   "
            f"    closed"
        ),
        (
            f"{TWO}  2        2         2023-11-14 22:13:20  2023-11-14 22:13:20  0            0   "
            f"    closed"
        ),
        (
            "3333333333333333  10       1         2023-11-14 22:13:20  2023-11-14 22:13:20  1      "
            "      1       open"
        ),
        (
            f"{ONE}/00000002.jsonl:9: inserted: 4 bytes were added after record 13, which ends the "
            f"chain"
        ),
        f"{TWO}/00000001.jsonl:3: deleted: records 2 to 3 were deleted: record 4 follows",
        "note: the key is a shared secret: whoever has this key can forge all of it",
        (
            "note: 3333333333333333: the chain is not closed: it is being written to, or its "
            "writer crashed"
        ),
        "note: end not proven: neither a store nor a witness says how far the trail had come, so "
        "records at the end of a chain, whole chains, or everything since an earlier state of the "
        "folder may be missing",
        "not whole: 2 faults (26 records in 3 chains read)",
    ]


def test_what_programs_read(tmp_path: Path) -> None:
    said = json.loads(as_json(verify(crashed(KEY).write(tmp_path / "trail"), KEY)))
    assert (said["whole"], said["end_proven"]) == (True, False)
    assert said["faults"] == []
    (chain,) = said["chains"]
    assert chain == {
        "id": ONE,
        "records": 15,
        "segments": 2,
        "first_seq": 0,
        "last_seq": 14,
        "first_at": 1_700_000_000_000,
        "last_at": 1_700_000_000_014,
        "checkpoints": 1,
        "sealed": 1,
        "bytes": sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl")),
        "closed": False,
        "behind_head": 3,
        "retired": 0,
    }


@pytest.mark.parametrize(
    ("drafts", "status"), [(single(KEY), 0), (forged(KEY), 1)], ids=["whole", "not whole"]
)
def test_the_exit_status(
    drafts: Drafts, status: int, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trail = drafts.write(key_file.parent / "trail")
    assert main([str(trail), "--key", str(key_file)]) == status
    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .startswith("whole: " if status == 0 else "not whole: ")
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "cannot read `nowhere`"),
        (["trail", "--key", "nowhere"], "cannot read the key file `nowhere`"),
        (["trail", "--key", "short"], "`short` has 9 bytes"),
        (["trail", "--witness", "nowhere"], "cannot read the witness `nowhere`"),
    ],
)
def test_what_cannot_be_read(
    arguments: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    single().write(tmp_path / "trail")
    (tmp_path / "short").write_bytes(b"too short")
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""


def test_wrong_arguments() -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "content",
    [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\n", KEY.hex().encode() + b"\r\n"],
)
def test_a_key_as_it_is_or_as_digits(content: bytes, tmp_path: Path) -> None:
    trail = single(KEY).write(tmp_path / "trail")
    assert verify(trail, content).whole
    (tmp_path / "key").write_bytes(content)
    assert verify(trail, tmp_path / "key").whole
    assert verify(trail, str(tmp_path / "key")).whole
    assert not verify(trail, OTHER_KEY).whole


def test_a_line_feed_belongs_to_a_key_that_is_not_digits(tmp_path: Path) -> None:
    key = b"not hexadecimal, thirty-two bytes\n"
    assert verify(single(key).write(tmp_path / "trail"), key).whole
    assert not verify(tmp_path / "trail", key[:-1]).whole


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"ab" * 31, KEY.hex()[:-2].encode()])
def test_a_key_that_is_too_short(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(CannotVerify, match="at least 32"):
        verify(single().write(tmp_path / "trail"), content)


def test_every_deed_has_a_meaning() -> None:
    assert {deed.value for deed in Deed} == {str(deed) for deed in Deed}
    assert all(deed.meaning and deed.meaning[0].islower() for deed in Deed)


def test_times_beyond_the_calendar_are_told_as_they_are(tmp_path: Path) -> None:
    one = Draft(ONE).begin().add("event", at=10**17).mark()
    report = verify(Drafts({ONE: one}).write(tmp_path / "trail"))
    assert report.whole
    assert str(10**17) in as_text(report)
    assert verdict(report) == "whole: 2 records in 1 chain; end not proven"


def test_memory_does_not_grow_with_the_trail(tmp_path: Path) -> None:
    peaks = []
    for count in (6_000, 24_000):
        one = Draft(ONE).begin()
        for _ in range(count // 3_000):
            one.work(3_000).checkpoint().begin()
        trail = Drafts({ONE: one.close()}).write(tmp_path / str(count))
        tracemalloc.start()
        assert verify(trail).whole
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
