"""Threads, processes and hosts on one server: bounds hold, totals are exact, and a killed client
loses nothing."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from stanchion.kernel.state import Batch, Line, When
from stanchion.stores.redis import RedisStore
from stanchion.testing.clock import FakeClock
from tests.stores import redis_server
from tests.stores.redis_server import FOREVER_S, Server
from tests.stores.redis_worker import BOUNDED, HOLD_MS, PERMITS, RECORD, SPENT, TRIED, lines

server = redis_server.server

ROOT: Final = Path(__file__).resolve().parents[2]
KILLS: Final = 300 if os.environ.get("STANCHION_SOAK") else 3


def start(*words: str) -> subprocess.Popen[str]:
    """Start a worker."""
    command = [sys.executable, "-m", "tests.stores.redis_worker", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_sixteen_threads_on_several_stores_never_overshoot(server: Server) -> None:
    stores = [
        RedisStore(url, timeout_s=FOREVER_S, connections=3)
        for url in (server.url, server.tcp_url) * 2
    ]
    fixed = lines(300)
    went: list[bool] = []

    def work(worker: int) -> None:
        store = stores[worker % 4]
        for number in range(40):
            settles = ((f"{worker}.{number - 1}", (1, 0, 0, 0, 0)),)
            went.append(
                store.carry(Batch(f"{worker}.{number}", "t", lines=fixed, settles=settles)).go
            )

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    totals = [stores[0].read(name)[0] for name in (TRIED, BOUNDED, SPENT)]
    assert (went.count(True), totals) == (300, [640, 300, 300])
    assert stores[0].read(PERMITS)[0] == len(list(stores[1].holds()))
    for store in stores:
        store.close()


def test_processes_never_overshoot_a_bound(server: Server) -> None:
    urls = (server.url, server.tcp_url, server.url)
    workers = [start("count", url, f"w{number}", "300", "500") for number, url in enumerate(urls)]
    went = [int(worker.communicate()[0]) for worker in workers]
    store = RedisStore(server.url)
    assert sum(went) == store.read(BOUNDED)[0] == store.read(SPENT)[0] == 500
    assert (store.read(TRIED)[0], store.read(RECORD)[0]) == (900, 900)
    assert (store.read(PERMITS)[0], list(store.holds())) == (0, [])
    store.close()


def test_a_killed_client_keeps_no_permit_beyond_its_expiry_and_loses_no_spend(
    server: Server,
) -> None:
    drawn = random.Random(5)
    for _ in range(KILLS):
        server.ask("FLUSHALL")
        worker = start("tell", server.url)
        assert worker.stdout is not None
        for _ in range(drawn.randint(1, 200)):
            worker.stdout.readline()
        worker.send_signal(signal.SIGKILL)
        rest = worker.stdout.read().split()
        worker.wait()
        worker.stdout.close()
        store = RedisStore(server.url)
        tried = store.read(TRIED)[0]
        assert not rest or int(rest[-1]) <= tried <= int(rest[-1]) + 1
        totals = [store.read(name)[0] for name in (BOUNDED, SPENT, PERMITS, RECORD)]
        assert totals == [tried] * 4
        assert len(list(store.holds())) == tried
        assert store.carry(Batch(f"told.{tried - 1}", "t")).go
        clock = FakeClock(store.carry(Batch("now", "t")).now + HOLD_MS)
        later = RedisStore(server.url, clock=clock)
        look = (Line(PERMITS, when=When.LOOK), Line(SPENT, when=When.LOOK))
        assert later.carry(Batch("later", "t", lines=look)).values == (0, tried)
        assert all(hold.lapsed for hold in later.holds())
        settles = ((f"told.{tried - 1}", (5, 0, 0, 0, 0)),)
        assert later.carry(Batch("settle", "t", settles=settles)).settled == ("late",)
        assert [later.read(name)[0] for name in (SPENT, PERMITS)] == [tried + 4, 0]
        store.close()
        later.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_goes_on_in_both_processes(server: Server) -> None:
    worker = start("fork", server.tcp_url)
    assert worker.communicate()[0].split() == ["0", "410", "410"]
    assert worker.returncode == 0


def test_hosts_whose_clocks_are_apart_agree(server: Server) -> None:
    """One host is 70 s ahead and one 70 s behind: neither sees the other's permit, which lasts a
    minute, as lapsed."""
    store = RedisStore(server.url)
    before = store.carry(Batch("before", "t")).now
    replies = [
        start("apart", server.url, name, seconds)
        for name, seconds in (("ahead", "70"), ("behind", "-70"))
    ]
    said = [reply.communicate()[0].split() for reply in replies]
    after = store.carry(Batch("after", "t")).now
    assert all(before <= int(now) <= after < before + 60_000 for now, _ in said)
    assert sorted(went for _, went in said) == ["False", "True"]
    assert store.read(PERMITS) == (1, None)
    store.close()
