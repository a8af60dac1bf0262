"""Trails of an earlier format are refused, by whoever would write, read or verify them."""

from hashlib import sha256
from pathlib import Path

import pytest

from stanchion.audit.errors import TrailError
from stanchion.audit.segment_scan import line_of
from stanchion.audit.trail import Trail
from stanchion.audit.verify import CannotVerify, verify
from stanchion.cli.main import main

CHAIN = "20f964e387a9e6ef"


@pytest.fixture(params=[1, 2])
def earlier(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A trail with one record of a format before this one."""
    folder = tmp_path / "trail"
    (folder / CHAIN).mkdir(parents=True)
    body = (
        f'{{"v":{request.param},"prev":"{"0" * 64}","seq":0,"chain":"{CHAIN}",'
        f'"kind":"segment","at":1,"number":1}}'
    ).encode()
    (folder / CHAIN / "00000001.jsonl").write_bytes(line_of(body, sha256(body).hexdigest(), 0))
    return folder


def test_it_is_not_written(earlier: Path) -> None:
    with pytest.raises(TrailError, match=r"earlier version .* no migrations before"):
        Trail(earlier)
    assert [entry.name for entry in earlier.iterdir()] == [CHAIN]


def test_it_is_not_verified(earlier: Path) -> None:
    with pytest.raises(CannotVerify, match="earlier version"):
        verify(earlier)


def test_commands_say_so_in_one_line(earlier: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["audit", "tail", "--trail", str(earlier)], ["audit", "verify", str(earlier)]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "earlier version" in said
