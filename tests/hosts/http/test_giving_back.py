"""A request that was judged and does not leave after all gives back what it had reserved."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.testing import shield_for
from tests.hosts.http.clients import Ask, Send
from tests.hosts.http.policies import WORD, Hides, decided
from tests.hosts.http.servers import Server

PACKED = gzip.compress(f"key={WORD}".encode(), mtime=0)
"""A body in which nothing can be redacted."""


def counted(*guards: Any, awake_ns: Callable[[], int] = lambda: 0, **egress: Any) -> Shield:
    """A shield that lets one request leave."""
    budget = {"use": "budget", "api_calls": 1}
    return shield_for(
        {
            "name": "counted",
            "tools": {"fetch": {"annotations": ["open_world"]}},
            "guards": [{"use": "egress", "internal_hosts": ["127.0.0.1"], **egress}, budget],
        },
        guards=guards,
        resolver=lambda host, port: ["127.0.0.1"],
        awake_ns=awake_ns,
    )


def asks(server: Server) -> tuple[Ask, Ask]:
    """A request that cannot be sent as it was decided, and one that can."""
    url = f"http://public.test:{server.port}/"
    return Ask(url, "POST", {"Content-Encoding": "gzip"}, PACKED), Ask(url)


def test_a_request_that_cannot_be_redacted_uses_up_nothing(send: Send, outside: Server) -> None:
    shield = counted(Hides())
    run, (torn, plain) = shield.run(), asks(outside)
    for _ in range(3):
        with pytest.raises(Refused) as refused:
            send(run, torn)
        assert refused.value.decision.code == "http.unredactable"
    send(run, plain)
    assert len(outside.got) == 1
    with pytest.raises(Refused) as refused:
        send(run, plain)
    assert refused.value.decision.code == "budget.exceeded"
    assert decided(shield)[-2:] == ["ALLOW", "budget.exceeded"]


def test_what_the_tool_at_work_has_paid_for_stays_paid(send: Send, outside: Server) -> None:
    """The tool reserves the only API call there is; its first request does not leave, and its
    second one does."""
    run, (torn, plain) = counted(Hides()).run(), asks(outside)

    def fetch() -> list[str]:
        with pytest.raises(Refused) as refused:
            send(run, torn)
        assert refused.value.decision.code == "http.unredactable"
        return send(run, plain)

    run.call(fetch)
    assert len(outside.got) == 1


def test_a_request_that_is_refused_at_once_leaves_it_paid_too(send: Send, outside: Server) -> None:
    run, (_, plain) = counted(denied_hosts=["elsewhere.test"]).run(), asks(outside)

    def fetch() -> list[str]:
        with pytest.raises(Refused):
            send(run, Ask("http://elsewhere.test/"))
        return send(run, plain)

    run.call(fetch)
    assert len(outside.got) == 1


def test_a_request_that_would_leave_too_late_uses_up_nothing(send: Send, outside: Server) -> None:
    """The host slept for an hour between the judgement and the sending."""
    now = [0]
    asleep = [True]

    def awake_ns() -> int:
        now[0] += 3_600 * 10**9 if asleep[0] else 1
        return now[0]

    run, (_, plain) = counted(awake_ns=awake_ns).run(), asks(outside)
    with pytest.raises(Refused) as refused:
        send(run, plain)
    assert refused.value.decision.code == "kernel.lapsed"
    asleep[0] = False
    send(run, plain)
    assert len(outside.got) == 1


def test_a_budget_of_requests_alone_counts_the_first_request_of_a_tool_too(
    send: Send, outside: Server
) -> None:
    policy: dict[str, Any] = {
        "name": "requests",
        "tools": {"fetch": {"annotations": ["open_world"]}},
        "guards": [
            {"use": "egress", "internal_hosts": ["127.0.0.1"]},
            {"use": "budget", "api_calls": 2, "stages": ["egress"]},
        ],
    }
    run, (_, plain) = (
        shield_for(policy, resolver=lambda host, port: ["127.0.0.1"]).run(),
        asks(outside),
    )

    def fetch() -> list[str]:
        return send(run, plain)

    for _ in range(2):
        run.call(fetch)
    with pytest.raises(Refused) as refused:
        run.call(fetch)
    assert refused.value.decision.code == "budget.exceeded"
    assert len(outside.got) == 2
