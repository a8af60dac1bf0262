"""Records in PostgreSQL: every line of a trail arrives, byte for byte, once; and nobody waits for
that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stanchion.audit.chain_lock import take
from stanchion.audit.errors import TrailError
from stanchion.audit.options import TrailOptions
from stanchion.audit.postgres import (
    PostgresTrail,
    Shipping,
    open_postgres_trail,
    ship_trail,
    verify_database,
)
from stanchion.audit.postgres.connections import RecordsSchema
from stanchion.audit.segment_scan import line_of
from stanchion.audit.trail import Trail
from stanchion.audit.verify import CannotVerify
from stanchion.kernel.events import RunInfo
from tests.audit import forging
from tests.audit.forging import KEY, ONE, Draft, Drafts
from tests.audit.postgres_records import quick, shipped, until, whole, written
from tests.audit.written import allowed, moment
from tests.stores.servers import PASSWORD, Place, place

__all__ = ["place"]

MANY = 100_000 if os.environ.get("STANCHION_SOAK") else 5_000

NOBODY = "postgresql://kim:s3cr3t%26word@127.0.0.1:1/audit"
"""A server that nobody reaches."""


def write(trail: Trail, *names: str) -> None:
    """Write a decision under each name."""
    for name in names:
        about = moment(name)
        trail.write(about, allowed(about), 0)


def opened(folder: Path, place: Place, **more: Any) -> PostgresTrail:
    """A trail that is shipped to the place."""
    return PostgresTrail(
        folder, place.server.url, TrailOptions(sync_ms=0.1, head_ms=0), quick(place.schema, **more)
    )


@pytest.mark.parametrize(
    "made", [forging.single, forging.several, forging.many, forging.crashed, forging.retired]
)
@pytest.mark.parametrize("batch_bytes", [300, 512 * 1024])
def test_every_line_arrives_as_it_was_written(
    tmp_path: Path, place: Place, made: Any, batch_bytes: int
) -> None:
    """Of every kind of trail: with several chains and segments, of crashed writers, with segments
    that are gone."""
    made(KEY).write(tmp_path)
    left, troubles = ship_trail(
        tmp_path, place.server.url, quick(place.schema, batch_bytes=batch_bytes)
    )
    assert (left, troubles) == ((0, 0), [])
    assert shipped(place) == written(tmp_path)
    heads = {path.parent.name: path.read_text() for path in tmp_path.glob("*/head")}
    assert dict(place.do("SELECT chain, head FROM {}.audit_head")) == heads
    whole(place, KEY)


def test_records_are_shipped_as_they_come_and_the_rest_when_the_trail_is_closed(
    tmp_path: Path, place: Place
) -> None:
    """What can be waited for, and what cannot: the checkpoint with which a chain ends."""
    trail = opened(tmp_path, place)
    write(trail, *[f"e{number}" for number in range(100)])
    assert trail.ship(30)
    ids = place.do("SELECT id FROM {}.audit_record WHERE kind = 'intent' ORDER BY seq")
    assert ids == [(f"e{number}",) for number in range(100)]
    assert (trail.lag, trail.trouble_shipping) == ((0, 0), "")
    trail.close()
    assert shipped(place) == written(tmp_path)
    whole(place)


def test_a_row_has_what_people_look_for(tmp_path: Path, place: Place) -> None:
    """Who, what, when, in which run; for a run's beginning as well."""
    from stanchion.audit.journal import Finish, Start

    run = RunInfo("r9", agent="ann", task="t1", tenant="acme")
    trail = opened(tmp_path, place)
    trail.begin(Start(run, 1_700_000_000_001, "policy"))
    about = moment("e1", run=run)
    trail.write(about, allowed(about), 77)
    trail.end(Finish(run, 1_700_000_000_002, "kernel.ended", "done", {}))
    assert trail.ship(30)
    trail.close()
    rows = place.do(
        "SELECT kind, run, id, stage, action, tool, agent, task, tenant, took, extract(epoch FROM "
        "at) * 1000 FROM {}.audit_record WHERE run <> '' ORDER BY seq"
    )
    assert rows == [
        ("run", "r9", "", "", "", "", "ann", "t1", "acme", 0, 1_700_000_000_001),
        (
            "intent",
            "r9",
            "e1",
            "tool_call",
            "ALLOW",
            "read",
            "ann",
            "t1",
            "acme",
            77,
            1_700_000_000_000,
        ),
        ("end", "r9", "", "", "", "", "ann", "t1", "acme", 0, 1_700_000_000_002),
    ]
    assert place.do(
        "SELECT DISTINCT convert_from(body, 'UTF8')::json ->> 'v' FROM {}.audit_record"
    ) == [("3",)]


