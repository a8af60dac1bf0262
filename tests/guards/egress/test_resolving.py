"""Names are resolved once for each request, what comes back is judged, and exactly that is
pinned."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from stanchion import Run, Shield
from stanchion.guards.egress.guard import AddressQuestion, EgressGuard, Resolved
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.events import Egress
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Answered, Expired
from stanchion.kernel.stages import Stage
from stanchion.policy.lint import lint
from stanchion.readings import Reading, read
from stanchion.runtime.answers.resolver import (
    KEPT,
    Resolving,
    addresses,
    pinned,
    proxy_listed,
    system,
)
from stanchion.testing import shield_for

PUBLIC = "93.184.216.34"
OTHER = "1.1.1.1"


def shielded(
    resolver: Callable[[str, int], Any], *entries: dict[str, Any], **options: Any
) -> Shield:
    """A shield with egress guards (one, if none is given) that asks that resolver."""
    guards = [{"use": "egress", "deadline_ms": 60_000, **entry} for entry in entries or ({},)]
    return shield_for({"name": "out", "guards": guards}, resolver=resolver, **options)


class Rebinding:
    """A resolver that gives one answer after the other, and counts how often it is asked."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers: Iterator[list[str]] = iter(answers)
        self._lock = threading.Lock()
        self.asked: list[tuple[str, int]] = []

    def __call__(self, host: str, port: int) -> list[str]:
        with self._lock:
            self.asked.append((host, port))
            return next(self._answers)


def test_what_was_judged_is_pinned_in_order() -> None:
    run = shielded(lambda _host, _port: [PUBLIC, OTHER, "2600::1"]).run()
    decision = run.egress("https://example.com/")
    assert decision.proceeds
    assert pinned(decision) == (PUBLIC, OTHER, "2600::1")
    assert pinned(decision, "https://example.com/") == (PUBLIC, OTHER, "2600::1")
    assert (
        asyncio.run(run.ajudge("egress", url="https://example.com/")).inputs.answers
        == decision.inputs.answers
    )


def test_the_resolver_gets_the_host_as_it_is_judged() -> None:
    resolver = Rebinding([PUBLIC], [PUBLIC], [PUBLIC])
    run = shielded(resolver).run()
    for url in ("https://EXAMPLE.com./", "http://bücher.example:8080/", "ws://example.com/"):
        assert run.egress(url).proceeds
    assert resolver.asked == [
        ("example.com", 443),
        ("xn--bcher-kva.example", 8080),
        ("example.com", 80),
    ]


def test_literals_are_pinned_without_asking() -> None:
    resolver = Rebinding()
    run = shielded(resolver).run()
    decision = run.egress(f"https://{PUBLIC}/")
    assert pinned(decision) == ()
    assert pinned(decision, f"https://{PUBLIC}/") == (PUBLIC,)
    assert pinned(decision, "https://[2600::1]/") == ("2600::1",)
    assert pinned(decision, "https://example.com/") == ()
    assert pinned(decision, "no url") == ()
    assert resolver.asked == []


def test_a_name_that_moves_is_judged_each_time_as_it_is_then() -> None:
    run = shielded(Rebinding([PUBLIC], ["127.0.0.1"], [PUBLIC])).run()
    first, second, third = [run.egress("https://example.com/") for _ in range(3)]
    assert pinned(first) == (PUBLIC,)
    assert second.code == "egress.internal"
    assert pinned(third) == (PUBLIC,)


def test_all_guards_of_a_request_are_given_the_same_addresses() -> None:
    resolver = Rebinding([PUBLIC], [OTHER])
    run = shielded(resolver, {"id": "one"}, {"id": "two", "mode": "shadow"}, {"id": "three"}).run()
    decision = run.egress("https://example.com/")
    assert [name for name, _ in decision.inputs.answers] == [
        "one-resolved",
        "three-resolved",
        "two-resolved",
    ]
    assert pinned(decision) == (PUBLIC,)
    assert resolver.asked == [("example.com", 443)]
    assert pinned(run.egress("https://example.com/")) == (OTHER,)


def test_guards_with_different_lists_both_count() -> None:
    run = shielded(
        lambda _host, _port: ["10.0.0.1"],
        {"id": "lax", "internal_hosts": ["10.0.0.1"]},
        {"id": "firm"},
    ).run()
    decision = run.egress("https://example.com/")
    assert not decision.proceeds
    assert [finding.guard for finding in decision.findings] == ["firm-resolved"]


def test_addresses_that_only_one_guard_judged_are_not_pinned() -> None:
    def decided(*answers: list[str]) -> Decision:
        given = tuple(
            [(f"g{at}", Answered({"addresses": answer})) for at, answer in enumerate(answers)]
        )
        return Decision(
            "d",
            Action.ALLOW,
            "p",
            inputs=Inputs(answers=(*given, ("own", Answered(None)), ("x", Expired(1)))),
        )

    assert pinned(decided([PUBLIC, OTHER], [OTHER])) == (OTHER,)
    assert pinned(decided()) == ()
    with pytest.raises(ValueError, match="no address was judged by every guard of decision `d`"):
        pinned(decided([PUBLIC], [OTHER]))


