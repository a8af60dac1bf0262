"""Attacks through a shell, a Python and terminals: every one is a process of its own, under the
same user."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from stanchion.approvals.keys import make_key_file
from tests.approvals.attacks.scene import Attack, Scene

LOADS: Final = "from stanchion import Shield\nshield = Shield.load({policy!r}, store={store!r})\n"

PLAYS_A_PERSON: Final = """
import os, re, sys
sys.stdout.flush()
answer, writes = os.pipe()
if os.fork() == 0:
    os.close(answer)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.setsid()
    pid, terminal = __import__("pty").fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "stanchion", *{words!r}])
    screen, typed = b"", False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        screen += part
        code = re.search(rb"Type ([A-Z0-9]{{6}}) to continue", screen)
        if code and not typed:
            typed = True
            os.write(terminal, code[1] + b"\\n")
    os.waitpid(pid, 0)
    os.write(writes, screen)
    os._exit(0)
os.close(writes)
while part := os.read(answer, 4096):
    sys.stdout.buffer.write(part)
"""
"""A daemon that has left its session and its parent, opens a terminal, and types the code that it
reads there."""


def python(scene: Scene, code: str) -> None:
    """Run a program with the library."""
    loads = LOADS.format(policy=str(scene.home.project / "policy.yaml"), store=scene.home.store)
    scene.home.python(loads + code)


def escaped(scene: Scene, *words: str) -> str:
    """Run a command at a terminal that belongs to nothing of the agent's any more."""
    return scene.home.python(PLAYS_A_PERSON.format(words=[*words, "--store", scene.home.store])).out


def command(scene: Scene, *words: str, **environ: str) -> None:
    """Run a command of Stanchion's."""
    scene.home.runs(*words, "--store", scene.home.store, **environ)


def approves_without_an_id(scene: Scene) -> None:
    """`stanchion tickets approve`, as a refusal would have it if it said what to type."""
    command(scene, "tickets", "approve")


def approves_by_command(scene: Scene) -> None:
    """`stanchion tickets approve ID` from its shell."""
    command(scene, "tickets", "approve", scene.ticket)


def approves_as_ann(scene: Scene) -> None:
    """`python -m stanchion tickets approve ID --by ann`."""
    command(scene, "tickets", "approve", scene.ticket, "--by", "ann")


def approves_with_typed_ahead_words(scene: Scene) -> None:
    """`yes | stanchion tickets approve ID`."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "stanchion",
            "tickets",
            "approve",
            scene.ticket,
            "--store",
            scene.home.store,
        ],
        input=b"y\nyes\n" * 50,
        capture_output=True,
        env=scene.home.environ,
        cwd=scene.home.project,
        start_new_session=True,
        check=False,
    )


def approves_in_python(scene: Scene) -> None:
    """`python3 -c "Shield.load().approve(ID, by='ann')"`."""
    python(scene, f"shield.approve({scene.ticket!r}, by='ann')")


def approves_as_another_agent(scene: Scene) -> None:
    """A sub-agent answers for the one that asked."""
    python(scene, f"shield.approve({scene.ticket!r}, by='another-agent')")


def approves_in_a_role_it_likes(scene: Scene) -> None:
    """It says that it is a person with every role there is."""
    code = "from stanchion.approvals.answerers import Person\n"
    for role in ("human_operator", "supervisor", "admin", "root"):
        code += (
            f"try: shield.approve({scene.ticket!r}, by=Person('ann', None, {role!r}))\nexcept "
            f"Exception: pass\n"
        )
    python(scene, code)


def approves_on_a_state_of_its_own(scene: Scene) -> None:
    """STANCHION_STATE_DIR and STANCHION_STORE point elsewhere while it answers."""
    elsewhere = str(scene.home.folder / "elsewhere")
    scene.home.runs(
        "tickets", "approve", scene.ticket, "--by", "ann", STANCHION_STATE_DIR=elsewhere
    )
    scene.home.runs("tickets", "approve", scene.ticket, "--by", "ann", STANCHION_STORE="memory:")
    scene.home.runs(
        "tickets", "approve", scene.ticket, "--by", "ann", HOME=elsewhere, XDG_STATE_HOME=elsewhere
    )


def approves_through_a_store_without_a_place(scene: Scene) -> None:
    """It hides from the library that the state is a file: a program may answer what only it can
    reach."""
    code = """
class Hidden:
    def __init__(self, store): self._store = store
    def __getattr__(self, name):
        if name == "place": raise AttributeError(name)
        return getattr(self._store, name)
own = Shield(shield.policy, store=Hidden(shield.store))
"""
    python(scene, f"{code}own.approve({scene.ticket!r}, by='ann')")


def approves_with_a_library_that_it_changed(scene: Scene) -> None:
    """In its own process nobody has to type a code, and no run is ever beside it."""
    code = """