def test_names_that_no_column_takes_are_shipped_all_the_same(tmp_path: Path, place: Place) -> None:
    """Zeros, and names that no index could hold; the record itself is exact."""
    chain = (
        Draft(ONE)
        .begin()
        .add("intent", id="\0" * 3, run="r" * 100_000, tool="a\0b", at=1 << 60)
        .add("event", at=-5)
    )
    Drafts({ONE: chain.close()}).write(tmp_path)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert shipped(place) == written(tmp_path)
    (row,) = place.do(
        "SELECT id, length(run), tool, extract(year FROM at)::int FROM {}.audit_record WHERE seq = "
        "1"
    )
    assert row == ("\N{REPLACEMENT CHARACTER}" * 3, 256, "a\N{REPLACEMENT CHARACTER}b", 9999)


def test_records_are_kept_by_month_and_those_of_a_clock_that_is_off_beside_them(
    tmp_path: Path, place: Place
) -> None:
    """A month is there before its first record, and the next one ahead."""
    moments = {
        1_700_000_000_000: "2023_11",
        1_709_164_800_000: "2024_02",
        0: "rest",
        99_999_999_999_999: "rest",
    }
    chain = Draft(ONE).begin()
    for at in moments:
        chain.add("event", at=at)
    Drafts({ONE: chain.close()}).write(tmp_path)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    rows = place.do(
        "SELECT tableoid::regclass::text FROM {}.audit_record WHERE kind = 'event' ORDER BY seq"
    )
    assert [row[0].partition("audit_record_")[2] for row in rows] == list(moments.values())
    ahead = "SELECT count(*) FROM {}.months_of('audit_record') WHERE ends > now()"
    assert place.do(ahead) == [(2,)]


def test_what_earlier_processes_left_is_shipped_by_whoever_comes(
    tmp_path: Path, place: Place
) -> None:
    """Chains of processes that are gone, and of those that run and do not ship themselves."""
    forging.crashed().write(tmp_path)
    silent = Trail(tmp_path, TrailOptions(sync_ms=0.1, head_ms=0), names=lambda: "a" * 16)
    beside = Trail(tmp_path, TrailOptions(sync_ms=0.1, head_ms=0), names=lambda: "b" * 16)
    write(silent, "s1")
    write(beside, "b1")
    trail = opened(tmp_path, place)
    write(trail, "t1")
    assert trail.ship(30)
    until(
        lambda: (
            place.do("SELECT count(*) FROM {}.audit_record WHERE id IN ('s1', 'b1', 't1')")
            == [(3,)]
        ),
        2_000,
    )
    for each in (trail, silent, beside):
        each.close()
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert shipped(place) == written(tmp_path)
    whole(place)


def test_only_what_is_on_the_disk_is_shipped_of_a_chain_that_is_written(
    tmp_path: Path, place: Place
) -> None:
    """What stands behind the head could still be lost with the power, or be taken back by its
    writer."""
    made = forging.crashed()
    made.write(tmp_path)
    writer = take(tmp_path / ONE)
    assert writer is not None
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert place.do("SELECT max(seq) FROM {}.audit_record") == [(made[ONE].said_head()["seq"],)]
    os.close(writer)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert place.do("SELECT max(seq) FROM {}.audit_record") == [(made[ONE].seq - 1,)]
    assert shipped(place) == written(tmp_path)


def test_a_server_that_is_not_there_costs_nobody_anything(tmp_path: Path) -> None:
    """Records are written, the trouble is told without secrets, and closing does not wait."""
    trail = PostgresTrail(
        tmp_path, NOBODY, TrailOptions(sync_ms=0.1, head_ms=0), Shipping(again_s=0.01)
    )
    write(trail, "e1", "e2")
    until(lambda: trail.trouble_shipping)
    assert trail.trouble == ""
    assert "`127.0.0.1:1/audit` cannot be reached" in trail.trouble_shipping
    assert PASSWORD not in trail.trouble_shipping
    assert not trail.ship(0)
    trail.close()
    assert trail.lag.records == len(written(tmp_path)[trail.name]) == 5


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (
            "postgresql://kim:s3cr3t@word@host/db?sslmode=verify-all&x",
            "the URL of the PostgreSQL records cannot be read",
        ),
        ("nonsense", "the URL of the PostgreSQL records cannot be read"),
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_a_word_of_it(
    tmp_path: Path, url: str, says: str
) -> None:
    """At once, before anything is opened."""
    with pytest.raises(TrailError, match=says) as caught:
        PostgresTrail(tmp_path / "trail", url)
    assert "s3cr3t" not in str(caught.value)
    assert not (tmp_path / "trail").exists()


def test_a_schema_that_would_have_to_be_quoted_is_refused(tmp_path: Path, place: Place) -> None:
    """Its name is part of statements."""
    with pytest.raises(TrailError, match='schema `a"b` cannot be used'):
        PostgresTrail(tmp_path, place.server.url, shipping=Shipping(schema='a"b'))


