"""Trails of the project's former name are refused, by whoever would write, read or verify them."""

from hashlib import sha256
from pathlib import Path

import pytest

from stanchion.audit.errors import TrailError
from stanchion.audit.lines import line_of
from stanchion.audit.trail import Trail
from stanchion.audit.verify import CannotVerify, verify
from stanchion.cli.main import main

CHAIN = "20f964e387a9e6ef"


@pytest.fixture
def former(tmp_path: Path) -> Path:
    """A trail with one record of the format that the former name had."""
    folder = tmp_path / "trail"
    (folder / CHAIN).mkdir(parents=True)
    body = (
        f'{{"v":1,"prev":"{"0" * 64}","seq":0,"chain":"{CHAIN}","kind":"segment","at":1,'
        f'"number":1}}'
    ).encode()
    (folder / CHAIN / "00000001.jsonl").write_bytes(line_of(body, sha256(body).hexdigest(), 0))
    return folder


def test_it_is_not_written(former: Path) -> None:
    with pytest.raises(TrailError, match="former name, and there are no migrations before"):
        Trail(former)
    assert [entry.name for entry in former.iterdir()] == [CHAIN]


def test_it_is_not_verified(former: Path) -> None:
    with pytest.raises(CannotVerify, match="former name"):
        verify(former)


def test_commands_say_so_in_one_line(former: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["audit", "tail", "--trail", str(former)], ["audit", "verify", str(former)]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "former name" in said
