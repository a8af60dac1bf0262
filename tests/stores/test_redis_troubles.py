"""Every trouble with a server is named, refused in time, and over when it is over; nothing is ever
counted twice."""

import itertools
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Crowded, Line, StoreForgot, StoreLost, When, key
from stanchion.stores.protocol import StoreError
from stanchion.stores.queue import ServerCircuit, Visit
from stanchion.stores.redis import RedisStore
from stanchion.stores.redis.address import parse
from stanchion.stores.redis.connection import command
from stanchion.stores.redis.pool import RedisPool
from tests.ports import Port
from tests.stores import redis_server
from tests.stores.redis_proxy import Answering, Proxy
from tests.stores.redis_server import FOREVER_S, Server, hurry, recovered, say

server = redis_server.server

A, R = key("t", "a"), key("t", "record")
LINES = (Line(A),)
SHORT_S = 0.05
ALWAYS = 1_000_000


@pytest.fixture
def own() -> Iterator[Server]:
    """A server of its own, which writes down what it is told before it answers."""
    server = Server("--appendonly", "yes", "--appendfsync", "always")
    yield server
    server.stop()


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    """A proxy before the server."""
    with Proxy(server.socket) as proxy:
        yield proxy


def test_a_connection_that_was_cut_while_idle_is_made_again(server: Server) -> None:
    for url in (server.url, server.tcp_url):
        store = RedisStore(url)
        for number in range(3):
            server.ask("CLIENT", "KILL", "TYPE", "normal")
            assert store.carry(Batch(f"{url}{number}", "t", lines=LINES)).go
        store.close()
    assert RedisStore(server.url).read(A) == (6, None)


def test_a_server_that_was_restarted_has_everything_again(own: Server) -> None:
    store = RedisStore(own.url)
    held = store.carry(
        Batch("held", "t", lines=(Line(A, hold_ms=60_000),), amounts=(7, 0, 0, 0, 0))
    )
    store.carry(Batch("put", "t", puts=((R, [1], When.PROCEED, 0, 0),)))
    own.kill()
    with pytest.raises(StoreLost, match=f"`{own.url}` cannot be reached, nothing listens there"):
        store.carry(Batch("down", "t", lines=LINES))
    own.start()
    assert recovered(lambda: store.carry(Batch("down", "t", lines=LINES))).values == (7,)
    assert store.carry(Batch("held", "t", lines=LINES)) == held
    assert store.carry(Batch("settle", "t", settles=(("held", (2, 0, 0, 0, 0)),))).settled == (
        "settled",
    )
    assert (store.read(A), store.read(R)) == ((3, None), (1, [1]))
    store.close()


def test_a_batch_whose_answer_was_lost_is_counted_once(server: Server, proxy: Proxy) -> None:
    store = RedisStore(proxy.url)
    store.carry(Batch("before", "t", lines=LINES))
    proxy.commands.clear()
    proxy.lose = ALWAYS
    lost = Batch("lost", "t", lines=(Line(A, hold_ms=60_000),))
    with pytest.raises(StoreLost, match=f"`{proxy.url}` closed the connection"):
        store.carry(lost)
    proxy.lose = 0
    (sent,) = {command[4] for command in proxy.asked_for(b"EVALSHA")}
    assert sent == b"stanchion@{t}"
    again = recovered(lambda: store.carry(lost))
    assert (again.go, again.values, store.read(A)) == (True, (1,), (2, None))
    store.close()


def test_it_is_sent_once_more_by_itself_and_still_counted_once(proxy: Proxy) -> None:
    store = RedisStore(proxy.url)
    store.carry(Batch("before", "t", lines=LINES))
    proxy.lose = 1
    assert store.carry(Batch("twice", "t", lines=LINES)).values == (1,)
    assert [each[5] for each in proxy.asked_for(b"EVALSHA")][1:] == [b"stanchion#{t}twice"] * 2
    assert store.read(A) == (2, None)
    store.close()


def test_a_late_answer_is_refused_in_time_and_the_batch_counted_once(
    server: Server, proxy: Proxy
) -> None:
    store = RedisStore(proxy.url)
    hurry(store, SHORT_S)
    recovered(lambda: store.carry(Batch("before", "t", lines=LINES)))
    proxy.answers.clear()
    late = Batch("late", "t", lines=LINES)
    with pytest.raises(StoreLost, match=r"did not answer within 0\.05 s: check the server's load"):
        store.carry(late)
    assert not proxy.answers.is_set()
    proxy.answers.set()
    assert recovered(lambda: store.carry(late)).values == (1,)
    assert recovered(lambda: store.read(A)) == (2, None)
    store.close()


