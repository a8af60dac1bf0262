"""Records in PostgreSQL are verified like any trail: what is done to a row is found, and named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import psycopg
import pytest
from psycopg import sql

from stanchion.audit.chain_lock import take
from stanchion.audit.errors import TrailError
from stanchion.audit.options import TrailOptions
from stanchion.audit.postgres import PostgresTrail, export_trail, ship_trail, verify_database
from stanchion.audit.postgres.copy_rounds import Manner, Rounds
from stanchion.audit.postgres.database_writer import Cursor, RecordLanding
from stanchion.audit.retention import Keep
from stanchion.audit.verify import CannotVerify, Deed, Report, verify
from tests.audit import forging
from tests.audit.forging import KEY, ONE, THREE, TWO, Draft, Drafts
from tests.audit.postgres_records import quick, shipped, until, written
from tests.audit.written import allowed, moment
from tests.stores.servers import Place, place

__all__ = ["place"]


def ship(made: Drafts, folder: Path, place: Place) -> None:
    """Write a trail and ship it."""
    made.write(folder)
    left, troubles = ship_trail(folder, place.server.url, quick(place.schema))
    assert (left, troubles) == ((0, 0), [])


def verified(place: Place, key: bytes | None = None) -> Report:
    """The verdict on the database."""
    return verify_database(place.server.url, key, schema=place.schema)


def tamper(place: Place, *statements: str) -> None:
    """Do something to the tables as somebody can whom no trigger stops."""
    with place.server.connect() as db:
        db.execute("SET session_replication_role = replica")
        for statement in statements:
            own = sql.Identifier(place.schema)
            assert (
                db.execute(sql.SQL(statement).format(*[own] * statement.count("{}"))).rowcount > 0
            )


@pytest.mark.parametrize(
    "made", [forging.single, forging.several, forging.many, forging.crashed, forging.retired]
)
def test_what_is_written_back_is_the_trail_that_was_shipped(
    tmp_path: Path, place: Place, made: Any
) -> None:
    """Chains, segments and heads, byte for byte; but not what a crash left of a line."""
    ship(made(KEY), tmp_path / "trail", place)
    told: list[tuple[int, int]] = []
    exported = export_trail(
        place.server.url, tmp_path / "back", place.schema, lambda *how: told.append(how)
    )
    assert written(tmp_path / "back") == written(tmp_path / "trail")
    assert exported.records == sum(map(len, written(tmp_path / "trail").values()))
    assert told[-1][0] == exported.records
    for head in (tmp_path / "trail").glob("*/head"):
        assert (
            tmp_path / "back" / head.parent.name / "head"
        ).read_text() == head.read_text() + "\n"
    found, original = verify(tmp_path / "back", KEY), verify(tmp_path / "trail", KEY)
    assert found.faults == ()
    assert [chain.id for chain in found.chains] == [chain.id for chain in original.chains]
    assert verified(place, KEY).chains == found.chains


def test_it_is_written_back_to_an_empty_folder_only(tmp_path: Path, place: Place) -> None:
    """Nothing is mixed with what is there."""
    ship(forging.single(), tmp_path / "trail", place)
    with pytest.raises(TrailError, match="is not empty"):
        export_trail(place.server.url, tmp_path / "trail", place.schema)


EDITED = (
    "UPDATE {}.audit_record SET body = replace(convert_from(body, 'UTF8'), 'make', "
    "'fake')::bytea WHERE seq = 9"
)
REHASHED = "UPDATE {}.audit_record SET hash = sha256(body) WHERE seq = 9"
DEEDS: dict[str, tuple[tuple[str, ...], Deed, int | None, str]] = {
    "body edited": ((EDITED,), Deed.EDITED, 9, "record 9 was edited"),
    "body edited, hash made anew": (
        (EDITED, REHASHED),
        Deed.EDITED,
        9,
        "record 10 still names the one it had",
    ),
    "row deleted": (("DELETE FROM {}.audit_record WHERE seq = 8",), Deed.DELETED, 8, "record 8"),
    "end deleted": (
        ("DELETE FROM {}.audit_record WHERE seq > 15",),
        Deed.TRUNCATED,
        16,
        "at the end",
    ),
    "segment deleted": (
        ("DELETE FROM {}.audit_record WHERE segment = 2",),
        Deed.DELETED,
        7,
        "segment 2",
    ),
    "all rows deleted": (("DELETE FROM {}.audit_record",), Deed.DELETED, 0, "segment"),
    "rows swapped": (
        ("UPDATE {}.audit_record SET seq = 17 - seq WHERE seq IN (8, 9)",),
        Deed.REORDERED,
        8,
        "record 8",
    ),
    "row in another segment": (
        ("UPDATE {}.audit_record SET segment = 3 WHERE seq = 8",),
        Deed.REORDERED,
        8,
        "record 8",
    ),
    "row of another chain": (
        ("UPDATE {}.audit_record SET chain = '2222222222222222' WHERE seq = 8",),
        Deed.DELETED,
        8,
        "record 8",
    ),
    "row doubled": (
        (
            "INSERT INTO {}.audit_record SELECT (jsonb_populate_record(r, "
            '\'{{"at":"2024-02-02"}}\')).* '
            "FROM {}.audit_record AS r WHERE seq = 8",
        ),
        Deed.DUPLICATED,
        8,
        "record 8",
    ),
    "head edited": (
        ("UPDATE {}.audit_head SET head = replace(head, '\"seq\":18', '\"seq\":17')",),
        Deed.EDITED,
        17,
        "head",
    ),
    "head deleted": (("DELETE FROM {}.audit_head",), Deed.HEADLESS, 18, "the head is gone"),
    "a column edited": (
        ("UPDATE {}.audit_record SET tool = 'sed' WHERE seq = 8",),
        Deed.EDITED,
        8,
        "its column `tool` says `sed`, and the record `bash`",
    ),
    "a time edited": (
        ("UPDATE {}.audit_record SET at = at + interval '1 hour' WHERE seq = 8",),
        Deed.EDITED,
        8,
        "its column `at` says `2023-11-14T23:13:20.008000+00:00`",
    ),
    "segment hidden": (
        ("INSERT INTO {}.audit_retired SELECT chain, 2, 7, 13, 14 FROM {}.audit_head",),
        Deed.DELETED,
        7,
        "segment 2",
    ),
    "rows of no chain": (
        ("INSERT INTO {}.audit_head SELECT '../../x', 1, shipped_hash, 1, 1 FROM {}.audit_head",),
        Deed.INSERTED,
        None,
        "an impossible name",
    ),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_is_done_to_the_tables_is_found_and_named(
    tmp_path: Path, place: Place, deed: str
) -> None:
    """By somebody whom no trigger stops: the bytes, the order, the heads, and what columns say
    beside them."""
    key = KEY if len(deed) % 2 else None
    ship(forging.several(key), tmp_path, place)
    assert verified(place, key).faults == ()
    statements, expected, seq, words = DEEDS[deed]
    tamper(place, *statements)
    fault = verified(place, key).faults[0]
    assert (fault.deed, fault.seq) == (expected, seq)
    assert words in fault.sentence


def test_a_chain_that_others_name_is_missed(tmp_path: Path, place: Place) -> None:
    """Whoever takes a whole chain out has to take it out of all others."""
    ship(forging.many(KEY), tmp_path, place)
    tamper(place, "DELETE FROM {}.audit_record WHERE chain = '2222222222222222'")
    tamper(place, "DELETE FROM {}.audit_head WHERE chain = '2222222222222222'")
    (fault,) = verified(place, KEY).faults
    assert (fault.chain, fault.deed) == (TWO, Deed.DELETED)


def test_a_witness_knows_what_a_database_that_was_put_back_does_not(
    tmp_path: Path, place: Place
) -> None:
    """Heads that were kept elsewhere name what has to be there."""
    ship(forging.single(), tmp_path / "trail", place)
    longer = forging.single()
    longer[ONE].work(3).close()
    witness = tmp_path / "witness"
    witness.write_bytes(longer[ONE].head or b"")
    report = verify_database(place.server.url, witness=witness, schema=place.schema)
    assert [fault.deed for fault in report.faults] == [Deed.TRUNCATED]


def test_another_record_under_the_same_number_is_never_written_over(
    tmp_path: Path, place: Place
) -> None:
    """Of two trails with one name the first stays; the other's record is kept as evidence, and
    other chains go on."""
    first = Drafts({ONE: Draft(ONE).begin().work(5).mark()})
    ship(first, tmp_path / "first", place)
    before = shipped(place)
    other = Drafts(
        {
            ONE: Draft(ONE, salt="other").begin().work(9).close(),
            TWO: Draft(TWO).begin().work(4).close(),
        }
    )
    other.write(tmp_path / "other")
    _, troubles = ship_trail(tmp_path / "other", place.server.url, quick(place.schema))
    assert (
        [words for words in troubles if f"chain `{ONE}` is no longer shipped" in words]
        == troubles
        != []
    )
    there = shipped(place)
    assert there[ONE] == before[ONE]
    assert there[TWO] == written(tmp_path / "other")[TWO]
    assert place.do("SELECT seq, line FROM {}.audit_evidence") == [(5, other[ONE].line(5)[:-1])]
    (fault,) = verified(place).faults
    assert (fault.chain, fault.seq, fault.deed) == (ONE, 5, Deed.SPLICED)


def test_a_process_whose_own_chain_is_no_longer_shipped_says_so_and_goes_on(
    tmp_path: Path, place: Place
) -> None:
    """Nothing is refused because of it, and nothing of the chain leaves the folder."""
    ship(Drafts({ONE: Draft(ONE).begin().work(5).mark()}), tmp_path / "first", place)
    Drafts({ONE: Draft(ONE, salt="other").begin().work(9).close()}).write(tmp_path / "other")
    keep = TrailOptions(segment_bytes=500, sync_ms=0.1, head_ms=0, keep=Keep(size=1))
    trail = PostgresTrail(tmp_path / "other", place.server.url, keep, quick(place.schema))
    for number in range(5):
        about = moment(f"e{number}")
        trail.sync(trail.write(about, allowed(about), 0))
    assert not trail.ship(30)
    assert f"chain `{ONE}` is no longer shipped" in trail.trouble_shipping
    trail.close()
    assert (tmp_path / "other" / ONE / "00000001.jsonl").exists()
    assert len(list((tmp_path / "other" / ONE).glob("*.jsonl"))) > 3


def test_a_chain_that_was_set_right_goes_on_when_it_is_let(tmp_path: Path, place: Place) -> None:
    """By the process that is at it as well; the evidence stays, and is no fault any more."""
    right = Draft(ONE).begin().work(9).close()
    Drafts({ONE: right}).write(tmp_path / "trail")
    file = tmp_path / "trail" / ONE / "00000001.jsonl"
    whole_file = file.read_bytes()
    file.write_bytes(whole_file.replace("make «5»".encode(), "fake «5»".encode()))
    silent = take(tmp_path / "trail" / ONE)
    assert silent is not None
    trail = PostgresTrail(tmp_path / "trail", place.server.url, shipping=quick(place.schema))
    until(lambda: trail.trouble_shipping)
    assert [fault.deed for fault in verified(place).faults] == [Deed.HEADLESS, Deed.EDITED]
    file.write_bytes(whole_file)
    place.do("UPDATE {}.audit_head SET stopped = ''")
    until(lambda: not trail.trouble_shipping and trail.lag.records == 0)
    os.close(silent)
    trail.close()
    assert shipped(place) == written(tmp_path / "trail")
    assert verified(place).faults == ()
    assert place.do("SELECT seq FROM {}.audit_evidence") == [(5,)]


def test_a_chain_that_was_put_back_is_told_and_not_shipped(tmp_path: Path, place: Place) -> None:
    """First it is only shorter than what has arrived; when it is gone on with there are two of
    it."""
    ship(Drafts({ONE: Draft(ONE).begin().work(9).mark()}), tmp_path / "first", place)
    back = Draft(ONE).begin().work(4).mark()
    Drafts({ONE: back}).write(tmp_path / "back")
    left, troubles = ship_trail(tmp_path / "back", place.server.url, quick(place.schema))
    assert troubles == [f"the head of chain `{ONE}` went back to record 4: verify the trail"]
    back.salt = "other"
    Drafts({ONE: back.work(20).mark()}).write(tmp_path / "on")
    left, troubles = ship_trail(tmp_path / "on", place.server.url, quick(place.schema))
    assert left.records == 15
    assert "the database has another record under that number" in troubles[0]
    assert [fault.deed for fault in verified(place).faults] == [Deed.SPLICED]


class Watched(RecordLanding):
    """A landing that looks at the database whenever something has arrived."""

    look: Callable[[], None]

    def land(self, *args: Any) -> Cursor | None:
        """Take a batch in, and look."""
        now = super().land(*args)
        self.look()
        return now


def test_the_database_can_be_verified_at_any_moment(tmp_path: Path, place: Place) -> None:
    """Also between two batches: no checkpoint is there before what it names of other chains."""
    one, two, three = (Draft(name, KEY).begin().work(2).mark() for name in (ONE, TWO, THREE))
    made = Drafts({ONE: one, TWO: two, THREE: three})
    ship(made, tmp_path / "before", place)
    three.work(9).mark()
    two.work(4).checkpoint(three).work(9).mark()
    one.work(1).checkpoint(two, three).work(1).mark()
    three.work(1).close(one, two)
    two.checkpoint(one, three).begin().work(1).mark()
    trail = made.write(tmp_path / "trail")
    seen = []

    def look() -> None:
        faults = verified(place, KEY).faults
        assert faults == ()
        seen.append(len(shipped(place)[ONE]))

    with psycopg.connect(place.server.url, autocommit=True) as db:
        landing = Watched(db, place.schema)
        landing.look = look
        while Rounds(trail, monotonic).go(landing, Manner(frozenset(), 0.0, 1, 0.0)):
            pass
    assert shipped(place) == written(trail)
    assert len(seen) >= 30


def test_a_checkpoint_that_names_what_never_comes_is_shipped_all_the_same(
    tmp_path: Path, place: Place
) -> None:
    """An intruder cannot stop shipping by taking a chain away; and what is missing is missed."""
    made = forging.many(KEY)
    made.write(tmp_path)
    for path in (tmp_path / TWO).iterdir():
        path.unlink()
    (tmp_path / TWO).rmdir()
    left, _ = ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert left == (0, 0)
    assert shipped(place) == written(tmp_path)
    assert [(fault.chain, fault.deed) for fault in verified(place, KEY).faults] == [
        (TWO, Deed.DELETED)
    ]


def test_segments_that_are_gone_before_they_were_shipped_are_missed(
    tmp_path: Path, place: Place
) -> None:
    """What follows them is shipped; that no record retires them is found."""
    made = forging.several(KEY)
    made[ONE].forget(2)
    made.write(tmp_path)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert shipped(place) == written(tmp_path)
    (fault,) = verified(place, KEY).faults
    assert (fault.deed, fault.seq) == (Deed.DELETED, 7)


def test_a_database_without_records_cannot_be_verified(tmp_path: Path, place: Place) -> None:
    """It says what to name instead."""
    with pytest.raises(CannotVerify, match=f"schema `{place.schema}` on .* holds no records"):
        verified(place)
    ship(Drafts({}), tmp_path, place)
    with pytest.raises(CannotVerify, match="holds no chain"):
        verified(place)
    with pytest.raises(CannotVerify, match="cannot be reached") as caught:
        verify_database("postgresql://kim:s3cr3t@127.0.0.1:1/x")
    assert "s3cr3t" not in str(caught.value)
