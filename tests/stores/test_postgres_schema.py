"""A schema is made once, brought up to date by whoever comes first, and left alone where it is not
to be used."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path

import psycopg
import pytest

from stanchion.kernel.actions import STOPS, Action
from stanchion.kernel.state import BUCKETS, IDLE, SKIPPED, Batch, Line, StoreLost, When, key
from stanchion.kernel.units import Unit
from stanchion.stores.postgres import PostgresStore, connections as schemas
from stanchion.stores.postgres.address import PostgresAddress
from stanchion.stores.postgres.connection import PostgresLink
from stanchion.stores.postgres.connections import MIGRATIONS, StoreSchema, statements
from stanchion.stores.postgres.request import SETTLED
from stanchion.stores.protocol import StoreError
from tests.stores.servers import PASSWORD, Place, place

__all__ = ["place"]

A = key("t", "a")


def test_many_open_a_new_schema_at_once(place: Place) -> None:
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: place.open(timeout_s=60), range(8)))
        replies = list(
            threads.map(lambda at: stores[at].carry(Batch(f"b{at}", lines=(Line(A),))), range(8))
        )
    assert sorted(reply.values[0] for reply in replies) == list(range(8))
    assert place.do("SELECT max(version) FROM {}.stanchion_version") == [(len(MIGRATIONS),)]


def test_an_older_schema_is_brought_up_to_date_and_keeps_what_it_has(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place.open()
    store.carry(Batch("one", lines=(Line(A),)))
    later = (*MIGRATIONS, ("later.sql",))
    texts = {
        "later.sql": (
            "ALTER TABLE {schema}.cell ADD note text; CREATE TABLE {schema}.more (at bigint)"
        )
    }
    monkeypatch.setattr(schemas, "statements", lambda own, file: texts[file].format(schema=own))

    def migrate(_: int) -> int:
        with psycopg.connect(place.server.url, autocommit=True) as db:
            schema = StoreSchema(PostgresLink(db), place.schema, "server", later)
            schema.bring_up_to_date()
            return schema.version()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(migrate, range(6))) == [len(later)] * 6
    versions = [(number + 1,) for number in range(len(later))]
    assert place.do("SELECT version FROM {}.stanchion_version ORDER BY version") == versions
    assert place.do("SELECT key, number, note FROM {}.cell") == [(A, 1, None)]


def test_a_migration_that_fails_leaves_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "one.sql": "CREATE TABLE {schema}.one (at bigint)",
        "two.sql": "CREATE TABLE {schema}.one (at bigint)",
    }
    monkeypatch.setattr(schemas, "statements", lambda own, file: texts[file].format(schema=own))
    with (
        psycopg.connect(place.server.url, autocommit=True) as db,
        pytest.raises(Exception, match="already exists"),
    ):
        StoreSchema(
            PostgresLink(db), place.schema, "server", (("one.sql", "two.sql"),)
        ).bring_up_to_date()
    assert place.server.do(f"SELECT to_regnamespace('{place.schema}')") == [(None,)]


def test_a_newer_schema_is_not_touched(place: Place) -> None:
    place.open().close()
    place.do("INSERT INTO {}.stanchion_version (version) VALUES (99)")
    for reading in (False, True):
        with pytest.raises(
            StoreError,
            match=rf"schema `{place.schema}` on .* newer Stanchion \(version 99, this one",
        ):
            place.open(reading=reading)


def test_an_older_schema_cannot_be_read_as_it_is(place: Place) -> None:
    place.open().close()
    place.do("DELETE FROM {}.stanchion_version WHERE version > 1")
    place.do("UPDATE {}.stanchion_version SET version = 0")
    with pytest.raises(StoreError, match="does not exist"):
        place.open(reading=True)
    with psycopg.connect(place.server.url, autocommit=True) as db:
        place.do("UPDATE {}.stanchion_version SET version = 1")
        schema = StoreSchema(
            PostgresLink(db), place.schema, "server", (*MIGRATIONS, ("later.sql",))
        )
        with pytest.raises(
            StoreError,
            match=r"earlier Stanchion \(version 1, this one reads 3\): open it for writing",
        ):
            schema.check()


def test_tables_of_something_else_are_left_alone(place: Place) -> None:
    place.do("CREATE SCHEMA {}")
    place.do("CREATE TABLE {}.cell (mine text)")
    with pytest.raises(
        StoreError, match=f"the schema `{place.schema}` on .* has tables that are not Stanchion's"
    ):
        place.open()
    assert place.do("SELECT count(*) FROM {}.cell") == [(0,)]


@pytest.mark.parametrize(
    "name", ["", "Stanchion", "a-b", 'a"; DROP SCHEMA x', "pg_x", "1a", "x" * 64, "ä"]
)
def test_a_name_that_would_have_to_be_quoted(name: str, place: Place) -> None:
    with pytest.raises(StoreError, match="cannot be used: use at most 63 characters"):
        PostgresStore(place.server.url, schema=name)


@pytest.fixture
def plain(place: Place) -> str:
    """A role that may do nothing but connect."""
    name = f"{place.schema}_plain"
    place.server.do("CREATE ROLE {} LOGIN PASSWORD '" + PASSWORD + "'", name)
    return name


def test_a_role_without_rights_is_told_what_it_needs(plain: str, place: Place) -> None:
    url = place.server.tcp(user=plain)
    with pytest.raises(
        StoreError, match=r"this role may not create or use .*permission denied.* grant it CREATE"
    ):
        place.open(url=url)
    place.open().close()
    with pytest.raises(StoreError, match=r"this role may not create or use .*permission denied"):
        place.open(url=url)
    place.server.do("GRANT USAGE ON SCHEMA {} TO {}", place.schema, plain)
    place.server.do("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}", place.schema, plain)
    with pytest.raises(StoreError, match=r"this role may not write .* grant it all rights"):
        place.open(url=url)
    with pytest.raises(
        StoreError, match=r"this role may not read .* grant it SELECT on its tables and sequences"
    ):
        place.open(url=url, reading=True)
    place.server.do("GRANT SELECT ON ALL SEQUENCES IN SCHEMA {} TO {}", place.schema, plain)
    assert place.open(url=url, reading=True).read(A) == (0, None)
    place.server.do("GRANT ALL ON ALL TABLES IN SCHEMA {} TO {}", place.schema, plain)
    place.server.do("GRANT ALL ON ALL SEQUENCES IN SCHEMA {} TO {}", place.schema, plain)
    store = place.open(url=url)
    assert store.carry(Batch("one", lines=(Line(A, hold_ms=9, keep=False),))).go
    place.server.do("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {}", place.schema, plain)
    with pytest.raises(StoreLost, match=r"does not let this role do that .*permission denied"):
        store.carry(Batch("two", lines=(Line(A),)))
    place.server.do("DROP OWNED BY {}", plain)


def test_an_empty_schema_that_was_made_for_it(plain: str, place: Place) -> None:
    place.server.do("CREATE SCHEMA {} AUTHORIZATION {}", place.schema, plain)
    assert place.open(url=place.server.tcp(user=plain)).carry(Batch("one", lines=(Line(A),))).go
    place.server.do("DROP OWNED BY {}", plain)


def test_a_schema_that_was_dropped_while_it_is_open(place: Place) -> None:
    store = place.open()
    place.do("DROP SCHEMA {} CASCADE")
    with pytest.raises(StoreLost, match="longer has the tables that this store was opened with"):
        store.carry(Batch("one", lines=(Line(A),)))


def test_a_database_in_another_encoding(place: Place) -> None:
    place.server.do("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with pytest.raises(StoreError, match=r"a database in LATIN1: use version 14 or later .* UTF8"):
        place.open(url=place.server.url.replace("/postgres?", "/latin?"))
    place.server.do("DROP DATABASE latin")


def test_without_the_driver(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("stanchion.stores.postgres.")]:
        if not name.endswith(".store"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"needs psycopg .*install the extra `postgres`"):
        PostgresStore(place.server.url)


def test_every_statement_names_the_schema() -> None:
    """So that no search path decides which tables are meant."""
    files = {file for migration in MIGRATIONS for file in migration}
    folder = Path(str(resources.files("stanchion.stores.postgres")))
    assert sorted(files) == sorted(path.name for path in folder.glob("*.sql"))
    for file in files:
        text = statements("own", file)
        assert "{schema}" not in text
        assert (
            re.findall(
                r"(?:FROM|INTO|UPDATE|JOIN|TABLE|ON|SEQUENCE|FUNCTION) "
                r"(?:cell|batch|permit|clock)\b",
                text,
            )
            == []
        )
        assert "'clock'" not in text


def test_the_function_has_the_numbers_of_the_kernel() -> None:
    """They are written as numbers in the server's function; whoever changes one must change it
    there, too."""
    assert (Action.WARN, STOPS, BUCKETS, SKIPPED, IDLE) == (1, 7, 16, -1, -2)
    assert (When.LOOK, When.JUDGED, When.PROCEED, len(Unit), SETTLED) == (
        0,
        1,
        2,
        5,
        ("settled", "again", "late", "unknown"),
    )


def test_options_of_a_url_go_to_the_server() -> None:
    url = (
        "postgres://me:pass%20word@db.example:6000/own?sslmode=verify-full&sslrootcert=/ca.pem&"
        "application_name=mine"
    )
    address = PostgresAddress(url, 0.25)
    for option in (
        "sslmode=verify-full",
        "sslrootcert=/ca.pem",
        "application_name=mine",
        "host=db.example",
        "port=6000",
    ):
        assert option in address.conninfo
    assert "connect_timeout=2 tcp_user_timeout=250" in address.conninfo
    assert (address.name, repr(address)) == ("db.example:6000/own", "Address(db.example:6000/own)")