def test_a_server_that_is_stuck_is_refused_in_time(server: Server) -> None:
    store = RedisStore(server.url)
    hurry(store, SHORT_S)
    recovered(lambda: store.carry(Batch("before", "t", lines=LINES)))
    server.freeze()
    try:
        with pytest.raises(StoreLost, match=r"did not answer within 0\.05 s"):
            store.carry(Batch("stuck", "t", lines=LINES))
        for url in (server.url, server.tcp_url):
            with pytest.raises(StoreError, match=r"did not answer within 0\.05 s"):
                RedisStore(url, timeout_s=SHORT_S)
    finally:
        server.thaw()
    assert recovered(lambda: store.carry(Batch("stuck", "t", lines=LINES))).values == (1,)
    assert recovered(lambda: store.carry(Batch("after", "t", lines=LINES))).values == (2,)
    store.close()


def test_nobody_asks_a_server_that_rests(server: Server, proxy: Proxy) -> None:
    store = RedisStore(proxy.url)
    proxy.lose = ALWAYS
    store._pool.rest = ServerCircuit(lambda: 0.0)
    with pytest.raises(StoreLost, match="closed the connection"):
        store.carry(Batch("one", "t", lines=LINES))
    asked = (len(proxy.commands), proxy.connections)
    for number in range(20):
        with pytest.raises(StoreLost, match="closed the connection"):
            store.carry(Batch(f"rests{number}", "t", lines=LINES))
    assert (len(proxy.commands), proxy.connections) == asked
    store.close()


def test_a_script_that_the_server_forgot_is_sent_again(server: Server, proxy: Proxy) -> None:
    store = RedisStore(proxy.url)
    store.carry(Batch("one", "t", lines=LINES))
    server.ask("SCRIPT", "FLUSH")
    proxy.commands.clear()
    for number in range(3):
        assert store.carry(Batch(f"more{number}", "t", lines=LINES)).values == (number + 1,)
    sent = [each[0] for each in proxy.commands if each[0] != b"INFO"]
    assert sent == [b"EVALSHA", b"EVAL", b"EVALSHA", b"EVALSHA"]
    store.close()


