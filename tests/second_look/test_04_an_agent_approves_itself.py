"""An agent with a shell, a Python, a terminal and the state in its hands wants a payment that nobody agreed to.

With keys nothing that it tries lets it through. Without keys a program can play a person: then what is critical does
not happen, and what does is recorded as unproven. What an agent that can write the state gets all the same is listed
at the end, by name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stanchion.approvals.answering import Signer
from stanchion.testing.operators import operator
from tests.approvals.homes import Home
from tests.second_look.attacks import by_answer, by_record, by_shell, by_showing
from tests.second_look.attacks.scene import Attack, Scene, Setup, template

ENROLLED = Setup("enrolled", "enrolled", "medium")
PINNED = Setup("pinned", "pinned", "medium")
BARE = Setup("bare", "", "medium")
CRITICAL = Setup("bare-critical", "", "critical")

ATTACKS = (*by_shell.ATTACKS, *by_record.ATTACKS, *by_answer.ATTACKS, *by_showing.ATTACKS)

Begins = Callable[[Setup], Scene]


@pytest.fixture(scope="module")
def ann() -> Signer:
    return operator("ann")[0]


@pytest.fixture(scope="module")
def enrolled(tmp_path_factory: pytest.TempPathFactory, ann: Signer) -> Path:
    return template(tmp_path_factory.mktemp("enrolled"), ann)


@pytest.fixture
def begins(tmp_path: Path, ann: Signer, enrolled: Path) -> Iterator[Begins]:
    """Begin a scene in a set-up."""
    begun: list[Scene] = []

    def scene(setup: Setup) -> Scene:
        home = Home(tmp_path / "home")
        if setup.keys == "enrolled":
            shutil.copytree(enrolled, home.state)
        begun.append(Scene(home, setup, ann))
        return begun[-1]

    yield scene
    for each in begun:
        each.closes()


def called(case: Attack | Setup) -> str:
    return case.name


@pytest.mark.parametrize("setup", [ENROLLED, PINNED], ids=called)
@pytest.mark.parametrize("attack", ATTACKS, ids=called)
def test_with_keys_nothing_goes_ahead_that_no_operator_agreed_to(begins: Begins, attack: Attack, setup: Setup) -> None:
    scene = begins(setup)
    attack.tries(scene)
    if setup is PINNED and not attack.undone:
        scene.wants_in_a_new_process()
    scene.wants()
    scene.wants()
    assert scene.stolen() == []


UNPROVEN = {
    "deletes_the_operators",
    "empties_the_operators",
    "grants_itself_a_run",
    "writes_an_answer_from_a_terminal",
    "approves_with_a_library_that_it_changed",
    "plays_a_person_from_a_daemon",
    "plays_a_person_when_its_run_has_ended",
}


@pytest.mark.parametrize("attack", [one for one in ATTACKS if not one.answered], ids=called)
def test_without_keys_a_program_can_play_a_person_and_the_record_says_so(begins: Begins, attack: Attack) -> None:
    scene = begins(BARE)
    attack.tries(scene)
    scene.wants()
    assert bool(scene.paid) == (attack.name in UNPROVEN)
    if scene.paid:
        answers = [scene.kept().answer, *[grant.answer for _, grant in scene.shield.grants()]]
        assert {(one.way, one.way.proven) for one in answers if one is not None} == {("terminal", False)}


@pytest.mark.parametrize("attack", [one for one in ATTACKS if not one.answered], ids=called)
def test_without_keys_nothing_critical_goes_ahead(begins: Begins, attack: Attack) -> None:
    scene = begins(CRITICAL)
    attack.tries(scene)
    scene.wants()
    scene.wants_in_a_new_process()
    assert scene.paid == []
