"""Real sockets: a request reaches the address that was judged, and nothing internal is reached by
any detour."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from urllib3.exceptions import ProtocolError

from stanchion import Refused
from stanchion.hosts.http.aiohttp_connector import _socket
from stanchion.hosts.http.pinning import pinning
from stanchion.testing import shield_for
from tests.hosts.http.clients import Ask, Send
from tests.hosts.http.policies import decided, shield
from tests.hosts.http.servers import Server, serving


def test_a_name_is_reached_at_the_address_that_was_judged(send: Send, outside: Server) -> None:
    """No other resolver knows the name: the client has the address from the decision."""
    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=[f"127.0.0.1:{outside.port}"])
    assert send(here.run(), Ask(f"http://public.test:{outside.port}/page?a=1")) == ["ok"]
    got = outside.got[0]
    assert (got.path, got.headers["host"], got.at) == (
        "/page?a=1",
        f"public.test:{outside.port}",
        "127.0.0.1",
    )
    assert decided(here) == ["ALLOW"]


def test_a_literal_is_reached_if_it_may_be(send: Send, outside: Server, inside: Server) -> None:
    """The same address on another port is another place."""
    here = shield(internal_hosts=[f"127.0.0.1:{outside.port}"])
    assert send(here.run(), Ask(f"http://127.0.0.1:{outside.port}/")) == ["ok"]
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(f"http://127.0.0.1:{inside.port}/"))
    assert refused.value.decision.code == "egress.internal"
    assert inside.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_inside_is_refused_before_anything_is_connected(
    send: Send, inside: Server, status: int
) -> None:
    """The first hop was allowed, the second is judged as a request of its own."""
    with serving(status=status) as outside:
        here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=[f"127.0.0.1:{outside.port}"])
        with pytest.raises(Refused) as refused:
            send(
                here.run(),
                Ask(f"http://public.test:{outside.port}/to/http://127.0.0.1:{inside.port}/secrets"),
            )
        assert refused.value.decision.code == "egress.internal"
        assert (outside.connections, inside.connections) == (1, 0)
        assert decided(here) == ["ALLOW", "egress.internal"]


def test_a_redirect_to_a_name_that_leads_inside_is_refused(
    send: Send, outside: Server, inside: Server
) -> None:
    """Also by way of a name, and also where the path between was allowed."""
    names = {"public.test": ["127.0.0.1"], "inner.test": ["127.0.0.1"]}
    here = shield(names, internal_hosts=[f"127.0.0.1:{outside.port}"])
    target = f"http://public.test:{outside.port}/to/http://inner.test:{inside.port}/"
    with pytest.raises(Refused):
        send(here.run(), Ask(f"http://public.test:{outside.port}/to/{target}"))
    assert len(outside.got) == 2
    assert inside.connections == 0


def test_a_redirect_to_where_it_may_go_is_followed(send: Send, outside: Server) -> None:
    """Every hop is judged, none is refused."""
    names = {"public.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
    here = shield(names, internal_hosts=[f"127.0.0.1:{outside.port}"])
    ask = Ask(f"http://public.test:{outside.port}/to/http://other.test:{outside.port}/end")
    assert send(here.run(), ask) == ["ok"]
    assert [got.headers["host"].partition(":")[0] for got in outside.got] == [
        "public.test",
        "other.test",
    ]
    assert decided(here) == ["ALLOW", "ALLOW"]


def test_a_name_that_rebinds_is_reached_where_it_was_judged(
    send: Send, outside: Server, inside: Server
) -> None:
    """The resolver is asked once for each request; what it says a moment later is judged, not
    connected to."""
    answers = [["127.0.0.1"], ["127.0.0.9"], ["127.0.0.9"]]
    asked: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    here = shield(resolver, internal_hosts=[f"127.0.0.1:{outside.port}"])
    assert send(here.run(), Ask(f"http://rebinds.test:{outside.port}/")) == ["ok"]
    assert (len(asked), outside.got[0].at) == (1, "127.0.0.1")
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(f"http://rebinds.test:{outside.port}/"))
    assert refused.value.decision.code == "egress.internal"
    assert (len(asked), outside.connections) == (2, 1)


def test_a_name_with_one_internal_address_among_others_is_refused(
    send: Send, outside: Server
) -> None:
    """Which one a client would take is not left to chance."""
    here = shield({"mixed.test": ["127.0.0.1", "10.0.0.7"]}, internal_hosts=["127.0.0.1"])
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(f"http://mixed.test:{outside.port}/"))
    assert refused.value.decision.code == "egress.internal"
    assert outside.connections == 0


def test_the_next_address_is_tried_where_one_does_not_answer(send: Send) -> None:
    """Nobody listens at the first: the second was judged as well."""
    with serving() as outside:
        names = {"two.test": ["::1", "127.0.0.1"]}
        here = shield(names, internal_hosts=[f"127.0.0.1:{outside.port}", f"[::1]:{outside.port}"])
        assert send(here.run(), Ask(f"http://two.test:{outside.port}/")) == ["ok"]
        assert outside.got[0].at == "127.0.0.1"


def test_a_socket_to_what_was_not_judged_is_not_made() -> None:
    """Whatever a resolver or an address book of the client says."""
    place = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.2", 80))
    with pinning(("127.0.0.1",)), pytest.raises(OSError, match=r"`127\.0\.0\.2` was not judged"):
        _socket(place)
    with pinning(("::ffff:127.0.0.2",)), _socket(place) as made:
        assert made.family == socket.AF_INET


def test_no_address_in_particular_is_this_machine(send: Send, outside: Server) -> None:
    """A connection to it ends at loopback, and is known for what was judged: made once, and used
    again."""
    here = shield(internal_hosts=[f"0.0.0.0:{outside.port}"])
    ask = Ask(f"http://0.0.0.0:{outside.port}/")
    assert send(here.run(), ask, ask) == ["ok", "ok"]
    assert outside.connections == 1


def test_connections_are_made_for_judged_requests_only(outside: Server) -> None:
    """Whoever takes the pools out of an adapter gets nowhere with them."""
    adapter = shield(internal_hosts=["127.0.0.1"]).run().requests_adapter(max_retries=0)
    with pytest.raises(ProtocolError, match="no request was judged"):
        adapter.poolmanager.connection_from_url(f"http://127.0.0.1:{outside.port}/").urlopen(
            "GET", "/", retries=False
        )
    place = (
        socket.AF_INET,
        socket.SOCK_STREAM,
        socket.IPPROTO_TCP,
        "",
        ("127.0.0.1", outside.port),
    )
    with pytest.raises(OSError, match="no request was judged"):
        _socket(place)
    assert outside.connections == 0


def test_another_host_in_the_header_is_refused(send: Send, outside: Server) -> None:
    """A front that serves several names would hand the request on to the one that nobody judged."""
    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=[f"127.0.0.1:{outside.port}"])
    url = f"http://public.test:{outside.port}/"
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(url, headers={"Host": "evil.test"}))
    assert refused.value.decision.code == "http.host"
    assert outside.connections == 0
    assert send(here.run(), Ask(url, headers={"Host": f"PUBLIC.test:{outside.port}"})) == ["ok"]


class Confuses:
    """A guard of a user that answers like a resolver, and is only tried out."""

    id = "confuses"
    stages = ("egress",)
    mode = "shadow"

    def judge(self, event: Any) -> Any:
        """Give an address that nobody else has seen."""
        return {"addresses": ["127.0.0.9"]}


def test_where_guards_do_not_agree_on_an_address_none_is_reached(
    send: Send, outside: Server
) -> None:
    """An address that one of them has not judged is none to connect to."""
    here = shield({"public.test": ["127.0.0.1"]}, [Confuses()], internal_hosts=["127.0.0.0/8"])
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(f"http://public.test:{outside.port}/"))
    assert refused.value.decision.code == "http.unpinned"
    assert outside.connections == 0


def test_without_a_guard_for_hosts_requests_leave_as_they_are(send: Send, outside: Server) -> None:
    """A policy that says nothing of hosts judges the rest: names are resolved by the client."""
    here = shield_for({"name": "bare"})
    assert send(
        here.run(), Ask(f"http://localhost:{outside.port}/", headers={"Host": "other.test"})
    ) == ["ok"]
    assert decided(here) == ["ALLOW"]


def test_a_guard_in_shadow_mode_changes_nothing(send: Send, outside: Server) -> None:
    """What would be refused goes ahead, wherever the name really leads."""
    here = shield(internal_hosts=[], mode="shadow")
    assert send(
        here.run(), Ask(f"http://localhost:{outside.port}/", headers={"Host": "other.test"})
    ) == ["ok"]
    assert outside.connections == 1


def test_a_run_that_is_over_sends_nothing(send: Send, outside: Server) -> None:
    """A client that outlives its run is of no use."""
    here = shield(internal_hosts=["127.0.0.1"])
    with here.run() as run:
        pass
    with pytest.raises(Refused) as refused:
        send(run, Ask(f"http://127.0.0.1:{outside.port}/"))
    assert refused.value.ended
    assert outside.connections == 0
