"""A host says what it can carry out, and what it cannot becomes the next stricter thing that it
can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Finding, Patch, Refused, Shield, Stage
from stanchion.kernel.actions import PROCEEDS, STOPS
from stanchion.kernel.events import Prompt
from stanchion.kernel.findings import Wait
from stanchion.kernel.replay import could, replay
from stanchion.kernel.table import ONLY_WARNS, TABLE, carried
from stanchion.runtime.deciding.hosts import ALWAYS
from tests.runtime.guards import says
from tests.runtime.test_cells import BARE, CELLS, NOW, REPORT

HOSTS: dict[str, list[Action | str]] = {
    "stops": [],
    "warns": ["warn"],
    "redacts": ["warn", "redact"],
    "waits": ["warn", "queue", "escalate"],
    "no-redact": [action for action in Action if action != Action.REDACT],
    "no-wait": [action for action in Action if action not in (Action.QUEUE, Action.ESCALATE)],
}


def able(host: str) -> set[Action]:
    """What one of the hosts can, in the plainest words."""
    named = {one if isinstance(one, Action) else Action[one.upper()] for one in HOSTS[host]}
    return named | {Action.ALLOW, Action.BLOCK, Action.QUARANTINE, Action.HALT}


@pytest.mark.parametrize("host", HOSTS)
def test_every_cell_under_every_host(host: str) -> None:
    """What it cannot do becomes the next stricter thing that it can and that makes sense there:
    never milder, but where nothing can be stopped any more."""
    for stage, action in CELLS:
        cell = f"{action.name} at {stage}"
        run = Shield.load(BARE, guards=[says(action, stage, terms=NOW)]).run("a", can=HOSTS[host])
        decision = REPORT[stage](run)
        expected = next(a for a in Action if a >= action and a in TABLE[stage] and a in able(host))
        if (
            stage in ONLY_WARNS
            and Action.WARN in able(host)
            and Action.WARN < action < Action.QUARANTINE
        ):
            expected = Action.WARN
        if expected == Action.DEGRADE:
            # Nothing here makes a lesser request, and an unchanged one is none.
            assert (decision.action, decision.code) == (Action.BLOCK, "kernel.no_lesser"), cell
            continue
        assert decision.action == expected, cell
        assert decision.proceeds == (expected <= PROCEEDS), cell
        assert decision.findings[-1].said == (None if expected == action else action), cell
        assert decision.inputs.can == tuple(sorted(int(a) for a in able(host))), cell


@pytest.mark.parametrize("stage", [stage for stage in Stage if Action.REDACT in TABLE[stage]])
@pytest.mark.parametrize("action", [Action.ALLOW, Action.WARN])
def test_a_patch_is_not_lost_on_a_host_that_cannot_redact(stage: Stage, action: Action) -> None:
    """Whatever action a finding with a patch has, it does not go ahead unpatched."""
    patch = (Patch(() if stage is not Stage.EGRESS else ("url",), "[hidden]"),)
    guard = says(action, stage, patches=patch)
    decision = REPORT[stage](Shield.load(BARE, guards=[guard]).run("a", can=["warn"]))
    assert decision.action == Action.BLOCK
    assert decision.patches == ()
    assert decision.findings[-1].said == action


def test_names_and_members_say_the_same() -> None:
    """Upper case, lower case, members: one host."""
    shield = Shield.load(BARE)
    given: list[Any] = [
        ["warn", "redact"],
        ["WARN", "Redact"],
        [Action.WARN, Action.REDACT],
        (n for n in ("warn", "redact")),
    ]
    assert len({shield.run(can=can).desk.can for can in given}) == 1
    assert set(shield.run(can=()).desk.can) == ALWAYS


@pytest.mark.parametrize(
    ("can", "words"),
    [
        (["redct"], "`redct` is not an action that a host can carry out: did you mean `redact`?"),
        (["zzz"], "choose among `allow`"),
        ([2], "`2` is not an action"),
        (["warn", None], "`None` is not an action"),
        ("redact", 'as in `can=["redact"]`'),
    ],
)
def test_a_wrong_name_is_an_error_that_says_what_to_write(can: Any, words: str) -> None:
    """A host that misspells what it can would otherwise be taken for one that can do less, or
    more."""
    with pytest.raises(ValueError, match=r".") as error:
        Shield.load(BARE).run(can=can)
    assert words in str(error.value)


def test_children_have_their_parents_host_unless_they_say_otherwise() -> None:
    """`spawn` hands it down, through generations."""
    shield = Shield.load(
        BARE, guards=[says(Action.REDACT, Stage.PROMPT, patches=(Patch((), "x"),))]
    )
    run = shield.run("a", can=["warn"])
    assert run.spawn("b").spawn("c").prompt("hello").action == Action.BLOCK
    assert run.spawn("b", can=["warn", "redact"]).prompt("hello").action == Action.REDACT
    assert shield.run("a").prompt("hello").action == Action.REDACT


def test_a_reload_does_not_widen_a_host() -> None:
    """New plans are made for the same host."""
    shield = Shield.load(
        BARE, guards=[says(Action.QUEUE, Stage.TOOL_CALL, terms=Wait(pause_ms=1, timeout_ms=0))]
    )
    run = shield.run("a", can=["warn"])
    assert run.check("t", {}).action == Action.BLOCK
    shield.reload({"name": "another"})
    assert run.check("t", {}).action == Action.BLOCK


@pytest.mark.parametrize(
    ("can", "expected"),
    [
        (None, Action.ESCALATE),
        (["warn", "redact", "retry"], Action.BLOCK),
        (["warn"], Action.BLOCK),
    ],
)
def test_what_a_stream_and_what_a_host_cannot_do_add_up(can: Any, expected: Action) -> None:
    """The whole of a streamed reply can be neither redacted nor asked for again, whatever its host
    can."""
    patch = (Patch((), "[hidden]"),)
    run = Shield.load(BARE, guards=[says(Action.REDACT, Stage.MODEL_REPLY, patches=patch)]).run(
        "a", can=can
    )
    with pytest.raises(Refused) as refused:
        list(run.stream(["hello ", "world"]))
    assert refused.value.decision.action == expected


def test_a_tool_of_a_limited_host_does_not_run_where_it_would_have_to_be_patched() -> None:
    """The limit holds for what the runtime runs as well."""
    ran: list[str] = []
    guard = says(Action.REDACT, Stage.TOOL_CALL, patches=(Patch(("x",), "patched"),))
    run = Shield.load(BARE, guards=[guard]).run("a", can=["warn"])
    with pytest.raises(Refused) as refused:
        run.call(ran.append, "hello")
    assert refused.value.decision.action >= STOPS
    assert ran == []


def test_the_page_names_the_stages_of_every_action_that_asks_something_of_a_host() -> None:
    """What a host has to be able to do stands in the how-to, stage by stage."""
    page = (Path(__file__).parents[3] / "docs/how-to/report-from-a-host.md").read_text()
    rows = [
        line.split("|")
        for line in page.splitlines()
        if line.startswith("| `") and line.split("`")[1].isupper()
    ]
    said: dict[str, set[str]] = {}
    for _, action, stages, *_ in rows:
        named = (
            {str(stage) for stage in Stage}
            if "everywhere" in stages
            else set(stages.split("`")[1::2])
        )
        said.setdefault(action.strip(" `"), set()).update(named)
    limited = [action for action in Action if action not in ALWAYS]
    assert said == {
        action.name: {str(stage) for stage in Stage if carried(stage)[action] == action}
        for action in limited
    }


def test_a_decision_under_a_limited_host_replays() -> None:
    """What the host could is part of what is recorded."""
    shield = Shield.load(
        BARE, guards=[says(Action.REDACT, Stage.PROMPT, patches=(Patch((), "x"),))]
    )
    run = shield.run("a", can=["warn"])
    decision = run.prompt("hello")
    event = Prompt(id=decision.id, at=0, run=run.desk.info, text="hello")
    moment = run.desk.moment(event)
    again = replay(shield.policy, run.desk.info, moment, decision.inputs)
    assert (again.action, again.findings) == (decision.action, decision.findings)
    assert again.findings[0] == Finding(
        Action.BLOCK,
        "test.said",
        text="says says REDACT",
        patches=(Patch((), "x"),),
        guard="says",
        said=Action.REDACT,
    )
    assert could(decision.inputs) == run.desk.can
