"""All keys of a batch are in one slot, and a server that is part of a cluster carries it out."""

import random
from binascii import crc_hqx
from collections.abc import Iterator

import hiredis
import pytest

from stanchion.kernel.state import Batch, Line, StoreLost, When, key
from stanchion.stores.redis import RedisStore
from stanchion.stores.redis.packed import Packing, RedisKeys, Script, source
from stanchion.testing.clock import FakeClock
from stanchion.testing.store_suite import CASES, Case
from stanchion.testing.store_suite.chance import random_batch
from tests.stores.redis_server import Server, make

TENANTS = ("t", "default", "a b", "{x}", "ü:%", "}{", "a" * 200)
SLOTS = 16_384


def slot_of(name: bytes) -> int:
    """The slot of a key, as Redis Cluster defines it: of what stands between its first braces, if
    anything does."""
    start = name.find(b"{")
    end = name.find(b"}", start + 1)
    return crc_hqx(name[start + 1 : end] if 0 <= start < end - 1 else name, 0) % SLOTS


def keys_of(packed: bytes) -> list[bytes]:
    """The keys that a command declares."""
    reader = hiredis.Reader()
    reader.feed(packed)
    words = reader.gets()
    return list(words[3 : 3 + int(words[2])])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Server]:
    """A cluster of one node."""
    server = Server("--cluster-enabled", "yes")
    server.ask("CLUSTER", "ADDSLOTS", *[str(slot) for slot in range(SLOTS)])
    while b"cluster_state:ok" not in server.ask("CLUSTER", "INFO"):
        server.ask("WAIT", "1", "20")
    yield server
    server.stop()


def for_tenant(batch: Batch, tenant: str) -> Batch:
    """A batch of the suite as another tenant's."""

    def named(name: str) -> str:
        return name.replace(key("suite"), key(tenant))

    return Batch(
        batch.id,
        tenant,
        batch.go,
        tuple((named(cell), lo, hi) for cell, lo, hi in batch.expects),
        batch.settles,
        tuple(line._replace(key=named(line.key)) for line in batch.lines),
        batch.amounts,
        tuple((named(cell), *rest) for cell, *rest in batch.puts),
        batch.ceiling,
    )


def test_every_batch_is_in_one_slot() -> None:
    packing = Packing(RedisKeys("stanchion"), Script(source(), 60, False))
    drawn = random.Random(7)
    seen = set()
    for number in range(700):
        tenant = TENANTS[number % len(TENANTS)]
        keys = keys_of(packing.pack(for_tenant(random_batch(drawn, number), tenant)))
        slots = {slot_of(name) for name in keys}
        assert len(slots) == 1, keys
        assert len(keys) >= 3
        seen |= slots
    assert len(seen) == len(TENANTS)


def test_the_slots_are_those_of_a_real_cluster(cluster: Server) -> None:
    for tenant in TENANTS:
        for name in (
            key(tenant, "a"),
            "~" + key(tenant, "b", "c"),
            "#" + key(tenant) + "{id}",
            "no tag",
            "{}x",
            "{x",
        ):
            assert cluster.ask("CLUSTER", "KEYSLOT", name.encode()) == slot_of(name.encode())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite_on_a_cluster(case: Case, cluster: Server) -> None:
    """All but the case whose batch has the keys of several tenants, which a cluster refuses."""
    if case.name == "a_prefix_chooses_what_is_seen":
        with pytest.raises(
            StoreLost,
            match="has the keys of this batch on several nodes: give all keys of a tenant",
        ):
            case.check(make(cluster))
    else:
        case.check(make(cluster))


def test_whatever_is_left_on_the_server_is_in_its_tenant_s_slot(cluster: Server) -> None:
    """Also what no command declared: holds that fell due, and what they took."""
    cluster.ask("FLUSHALL")
    clock = FakeClock()
    store = RedisStore(cluster.url, clock=clock)
    for tenant in TENANTS:
        for number in range(3):
            cells = [key(tenant, f"{name}{number}") for name in "ab"]
            lines = (
                Line(cells[0], hold_ms=500, keep=False),
                Line("~" + cells[1], hold_ms=900, window_ms=1_600),
            )
            puts = ((key(tenant, "record"), number, When.PROCEED, 0, 0),)
            store.carry(Batch(f"{{b}}{number}", tenant, lines=lines, puts=puts))
    clock.advance(1_000)
    for tenant in TENANTS:
        store.carry(Batch("later", tenant, settles=(("{b}0", None),)))
        assert store.read(key(tenant, "a1")) == (0, None)
        assert store.read("~" + key(tenant, "b0")) == (0, None)
    left = cluster.ask("KEYS", "*")
    slots = {slot_of(key(tenant).encode()) for tenant in TENANTS}
    assert {slot_of(name) for name in left} == slots
    assert len(left) == len(TENANTS) * (3 * 3 + 3)
    assert len(list(store.holds())) == len(TENANTS) * 2
    store.close()