def test_no_memory_left(server: Server) -> None:
    store = RedisStore(server.url)
    store.carry(Batch("one", "t", lines=LINES))
    server.ask("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(StoreLost, match="has no memory left: raise `maxmemory`"):
            store.carry(
                Batch("two", "t", lines=(Line(A, hold_ms=5, keep=False),), settles=(("one", None),))
            )
    finally:
        server.ask("CONFIG", "SET", "maxmemory", "0")
    assert store.carry(Batch("two", "t", lines=LINES)).values == (1,)
    store.close()


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-lru", "volatile-ttl"])
def test_a_server_that_drops_keys_is_refused(server: Server, policy: str) -> None:
    """However much memory it has today, and whatever the URL says."""
    server.ask("CONFIG", "SET", "maxmemory-policy", policy)
    try:
        for url in (server.url, server.url + "?eviction=unchecked"):
            with pytest.raises(
                StoreError, match=rf"drops keys .*{policy}.*set `maxmemory-policy noeviction`"
            ):
                RedisStore(url)
    finally:
        server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    RedisStore(server.url).close()


def test_a_server_that_does_not_say_whether_it_drops_keys(server: Server) -> None:
    """Either question is enough; where neither is answered, somebody has to have seen to it."""
    place = f"unix://agent:s3cr3t@{server.socket}"
    try:
        for rights, says in (
            ("-info", ""),
            ("-config", ""),
            ("-info -config", "does not say whether it drops keys"),
        ):
            server.ask(
                "ACL", "SETUSER", "agent", "reset", "on", ">s3cr3t", "~*", "+@all", *rights.split()
            )
            if says:
                with pytest.raises(StoreError, match=says):
                    RedisStore(place)
                RedisStore(f"{place}?eviction=unchecked").close()
            else:
                RedisStore(place).close()
    finally:
        server.ask("ACL", "DELUSER", "agent")


def test_a_replica(server: Server) -> None:
    store = RedisStore(server.url)
    store.carry(Batch("one", "t", lines=LINES))
    server.ask("REPLICAOF", "127.0.0.1", "1")
    try:
        for number in range(3):
            with pytest.raises(
                StoreLost, match="is a replica, which accepts no writes: use the primary"
            ):
                store.carry(Batch(f"replica{number}", "t", lines=LINES))
            assert store._pool._idle == []
    finally:
        server.ask("REPLICAOF", "NO", "ONE")
    assert store.carry(Batch("two", "t", lines=LINES)).values == (1,)
    store.close()


def test_busy_with_a_script_of_somebody_else(server: Server) -> None:
    store = RedisStore(server.url)
    store.carry(Batch("one", "t", lines=LINES))
    somebody, operator = server.link(), server.link()
    server.ask("CONFIG", "SET", "lua-time-limit", "1")
    somebody.sock.sendall(command("EVAL", "while true do end", "0"))
    try:
        with pytest.raises(
            StoreLost, match="is busy with a script that does not end: end it with `SCRIPT KILL`"
        ):
            store.carry(Batch("busy", "t", lines=LINES))
        with pytest.raises(StoreError, match="is busy with a script"):
            RedisStore(server.url)
    finally:
        say(operator, "SCRIPT", "KILL")
        somebody.ask_all(b"", 1, time.monotonic() + FOREVER_S)
        somebody.close()
        operator.close()
    server.ask("CONFIG", "SET", "lua-time-limit", "5000")
    assert store.carry(Batch("busy", "t", lines=LINES)).values == (1,)
    store.close()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            "LOADING Redis is loading the dataset in memory",
            "is still loading its data: try again when it is done",
        ),
        (
            "MISCONF Redis is configured to save RDB snapshots",
            "cannot write to its disk and so accepts no writes",
        ),
        ("MASTERDOWN Link with MASTER is down", "is a replica whose primary cannot be reached"),
        (
            "NOREPLICAS Not enough good replicas to write.",
            "has fewer replicas than its `min-replicas-to-write` asks for",
        ),
        ("CLUSTERDOWN Hash slot not served", "says that its cluster is down: bring its nodes back"),
        ("MOVED 3999 10.0.0.9:6381", "has these keys on another node of its cluster"),
        (
            "NOPERM this user has no permissions to run 'evalsha'",
            r"does not let this user .*run 'evalsha'.*allow the user",
        ),
        ("NOAUTH Authentication required.", "asks for a password: put it into the URL"),
        ("ERR something new", "answered `ERR something new`: check the server and its log"),
        ("NOSCRIPT No matching script", "answered `NOSCRIPT No matching script`"),
    ],
)
def test_what_a_server_may_answer(answer: str, says: str) -> None:
    listener = Answering(f"-{answer}\r\n".encode())
    store = RedisStore(listener.url)
    for _ in range(2):
        with pytest.raises(StoreLost, match=f"`{listener.url}` {says}"):
            store.carry(Batch("one", "t", lines=LINES))
    listener.close()
    store.close()


def test_what_is_no_redis() -> None:
    for answer, says, timeout_s in (
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "cannot be reached", FOREVER_S),
        (b"", "did not answer", SHORT_S),
    ):
        listener = Answering(answer)
        with pytest.raises(StoreError, match=says):
            RedisStore(f"redis://127.0.0.1:{listener.port}/7", timeout_s=timeout_s)
        listener.close()


def test_a_server_that_is_too_old() -> None:
    listener = Answering(
        b"", b"# Server\r\nredis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n"
    )
    with pytest.raises(StoreError, match=r"is Redis 6\.0\.16: use 6\.2 or later, or Valkey"):
        RedisStore(listener.url)
    listener.close()


def test_users_passwords_and_databases(server: Server) -> None:
    server.ask("ACL", "SETUSER", "agent", "on", ">s3cr3t/@:", "~stanchion*", "+@all")
    place = f"127.0.0.1:{server.port}"
    store = RedisStore(f"redis://agent:s3cr3t%2F%40%3A@{place}/3")
    local = RedisStore(f"unix://agent:s3cr3t%2F%40%3A@{server.socket}?db=3")
    store.carry(Batch("one", "t", lines=LINES))
    assert (store.read(A), local.read(A), RedisStore(server.url).read(A)) == (
        (1, None),
        (1, None),
        (0, None),
    )
    assert (store.address.name, local.address.name) == (
        f"redis://{place}/3",
        f"unix://{server.socket}",
    )
    with pytest.raises(StoreError, match="has no database with that number"):
        RedisStore(f"redis://{place}/4000")
    store.close()
    local.close()
    server.ask("ACL", "DELUSER", "agent")


