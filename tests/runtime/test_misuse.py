"""What somebody is told who calls a method wrongly: the name they wrote, what is wrong, and what to
write instead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from stanchion import Refused, Run, Shield
from stanchion.approvals.errors import UnknownTicket
from stanchion.hosts import Host
from stanchion.policy.errors import PolicyError
from stanchion.runtime.calling.reports import BadEvent
from stanchion.testing import shield_for

BARE: dict[str, Any] = {"name": "bare"}
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


async def amodel(messages: list[Any]) -> str:
    return "yes"


async def apieces() -> AsyncIterator[str]:
    yield "yes"


def search(q: str) -> str:
    return q


CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (
        lambda run: run.result("t", {}),
        r"^Run\.result\(\) missing 1 required positional argument: 'result'",
    ),
    (lambda run: run.handoff(), r"^Run\.handoff\(\) missing"),
    (lambda run: asyncio.run(run.aresult("t", {})), r"^Run\.aresult\(\) missing"),
    (
        lambda run: asyncio.run(run.acheck("t", {}, colour=1)),
        r"^Run\.acheck\(\) got an unexpected .* 'colour'",
    ),
    (
        lambda run: run.check("bash", command="ls"),
        r'put the tool\'s arguments into `args`, as in `args={"command": \.\.\.}`',
    ),
    (
        lambda run: run.model(search, [], max_tokens=9),
        r'into `params`, as in `params={"max_tokens": \.\.\.}`',
    ),
    (lambda run: run.model(search, [], token=9), r"'token': did you mean `tokens`\?$"),
    (lambda run: run.model(amodel, []), r"`await run\.amodel\(\.\.\.\)` for a model"),
    (lambda run: list(run.stream(apieces())), r"use `astream` instead of `stream`"),
    (lambda run: asyncio.run(anext(run.astream(["yes"]))), r"use `stream` instead of `astream`"),
]


@pytest.mark.parametrize(("call", "said"), CALLS)
def test_a_call_that_cannot_be_made_says_what_was_called_and_what_to_write(
    call: Any, said: str
) -> None:
    shield = shield_for(BARE)
    run = shield.run("ann")
    with pytest.raises(TypeError, match=said):
        call(run)
    assert not run.open_calls()


def test_a_check_of_something_else_than_a_name_and_a_mapping_names_the_type_and_nothing_in_it() -> (
    None
):
    run = shield_for(BARE).run("ann")
    with pytest.raises(
        BadEvent,
        match=r'the name is of the type `function`: give the name, as in `run\.check\("search"',
    ):
        run.check(search, {})  # type: ignore[arg-type]  # what is tested
    with pytest.raises(BadEvent, match="the arguments are of the type `list`") as wrong:
        run.check("search", [SECRET])  # type: ignore[arg-type]  # what is tested
    assert SECRET not in str(wrong.value)


def test_a_stage_that_does_not_exist_is_answered_with_the_nearest() -> None:
    run = shield_for(BARE).run("ann")
    with pytest.raises(BadEvent, match="there is no stage `tool_cal`: did you mean `tool_call`"):
        run.judge("tool_cal", tool="t", args={})
    with pytest.raises(BadEvent, match="there is no stage `elsewhere`: choose among"):
        Host("h").on(shield_for(BARE).run("ann", can=[])).report("elsewhere")


def test_no_id_of_a_ticket_is_said_to_be_none() -> None:
    with pytest.raises(UnknownTicket, match=r"check `refused\.waits`"):
        shield_for(BARE).approve(None, by="ann")  # type: ignore[arg-type]  # what is tested


def test_a_pack_that_is_nearly_named_is_named() -> None:
    with pytest.raises(
        PolicyError, match=r"defalt: no such policy: did you mean the pack `default`\? If not, give"
    ):
        Shield.load("defalt")
    with pytest.raises(PolicyError, match=r"zzz\.yaml: no such policy: give the path"):
        Shield.load("zzz.yaml")


def test_a_host_is_told_that_a_function_is_no_name_of_a_tool() -> None:
    hosted = Host("h").on(shield_for(BARE).run("ann", can=[]))
    with pytest.raises(TypeError, match="give its name, or a `Tool` made from it"):
        hosted.call(search, {}, print)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(
        TypeError,
        match=r"Hosted\.model\(\) got .* 'max_tokens': put the model's parameters into `params`",
    ):
        hosted.model(search, [], max_tokens=9)  # type: ignore[call-arg]  # what is tested


def test_an_unknown_field_of_a_reported_call_is_named() -> None:
    hosted = Host("h").on(shield_for(BARE).run("ann", can=[]))
    with pytest.raises(Refused, match="`tool_call` has no field `colour`"):
        hosted.report("tool_call", tool="t", args={}, colour="red")


def test_why_an_outcome_could_not_be_judged_is_told_to_operators_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hosted = Host("h", refused=str).on(shield_for(BARE).run("ann", can=[]))
    told = hosted.report("tool_result", result="x")
    assert "needs the field" not in told.answer
    assert "`tool_result` needs the field `tool`" in caplog.text


HALTING = {"name": "h", "guards": [{"use": "budget", "calls": 1, "action": "halt"}]}


def asked(run: Run, in_async: bool, **options: Any) -> Any:
    if in_async:
        return asyncio.run(run.amodel(amodel, [], **options))
    return run.model(lambda messages: "yes", [], **options)


@pytest.mark.parametrize("in_async", [False, True])
def test_what_ends_the_run_is_the_reply_or_is_raised_as_asked(in_async: bool) -> None:
    with shield_for(HALTING).run("ann") as run:
        assert asked(run, in_async, ended="raise") == "yes"
        with pytest.raises(Refused) as over:
            asked(run, in_async, ended="raise")
        assert over.value.ended
        assert "would exceed the 1 call" in asked(run, in_async)
        with pytest.raises(ValueError, match="`ended` is `say`: write `raise` or `text`"):
            asked(run, in_async, ended="say")


@pytest.mark.parametrize("name", ["agent", "task", "id", "role", "tenant"])
@pytest.mark.parametrize("given", [1, b"ann", ["ann"], True])
def test_a_name_of_a_run_that_is_no_text_is_told(name: str, given: Any) -> None:
    with (
        Shield.load({"name": "bare"}) as shield,
        pytest.raises(ValueError, match=f"`{name}` is of the type `{type(given).__name__}`"),
    ):
        shield.run(**{name: given})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"agent": None}, "`agent` is of the type `NoneType`: give a text"),
        ({"task": None}, "`task` is of the type `NoneType`: give a text"),
        ({"tools": 1}, "`tools` is no list of texts"),
        ({"tools": "bash"}, "`tools` is no list of texts"),
        ({"tools": [b"bash"]}, "`tools` is no list of texts"),
        ({"can": 1}, "`can` is `1`: give a list of actions"),
        ({"deadline_s": "1"}, "deadline_s is `1`: give a positive number of seconds"),
    ],
)
def test_what_a_run_cannot_begin_with_is_told(options: dict[str, Any], says: str) -> None:
    """In this process as through a broker."""
    with Shield.load({"name": "bare"}) as shield:
        with pytest.raises(ValueError, match=says):
            shield.run(**options)
        assert shield.run("ann").spawn("bob").check("x", {}).proceeds
        if "task" not in options:
            with pytest.raises(ValueError, match=says):
                shield.run("ann").spawn(**options)
