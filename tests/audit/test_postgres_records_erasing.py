"""Erasing in PostgreSQL follows the trail's: what was said leaves the rows, and nobody takes it out
without a word."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from stanchion.audit.erasure import Meant, erase, meant_in
from stanchion.audit.postgres import ship_trail
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.audit.verify import Deed
from stanchion.kernel.names import names
from tests.audit.postgres_records import quick, shipped, whole, written
from tests.audit.test_erasing import ADDRESS, fill
from tests.audit.written import AT
from tests.stores.servers import Place, place

__all__ = ["place"]


def ship(folder: Path, place: Place, **more: int) -> None:
    """Ship a folder and see to the tables."""
    left, troubles = ship_trail(folder, place.server.url, quick(place.schema, **more))
    assert (left, troubles) == ((0, 0), [])


def said(place: Place) -> int:
    """In how many rows the address stands."""
    return sum(ADDRESS.encode() in row[0] for row in place.do("SELECT kept FROM {}.audit_record"))


@pytest.mark.parametrize("portion", [1, 1_000])
def test_what_is_erased_in_the_files_leaves_the_rows_in_portions(
    tmp_path: Path, place: Place, portion: int
) -> None:
    """Whether it had been shipped before or not; the rows are what the files have, byte for
    byte."""
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    trail.close()
    ship(tmp_path, place)
    assert said(place) == 4
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    erase(
        trail, meant_in(TrailReader(tmp_path), Meant(containing=ADDRESS)).rows, "she asked", "bob"
    )
    trail.close()
    ship(tmp_path, place, portion=portion)
    assert said(place) == 0
    assert shipped(place) == written(tmp_path)
    whole(place)


UNSAID = (
    "UPDATE {}.audit_record SET kept = convert_to(rpad('null', length(kept)), 'UTF8') WHERE "
    "id = 'r1.1'"
)


@pytest.mark.parametrize(
    "statement",
    [
        UNSAID,
        "UPDATE {}.audit_record SET kept = '{{}}' WHERE id = 'r1.1'",
        "INSERT INTO {}.audit_erased (chain, first_seq, last_seq, by_chain, by_seq) SELECT chain, "
        "0, 99, chain, 3 FROM {}.audit_head",
        "DELETE FROM {}.audit_erased",
    ],
)
def test_nobody_erases_what_no_record_names(tmp_path: Path, place: Place, statement: str) -> None:
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    erase(trail, meant_in(TrailReader(tmp_path), Meant(run=names(["r2"]))).rows, "", "bob")
    trail.close()
    ship(tmp_path, place)
    own = sql.Identifier(place.schema)
    said_so = sql.SQL(statement).format(own, own)
    with (
        psycopg.connect(place.server.url, autocommit=True) as db,
        pytest.raises(psycopg.Error) as raised,
    ):
        db.execute(said_so)
    assert raised.value.sqlstate == "ST101"
    assert said(place) == 4
    whole(place)


def test_what_went_without_a_word_is_a_fault(tmp_path: Path, place: Place) -> None:
    """By somebody whom no trigger stops."""
    from stanchion.audit.postgres import verify_database

    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    trail.close()
    ship(tmp_path, place)
    with psycopg.connect(place.server.url, autocommit=True) as db:
        db.execute("SET session_replication_role = replica")
        db.execute(sql.SQL(UNSAID).format(sql.Identifier(place.schema)))
    (fault,) = verify_database(place.server.url, None, None, None, place.schema).faults
    assert fault.deed is Deed.DELETED
