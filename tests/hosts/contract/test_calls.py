"""Around a call: judged, carried out, its outcome judged and settled, and answered in the host's
own types."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from stanchion import Action, Refused, Stage, Tool, ToolFailed
from stanchion.hosts import Host, as_text
from stanchion.kernel.findings import Patch
from stanchion.testing import shield_for
from tests.hosts.contract.loops import CALLS, LOOP, MESSAGES, Asked, Message
from tests.hosts.office import called_with
from tests.rules import rule
from tests.runtime.guards import says

RULES: dict[str, Any] = {
    "name": "rules",
    "guards": [
        called_with("root"),
        called_with("end", "halt"),
        called_with("ask", "escalate"),
        rule("leak", "tool_result", when="event.result == 'leak'", action="block"),
        {"use": "secrets"},
    ],
}
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(params=CALLS)
def call(request: pytest.FixtureRequest) -> Any:
    """One of the ways to call."""
    return CALLS[request.param]


def test_the_hosts_own_result_comes_back(call: Any) -> None:
    ran: list[Any] = []

    def carry(args: dict[str, Any]) -> Message:
        ran.append(args)
        return Message("c1", "done", artifact=ran)

    with LOOP.run(shield_for(RULES), "ann") as hosted:
        made = call(hosted, "remove", {"name": "tmp"}, carry)
    assert made == Message("c1", "done", artifact=ran)
    assert made.artifact is ran
    assert ran == [{"name": "tmp"}]


def test_the_call_and_its_outcome_are_recorded_and_settled(call: Any) -> None:
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "calls": 2, "duration_s": 100}]})
    hosted = LOOP.run(shield, "ann")
    for _ in range(2):
        call(hosted, "t", {"a": 1}, lambda args: args["a"])
    assert call(hosted, "t", {"a": 1}, lambda args: args["a"]).kind == "refused"
    kept = [one.read() for one in shield.journal.kept()]
    assert [(one.stage, one.tool, one.action) for one in kept] == [
        *[("tool_call", "t", "ALLOW"), ("tool_result", "t", "ALLOW")] * 2,
        ("tool_call", "t", "BLOCK"),
    ]
    assert hosted.run.open_calls() == ()


def test_a_refusal_is_said_in_the_hosts_words_and_nothing_is_carried_out(call: Any) -> None:
    hosted = LOOP.run(shield_for(RULES), "ann")
    ran: list[Any] = []
    said = call(hosted, "remove", {"name": "root"}, ran.append, about=Asked("c7"))
    assert (said.id, said.kind) == ("c7", "refused")
    assert said.content.startswith("a rule of the policy forbids this")
    assert not ran


def test_what_ends_the_run_has_words_of_its_own(call: Any) -> None:
    hosted = LOOP.run(shield_for(RULES), "ann")
    assert call(hosted, "remove", {"name": "end"}, str).kind == "ended"
    assert call(hosted, "remove", {"name": "tmp"}, str).kind == "ended"
    raising = Host("raising", can=LOOP.can, refused=as_text).run(shield_for(RULES), "ann")
    assert "forbids" in call(raising, "remove", {"name": "root"}, str)
    with pytest.raises(Refused) as refused:
        call(raising, "remove", {"name": "end"}, str)
    assert refused.value.ended


def test_a_withheld_result_says_that_it_happened_and_is_undone(call: Any) -> None:
    hosted, undone = LOOP.run(shield_for(RULES), "ann"), []
    tool = Tool(lambda name: None, "tell", undo=lambda name: undone.append(name))
    said = call(hosted, tool, {"name": "x"}, lambda args: "leak")
    assert said.content.startswith("the call was done, and only its result is withheld")
    assert undone == ["x"]


def test_what_a_tool_says_that_a_call_uses_is_reserved(call: Any) -> None:
    policy = {"name": "p", "guards": [{"use": "budget", "cost_usd": 1}]}
    hosted = LOOP.run(shield_for(policy), "ann")
    tool = Tool(str, "buy", usage={"cost_usd": 0.4})
    ran: list[Any] = []
    for number in range(5):
        call(hosted, tool, {"number": number}, ran.append)
    assert ran == [{"number": 0}, {"number": 1}]


def test_arguments_that_a_guard_changed_are_those_that_are_carried_out(call: Any) -> None:
    hidden = says(Action.REDACT, Stage.TOOL_CALL, patches=(Patch(("a", "*"), "[hidden]"),))
    hosted = LOOP.run(shield_for({"name": "p"}, guards=[hidden]), "ann")
    took: list[Any] = []
    call(hosted, "send", {"a": {"*": "x", "b": 1}, "*": "kept", "self": 2, "args": 3}, took.append)
    assert took == [{"a": {"*": "[hidden]", "b": 1}, "*": "kept", "self": 2, "args": 3}]


def test_only_what_the_host_shows_is_judged_and_changed_in_its_own_message(call: Any) -> None:
    hosted = MESSAGES.run(shield_for(RULES), "ann")
    plain = Message("c1", "fine", artifact={"raw": KEY})
    assert call(hosted, "read", {}, lambda args: plain) is plain
    made = call(hosted, "read", {}, lambda args: Message("c2", f"the key is {KEY}", artifact=KEY))
    assert isinstance(made, Message)
    assert made.id == "c2"
    assert KEY not in made.content
    assert made.artifact is None


def test_a_host_that_cannot_redact_is_refused_what_would_be(call: Any) -> None:
    plain = Host("plain", can=["warn"], refused=as_text)
    hosted = plain.run(shield_for(RULES), "ann")
    said = call(hosted, "read", {}, lambda args: f"the key is {KEY}")
    assert said.startswith("the call was done")
    assert KEY not in said


def test_the_tools_own_error_is_judged_and_raised(call: Any) -> None:
    shield = shield_for(RULES)
    hosted, error = LOOP.run(shield, "ann"), KeyError("missing")

    def fails(args: dict[str, Any]) -> None:
        raise error

    with pytest.raises(KeyError) as raised:
        call(hosted, "t", {}, fails)
    assert raised.value is error
    assert [one.read().stage for one in shield.journal.kept()] == ["tool_call", "error"]


def test_an_error_that_shows_a_secret_is_withheld(call: Any) -> None:
    def fails(args: dict[str, Any]) -> None:
        raise ValueError(f"no access with {KEY}")

    with pytest.raises(ToolFailed) as raised:
        call(LOOP.run(shield_for(RULES), "ann"), "t", {}, fails)
    assert KEY not in str(raised.value)


def test_a_failed_call_is_carried_out_again(call: Any) -> None:
    guards = [{"use": "recovery", "backoff_base_s": 0}]
    shield = shield_for(
        {"name": "r", "tools": {"t": {"annotations": ["idempotent"]}}, "guards": guards}
    )
    tries: list[dict[str, Any]] = []

    def carry(args: dict[str, Any]) -> str:
        tries.append(args)
        if len(tries) < 3:
            raise ConnectionResetError("reset")
        return "there"

    assert call(LOOP.run(shield, "ann"), "t", {"a": 1}, carry) == "there"
    assert tries == [{"a": 1}] * 3


def test_a_call_that_happens_once_is_answered_from_what_it_gave(call: Any) -> None:
    hosted = MESSAGES.run(shield_for(RULES), "ann", "post", id="run-1")
    tool, ran = Tool(str, "send", once=True), []

    def carry(args: dict[str, Any]) -> Message:
        ran.append(args)
        return Message("c1", "sent", artifact=1)

    first = call(hosted, tool, {"to": "bob"}, carry, about=Asked("c1"))
    again = MESSAGES.run(hosted.run.desk.shield, "ann", "post", id="run-1")
    second = call(again, tool, {"to": "bob"}, carry, about=Asked("c2"))
    assert first == Message("c1", "sent", artifact=1)
    assert second == Message("c2", "sent")
    assert len(ran) == 1


def test_what_waits_for_a_person_goes_ahead_once_one_has_said_yes(call: Any) -> None:
    shield = shield_for(RULES)
    waiting: list[Any] = []
    host = Host(
        "asks",
        can=LOOP.can,
        refused=lambda refusal: waiting.append((refusal.waits, refusal.ticket)),
    )
    hosted = host.run(shield, "ann")
    assert call(hosted, "remove", {"name": "ask"}, lambda args: "gone") is None
    ((waits, ticket),) = waiting
    assert waits
    shield.approve(ticket, by="bob")
    assert call(hosted, "remove", {"name": "ask"}, lambda args: "gone") == "gone"


@pytest.mark.parametrize("args", [None, "ls", ["a"], {1: "a"}])
def test_arguments_without_names_are_refused(call: Any, args: Any) -> None:
    hosted = LOOP.run(shield_for(RULES), "ann")
    ran: list[Any] = []
    said = call(hosted, "t", args, ran.append, about=Asked("c1"))
    assert (said.id, said.kind) == ("c1", "refused")
    assert "arguments as a mapping" in said.content
    assert not ran


def test_items_are_judged_one_by_one_and_a_refusal_is_the_last() -> None:
    hosted = LOOP.run(shield_for(RULES), "ann")

    def items(args: dict[str, Any]) -> Iterator[str]:
        yield from ("first", "leak", "never")

    first, said = list(hosted.call("pages", {}, items, about=Asked("c1")))
    assert first == "first"
    assert (said.id, said.kind) == ("c1", "refused")

    async def aitems() -> list[Any]:
        return [item async for item in await hosted.acall("pages", {}, items)]

    first, said = asyncio.run(aitems())
    assert (first, said.kind) == ("first", "refused")
    assert list(
        MESSAGES.run(shield_for(RULES), "ann").call("pages", {}, lambda args: iter(["a", "b"]))
    ) == ["a", "b"]


def test_the_tool_is_at_work_while_it_is_carried_out(call: Any) -> None:
    from stanchion.runtime.calling.at_work import tool_at_work

    hosted = LOOP.run(shield_for(RULES), "ann")
    assert call(hosted, "fetch", {}, lambda args: tool_at_work()) == "fetch"
    assert tool_at_work() == ""


def test_shielded_tools_find_the_run() -> None:
    shield = shield_for(RULES)

    @shield.tool
    def look() -> str:
        return "seen"

    with LOOP.run(shield, "ann"):
        assert look() == "seen"

    async def host() -> str:
        async with LOOP.run(shield, "ann"):
            return look()

    assert asyncio.run(host()) == "seen"


def test_a_tool_without_a_name_or_a_function_is_a_mistake() -> None:
    hosted: Any = LOOP.run(shield_for(RULES), "ann")
    with pytest.raises(ValueError, match="give it a name of 1 to 256"):
        hosted.call("", {}, str)
    with pytest.raises(TypeError, match="give the function that runs it"):
        hosted.call("t", {}, None)


def test_a_child_works_on_the_same_host_and_spends_from_the_same_budgets() -> None:
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "calls": 2}]})
    with LOOP.run(shield, "ann", "letters") as hosted:
        with hosted.child("bob") as own:
            assert own.call("t", {"a": 1}, lambda args: args["a"]) == 1
            assert (own.run.agent, own.run.task, own.host) == ("bob", "letters", LOOP)
        assert hosted.call("t", {"a": 1}, lambda args: args["a"]) == 1
        assert hosted.child("eve").call("t", {"a": 1}, lambda args: args["a"]).kind == "refused"
