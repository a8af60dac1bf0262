"""What is shown of decisions and what they are made of: what was decided and why, and nothing that
was judged."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion import Action, Category, Refused, Risk, Shield, Stage
from stanchion.approvals.ticket import Ticket
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import OF_STAGE, RunInfo, ToolCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.testing import shield_for

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def blocked() -> Decision:
    return Decision(
        "d1",
        Action.BLOCK,
        "p",
        (Finding(Action.BLOCK, "x.y", text="that is not allowed", guard="g"),),
    )


def test_a_decision_says_what_and_why() -> None:
    decision = blocked()
    assert str(decision) == 'BLOCK x.y by g: "that is not allowed"'
    assert repr(decision) == '<Decision BLOCK x.y by g: "that is not allowed" (d1)>'
    assert repr(Decision("d2", Action.ALLOW, "p")) == "<Decision ALLOW (d2)>"


@pytest.mark.parametrize("kind", [Action, Risk, Category])
def test_what_has_an_order_is_printed_by_name_and_stays_a_number(kind: Any) -> None:
    for one in kind:
        assert str(one) == f"{one}" == f"{one:>2}" == one.name
        assert f"{one:<12}|" == f"{one.name:<12}|"
        assert msgspec.json.decode(msgspec.json.encode(one)) == int(one)
        assert repr(one) == f"<{kind.__name__}.{one.name}: {int(one)}>"


def test_a_finding_and_a_refusal_likewise() -> None:
    assert repr(blocked().findings[0]) == '<Finding BLOCK x.y by g: "that is not allowed">'
    assert repr(Refused(blocked())) == '<Refused BLOCK x.y: "that is not allowed">'
    assert str(Refused(blocked())) == "that is not allowed"


def test_a_run_says_whose_it_is_and_when_it_is_over() -> None:
    run = Shield.load({"name": "n"}, store="memory:", journal="memory:").run(
        "ann's agent", "fix", id="r1"
    )
    assert repr(run) == """<Run r1 "ann's agent" "fix">"""
    run.close()
    assert repr(run) == """<Run r1 "ann's agent" "fix", ended>"""


def test_real_decisions_show_nothing_that_was_judged() -> None:
    """A secret in the arguments of a call that is refused for it, and one that is redacted."""
    with shield_for("default").run("a") as run:
        refused = run.check("post", {"body": SECRET, "url": "https://example.com"})
        result = run.result("read", {}, f"the key is {SECRET}")
    assert result.patches
    for shown in (refused, result, *refused.findings, *result.findings, *result.patches):
        assert SECRET not in repr(shown) + str(shown)
        assert len(repr(shown)) < 400


def test_events_and_tickets_show_none_of_their_content() -> None:
    run = RunInfo("r1", agent="a")
    assert repr(ToolCall(id="e1", at=0, run=run, tool="bash", args={SECRET: SECRET})) == (
        '<ToolCall e1: tool "bash", agent "a", run "r1">'
    )
    kind: Any
    for kind in OF_STAGE.values():
        wanted = {one.name for one in msgspec.structs.fields(kind) if one.required} - {
            "id",
            "at",
            "run",
        }
        assert SECRET not in repr(kind(id="e1", at=0, run=run, **dict.fromkeys(wanted, SECRET)))
    shield = shield_for(
        {
            "name": "n",
            "guards": [
                {"id": "ask", "use": "rule", "when": "event.tool == 'pay'", "action": "escalate"}
            ],
        }
    )
    agent = shield.run("a")
    (ticket,) = [shield.ticket(str(agent.ticket(agent.check("pay", {"to": SECRET}))))]
    assert isinstance(ticket, Ticket)
    assert repr(ticket).startswith(f"<Ticket {ticket.id} open: tool_call pay because of ")
    assert SECRET not in repr(ticket)


@given(st.text())
def test_it_is_one_line_that_can_be_shown(text: str) -> None:
    found = Finding(Action.BLOCK, "x.y", text=text, guard=text)
    for shown in (
        repr(found),
        repr(Decision("d", Action.BLOCK, "p", (found,))),
        repr(Refused(Decision("d", Action.BLOCK, "p", (found,)))),
    ):
        assert shown.isprintable()


@pytest.mark.parametrize("stage", list(Stage))
def test_what_is_written_down_is_as_it_was(stage: Stage) -> None:
    """A struct's bytes are those of its fields."""
    patch = Patch(("a",), "b", 1, 2, "email")
    assert (
        msgspec.json.encode(patch) == b'{"path":["a"],"value":"b","start":1,"end":2,"kind":"email"}'
    )
    assert list(msgspec.to_builtins(blocked()))[:3] == ["id", "action", "policy"]
    assert OF_STAGE[stage].stage is stage
