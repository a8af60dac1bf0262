"""`stanchion state` shows what is there, in words, within bounds, and changes nothing."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion.cli.main import main
from stanchion.kernel.state import Batch, Line, key
from stanchion.ops.views.names import name_of
from stanchion.ops.views.stored import MOST
from stanchion.stores.sqlite import SqliteStore
from tests.cli.test_terminal import shown, tty


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that commands read."""
    path = tmp_path / "state.db"
    monkeypatch.setenv("STANCHION_STORE", f"sqlite:{path}")
    return path


def count(file: Path, *keys: str) -> None:
    """Count one on each of these."""
    store = SqliteStore(file)
    for number, name in enumerate(keys):
        store.carry(Batch(f"b{number}", lines=(Line(name),)))
    store.close()


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[Any]:
    """What the command answers as JSON."""
    capsys.readouterr()
    assert main(["state", *words, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("tenant", "parts"),
    [
        ("default", ("steps", "", "run", "r1")),
        ("a:b{c}", ("x:y", "{z}", "100%", "%3a")),
        ("ü", ("a/b", "c/60")),
    ],
)
def test_a_key_is_read_back(tenant: str, parts: tuple[str, ...]) -> None:
    name = name_of(key(tenant, *parts))
    assert (name.tenant, name.parts, name.window_ms, name.shadow) == (tenant, parts, 0, False)
    wide = name_of("~" + key(tenant, *parts) + "/60000", windowed=True)
    assert (wide.tenant, wide.parts, wide.window_ms, wide.shadow) == (tenant, parts, 60_000, True)


def test_a_key_that_is_none_of_ours_is_left_as_it_is(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count(file, "odd key")
    assert [one["parts"] for one in told(capsys)] == [["odd key"]]


def test_all_is_told_as_json_and_some_to_people(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count(file, *[key("default", "steps", f"r{number:03}") for number in range(MOST + 7)])
    assert len(told(capsys)) == MOST + 7
    assert main(["state"]) == 0
    out = capsys.readouterr().out
    assert out.count("steps / r") == MOST
    assert out.endswith("    … and 7 more: give a prefix, or see `--json`\n")
    assert len(told(capsys, "steps / r00")) == 10
    assert len(told(capsys, "{default}steps:r01")) == 10


def test_looking_changes_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count(file, key("default", "steps"))
    before = file.read_bytes()
    file.chmod(0o400)
    assert main(["state"]) == 0
    assert file.read_bytes() == before


def test_what_is_not_there_is_not_made(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys) == []
    assert main(["state"]) == 0
    assert "nothing is kept yet" in capsys.readouterr().err
    assert not file.exists()


def test_a_damaged_file_is_bad_input(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count(file, key("default", "steps"))
    data = bytearray(file.read_bytes())
    data[: len(data) // 2] = b"\x55" * (len(data) // 2)
    file.write_bytes(bytes(data))
    assert main(["state"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"stanchion: `{file}` is ")


def test_nothing_that_is_stored_steers_the_terminal(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(file, key("default", "\x1b[2Jsteps"), key("\x1b]0;x\x07", "steps"))
    stream = tty()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["state"]) == 0
    assert "\x1b" not in shown(stream)
    assert "\\x1b[2Jsteps" in shown(stream)


def test_a_store_that_holds_nothing_says_what_to_do(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SqliteStore(file).close()
    assert main(["state"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the store holds nothing; if it has lost something" in said
    assert "`stanchion state accept`" in said
