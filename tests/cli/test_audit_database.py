"""`stanchion audit` on the records in a PostgreSQL: what it does with a folder, and no word of a
password."""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.postgres import ship_trail, verify_database
from stanchion.audit.postgres.reader import DatabaseReader
from stanchion.audit.reader import FoundRecord, WantedRecords
from stanchion.cli.audit_reading import follow
from stanchion.cli.main import main
from tests.audit.postgres_records import quick, written
from tests.cli.test_terminal import shown, tty
from tests.stores.servers import PASSWORD, Place, place

__all__ = ["place"]

SECRETS = (PASSWORD, "s3cr3t%26word", "s3cr3t")


def decide(folder: Path, count: int, tool: str = "t") -> None:
    """Let a shield decide a few times, its records in a folder."""
    with Shield.load("default", journal=folder) as shield, shield.run("ann", id="r") as run:
        for number in range(count):
            run.check(tool, {"number": number})


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A trail with a few decisions in it."""
    folder = tmp_path / "trail"
    decide(folder, 3)
    return folder


class Audit:
    """Runs `stanchion audit` on a database, named by a URL with a password in it, and gives what it
    says."""

    def __init__(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        self.place, self._capsys = place, capsys

    @property
    def named(self) -> tuple[str, ...]:
        """The options that name the database."""
        return ("--trail", self.place.server.tcp(), "--schema", self.place.schema)

    def __call__(self, *words: str, status: int = 0) -> str:
        """What a command says on both streams; it ends with that status and tells no secret."""
        self._capsys.readouterr()
        assert main(["audit", *words]) == status
        said = self._capsys.readouterr()
        assert not [secret for secret in SECRETS if secret in said.out + said.err]
        return said.out + said.err

    def lines(self, *words: str) -> list[Any]:
        """What a command says as lines of JSON."""
        return [json.loads(line) for line in self(*words, *self.named).splitlines()]


@pytest.fixture
def audit(place: Place, trail: Path, capsys: pytest.CaptureFixture[str]) -> Audit:
    """The command, and a database that the trail was shipped to."""
    ship_trail(trail, place.server.url, quick(place.schema))
    return Audit(place, capsys)


def test_what_is_shipped_is_whole(audit: Audit) -> None:
    said = audit("verify", *audit.named)
    assert re.search(r"^whole: ", said, re.MULTILINE), said
    report = json.loads(audit("verify", *audit.named, "--json"))
    assert report["whole"] is True
    assert report["folder"].endswith(f"/postgres ({audit.place.schema})")


def test_the_url_may_stand_where_a_folder_does(audit: Audit) -> None:
    audit("verify", audit.place.server.tcp(), "--schema", audit.place.schema)
    assert "both give a trail" in audit("verify", audit.place.server.tcp(), *audit.named, status=2)


def test_a_row_that_was_edited_is_found(audit: Audit) -> None:
    audit.place.do("ALTER TABLE {}.audit_record DISABLE TRIGGER ALL")
    audit.place.do("UPDATE {}.audit_record SET tool = 'other' WHERE tool = 't'")
    assert "its column `tool` says `other`" in audit("verify", *audit.named, status=1)


def test_a_witness_from_the_database_is_one(audit: Audit, trail: Path, tmp_path: Path) -> None:
    heads = audit("heads", *audit.named)
    assert heads == audit("heads", "--trail", str(trail))
    (tmp_path / "witness").write_text(heads, encoding="utf-8")
    audit("verify", *audit.named, "--witness", str(tmp_path / "witness"))
    audit("witness", str(tmp_path / "lines"), "--once", *audit.named)
    audit("verify", *audit.named, "--witness", str(tmp_path / "lines"))
    decide(trail, 2)
    audit("witness", str(tmp_path / "lines"), "--once", "--trail", str(trail))
    said = audit("verify", *audit.named, "--witness", str(tmp_path / "lines"), status=1)
    assert "TRUNCATED" in said, "what the folder holds has not arrived"


def test_the_same_is_exported_as_from_the_folder(audit: Audit, trail: Path) -> None:
    assert sorted(audit("export", *audit.named).splitlines()) == sorted(
        audit("export", "--trail", str(trail)).splitlines()
    )
    assert [line["tool"] for line in audit.lines("export", "--tool", "t")] == ["t"] * 3
    assert audit.lines("export", "--since", "1h") == audit.lines("export")
    assert audit.lines("export", "--until", "1h") == []


def test_a_database_is_written_back_as_the_trail_it_was(
    audit: Audit, trail: Path, tmp_path: Path
) -> None:
    out = tmp_path / "copy"
    said = audit("export", *audit.named, "--format", "trail", "--out", str(out))
    count = sum(map(len, written(trail).values()))
    assert said == (
        f"stanchion: {count} records of 1 chain are in {out}: see `stanchion audit verify {out}`\n"
    )
    assert written(out) == written(trail)
    audit("verify", str(out))
    assert "is not empty" in audit(
        "export", *audit.named, "--format", "trail", "--out", str(out), status=2
    )


def test_the_newest_are_shown_as_from_the_folder(audit: Audit, trail: Path) -> None:
    own = ["--stage", "tool_call"]
    for words in (
        ["-n", "2"],
        ["--run", "r"],
        ["--json"],
        ["--refused"],
        ["--agent", "a*", "--action", "allow"],
    ):
        words = [*own, *words]
        assert audit("tail", *words, *audit.named) == audit("tail", *words, "--trail", str(trail))


def test_one_record_is_shown_by_its_id_and_by_its_place(audit: Audit, trail: Path) -> None:
    last = audit.lines("tail", "--tool", "t", "-n", "1", "--json")[0]
    for name in (last["id"], f"{last['chain'][:6]}:{last['seq']}"):
        body = audit("show", name, "--json", *audit.named)
        assert body == audit("show", name, "--json", "--trail", str(trail))
        words = audit("show", name, *audit.named)
        assert f"shipped from {last['chain']}/00000001.jsonl" in words
        assert last["hash"] in words
    assert "there is no record `nothing`" in audit("show", "nothing", *audit.named, status=2)


def test_what_comes_is_shown_once(audit: Audit, trail: Path) -> None:
    seen: list[str] = []
    turns = iter(["u", "v", "w"])

    def show(records: Iterable[FoundRecord]) -> None:
        seen.extend(found.stub.tool for found in records)

    def pause() -> None:
        tool = next(turns)
        if tool == "w":
            raise KeyboardInterrupt
        decide(trail, 2, tool)
        ship_trail(trail, audit.place.server.url, quick(audit.place.schema))

    reader = DatabaseReader(audit.place.server.url, audit.place.schema)
    with pytest.raises(KeyboardInterrupt):
        follow(reader, WantedRecords(run="r", actions=frozenset({"ALLOW"})), 2, show, pause)
    reader.close()
    assert seen == ["t", "t", "u", "u", "v", "v"]


def test_the_environment_names_the_database(
    place: Place, trail: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ship_trail(trail, place.server.url, quick("stanchion_audit"))
    try:
        monkeypatch.setenv("STANCHION_AUDIT", place.server.tcp())
        audit = Audit(place, capsys)
        assert "(stanchion_audit)" in audit("verify", "--json")
        assert (
            audit("tail", "--tool", "t")
            == audit("tail", "--tool", "t", "--trail", str(trail))
            != ""
        )
    finally:
        place.server.do("DROP SCHEMA stanchion_audit CASCADE")


# What cannot be read.


@pytest.mark.parametrize(
    "words", [["verify"], ["tail"], ["show", "x"], ["heads"], ["export"], ["tail", "-f"]], ids=str
)
def test_where_there_are_no_records(
    words: list[str], place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = Audit(place, capsys)
    assert "holds no records: give the schema that a trail was shipped to" in audit(
        *words, *audit.named, status=2
    )


@pytest.mark.parametrize(
    "words", [["verify"], ["tail"], ["export"], ["export", "--format", "trail", "--out", "new"]]
)
def test_a_database_that_does_not_exist(
    words: list[str],
    place: Place,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    audit = Audit(place, capsys)
    said = audit(*words, "--trail", place.server.tcp().replace("/postgres?", "/nowhere?"), status=2)
    assert (
        f"the PostgreSQL server `127.0.0.1:{place.server.port}/nowhere` cannot be reached" in said
    )
    assert 'database "nowhere" does not exist' in said


def test_a_wrong_password_is_not_repeated(audit: Audit) -> None:
    wrong = audit.place.server.tcp().replace("s3cr3t%26word", "s3cr3t%26wrong")
    assert "password authentication failed" in audit("tail", "--trail", wrong, status=2)
    assert "cannot be read" in audit(
        "tail", "--trail", "postgresql://u:s3cr3t@h/x?nonsense=1", status=2
    )


@pytest.mark.parametrize("words", [["verify"], ["tail"], ["export"], ["heads"]], ids=str)
def test_without_the_driver(
    words: list[str],
    place: Place,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    audit = Audit(place, capsys)
    assert "install the extra `postgres`" in audit(*words, *audit.named, status=2)


def test_urls_where_they_are_not_taken(
    audit: Audit, capsys: pytest.CaptureFixture[str], trail: Path
) -> None:
    url = audit.place.server.tcp()
    assert "takes no `postgresql://…`" in audit("tail", url, status=2)
    assert "give the record" in audit("show", url, status=2)
    assert "`--schema x` is for a database" in audit(
        "tail", "--trail", str(trail), "--schema", "x", status=2
    )
    assert "leave the filters out" in audit(
        "export", *audit.named, "--format", "trail", "--out", "new", "--tool", "t", status=2
    )
    for command in (["runs"], ["explain", "last"]):
        assert main([*command, "--trail", url]) == 2
        said = capsys.readouterr().err
        assert "`postgresql://…` is a database" in said
        assert "s3cr3t" not in said


def test_progress_counts_records(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.cli.printing.AFTER_S", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    stream = tty()
    monkeypatch.setattr(sys, "stderr", stream)
    total = sum(
        chain.records
        for chain in verify_database(audit.place.server.url, schema=audit.place.schema).chains
    )
    assert main(["audit", "export", *audit.named]) == 0
    assert f"exporting  {total} records of {total} records  100%" in shown(stream)
