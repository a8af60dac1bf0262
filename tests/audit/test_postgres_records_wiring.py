"""The environment names a database, and a shield's records get there."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.audit.postgres import PostgresTrail, verify_database
from tests.stores.servers import Place, place

__all__ = ["place"]


def test_records_get_to_the_database_that_the_environment_names(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("STANCHION_AUDIT", place.server.url)
    try:
        with Shield.load({"name": "x"}) as shield:
            assert isinstance(shield.journal, PostgresTrail)
            with shield.run("ann") as run:
                assert run.check("work", {}).proceeds
            assert shield.journal.ship(60)
        assert list((tmp_path / "own" / "trail").glob("*/00000001.jsonl"))
        report = verify_database(place.server.url)
        assert report.whole
        assert sum(chain.records for chain in report.chains) >= 4
    finally:
        with place.server.connect() as db:
            db.execute("DROP SCHEMA IF EXISTS stanchion_audit CASCADE")
