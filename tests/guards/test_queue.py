"""The queue: never more at work than may be, first come first served, and nobody who dies holds the
others up."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.kernel.decision import Decision
from stanchion.kernel.state import Batch, Moved
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.calling.reports import check
from stanchion.runtime.driving.flow import TimePause
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from tests.sampling import SOAK
from tests.stores import redis_server, servers

Make = Callable[[], Store]

KEEP_S, TIMEOUT_S, LEASE_S = 60, 20, 5


@contextmanager
def stores(kind: str, clock: FakeClock, folder: Path) -> Iterator[Make]:
    """Ways to open one and the same store again, as other processes do."""
    match kind:
        case "memory":
            shared = MemoryStore(clock)
            yield lambda: shared
        case "sqlite":
            yield lambda: SqliteStore(folder / "state.db", clock)
        case "postgres":
            with servers.new_place() as place:
                yield lambda: place.open(clock)
        case _:
            server = redis_server.shared()
            server.ask("FLUSHALL")
            yield lambda: RedisStore(server.url, clock=clock, timeout_s=30)


class Call:
    """One call on its way: driven until it waits, starts or is refused."""

    def __init__(self, run: Run, name: str) -> None:
        self.name = name
        self._run = run
        self._flow = check(run.desk, "tool", {"name": name}, JUST_ONE)
        self.decision: Decision | None = None
        self._need: Any = self._flow.send(None)
        self.waited_ms = 0
        self.go_on()

    @property
    def waits(self) -> bool:
        return self.decision is None

    @property
    def works(self) -> bool:
        return self.decision is not None and self.decision.proceeds

    def go_on(self) -> None:
        """Let a pause pass, and go on to the next one or the end."""
        try:
            if type(self._need) is TimePause:
                self.waited_ms += int(self._need.seconds * 1000)
                self._need = self._flow.send(None)
            while type(self._need) is not TimePause:
                given = (
                    self._run.desk.store.carry(self._need) if type(self._need) is Batch else None
                )
                assert given is not None or type(self._need) is Moved
                self._need = self._flow.send(given)
        except StopIteration as done:
            self.decision = done.value

    def finish(self) -> None:
        assert self.decision is not None
        self._run.result("tool", {"name": self.name}, "done", call=self.decision.id)


def policy(running: int, waiting: int) -> dict[str, Any]:
    queue = {
        "use": "queue",
        "max_running": running,
        "max_waiting": waiting,
        "keep_s": KEEP_S,
        "timeout_s": TIMEOUT_S,
    }
    return {"name": "lines", "guards": [{**queue, "pause_s": 0.25}]}


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis"])
@pytest.mark.parametrize("seed", range(3 if SOAK else 1))
def test_it_is_a_line_whatever_happens_in_which_order(kind: str, seed: int, tmp_path: Path) -> None:
    """Held equal to a list of who works and who waits, over three processes, some of which never
    report."""
    drawn = random.Random(seed)
    clock = FakeClock()
    with stores(kind, clock, tmp_path) as make:
        limit = drawn.randint(1, 3)
        shields = [Shield.load(policy(limit, 4), store=make(), clock=clock) for _ in range(3)]
        runs = [shield.run("ann", id=f"r{at}") for at, shield in enumerate(shields)]
        working: list[tuple[Call, int]] = []
        waiting: list[tuple[Call, int]] = []
        for number in range(80):
            step = drawn.choice(("new", "new", "poll", "poll", "poll", "finish", "time"))
            now = clock()
            working = [(call, until) for call, until in working if until > now]
            waiting = [(call, until) for call, until in waiting if until > now]
            if step == "new":
                room, crowd = len(working) + len(waiting) < limit, len(waiting)
                call = Call(drawn.choice(runs), f"c{number}")
                assert (call.works, call.waits) == (room, not room and crowd < 4)
                if call.works:
                    working.append((call, now + KEEP_S * 1000))
                elif call.waits:
                    waiting.append((call, now + LEASE_S * 1000))
                else:
                    assert call.decision is not None
                    assert call.decision.code == "queue.full"
            elif step == "poll" and waiting:
                at = drawn.randrange(len(waiting))
                call, until = waiting[at]
                goes = at < limit - len(working)
                call.go_on()
                late = call.waited_ms + 250 > TIMEOUT_S * 1000
                assert call.works == goes
                if goes:
                    working.append((call, now + KEEP_S * 1000))
                if goes or late:
                    del waiting[at]
                elif until - now <= LEASE_S * 500:
                    waiting[at] = (call, now + LEASE_S * 1000)
            elif step == "finish" and working:
                working.pop(drawn.randrange(len(working)))[0].finish()
            elif step == "time":
                clock.advance(drawn.choice((100, 1_000, 3_000, LEASE_S * 1000, KEEP_S * 1000)))
        for shield in {id(shield.store): shield for shield in shields}.values():
            shield.close()


def test_a_place_that_somebody_died_with_is_free_again_in_time() -> None:
    clock = FakeClock()
    shield = Shield.load(policy(1, 4), clock=clock)
    assert shield.run("dies").check("tool", {}).proceeds
    waits = Call(shield.run("waits"), "w")
    assert waits.waits
    clock.advance(KEEP_S * 1000 - 1)
    waits.go_on()
    assert waits.waits
    clock.advance(1)
    waits.go_on()
    assert waits.works


def test_a_call_that_another_guard_refuses_takes_no_place() -> None:
    one = {**policy(1, 4)["guards"][0]}
    shield = Shield.load(
        {"name": "two", "guards": [one, {"use": "tool_denylist", "priority": 90, "tools": ["bad"]}]}
    )
    run = shield.run("ann")
    assert run.check("bad", {}).code == "tool.denied"
    whole = {
        "name": "all",
        "guards": [
            {**one, "per": "tenant"},
            {"use": "tool_denylist", "priority": 90, "tools": ["bad"]},
        ],
    }
    other = Shield.load(whole).run("ann")
    assert other.check("bad", {}).code == "tool.denied"
    assert other.check("good", {}).proceeds


def test_calls_of_threads_really_wait_and_really_run() -> None:
    """With real time: of ten threads never more than two are at work, and all of them get there."""
    import threading

    shield = Shield.load(
        {"name": "two", "guards": [{"use": "queue", "max_running": 2, "pause_s": 0.005}]}
    )
    lock, at_work, most, done = threading.Lock(), [0], [0], [0]

    def tool() -> None:
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        threading.Event().wait(0.005)
        with lock:
            at_work[0] -= 1
            done[0] += 1

    def work() -> None:
        shield.run("ann").call(tool)

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 2
    assert done[0] == 10


def test_who_has_waited_long_enough_is_refused() -> None:
    shield = Shield.load(
        {
            "name": "one",
            "guards": [{"use": "queue", "max_running": 1, "pause_s": 0.01, "timeout_s": 0.1}],
        }
    )
    assert shield.run("first").check("tool", {}).proceeds

    def tool() -> None:
        raise AssertionError("it must not run")

    with pytest.raises(Refused, match="1 of 1 places are taken"):
        shield.run("second").call(shield.tool(name="tool")(tool))


def test_a_call_that_waits_warns_once() -> None:
    """It is judged at every turn, and is one action: the third call that warns escalates, not the
    third turn."""
    entries = [
        *policy(1, 4)["guards"],
        {"use": "rule", "id": "loud", "when": "event.tool == 'tool'", "action": "warn"},
    ]
    shield = Shield.load({"name": "loud", "guards": entries})
    run = shield.run("ann", "task")
    assert run.check("tool", {}).proceeds
    waits = Call(run, "w")
    for _ in range(5):
        waits.go_on()
    assert waits.waits
