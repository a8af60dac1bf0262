"""What a broker is for: an agent under another user can ask it, and can reach nothing of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.ops.broker.brokers import (
    AGENT_UID,
    BROKER_UID,
    OTHER_UID,
    Running,
    interpreter,
    python_as,
    running,
)

pytestmark = pytest.mark.skipif(
    interpreter(AGENT_UID) is None,
    reason="only root can be other users, and they need an interpreter that they can run",
)

POLICY = "name: bounded\nguards:\n  - {use: budget, calls: 40, per: tenant}\n  - {use: shell}\n"


@pytest.fixture(scope="module")
def broker() -> Iterator[Running]:
    """A broker of its own user, for an agent and for another one with a tenant of its own."""
    with running("default", f"{AGENT_UID}", f"{OTHER_UID}:other", uid=BROKER_UID) as one:
        one.end()
        policy = one.state / "policy.yaml"
        policy.write_text(POLICY, encoding="utf-8")
        os.chown(policy, BROKER_UID, BROKER_UID)
        (one.state / "operators.key").write_text("a key", encoding="utf-8")
        one._command[one._command.index("default")] = str(policy)
        one.start()
        yield one


def said_by(uid: int, code: str, *words: str) -> str:
    """What a program of a user says."""
    program = python_as(
        uid, "-c", "import os, sys\nfrom stanchion import Shield, Refused\n" + code, *words
    )
    said, trouble = program.communicate()
    assert program.returncode == 0, trouble
    return said.strip()


USES = """
shield = Shield.load("broker:" + sys.argv[1])
with shield.run("ann", "bill") as run:
    print(run.call(len, "abc"), run.check("bash", {"command": "rm -rf /"}).proceeds)
"""


def test_an_agent_can_ask(broker: Running) -> None:
    assert said_by(AGENT_UID, USES, str(broker.socket)) == "3 False"


def test_an_agent_can_reach_nothing_of_it(broker: Running) -> None:
    said_by(AGENT_UID, USES, str(broker.socket))
    files = [broker.state, *broker.state.rglob("*")]
    assert {"state.db", "broker.key", "policy.yaml", "trail"} <= {one.name for one in files}
    tries = """
for name in sys.argv[1:]:
    for way in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        try:
            os.close(os.open(name, way))
            print("opened", name, way)
        except (PermissionError, IsADirectoryError):
            pass
    for change in (os.unlink, os.rmdir, lambda one: os.rename(one, one + ".x"), lambda one: os.chmod(one, 0o777)):
        try:
            change(name)
            print("changed", name)
        except (PermissionError, NotADirectoryError, IsADirectoryError, FileNotFoundError):
            pass
"""  # noqa: E501
    assert said_by(AGENT_UID, tries, *map(str, files)) == ""
    assert said_by(BROKER_UID, tries, str(broker.state / "policy.yaml")).startswith("opened"), (
        "its own user can"
    )


def test_an_agent_cannot_take_the_sockets_place(broker: Running) -> None:
    code = """
try:
    os.unlink(sys.argv[1])
    print("unlinked")
except PermissionError:
    pass
"""
    assert said_by(AGENT_UID, code, str(broker.socket)) == ""


def test_a_stranger_is_turned_away(broker: Running) -> None:
    code = """
try:
    Shield.load("broker:" + sys.argv[1])
except Exception as error:
    print(error)
"""
    assert f"does not work for user {BROKER_UID}" in said_by(BROKER_UID, code, str(broker.socket))


def test_another_user_cannot_speak_for_a_run_even_with_its_token(broker: Running) -> None:
    begins = """
shield = Shield.load("broker:" + sys.argv[1])
run = shield.run("ann", "bill")
began = run._began
print(began.run, began.token, began.passed.hex(), flush=True)
sys.stdin.readline()
print(run.check("x", {}).proceeds)
"""
    speaks = """
from stanchion.runtime.remote import messages as m
shield = Shield.load("broker:" + sys.argv[1])
run = shield.run("bob", "bill")
boot = run._boot
mine = run._began
run._began = m.Began(sys.argv[2], "ann", "bill", sys.argv[3], bytes.fromhex(sys.argv[4]))
print(run.check("x", {}).code)
run._boot = "another"
print(run.check("x", {}).code)
run._began, run._boot = mine, boot
print(run.check("x", {}).proceeds)
"""
    begins = "import sys\nfrom stanchion import Shield\n" + begins
    owner = python_as(AGENT_UID, "-c", begins, str(broker.socket), stdin=subprocess.PIPE)
    assert owner.stdout is not None
    words = owner.stdout.readline().split()
    assert said_by(OTHER_UID, speaks, str(broker.socket), *words).split() == [
        "kernel.ended",
        "kernel.ended",
        "True",
    ]
    said, trouble = owner.communicate()
    assert said.strip() == "True", trouble


def test_tenants_are_the_brokers_to_say(broker: Running) -> None:
    """A halt of one user's tenant does not touch the other's."""
    halts = """
shield = Shield.load("broker:" + sys.argv[1])
shield.halt("stop")
print(shield.run().check("x", {}).code)
"""
    assert said_by(OTHER_UID, halts, str(broker.socket)) == "kernel.halted"
    assert said_by(AGENT_UID, USES, str(broker.socket)) == "3 False"
