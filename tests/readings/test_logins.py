"""Logins in URLs: no message and no record shows one, whatever becomes of the request."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.guards.egress.guard import EgressGuard
from stanchion.kernel.actions import Action
from stanchion.kernel.events import Egress, RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.signing_in import HIDDEN, login_in, shown
from stanchion.testing import shield_for

PASSWORD = "hunter2"


def told(
    policy: dict[str, Any], url: str = "", args: dict[str, Any] | None = None
) -> tuple[Any, str]:
    """What is decided about a request or a call, and all that is written down of it."""
    guards = [{"use": "egress", "deadline_ms": 60_000, **policy}]
    shield = shield_for(
        {"name": "out", "guards": guards}, resolver=lambda _host, _port: ["93.184.216.34"]
    )
    run = shield.run()
    decision = run.egress(url) if args is None else run.check("fetch", args)
    return decision, "".join([str(kept.read()) for kept in shield.journal.kept()])


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://me:hunter2@example.com/", "egress.credentials"),
        ("http://hunter2@example.com/", "egress.credentials"),
        ("http://me:hunter2@127.0.0.1/", "egress.internal"),
        ("http://me:hunter2#@127.0.0.1/", "egress.unreadable"),
        ("http://me:hunter2?x@127.0.0.1/", "egress.unreadable"),
        ("http://me:hunter2/x@127.0.0.1/", "egress.unreadable"),
        ("http://me:hunter2\\x@127.0.0.1/", "egress.unreadable"),
        ("http:me:hunter2@127.0.0.1/", "egress.internal"),
        ("ht\ntp://me:hunter2@example.com/", "egress.ambiguous"),
        ("me:hunter2@127.0.0.1/", "egress.scheme"),
        ("ftp://me:hunter2@example.com/", "egress.scheme"),
    ],
)
def test_a_password_stands_in_no_message_and_no_record(url: str, code: str) -> None:
    decision, written = told({}, url)
    assert decision.code == code
    assert PASSWORD not in decision.message + decision.advice + str(decision.findings)
    assert PASSWORD not in written
    assert HIDDEN in written


def test_what_stands_beside_a_login_is_written_down() -> None:
    _, written = told({}, "http://me:hunter2@example.com/page?at=here")
    assert f"http://{HIDDEN}@example.com/page?at=here" in written


def test_a_login_that_is_allowed_is_sent_and_not_written_down() -> None:
    decision, written = told({"credentials": True}, "http://me:hunter2@example.com/")
    assert (decision.action, decision.code, decision.patches) == (Action.ALLOW, "egress.login", ())
    assert PASSWORD not in written
    decision, _ = told({"credentials": True, "methods": ["POST"]}, "http://me:hunter2@example.com/")
    assert decision.code == "egress.method"


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_guards_that_only_watch_keep_it_to_themselves_as_well(mode: str) -> None:
    assert PASSWORD not in told({"mode": mode}, "http://me:hunter2@example.com/")[1]


@pytest.mark.parametrize(
    "args",
    [
        {"url": "http://me:hunter2@example.com/"},
        {"a": [{"url": "http://me:hunter2@example.com/"}]},
        {"first": "http://127.0.0.1/", "then": "http://me:hunter2@example.com/"},
        {"host": "me:hunter2@example.com"},
        {"url": "//me:hunter2@127.0.0.1/"},
    ],
)
def test_logins_in_arguments_are_kept_out_of_records(args: dict[str, Any]) -> None:
    decision, written = told({}, args=args)
    assert not decision.proceeds
    assert PASSWORD not in written + decision.message


def test_what_is_no_login_is_written_as_it_is() -> None:
    for text in (
        "https://example.com/@me",
        "https://example.com/?mail=a@b.example",
        "https://example.com/",
        "no url",
    ):
        assert login_in(text) is None
    call = ToolCall(
        id="e", at=0, run=RunInfo("r"), tool="t",
        args={"url": "http://127.0.0.1/", "to": "me@example.com", "m": "mailto:me@x.example", "s": "is: me @ home"},  # noqa: E501
    )  # fmt: skip
    finding = EgressGuard().judge(read(call))
    assert finding is not None
    assert finding.hides == ()


def test_a_login_that_is_hidden_already_is_left_alone() -> None:
    event = Egress(id="e", at=0, run=RunInfo("r"), url=f"http://{HIDDEN}@example.com/")
    finding = EgressGuard().judge(read(event))
    assert finding is not None
    assert finding.hides == ()


def test_messages_quote_what_is_not_secret() -> None:
    assert shown("http://me:hunter2@exa mple.com/a?b#c") == "http://exa mple.com/a"
    assert shown("http://me:hunter2#@x/`") == "http://x/?"
    assert shown("x" * 200) == "x" * 100 + "…"
