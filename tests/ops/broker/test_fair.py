"""What one user of a broker fills, breaks or takes is that user's own; who hits a limit is told."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.ops.broker.connection import LARGE, Connection, Load
from stanchion.ops.broker.peers import Peer
from stanchion.ops.broker.remote_tool import Gone
from stanchion.ops.broker.server import ConnectionPlaces, TurnedAway
from stanchion.ops.broker.user_processes import IDLE_S, UserProcess
from stanchion.runtime.remote import messages as m
from stanchion.runtime.remote.broker_link import packed
from stanchion.runtime.remote.errors import BrokerBusy
from tests.ops.broker.brokers import (
    AGENT_UID,
    BROKER_UID,
    OTHER_UID,
    interpreter,
    python_as,
    running,
    serving,
)


class Turn:
    """A turn that writes down who had it, in place of one that makes them wait."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def acquire(self) -> None:
        self.log.append("taken")

    def release(self) -> None:
        self.log.append("passed")


def report(size: int) -> bytes:
    return packed(m.StageReport("1", "run", "", "tool_result", m.Value({"result": "x" * size})))


def test_places_are_counted_by_user_and_by_tenant() -> None:
    places = ConnectionPlaces(of_user=2, of_tenant=3, in_all=4)
    ann, bob, eve = Peer(1, 1, 1, "shop"), Peer(2, 2, 2, "shop"), Peer(3, 3, 3, "bank")
    places.take(ann)
    places.take(ann)
    with pytest.raises(TurnedAway, match="user 1 has 2"):
        places.take(ann)
    places.take(bob)
    with pytest.raises(TurnedAway, match="tenant `shop` has 3"):
        places.take(bob)
    places.take(eve)
    places.leave(ann)
    places.take(bob)
    with pytest.raises(TurnedAway, match="this broker has 4"):
        places.take(eve)


def test_who_has_no_place_left_is_told_that_it_is_busy() -> None:
    with (
        Shield.load({"name": "bare"}) as shield,
        serving(shield, ConnectionPlaces(of_user=2)) as path,
    ):
        far: Any = Shield.load(f"broker:{path}")
        with far, far.run() as run:
            assert run.call(lambda: run.check("x", {}).code) == "kernel.broker_busy"
            assert run.check("x", {}).proceeds
            with pytest.raises(BrokerBusy, match="close some of them first"):
                Shield.load(f"broker:{path}")


def test_a_large_message_is_taken_in_when_no_other_of_its_user_is_worked_on() -> None:
    load, turn = Load(), Turn()
    load.turn = turn  # type: ignore[assignment]  # it has what is asked of a lock
    mine, its = socket.socketpair()
    with mine, its:
        connection = Connection(its, 7, load)
        mine.sendall(report(100))
        connection.request()
        assert turn.log == [], "a small one waits for nobody"
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * LARGE)
        mine.sendall(report(LARGE)[:8])
        mine.shutdown(socket.SHUT_WR)
        with pytest.raises(Gone):
            connection.request()
        assert turn.log == ["taken"], "before its body is read"
        connection.pass_turn()
        connection.take_turn()
        connection.close()
        assert turn.log == ["taken", "passed", "taken", "passed"]


def test_a_large_call_lets_others_go_on_while_its_client_runs_it() -> None:
    with Shield.load({"name": "bare"}) as shield, serving(shield) as path:
        far: Any = Shield.load(f"broker:{path}")
        with far, far.run() as run:

            def tool(text: str) -> bool:
                return bool(run.result("web", {}, "y" * (LARGE + 1)).proceeds)

            assert run.call(tool, "x" * (LARGE + 1))


def test_a_process_ends_when_its_user_has_gone_for_a_while() -> None:
    mine, its = socket.socketpair()
    with mine, its:
        process = UserProcess(Peer(0, 1, 0), 0, mine)
        assert not process.is_idle()
        process.idle_since -= IDLE_S
        assert process.is_idle()
        with socket.socket(socket.AF_UNIX) as sock:
            process.attend(sock)
        assert not process.is_idle()
        its.sendall(b"\0")
        assert process.count_ended() == 1
        process.idle_since -= IDLE_S
        assert process.is_idle()


ASKS = """
import sys
from stanchion import Shield
run = Shield.load("broker:" + sys.argv[1]).run("ann")
print(run.check("x", {}).proceeds, flush=True)
sys.stdin.readline()
print(any(run.check("x", {}).proceeds for _ in range(int(sys.argv[2]))))
"""


def processes_of(parent: int) -> set[int]:
    """The processes that a broker has begun."""
    return set(map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split()))


@pytest.mark.skipif(
    interpreter(AGENT_UID) is None,
    reason="only root can be other users, and they need an interpreter that they can run",
)
def test_what_breaks_for_one_user_breaks_for_no_other() -> None:
    """Each has a process; one that dies is begun anew, and its runs go on."""
    with running("default", str(AGENT_UID), str(OTHER_UID), uid=BROKER_UID) as broker:
        its: dict[int, int] = {}
        clients = {}
        for uid, tries in ((AGENT_UID, "1000"), (OTHER_UID, "1")):
            client = python_as(uid, "-c", ASKS, str(broker.socket), tries, stdin=-1)
            assert client.stdout is not None
            assert client.stdout.readline() == "True\n"
            (its[uid],) = processes_of(broker.process.pid) - set(its.values())
            clients[uid] = client
        os.kill(its[AGENT_UID], signal.SIGKILL)
        for uid, client in clients.items():
            said, trouble = client.communicate("\n")
            assert said == "True\n", (uid, trouble)
        assert its[OTHER_UID] in processes_of(broker.process.pid)
