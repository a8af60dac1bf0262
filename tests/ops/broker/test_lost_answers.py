"""An answer that is lost on the way is asked for again, and nothing is judged twice for it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from tests.ops.broker.brokers import open_folder, serving


class Relay:
    """Stands between a client and a broker, and cuts a connection in place of the next answer when
    told to."""

    def __init__(self, path: Path, broker: Path) -> None:
        self._broker = str(broker)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._open: list[socket.socket] = [self._listener]
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                broker = socket.socket(socket.AF_UNIX)
                broker.connect(self._broker)
                self._open += [client, broker]
                for pair in ((client, broker, False), (broker, client, True)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                if answers and self.cuts:
                    self.cuts -= 1
                    break
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.fixture
def between() -> Iterator[tuple[Any, Relay, Shield]]:
    """A client whose broker is behind a relay, the relay, and the broker's shield."""
    policy = {"name": "p", "guards": [{"use": "budget", "calls": 3, "per": "run"}]}
    with Shield.load(policy) as shield, serving(shield) as broker, open_folder() as folder:
        relay = Relay(folder / "relay.sock", broker)
        with Shield.load(f"broker:{folder / 'relay.sock'}") as far:
            yield far, relay, shield
        relay.close()


def test_a_lost_answer_is_the_first_one_again(between: tuple[Any, Relay, Shield]) -> None:
    far, relay, shield = between
    run = far.run("ann")
    relay.cuts = 1
    assert run.check("x", {}).proceeds
    assert relay.cuts == 0
    assert shield.journal.written == 1
    assert [run.check("x", {}).proceeds for _ in range(3)] == [True, True, False]


def test_a_call_whose_start_was_lost_does_not_run(between: tuple[Any, Relay, Shield]) -> None:
    far, relay, _ = between
    ran: list[int] = []
    run = far.run("ann")
    relay.cuts = 1
    with pytest.raises(Refused) as refused:
        run.call(ran.append, 1)
    assert refused.value.decision.code == "kernel.broker_lost"
    assert not ran
    assert run.check("x", {}).proceeds


def test_a_call_whose_end_was_lost_hands_nothing_on(between: tuple[Any, Relay, Shield]) -> None:
    far, relay, _ = between
    ran: list[int] = []

    def tool() -> str:
        ran.append(1)
        relay.cuts = 1
        return "secret"

    run = far.run("ann")
    with pytest.raises(Refused, match="the call was done") as refused:
        run.call(tool)
    assert "secret" not in str(refused.value)
    assert ran == [1]
    assert run.check("x", {}).proceeds