def test_a_password_that_is_asked_for_later(server: Server) -> None:
    store = RedisStore(server.url)
    server.ask("CONFIG", "SET", "requirepass", "s3cr3t")
    operator = server.link("s3cr3t")
    say(operator, "CLIENT", "KILL", "TYPE", "normal")
    try:
        with pytest.raises(StoreLost, match="asks for a password"):
            store.carry(Batch("one", "t", lines=LINES))
        with pytest.raises(StoreError, match="asks for a password"):
            RedisStore(server.url)
        with pytest.raises(
            StoreError, match="does not accept the user or the password: correct the URL"
        ):
            RedisStore(f"redis://:wrong@127.0.0.1:{server.port}")
        RedisStore(f"redis://:s3cr3t@127.0.0.1:{server.port}").close()
    finally:
        say(operator, "CONFIG", "SET", "requirepass", "")
        operator.close()
    assert recovered(lambda: store.carry(Batch("one", "t", lines=LINES))).values == (0,)
    store.close()


def test_a_password_for_a_server_that_wants_none(server: Server) -> None:
    with pytest.raises(StoreError, match="expects no password, or another kind of login"):
        RedisStore(f"redis://:s3cr3t@127.0.0.1:{server.port}")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis://", "does not have a host: write `redis://host:6379/0`"),
        ("redis://u:s3cr3t@", "does not have a host"),
        ("redis://u:s3cr3t@host:port", "cannot be read: write"),
        ("redis://u:s3cr3t@host/x", "`redis://host:6379` names the database `x`: give a number"),
        ("redis://u:s3cr3t@host/0?ssl=1", "has the unknown option `ssl`: use `db`, `ssl_ca_certs`"),
        (
            "redis://u:s3cr3t@host?db=-1",
            "the option `db` of `redis://host:6379/0` is `-1`: give a number",
        ),
        ("redis://u:s3cr3t@host?timeout_s=0", "is `0`: give a number of seconds above 0"),
        ("redis://u:s3cr3t@host?prefix=a:b", "is `a:b`: give letters, digits"),
        ("rediss://u:s3cr3t@host?ssl_cert_reqs=maybe", "give `required` or `none`"),
        ("redis://u:12?s3cr3t@host", "with `%23` for `#`"),
        ("redis://u:x#s3cr3t@host", "with `%23` for `#`"),
        ("redis://u:s3cr3t@[::1", "cannot be read"),
        ("unix://u:s3cr3t@host/x", "does not have an absolute path"),
        ("unix:relative", "does not have an absolute path"),
        ("http://u:s3cr3t@host", "`http:` does not begin the URL of a Redis store"),
    ],
)
def test_urls_that_name_no_server(url: str, says: str) -> None:
    with pytest.raises(StoreError) as caught:
        RedisStore(url)
    assert says in str(caught.value)
    assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))


def test_secrets_are_in_no_text(server: Server, proxy: Proxy) -> None:
    secret = "s3cr3t-of-the-agent"
    server.ask("ACL", "SETUSER", "agent", "on", f">{secret}", "~*", "+@all")
    url = f"redis://agent:{secret}@127.0.0.1:{proxy.port}/0"
    store = RedisStore(url)
    hurry(store, SHORT_S)
    texts = [repr(store), repr(store.address), str(store.address), repr(parse(url))]
    echo = Answering(
        f"-ERR unknown command `AUTH`, with args beginning with: `agent`, `{secret}`, \r\n".encode()
    )
    later = Answering(b"+OK\r\n")
    echoing = RedisStore(f"redis://agent:{secret}@127.0.0.1:{later.port}/0")
    later.answer = f"-ERR user said {secret}\r\n".encode()

    def attempt(place: str) -> None:
        RedisStore(f"redis://agent:{secret}@{place}/0", timeout_s=SHORT_S)

    proxy.lose = ALWAYS
    closed = Port()
    for failing in (
        lambda: store.carry(Batch("one", "t", lines=LINES)),
        lambda: store.read(A),
        lambda: attempt(f"127.0.0.1:{proxy.port}"),
        lambda: attempt(f"127.0.0.1:{echo.port}"),
        lambda: attempt(f"127.0.0.1:{closed.number}"),
        lambda: attempt("no.such.host.invalid"),
        lambda: attempt(f"{secret}x@127.0.0.1:{server.port}"),
        lambda: echoing.carry(Batch("one", "t", lines=LINES)),
    ):
        with pytest.raises((StoreLost, StoreError)) as caught:
            failing()
        texts.append("".join(traceback.format_exception(caught.value)))
    assert [text for text in texts if secret in text] == []
    server.ask("ACL", "DELUSER", "agent")
    closed.release()
    for listener in (echo, later):
        listener.close()
    for each in (store, echoing):
        each.close()