@pytest.mark.parametrize(
    ("resolver", "code"),
    [
        (lambda _host, _port: [], "egress.unresolved"),
        (lambda _host, _port: 1 / 0, "kernel.lookup_failed"),
        (lambda _host, _port: None, "kernel.lookup_failed"),
        (lambda _host, _port: [None], "kernel.guard_error"),
        (lambda _host, _port: ["example.org"], "kernel.guard_error"),
        (lambda _host, _port: PUBLIC, "kernel.guard_error"),
        (lambda _host, _port: [134744072], "kernel.guard_error"),
        (lambda _host, _port: [b"\x08\x08\x08\x08"], "kernel.guard_error"),
        (lambda _host, _port: [[PUBLIC]], "kernel.guard_error"),
        (lambda _host, _port: [f" {PUBLIC}"], "kernel.guard_error"),
        (lambda _host, _port: ["2600::1%lo"], "kernel.guard_error"),
        (lambda _host, _port: ["::ffff:127.0.0.1%1"], "kernel.guard_error"),
        (lambda _host, _port: [PUBLIC, "10.0.0.1"], "egress.internal"),
        (lambda _host, _port: ["fe80::1%eth0"], "egress.internal"),
        (lambda _host, _port: ["::ffff:127.0.0.1"], "egress.internal"),
        (lambda _host, _port: ["100.100.100.200"], "egress.metadata"),
    ],
)
def test_a_resolver_that_fails_or_talks_nonsense_refuses(
    resolver: Callable[[str, int], Any], code: str
) -> None:
    run = shielded(resolver).run()
    assert run.egress("https://example.com/").code == code
    assert asyncio.run(run.ajudge("egress", url="https://example.com/")).code == code


def test_a_resolver_that_does_not_answer_in_time_refuses() -> None:
    answer = threading.Event()

    def slow(_host: str, _port: int) -> list[str]:
        answer.wait()
        return [PUBLIC]

    run = shielded(slow, {"deadline_ms": 0}).run()
    try:
        decision = run.egress("https://example.com/")
    finally:
        answer.set()
    assert decision.code == "kernel.lookup_expired"
    assert pinned(decision) == ()


def test_nothing_is_asked_about_what_is_refused_anyway() -> None:
    resolver = Rebinding()
    run = shielded(resolver, {"allowed_hosts": ["example.com"], "methods": ["GET"]}).run()
    for url in (
        "https://other.example/",
        "https://localhost/",
        "https://exam%70le.com/",
        "https://u@example.com/",
        "x",
    ):
        assert not run.egress(url).proceeds
    assert run.egress("https://example.com/", "POST").code == "egress.method"
    assert run.check("fetch", {"url": "https://example.com/"}).proceeds
    assert resolver.asked == []


def test_what_goes_ahead_in_spite_of_a_finding_is_pinned_too() -> None:
    run = shielded(Rebinding([PUBLIC], ["10.0.0.1"]), {"action": "warn", "methods": ["GET"]}).run()
    decision = run.egress("https://example.com/", "POST")
    assert (decision.action, decision.code, pinned(decision)) == (
        Action.WARN,
        "egress.method",
        (PUBLIC,),
    )
    decision = run.egress("https://example.com/")
    assert (decision.action, decision.code, pinned(decision)) == (
        Action.WARN,
        "egress.internal",
        ("10.0.0.1",),
    )


def test_nothing_is_asked_where_only_the_written_counts() -> None:
    resolver = Rebinding()
    decision = shielded(resolver, {"resolve": False}).run().egress("https://example.com/")
    assert decision.proceeds
    assert resolver.asked == []
    assert shielded(resolver, {"stages": ["tool_call"]}).run().egress("https://127.0.0.1/").proceeds


def test_a_late_answer_counts_where_it_leads_inside() -> None:
    guard = Resolved(EgressGuard())
    asked = AddressQuestion("example.com", 443, "e", "https://example.com/")
    finding = guard.judge(read(asked), {"addresses": ["10.0.0.1"]})
    assert finding is not None
    assert finding.code == "egress.internal"
    assert guard.judge(read(asked), {"addresses": [PUBLIC]}) is None
    assert guard.judge(read(asked), {"addresses": []}) is None


def test_answers_are_kept_for_a_while_only() -> None:
    resolver = Rebinding(*[[PUBLIC]] * (KEPT + 2))
    resolving = Resolving(resolver)
    for at in range(KEPT + 1):
        resolving.addresses(AddressQuestion("example.com", 443, f"e{at}", ""))
    resolving.addresses(AddressQuestion("example.com", 443, f"e{KEPT}", ""))
    assert len(resolver.asked) == KEPT + 1
    resolving.addresses(AddressQuestion("example.com", 443, "e0", ""))
    assert len(resolver.asked) == KEPT + 2