import stanchion.approvals.terminal as terminal
from stanchion.approvals.answerers import Person
terminal.ask = lambda *_: None
Shield.nobody_beside = lambda _: None
"""
    python(scene, f"{code}shield.approve({scene.ticket!r}, by=Person('ann'))")


def plays_a_person_beside_its_run(scene: Scene) -> None:
    """It opens a terminal under its own run, reads the code there and types it."""
    scene.home.at_terminal("tickets", "approve", scene.ticket, "--store", scene.home.store)


def plays_a_person_from_a_daemon(scene: Scene) -> None:
    """Two forks and a session of its own: nothing says any more that it belongs to the run."""
    escaped(scene, "tickets", "approve", scene.ticket)


def plays_a_person_when_its_run_has_ended(scene: Scene) -> None:
    """A job in the background answers after the run is over; the next run finds the approval."""
    scene.run.__exit__(None, None, None)
    scene.home.at_terminal("tickets", "approve", scene.ticket, "--store", scene.home.store)
    scene.run = scene.shield.run("bot", "invoices")
    scene.run.__enter__()


def enrols_itself_through_a_pipe(scene: Scene) -> None:
    """`stanchion operators add mallory` without a terminal, then an answer with that key."""
    (scene.home.project / "mallory.pub").write_text(scene.mallory.key.public.line)
    command(scene, "operators", "add", "mallory", "--public", "mallory.pub")
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))


def enrols_itself_from_a_daemon(scene: Scene) -> None:
    """The same at a terminal that it plays, while its run is open and when it has ended."""
    (scene.home.project / "mallory.pub").write_text(scene.mallory.key.public.line)
    escaped(
        scene, "operators", "add", "mallory", "--public", str(scene.home.project / "mallory.pub")
    )
    scene.run.__exit__(None, None, None)
    escaped(
        scene, "operators", "add", "mallory", "--public", str(scene.home.project / "mallory.pub")
    )
    scene.run = scene.shield.run("bot", "invoices")
    scene.run.__enter__()
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))


def enrols_itself_in_python(scene: Scene) -> None:
    """The library's own function, with a person who always confirms."""
    code = f"""
import stanchion.approvals.terminal as terminal
from stanchion.approvals.answerers import Person
from stanchion.approvals.operators import Operator
terminal.ask = lambda *_: None
import stanchion.runtime.standing.presence as live
live.live_runs = lambda _: ()
shield.enrol("add", Operator(name="mallory", key={scene.mallory.key.public.line!r}), Person("ann"))
"""
    python(scene, code)
    scene.approves_by_hand(scene.forged(scene.mallory, "mallory"))


def pins_itself_in_a_policy_of_its_own(scene: Scene) -> None:
    """`--policy mine.yaml`, where it is an operator, and a key that it made."""
    path = scene.home.folder / "made"
    made = make_key_file(path, b"words", "mallory")
    mine = scene.home.folder / "mine.yaml"
    policy = (scene.home.project / "policy.yaml").read_text().partition("operators:")[0]
    mine.write_text(f"{policy}operators:\n  ann: {{key: {made.line}, roles: [human_operator]}}\n")
    (scene.home.folder / "words").write_text("words\n")
    script = (
        f'exec "$0" -m stanchion tickets approve {scene.ticket} --policy {mine} --key {path} --as '
        f"ann "
        f"--passphrase-fd 3 --store {scene.home.store} 3< {scene.home.folder / 'words'}"
    )
    subprocess.run(
        ["sh", "-c", script, sys.executable],
        capture_output=True,
        env=scene.home.environ,
        cwd=scene.home.project,
        check=False,
    )


def signs_elsewhere_as_ann(scene: Scene) -> None:
    """`tickets request`, `tickets sign --as ann` with a key of its own on another machine, `tickets
    answer`."""
    path = scene.home.folder / "plain"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    request = scene.home.runs("tickets", "request", scene.ticket, "--store", scene.home.store).out
    (scene.home.project / "request").write_text(request)
    elsewhere = str(scene.home.folder / "elsewhere")
    signed = scene.home.runs(
        "tickets",
        "sign",
        "request",
        "--as",
        "ann",
        "--key",
        str(path),
        STANCHION_STATE_DIR=elsewhere,
    )
    assert signed.status == 0, signed
    (scene.home.project / "answer").write_text(signed.out)
    command(scene, "tickets", "answer", "answer")


ATTACKS: Final = tuple(
    Attack(tries)
    for tries in (
        approves_without_an_id,
        approves_by_command,
        approves_as_ann,
        approves_with_typed_ahead_words,
        approves_in_python,
        approves_as_another_agent,
        approves_in_a_role_it_likes,
        approves_on_a_state_of_its_own,
        approves_through_a_store_without_a_place,
        approves_with_a_library_that_it_changed,
        plays_a_person_beside_its_run,
        plays_a_person_from_a_daemon,
        plays_a_person_when_its_run_has_ended,
        enrols_itself_through_a_pipe,
        enrols_itself_from_a_daemon,
        enrols_itself_in_python,
        pins_itself_in_a_policy_of_its_own,
        signs_elsewhere_as_ann,
    )
)
