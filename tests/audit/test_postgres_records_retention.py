"""Retention in PostgreSQL follows the trail's: what a chain retires leaves, a bypass never does,
the rest verifies."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from time import monotonic

import psycopg
import pytest
from psycopg import sql

from stanchion.audit import notes
from stanchion.audit.chain import OpenChain
from stanchion.audit.options import TrailOptions
from stanchion.audit.postgres import PostgresTrail, Shipping, ship_trail, verify_database
from stanchion.audit.postgres.copy_rounds import Manner, Rounds
from stanchion.audit.postgres.database_writer import RecordLanding
from stanchion.audit.retention import DAY_MS, Keep, retire
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from stanchion.testing.clock import FakeClock
from tests.audit import forging
from tests.audit.forging import KEY, ONE, Draft, Drafts
from tests.audit.postgres_records import quick, shipped, until, whole, written
from tests.audit.test_retention import MINE, append, sealed
from tests.audit.written import allowed, moment
from tests.stores.servers import Place, place

__all__ = ["place"]

START = 1_700_000_000_000


def write(trail: Trail, *names: str) -> None:
    """Write decisions, each on the disk before the next."""
    for name in names:
        about = moment(name)
        trail.sync(trail.write(about, allowed(about), 0))


def chain_of(folder: Path, clock: FakeClock, segments: int, bypass: int = 0) -> OpenChain:
    """A chain of so many segments, one a month; the one with the number `bypass` holds one."""
    folder.mkdir(exist_ok=True)
    chain = OpenChain.begin(folder, MINE, None, clock)
    for number in range(1, segments + 1):
        append(chain, f"e{number}")
        chain.note(notes.TrailNote, notes.BYPASS if number == bypass else "event")
        if number < segments:
            chain.rotate({})
            clock.advance(31 * DAY_MS)
    return sealed(chain)


def segments(place: Place) -> list[int]:
    """The segments of which there are rows."""
    return [row[0] for row in place.do("SELECT DISTINCT segment FROM {}.audit_record ORDER BY 1")]


def months(place: Place) -> set[str]:
    """The months that have a table of records."""
    return {row[0] for row in place.do("SELECT part FROM {}.months_of('audit_record')")}


def ship(folder: Path, place: Place, **more: int) -> None:
    """Ship a folder and see to the tables."""
    left, troubles = ship_trail(folder, place.server.url, quick(place.schema, **more))
    assert (left, troubles) == ((0, 0), [])


@pytest.mark.parametrize("portion", [2, 1_000])
def test_what_a_chain_retires_leaves_in_portions_and_the_rest_verifies(
    tmp_path: Path, place: Place, portion: int
) -> None:
    """All that is left is what the files have; months without records go."""
    clock = FakeClock(START)
    chain = chain_of(tmp_path, clock, 5)
    ship(tmp_path, place)
    assert segments(place) == [1, 2, 3, 4, 5]
    before = months(place)
    assert retire(tmp_path, chain, Keep(days=40), clock(), nullcontext()) == 3
    sealed(chain).close({})
    ship(tmp_path, place, portion=portion)
    assert shipped(place) == written(tmp_path)
    assert segments(place) == [4, 5]
    whole(place)
    assert verify_database(place.server.url, schema=place.schema).chains == verify(tmp_path).chains
    assert place.do("SELECT count(*) FROM {}.audit_retired WHERE removed_at IS NULL") == [(0,)]
    assert "audit_record_2023_12" in before
    gone = before - months(place)
    assert gone == {"audit_record_2023_12"}


def test_rows_that_are_half_removed_are_not_missed(tmp_path: Path, place: Place) -> None:
    """A segment leaves in several transactions, and whoever verifies between two of them finds it
    whole."""
    clock = FakeClock(START)
    chain = chain_of(tmp_path, clock, 3)
    ship(tmp_path, place)
    retire(tmp_path, chain, Keep(days=1), clock(), nullcontext())
    chain.close({})
    with psycopg.connect(place.server.url, autocommit=True) as db:
        assert not Rounds(tmp_path, monotonic).go(
            RecordLanding(db, place.schema), Manner(frozenset(), 0.0, 10_000, 0.0)
        )
    counts = [len(shipped(place)[MINE])]
    while place.do("SELECT {}.audit_remove_retired(3)") != [(0,)]:
        counts.append(len(shipped(place)[MINE]))
        whole(place)
    assert shipped(place) == written(tmp_path)
    assert len(counts) > 3
    assert {before - after for before, after in pairwise(counts[:-1])} == {3}


def test_no_segment_leaves_the_folder_before_it_has_arrived(tmp_path: Path, place: Place) -> None:
    """While the database is away the folder grows; when it is back what need not be kept leaves
    both."""
    options = TrailOptions(segment_bytes=600, sync_ms=0.1, head_ms=0, keep=Keep(size=1))
    away = PostgresTrail(
        tmp_path, "postgresql://kim@127.0.0.1:1/x", options, Shipping(again_s=0.01)
    )
    write(away, *[f"a{number}" for number in range(8)])
    away.close()
    grown = sorted(int(path.stem) for path in (tmp_path / away.name).glob("*.jsonl"))
    assert grown[:4] == [1, 2, 3, 4]
    trail = PostgresTrail(tmp_path, place.server.url, options, quick(place.schema))
    write(trail, "b1")
    assert trail.ship(30)
    write(trail, *[f"b{number}" for number in range(2, 8)])
    assert trail.ship(30)
    write(trail, *[f"c{number}" for number in range(4)])
    trail.close()
    left = sorted(int(path.stem) for path in (tmp_path / trail.name).glob("*.jsonl"))
    assert left[0] > grown[-1]
    assert verify(tmp_path).faults == ()
    ship(tmp_path, place)
    assert shipped(place) == written(tmp_path)
    whole(place)


def test_a_trail_that_retires_as_it_goes_is_followed(tmp_path: Path, place: Place) -> None:
    """Day by day, by the process that writes it."""
    clock = FakeClock(START)
    options = TrailOptions(segment_bytes=600, sync_ms=0.1, head_ms=0, keep=Keep(days=2.5))
    trail = PostgresTrail(tmp_path, place.server.url, options, quick(place.schema), clock)
    for number in range(20):
        write(trail, f"e{number}")
        assert trail.ship(30)
        clock.advance(DAY_MS)
    until(lambda: segments(place)[0] > 8, 2_000)
    trail.close()
    ship(tmp_path, place)
    assert shipped(place) == written(tmp_path)
    whole(place)


def test_a_bypass_is_never_removed(tmp_path: Path, place: Place) -> None:
    """Its segment is not retired; nor would it leave if a record said so."""
    clock = FakeClock(START)
    chain = chain_of(tmp_path, clock, 5, bypass=2)
    retire(tmp_path, chain, Keep(days=1), clock.advance(90 * DAY_MS), nullcontext())
    sealed(chain).close({})
    ship(tmp_path, place)
    assert segments(place) == [2, 5]
    whole(place)


def test_a_bypass_in_a_segment_that_a_forged_record_retires_stays(
    tmp_path: Path, place: Place
) -> None:
    """With all of its segment: nothing around it is lost either."""
    made = forging.several(KEY)
    made[ONE].begin().add("bypass", who="kim").checkpoint().begin().work(1).retire(4).close()
    made.write(tmp_path)
    ship(tmp_path, place)
    assert place.do("SELECT segment, removed_at FROM {}.audit_retired") == [(4, None)]
    assert place.do("SELECT count(*) FROM {}.audit_record WHERE segment = 4") == [(3,)]
    assert (
        verify_database(place.server.url, KEY, schema=place.schema).faults
        == verify(tmp_path, KEY).faults
        == ()
    )


REFUSED = {
    "UPDATE {}.audit_record SET tool = 'x' WHERE segment = 6": "never changed",
    "UPDATE {}.audit_record_2023_11 SET body = 'x' WHERE segment = 6": "never changed",
    "DELETE FROM {}.audit_record WHERE kind = 'bypass'": "a bypass, which is never removed",
    "DELETE FROM {}.audit_record_2023_11 WHERE kind = 'bypass'": "a bypass, which is never removed",
    "DELETE FROM {}.audit_record WHERE segment = 6": "in a segment that no record retires",
    "TRUNCATE {}.audit_record": "leave only where their chain retires them",
    "TRUNCATE {}.audit_record_2023_11": "leave only where their chain retires them",
    "TRUNCATE {}.audit_record_rest": "leave only where their chain retires them",
    "UPDATE {}.audit_head SET shipped_seq = 3": "only goes forward",
    "UPDATE {}.audit_head SET head_seq = 3": "only goes forward",
    "DELETE FROM {}.audit_head": "only goes forward",
    "TRUNCATE {}.audit_head": "only goes forward",
    (
        "INSERT INTO {}.audit_retired SELECT chain, 3, 12, 16, 23 FROM {}.audit_head"
    ): "does not retire segment 3",
    (
        "INSERT INTO {}.audit_retired SELECT chain, 6, 27, 31, 4 FROM {}.audit_head"
    ): "does not retire segment 6",
    "UPDATE {}.audit_retired SET last_seq = 99": "stays retired",
    "DELETE FROM {}.audit_retired": "stays retired",
    "TRUNCATE {}.audit_retired": "stays retired",
}


def test_the_tables_refuse_what_would_lose_or_change_a_record(tmp_path: Path, place: Place) -> None:
    """Of anybody whom triggers stop; afterwards everything is as it was."""
    forging.retired(KEY).write(tmp_path)
    ship(tmp_path, place)
    for statement, words in REFUSED.items():
        with pytest.raises(psycopg.Error, match=words) as caught:
            place.do(statement)
        assert caught.value.sqlstate == "ST101"
    assert shipped(place) == written(tmp_path)
    whole(place, KEY)


def test_a_role_that_ships_needs_no_more_than_to_add(tmp_path: Path, place: Place) -> None:
    """It owns nothing, makes months and removes what is retired all the same, and can do nothing
    else."""
    ship(tmp_path / "nothing", place)
    role = f"{place.schema}_ships"
    place.server.do("CREATE ROLE {} LOGIN PASSWORD 's3cr3t&word'", role)
    grants = (
        "GRANT USAGE ON SCHEMA {} TO {}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}",
        "GRANT INSERT ON {}.audit_record, {}.audit_retired, {}.audit_evidence TO {}",
        "GRANT INSERT, UPDATE ON {}.audit_head TO {}",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {} TO {}",
    )
    try:
        for grant in grants:
            place.server.do(grant, *[place.schema] * (grant.count("{}") - 1), role)
        clock = FakeClock(START)
        chain = chain_of(tmp_path, clock, 3)
        url = place.server.tcp(user=role)
        ship_trail(tmp_path, url, quick(place.schema))
        retire(tmp_path, chain, Keep(days=1), clock(), nullcontext())
        chain.close({})
        ship_trail(tmp_path, url, quick(place.schema))
        assert shipped(place) == written(tmp_path)
        assert segments(place) == [3]
        with psycopg.connect(url, options=f"-c search_path={place.schema}") as db:
            for statement in (
                "DELETE FROM audit_record",
                "UPDATE audit_record SET took = 0",
                "DROP TABLE audit_record",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute(statement)
                db.rollback()
        whole(place)
    finally:
        place.server.do("DROP OWNED BY {}", role)
        place.server.do("DROP ROLE {}", role)


def test_a_month_that_could_not_be_made_in_time_stays_with_the_rest(
    tmp_path: Path, place: Place
) -> None:
    """Its records can be found there, and more of them join."""
    ship(tmp_path / "nothing", place)
    place.do(
        "INSERT INTO {}.incident (at, run, tool, fingerprint, success, call) "
        "VALUES ('2024-05-05', '', '', '', true, '')"
    )
    assert place.do("SELECT {}.make_month('incident', '2024-05-01')") == [(False,)]
    assert place.do("SELECT {}.make_month('incident', '2024-06-01')") == [(True,)]
    assert place.do("SELECT {}.make_month('incident', now() + interval '3 months')") == [(False,)]
    with pytest.raises(psycopg.Error, match="no table of months is named cell"):
        place.do("SELECT {}.make_month('cell', '2024-06-01')")


def test_somebody_who_reads_for_long_keeps_nobody_from_shipping(
    tmp_path: Path, place: Place
) -> None:
    """A month that cannot be made meanwhile is not waited for long, nor is one that could be
    dropped."""
    clock = FakeClock(START)
    chain = chain_of(tmp_path / "one", clock, 5)
    ship(tmp_path / "one", place)
    retire(tmp_path / "one", chain, Keep(days=40), clock(), nullcontext())
    chain.close({})
    older = Draft(ONE).begin().add("event", at=1_650_000_000_000).close()
    Drafts({ONE: older}).write(tmp_path / "two")
    before = months(place)
    with place.server.connect() as db, db.transaction():
        db.execute(
            sql.SQL("SELECT count(*) FROM {}.audit_record").format(sql.Identifier(place.schema))
        )
        for folder in ("one", "two"):
            ship(tmp_path / folder, place)
        assert months(place) == before
    assert shipped(place) == written(tmp_path / "one") | written(tmp_path / "two")
    assert place.do("SELECT count(*) FROM {}.audit_record_rest") == [(1,)]
    ship(tmp_path, place)
    assert before - months(place) == {"audit_record_2023_12"}
    whole(place)


def test_incidents_leave_after_so_many_days(tmp_path: Path, place: Place) -> None:
    """Whole months at once, and the older part of the month in which the limit is."""
    ship(tmp_path / "nothing", place)
    place.do(
        "SELECT {}.make_month('incident', now() - make_interval(months => n)) FROM "
        "generate_series(1, 3) AS n"
    )
    place.do(
        "INSERT INTO {}.incident (at, run, tool, fingerprint, success, reason, call) SELECT now() "
        "- make_interval(days => n), 'r1', 'bash', md5(n::text), n % 2 = 0, 'timeout', '{{}}' FROM "
        "generate_series(1, 80) AS n"
    )
    there = "SELECT count(*) FROM {}.months_of('incident')"
    before = place.do(there)[0][0]
    ship_trail(tmp_path, place.server.url, quick(place.schema, portion=7, incident_days=40))
    assert place.do("SELECT count(*), min(at) > now() - interval '41 days' FROM {}.incident") == [
        (39, True)
    ]
    assert place.do(there)[0][0] < before
    assert place.do("SELECT count(*) FROM {}.incident_rest") == [(0,)]
