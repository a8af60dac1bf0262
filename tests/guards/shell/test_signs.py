"""Signs: a command without one breaks no rule for what is ours but those that its program's name
leads to."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, strategies as st

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.guards.shell.launchers import LAUNCHES
from stanchion.guards.shell.own_paths import CHANGERS
from stanchion.guards.shell.places import Roots, roots_of
from stanchion.guards.shell.rules import MODULES, own
from stanchion.readings.shell import analyse
from stanchion.readings.shell.command import Command

AT_WORK: Final = OwnPlaces(
    closed=("/work/app/build/state.db", "/work/app/data/trail", "/home/ann/.local/state/stanchion"),
    policies=("/work/app/policy.yaml",),
    here="/work/app",
    home="/home/ann",
    variables=(("STANCHION_STORE", "/work/app/build/state.db"),),
)
INSIDE: Final = OwnPlaces(closed=("/work/app",), here="/work/app", home="/home/ann")
PLACES: Final = (NOWHERE, AT_WORK, INSIDE)

KNOWN: Final = tuple(
    dict.fromkeys(
        [
            text
            for module in (own, *MODULES)
            for text in (*module.HITS, *module.MISSES)
            if len(text) < 400
        ]
    )
)
WORDS: Final = sorted({word for text in own.HITS + own.MISSES for word in text.split()})
NAMES: Final = sorted(
    LAUNCHES | CHANGERS | own.COVERING | own.EARLY | {"ls", "cat", "python3.12", "make"}
)
PLAIN: Final = (
    "build", "data", ".", "..", "/", "~", "/home", "/work", "/tmp", "a b", "x y.py", "-r", "-R",
    "-rf", "-a", "-delete", "-exec", "rm", "-m", "-c", "-t", "xf", "cf", "-C", "-i", "--delete",
    "tools", "policy", "state.db", "p\u0131p", "\u017ftanchion", "STANCHION_X=1",
    "st\"\"anchion resume", "run", "777", "a/", "b",
)  # fmt: skip


def _left_out(command: Command, roots: Roots) -> list[str]:
    """The rules that hold and are no candidates."""
    asked = own.candidates(command, roots)
    return [
        rule.why
        for rule in own.RULES
        if not any(rule is one for one in asked) and rule.holds(command, roots)
    ]


@pytest.mark.parametrize("places", PLACES, ids=("nowhere", "at work", "inside"))
def test_no_known_command_breaks_a_rule_that_is_not_asked(places: OwnPlaces) -> None:
    roots = roots_of((".",), places)
    found = {command.line: _left_out(command, roots) for text in KNOWN for command in analyse(text)}
    assert {line: why for line, why in found.items() if why} == {}


@given(
    name=st.sampled_from(NAMES),
    words=st.lists(st.sampled_from((*PLAIN, *WORDS)), max_size=5),
    cwd=st.sampled_from(("", "/work", "container:", "/home/ann/.local/state")),
    read=st.sampled_from((None, "", "stanchion resume", "print(1)")),
    opens=st.lists(
        st.tuples(st.sampled_from((">", "<", ">>")), st.sampled_from(PLAIN)), max_size=1
    ),
    places=st.sampled_from(PLACES),
)
def test_no_drawn_command_breaks_a_rule_that_is_not_asked(
    name: str,
    words: list[str],
    cwd: str,
    read: str | None,
    opens: list[tuple[str, str]],
    places: OwnPlaces,
) -> None:
    command = Command((name, *words), cwd=cwd, given=read, opens=tuple(opens))
    assert _left_out(command, roots_of((".",), places)) == []


@pytest.mark.parametrize(
    "text",
    ["ls -la", "git commit -m done", "python3 -m pytest -q", "echo hi > out.txt", "make all"],
)
def test_an_everyday_command_is_asked_nothing(text: str) -> None:
    (command,) = analyse(text)
    assert own.candidates(command, roots_of((".",), AT_WORK)) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rm -rf build", "changes a file of Stanchion"),
        ("cp -r data elsewhere", "takes or fills a folder in which Stanchion keeps its files"),
        ("ln -s data elsewhere", "links to where Stanchion keeps its files"),
    ],
)
def test_a_folder_around_ours_is_found_without_a_sign(text: str, why: str) -> None:
    (command,) = analyse(text)
    assert [rule.why for rule in own.broken(command, roots_of((".",), AT_WORK))] == [why]