def test_a_wrong_password_is_told_without_it(tmp_path: Path, place: Place) -> None:
    """By the server's words, which name the role."""
    url = place.server.tcp().replace("word@", "wrong@")
    with pytest.raises(TrailError, match="password authentication failed") as caught:
        ship_trail(tmp_path, url, quick(place.schema))
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("version", "made"),
    [
        (3, "UPDATE {}.trail_version SET version = 3"),
        (99, "UPDATE {}.trail_version SET version = 99"),
    ],
)
def test_a_schema_of_another_version_is_not_touched(
    tmp_path: Path, place: Place, version: int, made: str
) -> None:
    """Whoever writes or reads is told; records stay in the folder."""
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    place.do(made)
    other = (
        rf"schema `{place.schema}` on .* another Stanchion \(version {version}, this one reads 4\)"
    )
    with pytest.raises(TrailError, match=other):
        ship_trail(tmp_path, place.server.url, quick(place.schema))
    with pytest.raises(CannotVerify, match=other):
        verify_database(place.server.url, schema=place.schema)
    trail = opened(tmp_path, place)
    write(trail, "e1")
    until(lambda: "another Stanchion" in trail.trouble_shipping)
    trail.close()
    assert shipped(place) == {}
    assert len(written(tmp_path)[trail.name]) == 4


def test_a_schema_is_made_once_however_many_begin_to(tmp_path: Path, place: Place) -> None:
    """Also where the server keeps transactions apart in another way."""

    def make(_: int) -> bool:
        apart = "-c default_transaction_isolation=serializable"
        with psycopg.connect(place.server.url, autocommit=True, options=apart) as db:
            schema = RecordsSchema(db, place.schema, "server")
            schema.make()
            return schema.is_there()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(make, range(6))) == [True] * 6
    assert place.do("SELECT version FROM {}.trail_version") == [(4,)]
    forging.single().write(tmp_path)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert shipped(place) == written(tmp_path)


def test_many_records_arrive_and_writing_them_is_writing_to_any_trail(
    tmp_path: Path, place: Place
) -> None:
    """The same code, at the same cost; the rest is another thread's work."""
    assert PostgresTrail.write is Trail.write
    trail = opened(tmp_path, place, ship_ms=20)
    write(trail, *[f"e{number}" for number in range(MANY)])
    assert trail.ship(600)
    trail.close()
    assert place.do(
        "SELECT count(*), count(DISTINCT id) FROM {}.audit_record WHERE kind = 'intent'"
    ) == [(MANY, MANY)]
    assert shipped(place) == written(tmp_path)


def test_all_shields_of_a_process_share_one_trail_and_one_shipper(
    tmp_path: Path, place: Place
) -> None:
    """The last who closes it ends it."""
    one = open_postgres_trail(tmp_path, place.server.url, shipping=quick(place.schema))
    two = open_postgres_trail(tmp_path, place.server.url, shipping=quick(place.schema))
    assert one is two
    one.close()
    write(two, "e1")
    assert two.ship(30)
    two.close()
    again = open_postgres_trail(tmp_path, place.server.url, shipping=quick(place.schema))
    assert again is not one
    again.close()


def test_the_driver_is_asked_for_where_it_is_missing_and_not_imported_before() -> None:
    """The extra is named; nothing else needs it."""
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path\n"
        "from stanchion.audit.postgres import PostgresTrail, verify_database\n"
        "for use in (lambda: PostgresTrail(Path('x'), 'postgresql:///x'), lambda: "
        "verify_database('postgresql:///x')):\n"
        "    try: use()\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("install the extra `postgres`") == 2
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["TrailError", "CannotVerify"]


def test_a_line_is_not_shipped_that_its_writer_cannot_have_written(
    tmp_path: Path, place: Place
) -> None:
    """Shipping stops before it, whatever is wrong; other chains go on, and the line is kept."""
    bad: dict[str, Callable[[bytes], bytes]] = {
        "1" * 16: lambda line: line.replace(b"make", b"fake"),
        "2" * 16: lambda line: line.replace(b'"took":4', b'"took":04'),
        "3" * 16: lambda line: b"nonsense\n",
        "4" * 16: lambda line: line_of(b'{"v":3}', "0" * 64, 0),
    }
    drafts = {name: Draft(name).begin().work(6).close() for name in (*bad, "5" * 16)}
    for name, change in bad.items():
        drafts[name].segments[1][4] = change(drafts[name].line(4))
        drafts[name].mark(closed=True)
    Drafts(drafts).write(tmp_path)
    left, troubles = ship_trail(tmp_path, place.server.url, quick(place.schema, batch_bytes=300))
    assert {name: len(lines) for name, lines in shipped(place).items()} == {
        **dict.fromkeys(bad, 4),
        "5" * 16: 8,
    }
    assert left.records == 4 * 4
    assert [words.partition("`")[2][:16] for words in troubles] == sorted(bad)
    kept = place.do("SELECT chain, seq, deed, line FROM {}.audit_evidence ORDER BY chain")
    assert kept == [(name, 4, "edited", drafts[name].segments[1][4][:-1]) for name in sorted(bad)]
