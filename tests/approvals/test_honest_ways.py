"""The ways in which people answer: at a terminal, with a key, through an ssh-agent, from another
machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stanchion import Refused, Shield
from tests.approvals.homes import Home

WORDS = "correct horse battery"


def pay(amount: int) -> int:
    """Pay that much."""
    return amount


def asked(shield: Shield, amount: int = 5) -> str:
    """Ask to pay; gives the ticket."""
    with shield.run("bot", "invoices") as run, pytest.raises(Refused) as refused:
        run.call(pay, amount=amount)
    assert refused.value.waits, refused.value
    assert refused.value.ticket is not None
    return refused.value.ticket


def paid(shield: Shield, amount: int = 5) -> int:
    """Ask again."""
    with shield.run("bot", "invoices") as run:
        return int(run.call(pay, amount=amount))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "here")


def with_fd(home: Home, *words: str, passphrase: str = WORDS) -> tuple[int, str]:
    """Run a command that reads a passphrase from a descriptor."""
    reading, writing = os.pipe()
    os.write(writing, f"{passphrase}\n".encode())
    os.close(writing)
    done = subprocess.run(
        [sys.executable, "-m", "stanchion", *words, "--passphrase-fd", str(reading)],
        capture_output=True,
        env=home.environ,
        cwd=home.project,
        pass_fds=[reading],
        start_new_session=True,
        check=False,
    )
    os.close(reading)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def enrolled(home: Home, name: str = "ann") -> Path:
    """Add the first operator at a terminal, with a new key."""
    came = home.at_terminal("operators", "add", name, types=(WORDS, WORDS))
    assert came.status == 0, came
    assert f"{name} is an operator now" in came.out
    return home.keys / name


def test_somebody_at_a_terminal_types_the_code(home: Home) -> None:
    with home.shield() as shield:
        ticket = asked(shield)
        came = home.at_terminal("tickets", "approve", ticket)
        assert came.status == 0, came
        assert '"amount": 5' in came.err, "it is shown whole before the code is asked for"
        assert "unproven" in came.out
        assert paid(shield) == 5
        kept = shield.ticket(ticket)
        assert (kept.state, kept.proven) == ("used", False)
    assert '"proven":false' in home.runs("audit", "export").out


@pytest.mark.parametrize(("risk", "said"), [("high", "of high risk"), ("critical", "critical")])
def test_what_can_do_much_harm_needs_a_key(risk: str, said: str, home: Home) -> None:
    """At a terminal any program can type; the refusal has the command that makes an operator."""
    with home.shield(risk) as shield:
        ticket = asked(shield)
        came = home.at_terminal("tickets", "approve", ticket)
        assert came.status == 1
        assert f"it is {said}: only an operator with a key can say yes" in came.err
        assert "`stanchion operators add NAME` adds the first one" in came.err
        assert shield.ticket(ticket).state == "open"


def test_an_operator_answers_with_a_key_in_a_file(home: Home) -> None:
    key = enrolled(home)
    with home.shield("critical") as shield:
        ticket = asked(shield)
        status, said = with_fd(home, "tickets", "approve", ticket, "--key", str(key))
        assert status == 0, said
        assert "signed" in said
        assert paid(shield) == 5
        assert shield.ticket(ticket).answered_by == "ann"


def test_with_a_wrong_passphrase_nothing_happens(home: Home) -> None:
    key = enrolled(home)
    with home.shield("critical") as shield:
        ticket = asked(shield)
        status, said = with_fd(
            home, "tickets", "approve", ticket, "--key", str(key), passphrase="guess"
        )
        assert status == 2
        assert "passphrase" in said
        assert shield.ticket(ticket).state == "open"


def test_a_key_that_an_agent_can_read_is_refused(home: Home) -> None:
    enrolled(home)
    plain = home.folder / "plain"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(plain)], check=True)
    status, said = with_fd(
        home, "operators", "add", "bob", "--public", f"{plain}.pub", "--key", str(home.keys / "ann")
    )
    assert status == 0, said
    with home.shield("critical") as shield:
        ticket = asked(shield)
        status, said = with_fd(home, "tickets", "approve", ticket, "--key", str(plain))
        assert status == 2, said
        assert "ssh-keygen -p" in said
        assert shield.ticket(ticket).state == "open"


@contextmanager
def ssh_agent(home: Home, confirms: str) -> Iterator[dict[str, str]]:
    """An ssh-agent that asks before it signs, and is told that."""
    asks, socket = home.folder / "askpass", home.folder / "agent.sock"
    asks.write_text(
        f"#!/bin/sh\ncase \"$1\" in *assphrase*) echo '{WORDS}';; *) exit {confirms};; esac\n"
    )
    asks.chmod(0o700)
    environ = {"SSH_ASKPASS": str(asks), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    with subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket)],
        stdout=subprocess.PIPE,
        env={**home.environ, **environ},
    ) as agent:
        assert agent.stdout is not None
        agent.stdout.readline()
        try:
            yield {**environ, "SSH_AUTH_SOCK": str(socket)}
        finally:
            agent.kill()


@pytest.mark.parametrize(("confirms", "status"), [("0", 0), ("1", 2)])
def test_an_operator_answers_through_an_ssh_agent_that_asks(
    home: Home, confirms: str, status: int
) -> None:
    key = enrolled(home)
    with ssh_agent(home, confirms) as environ, home.shield("critical") as shield:
        subprocess.run(
            ["ssh-add", "-q", "-c", str(key)], env={**home.environ, **environ}, check=True
        )
        ticket = asked(shield)
        came = home.runs("tickets", "approve", ticket, "--ssh-agent", **environ)
        assert came.status == status, came
        if status:
            assert shield.ticket(ticket).state == "open"
        else:
            answer = shield.ticket(ticket).answer
            assert answer is not None
            assert answer.way == "ssh-agent"
            assert paid(shield) == 5


def test_an_answer_is_signed_on_another_machine(home: Home, tmp_path: Path) -> None:
    there = Home(tmp_path / "there")
    plain = there.folder / "ann"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(plain)], check=True)
    shutil.copy(f"{plain}.pub", home.project / "ann.pub")
    came = home.at_terminal("operators", "add", "ann", "--public", "ann.pub")
    assert came.status == 0, came
    with home.shield("critical") as shield:
        ticket = asked(shield)
        request = home.runs("tickets", "request", ticket)
        (there.project / "request").write_text(request.out)
        signed = there.runs("tickets", "sign", "request", "--as", "ann", "--key", str(plain))
        assert signed.status == 0, signed
        assert '"amount": 5' in signed.err, "it is shown whole before it is signed"
        assert not there.state.exists(), "the other machine has nothing of Stanchion's state"
        (home.project / "answer").write_text(signed.out)
        handed = home.runs("tickets", "answer", "answer")
        assert handed.status == 0, handed
        assert paid(shield) == 5
        again = home.runs("tickets", "answer", "answer")
        assert again.status == 1
        assert asked(shield) == ticket, "it is asked for anew"
        replayed = home.runs("tickets", "answer", "answer")
        assert replayed.status == 1
        assert shield.ticket(ticket).state == "open"
