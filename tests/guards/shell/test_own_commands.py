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
    "doctor": "claude codex",
    "hook": "claude codex status",
    "import": "claude codex",
    "mcp": "wrap",
    "metrics": "guardrails",
    "notify": "test waiting send secret",
    "operators": "list",
    "policy": "show diff loosens propose packs schema lint",
    "report": "claude codex",
    "runs": "show manifest verify",
    "secrets": "allowed forget kinds",
    "state": "halt safe-mode quarantine",
    "tickets": "list watch show bypass request",
    "tools": "list draft experience sandbox",
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


def verbs_of(command: str) -> set[str]:
    """The verbs in the usage of a command."""
    told = re.findall(rf"stanchion {command} \[?([a-z][a-z|-]*)", command_of(command).usage)
    return {verb for each in told for verb in each.split("|") if verb}


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - ADDED.keys()))
def test_every_verb_is_for_people_or_open(command: str) -> None:
    first, _, word = command.partition(" ")
    changing, open_to_all = CHANGING.get(first, frozenset()), set(OPEN.get(first, "").split())
    if word:
        assert word in changing | open_to_all
        return
    below = [one for one in COMMANDS if one.startswith(f"{command} ")]
    elsewhere = {one.partition(" ")[2] for one in below}.union(*map(verbs_of, below))
    assert verbs_of(command) - {"options"} == (changing | open_to_all) - elsewhere
    for verb in OPEN.get(command, "").split():
        assert action(f"stanchion {command} {verb} x") is Action.ALLOW, verb
    for verb in changing:
        assert action(f"stanchion {command} {verb} x") is Action.BLOCK, verb


@pytest.mark.parametrize(
    "text",
    [
        "pipx run stanchion state resume",
        "$(which stanchion) state resume",
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