def test_all_who_wait_for_an_answer_get_the_same_failure() -> None:
    resolver = Rebinding()
    resolving = Resolving(resolver)
    for _ in range(2):
        with pytest.raises(StopIteration):
            resolving.addresses(AddressQuestion("example.com", 443, "e", ""))
    assert len(resolver.asked) == 1


def test_the_system_resolver_knows_this_machine_and_forgives_bad_names() -> None:
    assert {*system("localhost", 80)} <= {"127.0.0.1", "::1"}
    assert system("127.0.0.1", 80) == ["127.0.0.1"]
    assert system("a" * 70 + ".example", 80) == []
    assert addresses(AddressQuestion("127.0.0.1", 80, "", "")) == {"addresses": ["127.0.0.1"]}


class Hiding:
    """A guard that hides a word wherever it stands in a request."""

    kind: ClassVar[Kind] = Kind.PURE
    id = "hiding"
    stages = (Stage.EGRESS,)
    priority = 20

    def judge(self, reading: Reading[Egress]) -> Finding | None:
        event = reading.event
        texts = {("url",): event.url, ("payload", "note"): event.payload["note"]}
        texts |= {("headers", name): text for name, text in event.headers.items()}
        spans = [(path, text.find("hunter2")) for path, text in texts.items()]
        patches = [Patch(path, "[redacted:word]", at, at + 7) for path, at in spans if at >= 0]
        return Finding(Action.REDACT, "hiding.word", patches=tuple(patches)) if patches else None


def sent(run: Run, url: str) -> Decision:
    """What is decided of a request with the word in its header and payload."""
    return run.egress(url, "POST", headers={"x-key": "a hunter2"}, payload={"note": "hunter2!"})


def test_redactions_go_out_redacted() -> None:
    run = shielded(lambda _host, _port: [PUBLIC], guards=[Hiding()]).run()
    decision = sent(run, "https://example.com/?key=hunter2")
    assert decision.action == Action.REDACT
    assert pinned(decision) == (PUBLIC,)
    content = {
        "url": "https://example.com/?key=hunter2",
        "headers": {"x-key": "a hunter2"},
        "payload": {"note": "hunter2!"},
    }
    assert decision.patched(content) == {
        "url": "https://example.com/?key=[redacted:word]",
        "headers": {"x-key": "a [redacted:word]"},
        "payload": {"note": "[redacted:word]!"},
    }


def test_a_url_that_is_none_once_it_is_redacted_is_refused() -> None:
    run = shielded(lambda _host, _port: [PUBLIC], guards=[Hiding()]).run()
    assert sent(run, "https://hunter2.example.com/").code == "egress.unreadable"


def test_proxies_have_to_be_listed_by_every_guard() -> None:
    resolver = Rebinding()
    one = {"id": "one", "proxies": ["proxy.corp:3128", "10.0.0.5"]}
    listed = shielded(resolver, one).policy
    assert proxy_listed(listed, "http://proxy.corp:3128")
    assert proxy_listed(listed, "http://user:secret@proxy.corp:3128/")
    assert proxy_listed(listed, "socks5://10.0.0.5:1080")
    assert proxy_listed(listed, "10.0.0.5:8080")
    assert not proxy_listed(listed, "http://proxy.corp:3129")
    assert not proxy_listed(listed, "http://proxy.corp")
    assert not proxy_listed(listed, "http://proxy.corp\\@10.0.0.5")
    assert not proxy_listed(listed, "rubbish")
    assert not proxy_listed(shielded(resolver, one, {"id": "two"}).policy, "http://proxy.corp:3128")
    assert proxy_listed(
        shielded(resolver, one, {"id": "two", "mode": "shadow"}).policy, "http://proxy.corp:3128"
    )
    assert not proxy_listed(shield_for({"name": "none"}).policy, "http://proxy.corp:3128")


def test_a_policy_with_the_guard_is_looked_over() -> None:
    assert (
        lint(
            {"name": "out", "guards": [{"use": "egress"}, {"use": "files", "real_paths": True}]}
        ).remarks
        == ()
    )


def test_what_was_resolved_is_enough_to_decide_again() -> None:
    from stanchion.kernel.events import Moment
    from stanchion.kernel.replay import replay

    run = shielded(Rebinding(["10.0.0.1"])).run(id="r")
    decision = run.egress("https://example.com/")
    event = Egress(
        id=decision.id, at=decision.inputs.now, run=run.desk.info, url="https://example.com/"
    )
    assert (
        replay(run.desk.shield.policy, run.desk.info, Moment((event,)), decision.inputs) == decision
    )
