"""Hosts of one network, whose clocks are 70 seconds apart and whose processes are killed, spend
exactly one budget."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest

from stanchion.kernel.state import Batch
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import Store
from tests.stores.host_servers import SERVERS, Scene, on_redis
from tests.stores.host_spender import EXCEEDED, HOLD_MS, Orders, shielded
from tests.stores.hosts import LOOPBACK, Hosts, hosts
from tests.stores.slots import slots_key

ROOT: Final = Path(__file__).resolve().parents[2]
SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
SEEDS: Final = range(200 if SOAK else 1)
HOSTS: Final = 4
PROCESSES: Final = 2 if SOAK else 1
THREADS, LIMIT = (8, 400) if SOAK else (2, 80)
KILLED: Final = 3
APART_S: Final = 70
SLOTS: Final = (HOSTS * PROCESSES + KILLED) * THREADS // 2
"""Fewer than there are threads, and more than the killed can leave behind."""

PATIENCE_S: Final = 120.0
"""Longer than anything takes that is not broken."""


@pytest.fixture(scope="module")
def among() -> Iterator[Hosts]:
    """Four hosts."""
    with hosts(HOSTS) as made:
        yield made


@pytest.fixture(scope="module", params=SERVERS)
def scene(request: pytest.FixtureRequest, among: Hosts) -> Iterator[Scene]:
    """Four hosts and a server."""
    with SERVERS[request.param](among) as made:
        yield made


class Process:
    """A process on a host, which is killed when it has told so many steps; never where none are
    given."""

    def __init__(self, scene: Scene, host: int, orders: Orders, steps: int | None) -> None:
        words = [
            sys.executable,
            "-m",
            "tests.stores.host_spender",
            msgspec.json.encode(orders).decode(),
        ]
        self._started = subprocess.Popen(
            scene.hosts.command(host, words),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._steps = steps
        self._reader = threading.Thread(target=self._read)
        self.told: Counter[str] = Counter()

    def ready(self) -> None:
        """Wait until it could begin."""
        assert self._started.stdout is not None
        assert self._started.stdout.readline() == "ready\n"

    def go(self) -> None:
        """Let it begin."""
        assert self._started.stdin is not None
        self._started.stdin.write("go\n")
        self._started.stdin.flush()
        self._reader.start()

    def _read(self) -> None:
        assert self._started.stdout is not None
        for count, line in enumerate(self._started.stdout, start=1):
            if count == self._steps:
                self.kill()
            if line.endswith("\n"):
                self.told[line.split()[1]] += 1

    def kill(self) -> None:
        """End it without a word."""
        self._started.kill()

    def over(self) -> None:
        """Wait for its end, which must be the one it was meant to have."""
        self._reader.join()
        assert self._started.wait() == (0 if self._steps is None else -9)

    def close(self) -> None:
        """Leave nothing of it behind."""
        self.kill()
        if self._reader.is_alive():
            self._reader.join()
        self._started.communicate()


def spend(scene: Scene, seed: int) -> Counter[str]:
    """Let the hosts spend, and kill some of their processes; gives what all of them told."""
    drawn = random.Random(seed)
    every = range(HOSTS * PROCESSES)
    killed = drawn.sample(every, KILLED)
    started: list[Process] = []

    def kill_all() -> None:
        for process in started:
            process.kill()

    patience = threading.Timer(PATIENCE_S, kill_all)
    patience.start()
    try:
        for number in every:
            host = number % HOSTS
            steps = drawn.randint(1, 12 * THREADS) if number in killed else None
            name = f"host{host}.{number // HOSTS}"
            ahead_s = (host - 1) * APART_S
            orders = Orders(
                scene.url, tenant(seed), name, ahead_s, LIMIT, SLOTS, THREADS, steps is not None
            )
            started.append(Process(scene, host, orders, steps))
        for act in (Process.ready, Process.go, Process.over):
            for process in started:
                act(process)
    finally:
        patience.cancel()
        for process in started:
            process.close()
    return sum([process.told for process in started], Counter())


def tenant(seed: int) -> str:
    """Whose budget it is."""
    return f"seed{seed}"


def wait_for(is_so: Callable[[], bool]) -> None:
    """Look until something is so."""
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until


def rest(scene: Scene, seed: int) -> int:
    """Spend what the hosts left, one token at a time, with the right time; gives how much there
    was."""
    orders = Orders(scene.near, tenant(seed), "rest", 0, LIMIT, SLOTS, 1)
    with shielded(orders) as shield:
        run = shield.run("spender", "shared", id="rest", tenant=orders.tenant)
        count = 0
        while (call := run.check("spend", {}, tokens=1)).proceeds:
            run.result("spend", {}, None, call=call.id, tokens=1)
            count += 1
        assert call.determining is not None
        assert call.determining.code == EXCEEDED
    return count


def totals(store: Store, seed: int) -> dict[str, int]:
    """What was spent of the budgets of each level; those of runs together."""
    found: Counter[str] = Counter()
    for cell in store.look("{" + tenant(seed) + "}budget"):
        level = next(level for level in ("run", "task", "tenant") if f":{level}" in cell.key)
        found[level] += cell.number
    return dict(found)


def now(store: Store, seed: int, name: str) -> int:
    """The store's time."""
    return store.carry(Batch(name, tenant(seed))).now


