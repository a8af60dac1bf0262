"""What Stanchion's command line changes is for people, however a shell is told of it; honest work
with it goes on."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given

from stanchion.cli.main import ADDED, COMMANDS, command_of
from stanchion.guards.shell import Shell
from stanchion.guards.shell.rules.own import CHANGING
from stanchion.guards.shell.verdict import ShellJudge
from stanchion.kernel.actions import Action, Risk
from tests.guards.shell.spellings import honest, wrapped

VERDICT = ShellJudge(Shell())
OPEN: Final = {
    "audit": "tail shadow show verify heads witness key export coverage",
    "budget": "show top holds",
    "experience": "show",
    "mcp": "wrap",
    "metrics": "guardrails",
    "notify": "test waiting send secret",
    "operators": "list",
    "policy": "show diff loosens propose packs schema",
    "runs": "show manifest verify",
    "safe-mode": "on",
    "secrets": "allowed forget kinds",
    "tickets": "list watch show bypass request",
    "tools": "list draft",
    "tutor": "play record replay bundle games",
}
"""Verbs that read, judge or make stricter, and so are for agents, too."""


def action(text: str) -> Action:
    """What is said of a text."""
    found = VERDICT.of(text, Risk.MEDIUM)
    return Action.ALLOW if found is None else found.action


@given(wrapped())
def test_a_loosening_is_never_let_through(text: str) -> None:
    assert action(text) >= Action.ESCALATE, text


@given(honest())
def test_honest_work_with_stanchion_goes_on(text: str) -> None:
    assert action(text) <= Action.WARN, text


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - ADDED.keys()))
def test_every_verb_is_for_people_or_open(command: str) -> None:
    first, _, word = command.partition(" ")
    usage = command_of(command).usage
    told = re.findall(rf"stanchion {command} \[?([a-z][a-z|-]*)", usage)
    changing = {word for word in CHANGING.get(first, ()) if word[:1] != "-"}
    if word:
        assert word in changing or word in OPEN[first].split()
        return
    beside = {one.partition(" ")[2] for one in COMMANDS}
    assert {verb for each in told for verb in each.split("|")} - {"options"} == {
        *changing,
        *OPEN.get(command, "").split(),
    } - beside
    for verb in OPEN.get(command, "").split():
        assert action(f"stanchion {command} {verb} x") is Action.ALLOW, verb
    for verb in changing:
        assert action(f"stanchion {command} {verb} x") is Action.BLOCK, verb


@pytest.mark.parametrize(
    "text",
    [
        "pipx run stanchion resume",
        "$(which stanchion) resume",
        "python -c 'from stanchion import Shield; Shield.load().resume()'",
        "STANCHION_STATE_DIR=/tmp/x make",
        "alias s=stanchion",
        "kill -9 $PPID",
        "tar cf x.tar -C ~/.local state",
        "ln -s ~/.local/state x",
    ],
)
def test_what_the_page_says_that_reading_does_not_hold(text: str) -> None:
    assert action(text) is Action.ALLOW
