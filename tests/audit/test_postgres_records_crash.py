"""Records in PostgreSQL outlive everything: killed processes, lost answers, a server that goes and
comes again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion.audit.errors import TrailError
from stanchion.audit.options import TrailOptions
from stanchion.audit.postgres import PostgresTrail, ship_trail
from tests.audit import forging
from tests.audit.postgres_records import ROOT, quick, shipped, start, until, whole, written
from tests.audit.workers import finish, hear, tell, write
from tests.stores.postgres_proxy import Mode, Proxy
from tests.stores.servers import Place, place

__all__ = ["place"]

KILLS = 300 if os.environ.get("STANCHION_SOAK") else 8


@pytest.mark.parametrize("seed", [1, 2])
def test_every_line_is_there_once_however_often_processes_are_killed(
    tmp_path: Path, place: Place, seed: int
) -> None:
    """They write and ship at the same time, in small batches, and die at moments of chance."""
    command = ["kills", str(tmp_path), place.server.url, place.schema, str(KILLS), str(seed)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.audit.postgres_records", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > KILLS
    left, troubles = ship_trail(tmp_path, place.server.url, quick(place.schema, batch_bytes=2_000))
    assert (left, troubles) == ((0, 0), [])
    assert shipped(place) == written(tmp_path)
    whole(place)


class CutAt(Proxy):
    """Loses one answer of the server, the one with that number, and the connection with it."""

    at = -1

    @property
    def mode(self) -> Mode:
        """What becomes of the answer that has just come."""
        if self.trips != self.at:
            return Mode.PASS
        self.at = -1
        return Mode.CUT

    @mode.setter
    def mode(self, mode: Mode) -> None:
        """It cannot be set."""


def test_an_answer_that_is_lost_doubles_nothing_and_skips_nothing(
    tmp_path: Path, place: Place
) -> None:
    """Whichever it is: also the one that would have told that a batch has arrived."""
    forging.many().write(tmp_path)
    ship_trail(tmp_path / "nothing", place.server.url, quick(place.schema))
    lost = committed = 0
    for at in range(10, 90, 5):
        proxy = CutAt(place.server.port)
        proxy.at = at
        before = shipped(place)
        try:
            ship_trail(tmp_path, place.server.tcp(proxy.port), quick(place.schema, batch_bytes=700))
        except TrailError:
            lost += 1
        finally:
            proxy.close()
        now, files = shipped(place), written(tmp_path)
        committed += now != before
        assert all(lines == files[chain][: len(lines)] for chain, lines in now.items())
    assert lost > 4
    assert committed > 2
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert shipped(place) == written(tmp_path)
    whole(place)


def test_a_process_that_lost_an_answer_finds_out_by_itself_what_has_arrived(
    tmp_path: Path, place: Place
) -> None:
    """It knows how far it had come, and may be wrong."""
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    proxy = CutAt(place.server.port)
    try:
        options, shipping = TrailOptions(sync_ms=0.1, head_ms=0), quick(place.schema, tidy_s=3600)
        trail = PostgresTrail(tmp_path, place.server.tcp(proxy.port), options, shipping)
        for number in range(36):
            write(trail, f"e{number}")
            assert trail.ship(30)
            proxy.at = proxy.trips + 1 + number % 18
        write(trail, "last")
        assert trail.ship(30)
        trail.close()
    finally:
        proxy.close()
    assert trail.trouble_shipping == ""
    assert shipped(place) == written(tmp_path)
    whole(place)


def test_a_server_that_goes_and_comes_again_misses_nothing(tmp_path: Path, place: Place) -> None:
    """It crashes while records arrive; deciding goes on, and shipping by itself when it is back."""
    trail = PostgresTrail(
        tmp_path,
        place.server.url,
        TrailOptions(sync_ms=0.1, head_ms=0),
        quick(place.schema, batch_bytes=2_000),
    )
    write(trail, *[f"a{number}" for number in range(300)])
    assert trail.ship(30)
    write(trail, *[f"b{number}" for number in range(300)])
    place.server.stop("immediate")
    try:
        write(trail, *[f"c{number}" for number in range(300)])
        until(lambda: trail.trouble_shipping)
        assert "the PostgreSQL server" in trail.trouble_shipping
        assert trail.trouble == ""
        until(lambda: trail.lag.records >= 300)
    finally:
        place.server.start()
    assert trail.ship(60)
    assert (trail.trouble_shipping, trail.lag) == ("", (0, 0))
    trail.close()
    assert shipped(place) == written(tmp_path)
    whole(place)


class Silent(Proxy):
    """Loses every answer while told to, and does not even say that the server has gone."""

    def _end(self, *both: socket.socket) -> None:
        if self.mode is Mode.PASS:
            super()._end(*both)


def test_a_server_that_says_nothing_any_more_is_given_up_and_asked_again(
    tmp_path: Path, place: Place
) -> None:
    """Its connection stays open and silent: a limit of time ends it."""
    proxy = Silent(place.server.port)
    limits = {"timeout_s": 0.3, "close_s": 30}
    options, shipping = TrailOptions(sync_ms=0.1, head_ms=0), quick(place.schema, **limits)
    ship_trail(tmp_path / "nothing", place.server.url, quick(place.schema))
    try:
        trail = PostgresTrail(tmp_path, place.server.tcp(proxy.port), options, shipping)
        write(trail, "e1")
        assert trail.ship(30)
        proxy.mode = Mode.SWALLOW
        write(trail, "e2")
        until(lambda: trail.trouble_shipping)
        assert "no answer within 0.45 s" in trail.trouble_shipping
        proxy.mode = Mode.PASS
        assert trail.ship(30)
        trail.close()
    finally:
        proxy.close()
    assert shipped(place) == written(tmp_path)


def test_processes_on_one_folder_ship_together_and_whoever_verifies_meanwhile_finds_it_whole(
    tmp_path: Path, place: Place
) -> None:
    """Each its own chain, and that of one that does not ship; their checkpoints name one another
    all the time."""
    place_of = (str(tmp_path), place.server.url, place.schema)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    workers = [start("writes", *place_of, name, "400") for name in ("one", "two")]
    workers.append(start("only_writes", *place_of, "silent", "50"))
    assert [hear(worker) for worker in workers] == ["ready"] * 3
    for worker in workers:
        tell(worker)
    names = [hear(worker) for worker in workers]
    assert len(set(names)) == 3
    # A chain's first records may come before its head
    headed = "SELECT count(*) FROM {}.audit_head WHERE head <> ''"
    until(lambda: place.do(headed) == [(3,)], 2_000)
    whole(place)
    for worker in workers[:2]:
        tell(worker)
    for worker in workers:
        finish(worker)
    whole(place)
    ship_trail(tmp_path, place.server.url, quick(place.schema))
    assert shipped(place) == written(tmp_path)
    assert place.do("SELECT count(*) FROM {}.audit_record WHERE kind = 'intent'") == [(850,)]
    whole(place)


def test_many_hosts_ship_to_one_database(tmp_path: Path, place: Place) -> None:
    """Their folders are apart, their chains beside one another; all begin at once, on a database
    without tables."""
    workers = [
        start("writes", str(tmp_path / str(n)), place.server.url, place.schema, f"h{n}", "60")
        for n in range(2)
    ]
    assert [hear(worker) for worker in workers] == ["ready"] * 2
    for _ in range(2):
        for worker in workers:
            tell(worker)
    for worker in workers:
        finish(worker)
    files = {chain: lines for n in range(2) for chain, lines in written(tmp_path / str(n)).items()}
    assert shipped(place) == files
    assert len(files) == 2
    whole(place)


def test_a_forked_process_ships_its_own_and_leaves_its_parents_connection_alone(
    tmp_path: Path, place: Place
) -> None:
    """Both go on where they were."""
    worker = start("forks", str(tmp_path), place.server.url, place.schema)
    (name,) = finish(worker)
    assert shipped(place) == written(tmp_path)
    assert len(shipped(place)) == 2
    assert len(shipped(place)[name]) > 100
    whole(place)