def test_a_name_server_that_does_not_answer_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    ask = socket.getaddrinfo

    def slow(host: str, port: int, *, type: int, flags: int) -> object:
        if not flags:
            answers.wait()
        return ask(host, port, type=type, flags=flags)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with pytest.raises(StoreError, match=r"did not answer within 0\.05 s"):
        RedisStore(f"redis://localhost:{server.port}", timeout_s=SHORT_S)
    RedisStore(server.tcp_url).close()
    answers.set()
    RedisStore(f"redis://localhost:{server.port}", timeout_s=FOREVER_S).close()


@pytest.mark.parametrize(
    "settings", [{"timeout_s": 0}, {"connections": 0}, {"remember_s": 0}, {"prefix": "a:b"}]
)
def test_settings_that_make_no_sense(settings: dict[str, Any], server: Server) -> None:
    with pytest.raises(StoreError, match=r"must be above 0|is `a:b`: give letters, digits"):
        RedisStore(server.url, **settings)


def test_threads_wait_for_a_connection_no_longer_than_said(server: Server) -> None:
    pool = RedisPool(parse(server.url), FOREVER_S, 1, patience_s=SHORT_S)
    assert pool.ask(command("PING")) == b"PONG"
    taken = Visit()
    pool.queue.take(taken)
    with pytest.raises(
        Crowded, match=r"^0 other calls in this process wait for `.*`, and this one has waited \d"
    ):
        pool.ask(command("PING"))
    assert not pool.rest.why
    pool.queue.leave(taken)
    assert pool.ask(command("PING")) == b"PONG"
    pool.close()


def test_a_thread_that_waits_gets_the_next_connection(server: Server) -> None:
    pool = RedisPool(parse(server.url), FOREVER_S, 2)
    came: list[object] = []
    threads = [
        threading.Thread(target=lambda: came.extend(pool.ask(command("PING")) for _ in range(50)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert came == [b"PONG"] * 400
    assert len(pool._idle) <= 2
    pool.close()


def test_replicas_have_what_was_answered(server: Server) -> None:
    replica = Server("--replicaof", "127.0.0.1", str(server.port))
    try:
        patient = RedisStore(server.url + "?wait_replicas=1", timeout_s=FOREVER_S)
        refuse = (Line(A, ((1, Action.BLOCK),)),)
        assert patient.carry(Batch("one", "t", lines=refuse)).go
        assert replica.ask("EXISTS", f"stanchion:{A}") == 1
        assert patient.carry(Batch("stale", "t", expects=((A, 5, 6),))).stale
        assert not patient.carry(Batch("two", "t", lines=refuse)).go
        replica.freeze()
        three = Batch("three", "t", lines=LINES)
        hasty = RedisStore(server.url, wait_replicas=1, timeout_s=4)
        with pytest.raises(
            StoreLost,
            match=r"fewer than 1 replicas of .* confirmed the batch in time: bring them back",
        ):
            hasty.carry(three)
        assert patient.read(A) == (2, None)
        replica.thaw()
        assert patient.carry(three).values == (1,)
        assert replica.ask("EXISTS", "stanchion#{t}three") == 1
        assert patient.read(A) == (2, None)
        patient.close()
        hasty.close()
    finally:
        replica.stop()


@pytest.mark.parametrize("policy", ["allkeys-random", "volatile-lru"])
def test_a_server_that_begins_to_drop_keys_is_refused_until_it_stops(
    server: Server, policy: str
) -> None:
    """It is asked along with a batch, in the same trip, once a second."""
    store = RedisStore(server.url)
    assert store.carry(Batch("before", "t", lines=(Line(A),))).go
    server.ask("CONFIG", "SET", "maxmemory-policy", policy)
    try:
        vars(store)["_look_at"] = 0.0
        for number in range(2):
            with pytest.raises(StoreLost, match="set `maxmemory-policy noeviction`"):
                store.carry(Batch(f"meanwhile{number}", "t", lines=(Line(A),)))
    finally:
        server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    assert store.carry(Batch("after", "t", lines=(Line(A),))).go
    store.close()


def test_a_server_that_has_dropped_a_counter_is_noticed(server: Server) -> None:
    store = RedisStore(server.url, clock=itertools.count(1_000).__next__)
    assert store.carry(Batch("one", "t", lines=(Line(A),))).go
    server.ask("DEL", f"stanchion:{A}")
    for number in range(2):
        with pytest.raises(StoreForgot, match="no longer has what this process has seen"):
            store.carry(Batch(f"two{number}", "t", lines=(Line(A),)))
    store.close()
