"""An agent that has the link does not answer for itself from this machine, as far as the kernel
says whose connection it is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.hosts.coding import AGENTS
from stanchion.ops.answering.other_end import OtherEnd
from stanchion.ops.broker.peers import Admission
from stanchion.testing.operators import operator
from tests.ops.answering.scene import Scene, scene
from tests.ops.broker.brokers import AGENT_UID, OTHER_UID, interpreter, python_as

SENDS = """
import re, sys, urllib.error, urllib.parse, urllib.request
with urllib.request.urlopen(sys.argv[1]) as page:
    form = re.search(r'name="form" value="([^"]+)"', page.read().decode())[1]
said = urllib.parse.urlencode({"form": form, "answer": "yes", "read": "yes"}).encode()
try:
    print(urllib.request.urlopen(sys.argv[1], said).status)
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""
ALONE = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', *sys.argv[1:]])"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path, agents=Admission({AGENT_UID: "default"}, {})) as made:
        yield made


def test_what_an_agents_run_has_started_does_not_answer(at: Scene) -> None:
    link = at.link(at.asks())
    with at.run():
        command = [sys.executable, "-c", SENDS, link]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert said.startswith("403 ")
        assert "belongs to an agent&#x27;s run" in said
    (fact,) = at.facts("answer.refused")
    assert (fact.by, "does not answer for itself" in fact.why) == ("link:phone", True)
    assert not at.goes_ahead()


def test_what_a_coding_agent_has_started_does_not_answer(at: Scene, tmp_path: Path) -> None:
    link = at.link(at.asks())
    desk = at.server._desk
    desk._other_end = OtherEnd(None, hosts=tuple(AGENTS.values()))
    claude = tmp_path / "claude"
    claude.symlink_to(sys.executable)
    command = [
        str(claude),
        "-c",
        ALONE.replace("sys.executable", repr(sys.executable)),
        SENDS,
        link,
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("403 ")
    assert "belongs to a coding agent" in said


@pytest.mark.skipif(
    interpreter(AGENT_UID) is None,
    reason="only root can be other users, and they need an interpreter that they can run",
)
@pytest.mark.parametrize(("uid", "counts"), [(AGENT_UID, False), (OTHER_UID, True)])
def test_a_user_whose_agents_a_broker_serves_does_not_answer(
    uid: int, counts: bool, at: Scene
) -> None:
    link = at.link(at.asks())
    said, _ = python_as(uid, "-c", SENDS, link).communicate()
    assert said.startswith("200" if counts else "403 "), said
    assert at.goes_ahead() is counts


def test_a_broker_takes_no_answer_of_a_user_who_may_be_in_a_group_that_it_serves() -> None:
    assert Admission({}, {0: "default"}).may_serve(0)
    assert not Admission({}, {AGENT_UID: "default"}).may_serve(0)
    assert Admission({}, {AGENT_UID: "default"}).may_serve(OTHER_UID), "nobody knows their groups"
    assert not Admission({AGENT_UID: "default"}, {}).may_serve(OTHER_UID)


def test_a_broker_of_the_agents_own_user_takes_no_answer_of_that_user(tmp_path: Path) -> None:
    with scene(tmp_path, agents=Admission({os.geteuid(): "default"}, {})) as at:
        said = at.answers(at.link(at.asks()))
        assert (said.status, "a user whose agents ask here" in said.text) == (403, True)


@pytest.mark.parametrize("agents", [("bot",), ("other",)], ids=str)
def test_an_operator_does_not_answer_in_a_chat_for_an_agent_of_theirs(
    agents: tuple[str, ...], tmp_path: Path
) -> None:
    _, known = operator("ann", agents=agents)
    with scene(tmp_path, operators=(known,), terms={"relayed": ["chat"]}) as at:
        assert (at.presses(at.link(at.asks())).status == 200) is (agents == ("other",))


def test_nobody_answers_where_it_cannot_be_told_who_it_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        heard, _ = listener.accept()
        with heard:
            end = OtherEnd(None, hosts=())
            assert end.doubt(heard) == ""
            client.close()
            assert "it cannot be told whose connection this is" in end.doubt(heard)