def check(scene: Scene, seed: int) -> None:
    """One run of the hosts, from an empty store until the last permit is given back."""
    scene.empty()
    store = open_store(scene.near)
    try:
        began, here_s = now(store, seed, "began"), time.monotonic()
        told = spend(scene, seed)
        wait_for(lambda: scene.clients() == 0)
        ended, passed_s = now(store, seed, "ended"), time.monotonic() - here_s
        assert ended - began < (passed_s + APART_S / 2) * 1_000, (
            "a host's clock has moved the store's"
        )
        left = rest(scene, seed)
        check_spent(store, seed, told, left)
        check_permits(store, seed, told, (began, ended))
    finally:
        store.close()
    check_expiry(scene, seed)


def check_spent(store: Store, seed: int, told: Counter[str], left: int) -> None:
    """All is spent on every level, and never more: what is not told as spent is reserved by calls
    that were cut off."""
    assert totals(store, seed) == {"run": LIMIT, "task": LIMIT, "tenant": LIMIT}
    assert told["spent"] + left <= LIMIT
    cut_off = told["spend?"] - told["settled"] - told["refused"]
    reserved = [
        took.amount
        for hold in store.holds()
        for took in hold.took
        if took.keeps and ":task:" in took.key
    ]
    untold = LIMIT - left - told["settled"] - sum(reserved)
    assert 0 <= untold <= cut_off - len(reserved)


def check_permits(store: Store, seed: int, told: Counter[str], span: tuple[int, int]) -> None:
    """Only calls that were cut off still have permits, and those end when the store's clock says
    so."""
    cut_off = told["slot?"] - told["taken"] - told["free"]
    began, ended = span
    dues = [hold.due_ms for hold in store.holds() if not hold.took[0].keeps]
    assert store.read(slots_key(tenant(seed), "shared"))[0] == len(dues) <= cut_off
    assert all(began + HOLD_MS <= due <= ended + HOLD_MS for due in dues)


def check_expiry(scene: Scene, seed: int) -> None:
    """When their time is over all permits are back; what was spent stays so."""
    times = [0]
    store = open_store(scene.near, lambda: times[-1])
    permits = slots_key(tenant(seed), "shared")
    try:
        dues = [hold.due_ms for hold in store.holds() if not hold.took[0].keeps]
        for due in sorted(set(dues)):
            for moment in (due - 1, due):
                times.append(moment)
                now(store, seed, f"at {moment}")
                assert store.read(permits)[0] == len([other for other in dues if other > moment])
        assert store.read(permits)[0] == 0
        assert totals(store, seed) == {"run": LIMIT, "task": LIMIT, "tenant": LIMIT}
    finally:
        store.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_hosts_spend_exactly_what_there_is(
    seed: int, scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    if scene.hosts.note:
        with capsys.disabled():
            print(f"\n{scene.hosts.note}")
    check(scene, seed)


def test_without_namespaces_the_hosts_share_one_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("PATH", "")
        with hosts(HOSTS) as among:
            assert among.note.startswith(
                "the 4 hosts share one network, for there are no namespaces here: "
            )
    with on_redis(among) as scene:
        assert scene.hosts.address == LOOPBACK
        check(scene, 7)


def interfaces(command: Sequence[str] = ()) -> set[str]:
    """The names of the network interfaces that a command sees."""
    listed = subprocess.run(
        [*command, "cat", "/proc/net/dev"], capture_output=True, text=True, check=True
    ).stdout
    return {line.split(":")[0].strip() for line in listed.splitlines()[2:]}


def test_the_network_of_the_hosts_is_nowhere_else(among: Hosts) -> None:
    ours = interfaces()
    with among.among_servers():
        servers = interfaces()
    theirs = [interfaces(among.command(host, ())) for host in range(HOSTS)]
    assert theirs == [ours if among.note else {"lo", "eth0"}] * HOSTS
    assert servers == (
        ours if among.note else {"lo", "bridge", *[f"host{host}" for host in range(HOSTS)]}
    )
    assert interfaces() == ours


def test_nothing_is_left_of_the_hosts() -> None:
    with hosts(2) as made:
        commands = [made.command(host, ["true"]) for host in range(2)]
        assert [subprocess.run(command, check=False).returncode for command in commands] == [0, 0]
    left = [
        subprocess.run(command, capture_output=True, check=False).returncode == 0
        for command in commands
    ]
    assert left == [made.note != ""] * 2
