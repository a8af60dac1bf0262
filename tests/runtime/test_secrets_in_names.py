"""Secrets in names, in operators' words, in prose and in pieces: nothing of them is written down or
told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.errors import AnswerRefused
from stanchion.audit.journal import MemoryJournal
from stanchion.runtime.operating.allowances import Allowances
from stanchion.runtime.run import Run
from tests.rules import rule

TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
PASSWORD = "hunter2-7f3a"
TOLD = f"my password is {PASSWORD}"
POLICY: dict[str, Any] = {"name": "p", "guards": [{"use": "secrets"}]}
ASK: dict[str, Any] = rule("ask", "tool_call", check="false", action="escalate")
ASKING: dict[str, Any] = {"name": "p", "guards": [{"use": "secrets"}, ASK]}
BARE: dict[str, Any] = {"name": "bare", "guards": [{"use": "step_limit", "max_steps": 9}]}


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """Where records go."""
    return tmp_path / "trail"


@pytest.fixture
def shield(trail: Path) -> Any:
    """A shield whose policy redacts secrets, with a trail on disk."""
    with Shield.load(POLICY, journal=trail, store="memory:") as made:
        yield made


def written(folder: Path) -> str:
    """Everything that is in the files of a trail."""
    return "\n".join(
        file.read_bytes().decode("utf-8", "replace") for file in folder.rglob("*") if file.is_file()
    )


class Odd(Exception):
    """An error whose class has a name of its own."""


def fails(error: type[Exception]) -> Callable[[], None]:
    def tool() -> None:
        raise error("no")

    return tool


DOES: dict[str, Callable[[Shield], Any]] = {
    "the tool of a check": lambda shield: shield.run("a").check(TOKEN, {}),
    "the tool of a call": lambda shield: shield.run("a").call(
        shield.tool(name=f"deploy_{TOKEN}")(lambda: 1)
    ),
    "the agent": lambda shield: shield.run(TOKEN).check("ls", {}),
    "the task": lambda shield: shield.run("a", TOKEN).check("ls", {}),
    "the run": lambda shield: shield.run("a", id=TOKEN).check("ls", {}),
    "the tenant": lambda shield: shield.run("a", tenant=TOKEN).check("ls", {}),
    "what a label says": lambda shield: shield.run("a", labels={"for": TOKEN}).check("ls", {}),
    "a label": lambda shield: shield.run("a", labels={TOKEN: "ann"}).check("ls", {}),
    "the role": lambda shield: shield.run("a", role=TOKEN).check("ls", {}),
    "a tool that is added": lambda shield: shield.run("a", tools=[TOKEN]).check("ls", {}),
    "the parent of a run": lambda shield: shield.run("a", id=TOKEN).spawn("b").check("ls", {}),
    "a prompt's source": lambda shield: shield.run("a").judge(
        "prompt", text="hi", source=TOKEN, trusted=False
    ),
    "a handoff's target": lambda shield: shield.run("a").judge("handoff", to=TOKEN),
    "an exception's class": lambda shield: shield.run("a").call(
        shield.tool(name="t")(fails(type(TOKEN, (Odd,), {})))
    ),
    "an error's base": lambda shield: shield.run("a").call(
        shield.tool(name="t")(fails(type("Worse", (type(TOKEN, (Odd,), {}),), {})))
    ),
    "an error's name": lambda shield: shield.run("a").judge("error", tool="t", error=TOKEN),
    "why it is halted": lambda shield: shield.halt(f"{TOKEN} leaked"),
    "who halts it": lambda shield: shield.halt("x", by=TOKEN),
    "what is halted": lambda shield: shield.halt("x", scope=f"tool:{TOKEN}"),
    "whose halt it is": lambda shield: shield.halt("x", tenant=TOKEN),
    "why safe mode is on": lambda shield: shield.safe_mode(True, TOKEN),
    "what is isolated": lambda shield: shield.quarantine(f"agent:{TOKEN}", why=TOKEN),
    "why a run is cancelled": lambda shield: begun(shield).cancel(TOKEN),
    "why something is allowed": lambda shield: Allowances(shield).allow(
        "0" * 12, tool=TOKEN, why=TOKEN, by=TOKEN
    ),
}


def begun(shield: Shield) -> Run:
    """A run that has done something, so that its end is recorded."""
    run = shield.run("a")
    run.check("ls", {})
    return run


@pytest.mark.parametrize("what", DOES)
def test_a_secret_in_a_name_is_not_written_down(what: str, shield: Shield, trail: Path) -> None:
    with suppress(Odd):
        DOES[what](shield)
    shield.close()
    text = written(trail)
    assert TOKEN[8:] not in text
    assert "[github-pat-" in text or "[redacted:github-pat]" in text


def test_a_name_is_shown_alike_everywhere_and_told_from_another(
    shield: Shield, trail: Path
) -> None:
    other = "ghp_" + "AWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUy"
    for name in (TOKEN, f"x-{TOKEN}", other):
        shield.run(name, id=f"run-{name}").check(name, {})
    one, two = shield.policy.veil.name(TOKEN), shield.policy.veil.name(other)
    shield.close()
    text = written(trail)
    assert one != two
    assert f'"agent":"{one}"' in text
    assert f'"agent":"x-{one}"' in text
    assert f'"run":"run-{two}"' in text


def test_the_run_itself_is_found_by_its_name_as_before(shield: Shield) -> None:
    """Only what is written and shown changes: rules and states know the name as it is."""
    shield.halt("x", scope=f"tool:{TOKEN}")
    run = shield.run("a")
    decision = run.check(TOKEN, {})
    assert decision.code == "kernel.halted"
    assert TOKEN not in decision.message
    assert run.check("another", {}).proceeds


def test_a_message_and_a_notice_do_not_repeat_it(shield: Shield) -> None:
    run = shield.run("a")
    shield.quarantine(f"tool:{TOKEN}", why=f"it is {TOKEN}")
    with pytest.raises(Refused) as refused:
        run.call(shield.tool(name=TOKEN)(lambda: 1))
    assert TOKEN[8:] not in f"{refused.value} {refused.value.decision.findings} {run.notices()}"


def test_a_ticket_has_none_and_its_agent_cannot_answer_it(trail: Path) -> None:
    with Shield.load(ASKING, journal=trail, store="memory:") as shield:
        run = shield.run(TOKEN, TOKEN, id=TOKEN)
        decision = run.check(TOKEN, {"note": TOLD})
        (ticket,) = shield.tickets()
        assert TOKEN[8:] not in str(ticket)
        assert PASSWORD not in str(ticket)
        with pytest.raises(AnswerRefused, match="asked for it") as said:
            shield.approve(ticket.id, by=TOKEN)
        assert TOKEN[8:] not in str(said.value)
        denied = shield.deny(ticket.id, by=f"ann-{TOKEN}", comment=f"{TOLD}, and {TOKEN}")
        assert TOKEN[8:] not in str(denied)
        refused = run.check(TOKEN, {"note": TOLD})
        assert decision.action.name == "ESCALATE"
        assert PASSWORD not in refused.message
        assert TOKEN[8:] not in refused.message
    text = written(trail)
    assert TOKEN[8:] not in text
    assert PASSWORD not in text


@pytest.mark.parametrize(
    "policy",
    ["default", {"name": "bare", "guards": [{"use": "step_limit", "max_steps": 9}]}],
    ids=str,
)
def test_a_password_told_in_prose_reaches_no_record(policy: Any, trail: Path) -> None:
    with Shield.load(policy, journal=trail, store="memory:") as shield:
        run = shield.run("a")
        run.prompt(f"hello, {TOLD}, please log in")
        run.check("note", {"text": [TOLD], "more": {"x": f"{TOLD}."}})
        run.judge(
            "tool_result", tool="t", args={}, result=[f"the wifi password for guests is {PASSWORD}"]
        )
        shield.halt(f"because {TOLD}")
    assert PASSWORD not in written(trail)


@pytest.mark.parametrize("cut", [4, 10, 20, 38])
@pytest.mark.parametrize("action", ["redact", "block", "warn"])
def test_a_token_over_two_items_of_a_list_reaches_no_record(
    cut: int, action: str, trail: Path
) -> None:
    with Shield.load(
        {"name": "p", "guards": [{"use": "secrets", "action": action}]}, journal=trail
    ) as shield:
        args = {"parts": ["first", f"token {TOKEN[:cut]}", TOKEN[cut:]], "n": 1}
        decision = shield.run("a").check("send", args)
        shield.run("a").check("send", {"parts": [TOKEN[:12], TOKEN[12:24], TOKEN[24:]]})
        if cut < 20:  # what is longer is likely to be a secret by itself
            assert decision.proceeds
            assert not decision.patches
    text = written(trail)
    assert TOKEN[8:cut] not in text or cut <= 10
    assert TOKEN[max(cut, 8) :] not in text
    assert TOKEN[24:] not in text
    assert '"first"' in text


@pytest.mark.parametrize("name", ["{}", "send_{}", "{}-tool"])
def test_a_canary_does_not_leave_in_a_name(name: str) -> None:
    policy = {"name": "p", "guards": [{"use": "canary", "key": "a key of sixteen"}]}
    run = Shield.load(policy, store="memory:", journal="memory:").run("a")
    named = name.format(run.canary("system prompt"))
    for decision in (run.check(named, {}), run.judge("handoff", to=named)):
        assert decision.code == "canary.leaked"
        assert "in a name" in decision.message
        assert named not in decision.message
    assert run.check("send", {}).proceeds


@pytest.mark.parametrize(
    ("action", "refused"), [("block", True), ("warn", False), ("redact", False)]
)
def test_a_secret_in_a_name_is_refused_where_the_policy_refuses_secrets(
    action: str, refused: bool
) -> None:
    policy = {"name": "p", "guards": [{"use": "secrets", "action": action}]}
    run = Shield.load(policy, store="memory:", journal="memory:").run("a")
    for decision in (run.check(f"call_{TOKEN}_now", {}), run.judge("handoff", to=TOKEN)):
        assert decision.proceeds is not refused
        assert (decision.code == "secrets.found") is (action != "redact")
        assert TOKEN[8:] not in decision.message
    assert run.check("call_now", {}).code == ""


def test_records_in_memory_are_no_exception() -> None:
    journal = MemoryJournal()
    shield = Shield.load(POLICY, store="memory:", journal=journal)
    shield.run(TOKEN).check(TOKEN, {})
    shield.halt(TOKEN, by=TOKEN)
    assert TOKEN[8:] not in f"{journal.kept()}{journal.facts()}"


def test_a_secret_in_the_state_of_others_is_not_written_down(shield: Shield, trail: Path) -> None:
    """Every decision rests on the states of the tenant's tools and agents, whosever they are."""
    shield.quarantine(f"agent:{TOKEN}", for_s=99, why="x")
    with shield.run("ann") as run:
        run.check("t", {})
    shield.close()
    assert TOKEN not in written(trail)


def test_a_secret_in_the_name_of_a_call_or_of_what_broke_is_not_written_down(trail: Path) -> None:
    class Breaks:
        id = "breaks"

        def judge(self, event: Any) -> None:
            raise type(TOKEN, (Exception,), {})

    with (
        Shield.load(POLICY, guards=[Breaks()], journal=trail, store="memory:") as shield,
        shield.run("ann") as run,
    ):
        run.result("t", {}, "x", call=TOKEN)
        run.error("t", "Broken", call=TOKEN)
        run.check("t", {})
    assert TOKEN not in written(trail)


def test_two_guards_redact_in_the_same_names_of_a_result() -> None:
    guards = [{"use": "secrets"}, {"use": "pii"}]
    with Shield.load(
        {"name": "p", "guards": guards}, journal=MemoryJournal(), store="memory:"
    ) as shield:
        given = {f"for {TOKEN}": {"card 4111 1111 1111 1111": TOKEN}, "b": 2}
        left = shield.run("a").call(shield.tool(name="t")(lambda: given))
    secret, card = "[redacted:github-pat]", "[redacted:credit-card]"
    assert left == {f"for {secret}": {f"card {card}": secret}, "b": 2}
