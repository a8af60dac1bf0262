"""An agent with a shell, a Python, a terminal and the state in its hands wants a payment that
nobody agreed to.

With keys nothing that it tries lets it through. Without keys a program can play a person: then what
is critical does not happen, and what does is recorded as unproven. What an agent that can write the
state gets all the same is listed at the end, by name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Shield
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.keys import make_key_file
from stanchion.approvals.ticket import Ticket
from stanchion.audit.reader import TrailReader
from stanchion.cli.main import main
from stanchion.kernel.states import HALTED
from stanchion.policy.errors import PolicyError
from stanchion.runtime.operating import acts
from stanchion.stores.protocol import Store
from stanchion.testing.operators import operator
from tests.approvals.attacks import (
    by_act,
    by_answer,
    by_file,
    by_grant,
    by_record,
    by_shell,
    by_showing,
)
from tests.approvals.attacks.scene import Attack, Scene, Setup, template
from tests.approvals.homes import Home
from tests.sampling import some

ENROLLED = Setup("enrolled", "enrolled", "medium")
PINNED = Setup("pinned", "pinned", "medium")
BARE = Setup("bare", "", "medium")
CRITICAL = Setup("bare-critical", "", "critical")

ATTACKS = (
    *by_shell.ATTACKS,
    *by_record.ATTACKS,
    *by_grant.ATTACKS,
    *by_answer.ATTACKS,
    *by_showing.ATTACKS,
)

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


def pairs() -> Iterator[Any]:
    """Each attack where operators are enrolled; where they are pinned every fourth, unless there is
    time for all."""
    for setup, every in ((ENROLLED, 1), (PINNED, 4)):
        for attack in some(tried(setup, 8), every, setup.name):
            yield pytest.param(attack, setup, id=f"{attack.name}-{setup.name}")


def tried(setup: Setup, every: int) -> list[Attack]:
    """The attacks of a set-up. Of those that start programs some, unless there is time for all of
    it."""
    slow = some(by_shell.ATTACKS, every, setup.name)
    return [attack for attack in ATTACKS if attack not in by_shell.ATTACKS or attack in slow]


def unanswered(setup: Setup) -> list[Attack]:
    """Those that need no answer of an operator."""
    return [attack for attack in tried(setup, 12) if not attack.answered]


@pytest.mark.parametrize(("attack", "setup"), list(pairs()))
def test_with_keys_nothing_goes_ahead_that_no_operator_agreed_to(
    begins: Begins, attack: Attack, setup: Setup
) -> None:
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


@pytest.mark.parametrize("attack", unanswered(BARE), ids=called)
def test_without_keys_a_program_can_play_a_person_and_the_record_says_so(
    begins: Begins, attack: Attack
) -> None:
    scene = begins(BARE)
    attack.tries(scene)
    scene.wants()
    assert bool(scene.paid) == (attack.name in UNPROVEN)
    if scene.paid:
        answers = [scene.kept().answer, *[grant.answer for _, grant in scene.shield.grants()]]
        assert {(one.way, one.way.proven) for one in answers if one is not None} == {
            ("terminal", False)
        }


@pytest.mark.parametrize("attack", unanswered(CRITICAL), ids=called)
def test_without_keys_nothing_critical_goes_ahead(begins: Begins, attack: Attack) -> None:
    scene = begins(CRITICAL)
    attack.tries(scene)
    scene.wants()
    scene.wants_in_a_new_process()
    assert scene.paid == []


@pytest.mark.parametrize("setup", [ENROLLED, PINNED, BARE, CRITICAL], ids=called)
def test_what_the_agent_reads_tells_it_no_way(begins: Begins, setup: Setup) -> None:
    scene = begins(setup)
    assert scene.refusal is not None
    said = str(scene.refusal).casefold()
    assert not [
        word for word in ("stanchion", "approve", scene.ticket, "--", "sqlite", "/") if word in said
    ]


class Changing:
    """A store in which a ticket is another one when it is read for the first time."""

    def __init__(self, store: Store, key: str, first: Ticket) -> None:
        self._store = store
        self._key = key
        self._first: Ticket | None = first

    def read(self, key: str) -> tuple[int, Any]:
        """A cell."""
        number, value = self._store.read(key)
        if key == self._key and self._first is not None:
            value, self._first = msgspec.to_builtins(self._first), None
        return number, value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_command_shows_what_it_signs(begins: Begins, capfd: pytest.CaptureFixture[str]) -> None:
    scene = begins(BARE)
    words = scene.home.folder / "words"
    words.write_text("words\n")
    line = make_key_file(scene.home.folder / "ann", b"words", "ann").line
    pins = f"operators:\n  ann: {{key: {line}, roles: [human_operator]}}\n"
    true = scene.kept()
    false = msgspec.structs.replace(
        true, content=by_showing.HARMLESS, deed=by_showing.harmless(true)
    )
    assert false.whole

    def load(*_: object, **__: object) -> Shield:
        shield: Shield = scene.home.shield(more=pins)
        shield.store = Changing(shield.store, true.key, false)
        return shield

    with words.open("rb") as file:
        named = ["--key", str(scene.home.folder / "ann"), "--passphrase-fd", str(file.fileno())]
        main(["tickets", "approve", scene.ticket, "--store", scene.home.store, *named], load)
    shown = capfd.readouterr().err
    assert '"amount": 1000' in shown
    assert "power company" not in shown


@pytest.mark.parametrize("setup", [ENROLLED, PINNED], ids=called)
@pytest.mark.parametrize("name", by_act.REQUESTS)
def test_with_keys_only_an_operator_has_it_done(begins: Begins, name: str, setup: Setup) -> None:
    scene, request = begins(setup), by_act.REQUESTS[name]
    scene.shield.halt("stop")
    for way, by in by_act.answers(scene, request).items():
        with pytest.raises(AnswerRefused):
            scene.shield.act(request, by)
        assert scene.shield.standing().state == HALTED, way
    records = [
        one.line.body + one.line.kept for one in TrailReader(scene.home.state / "trail").forwards()
    ]
    assert len([body for body in records if b'"answer.refused"' in body]) == len(
        by_act.answers(scene, request)
    )


def test_an_answer_that_ended_one_halt_does_not_end_the_next(begins: Begins) -> None:
    scene, request = begins(PINNED), by_act.REQUESTS["resume"]
    scene.shield.halt("stop")
    wish = acts.wish(scene.shield, request)
    answer = scene.ann.signed(
        wish.act("ann", "human_operator", scene.shield.clock() + 60_000, True, "")
    )
    scene.shield.act(request, answer)
    assert scene.shield.standing().state != HALTED
    scene.shield.halt("stop again")
    with pytest.raises(AnswerRefused):
        scene.shield.act(request, answer)


@pytest.mark.parametrize("name", by_act.COMMANDS)
def test_with_keys_no_command_has_it_done(begins: Begins, name: str) -> None:
    scene = begins(ENROLLED)
    scene.shield.halt("stop")
    came = scene.home.runs(
        *by_act.COMMANDS[name], "--store", scene.home.store, STANCHION_SAFE_MODE="0"
    )
    assert came.status != 0, came
    assert "key" in came.err or "terminal" in came.err, came
    assert scene.shield.standing().state == HALTED


@pytest.mark.parametrize("setup", [ENROLLED, PINNED], ids=called)
def test_a_policy_that_the_agent_has_loosened_is_not_put_in_force(
    begins: Begins, setup: Setup
) -> None:
    scene = begins(setup)
    policy = scene.home.project / "policy.yaml"
    policy.write_text(policy.read_text().replace("tools: [pay], action", "tools: [other], action"))
    with suppress(PolicyError, AnswerRefused):
        scene.shield.reload()
    scene.wants()
    assert scene.stolen() == []


@pytest.mark.parametrize(
    ("gets", "setup"), by_file.CASES, ids=[tries.__name__ for tries, _ in by_file.CASES]
)
def test_what_only_the_broker_prevents(
    begins: Begins, gets: Callable[[Scene], bool], setup: Setup
) -> None:
    """Where the agent can write the state's file this is what it gets, whatever is signed: a broker
    under another user keeps the file from it."""
    assert gets(begins(setup))
