"""A broker's life and its clients': crashes, restarts, clean ends, and what is left behind."""

from __future__ import annotations

import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.audit.journal import Finish, MemoryJournal
from stanchion.cli.main import main
from stanchion.ops.broker.premises import Taken, listening
from stanchion.runtime.remote.errors import BrokerLost
from tests.ops.broker.brokers import Running, open_folder, python_as, running, serving, stanchion_as
from tests.sampling import some

ME = str(os.getuid())
BUDGET = "name: bounded\nguards:\n  - {use: budget, calls: 40, per: tenant}\n"


def policy_in(folder: Path, text: str = BUDGET) -> str:
    """A policy file that only its owner can read."""
    file = folder / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def far_from(broker: Running) -> Any:
    return Shield.load(f"broker:{broker.socket}")


def test_a_killed_broker_refuses_and_the_next_goes_on_with_the_same_budget(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker, far_from(broker) as far:
        run = far.run("ann", "bill")
        child = run.spawn("bob", budget={"calls": 5})
        assert [child.check("x", {}).proceeds for _ in range(3)] == [True] * 3
        assert [run.call(len, "abc") for _ in range(10)] == [3] * 10
        broker.end(signal.SIGKILL)
        lost = run.check("x", {})
        assert (lost.proceeds, lost.code) == (False, "kernel.broker_lost")
        with pytest.raises(Refused) as refused:
            run.call(len, "abc")
        assert (refused.value.decision.code, refused.value.happened) == (
            "kernel.broker_lost",
            False,
        )
        with pytest.raises(Refused):
            far.run()
        broker.start()
        assert [child.check("x", {}).proceeds for _ in range(4)] == [True, True, False, False]
        assert [run.check("x", {}).proceeds for _ in range(30)].count(True) == 40 - 10 - 5


def test_a_run_that_was_closed_stays_closed_over_a_restart(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker, far_from(broker) as far:
        run = far.run("ann")
        run.close()
        broker.end(signal.SIGKILL)
        broker.start()
        assert run.check("x", {}).code == "kernel.ended"


def test_a_broker_that_dies_while_a_tool_runs_hands_no_result_on(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker, far_from(broker) as far:

        def kills() -> str:
            broker.end(signal.SIGKILL)
            return "secret"

        with pytest.raises(Refused, match="the call was done") as refused:
            far.run().call(kills)
        assert (refused.value.decision.code, refused.value.happened) == (
            "kernel.done_unjudged",
            True,
        )


def test_sigterm_ends_it_cleanly_and_nothing_listens_any_more(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker, far_from(broker) as far:
        run = far.run("ann")
        assert broker.end() == 0
        assert not broker.socket.exists()
        assert not run.check("x", {}).proceeds
        with pytest.raises(BrokerLost, match="no answer"):
            far_from(broker)
        broker.start()
        assert run.check("x", {}).proceeds


def test_a_dead_brokers_socket_is_replaced_and_a_live_ones_is_not(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker:
        for state, says in (
            (broker.state, "another broker keeps its state"),
            (broker.folder / "more", "listens at"),
        ):
            command = [
                "broker",
                "--socket",
                str(broker.socket),
                "--policy",
                "default",
                "--allow-user",
                ME,
            ]
            second = stanchion_as(None, *command, "--state", str(state))
            _, said = second.communicate()
            assert second.returncode == 2
            assert says in said
        far_from(broker).close()
        broker.end(signal.SIGKILL)
        assert broker.socket.exists()
        broker.start()
        far_from(broker).close()


def test_of_several_that_begin_at_one_socket_one_listens(tmp_path: Path) -> None:
    for number in range(20):
        path, ready = tmp_path / str(number), threading.Barrier(4)

        def begun(path: Path = path, ready: threading.Barrier = ready) -> socket.socket | None:
            ready.wait()
            try:
                return listening(path)
            except Taken:
                return None

        with ThreadPoolExecutor(4) as pool:
            (listener,) = [
                one
                for one in [each.result() for each in [pool.submit(begun) for _ in range(4)]]
                if one
            ]
        with listener, socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            listener.settimeout(60)
            listener.accept()[0].close()


CLIENT = """
import os, sys
from stanchion import Shield
run = Shield.load("broker:" + sys.argv[1]).run("ann", "bill")
def pay():
    os._exit(9)
run.call(pay)
"""


class Watched(MemoryJournal):
    """A journal that knows how the first run has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.why = ""
        self.over = threading.Event()

    def end(self, finish: Finish) -> None:
        self.why = finish.why
        self.over.set()


def test_a_client_that_dies_leaves_an_unknown_outcome_and_an_ended_run() -> None:
    journal = Watched()
    with Shield.load({"name": "bare"}, journal=journal) as shield, serving(shield) as path:
        client = python_as(None, "-c", CLIENT, str(path))
        client.communicate()
        assert client.returncode == 9
        journal.over.wait()
    assert journal.why == "its client has gone"
    assert any("its outcome is not known" in str(one) for one in journal.kept())


SPENDER = """
import sys
from stanchion import Shield
run = Shield.load("broker:" + sys.argv[1]).run("ann", "bill")
print("ready", flush=True)
sys.stdin.readline()
print(sum(run.check("x", {"n": n}).proceeds for n in range(10)))
"""


def test_eight_clients_spend_exactly_a_budget(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker:
        clients = [python_as(None, "-c", SPENDER, str(broker.socket)) for _ in range(8)]
        spent = [int(client.communicate()[0].split()[1]) for client in clients]
        assert sum(spent) == 40


def test_eight_threads_of_one_client_spend_exactly_a_budget(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker, far_from(broker) as far:
        spent: list[bool] = []
        go = threading.Barrier(8)

        def spend() -> None:
            run = far.run()
            go.wait()
            spent.extend(run.check("x", {"n": n}).proceeds for n in range(10))

        threads = [threading.Thread(target=spend) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(spent) == 40


@pytest.mark.parametrize(
    ("opened", "says"),
    some(
        [
            ("state", "chmod 700"),
            ("policy", "chmod 600"),
            ("above", "chmod go-w"),
            ("relative", "absolute"),
            ("nobody", "--allow-user"),
            ("stranger", "no user `nosuchuser`"),
            ("file", "not a socket"),
        ],
        2,
        "opened",
    ),
)
def test_it_does_not_start_where_it_protects_nothing(opened: str, says: str) -> None:
    with open_folder() as folder:
        (folder / "above").mkdir(mode=0o755)
        state, policy, sock = folder / "above" / "state", folder / "policy.yaml", folder / "b.sock"
        state.mkdir(mode=0o700)
        policy.write_text(BUDGET, encoding="utf-8")
        policy.chmod(0o644 if opened == "policy" else 0o600)
        if opened == "state":
            state.chmod(0o750)
        if opened == "above":
            (folder / "above").chmod(0o777)
        if opened == "file":
            sock.touch()
        who = {"nobody": [], "stranger": ["--allow-user", "nosuchuser"]}.get(
            opened, ["--allow-user", ME]
        )
        where = "state" if opened == "relative" else str(state)
        command = ["broker", "--socket", str(sock), "--policy", str(policy), "--state", where, *who]
        refused = stanchion_as(None, *command)
        _, said = refused.communicate()
        assert refused.returncode == 2, said
        assert says in said
        assert "Traceback" not in said


def test_it_says_that_it_protects_nothing_from_its_own_user(tmp_path: Path) -> None:
    with running(policy_in(tmp_path), ME) as broker:
        far_from(broker).close()
        broker.process.send_signal(signal.SIGTERM)
        _, said = broker.process.communicate()
        assert said.count("protects nothing from the agent") == 1


def test_a_forked_client_is_a_client_of_its_own(tmp_path: Path) -> None:
    code = """
import os, sys
from stanchion import Shield
shield = Shield.load("broker:" + sys.argv[1])
run = shield.run("ann")
assert run.check("x", {}).proceeds
child = os.fork()
if not child:
    os._exit(0 if run.check("x", {}).proceeds and shield.run().check("x", {}).proceeds else 1)
assert os.waitpid(child, 0)[1] == 0
assert run.check("x", {}).proceeds
"""
    with running(policy_in(tmp_path), ME) as broker:
        client = python_as(None, "-c", code, str(broker.socket))
        _, said = client.communicate()
        assert client.returncode == 0, said


def test_what_listens_and_is_no_broker_is_said_to_be_none(tmp_path: Path) -> None:
    with open_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "x.sock"))
        listener.listen()

        def close() -> None:
            sock, _ = listener.accept()
            sock.recv(100)
            sock.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(BrokerLost, match="closed the connection"):
            Shield.load(f"broker:{folder / 'x.sock'}")
        thread.join()


@pytest.mark.parametrize(
    "command", [["state"], ["state", "halt"], ["tickets", "list"], ["tools", "reset", "x"]]
)
def test_commands_work_on_a_store_and_not_through_a_broker(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_STORE", "broker:/run/x.sock")
    assert main(command) == 2
    assert "broker" in capsys.readouterr().err
