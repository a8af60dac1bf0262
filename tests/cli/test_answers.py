"""`stanchion answers`, the broker's page and the link that a terminal shows."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from stanchion import Refused, Shield
from stanchion.cli.main import main
from tests.cli.terminals import person
from tests.ops.broker.brokers import open_folder, python_as
from tests.ports import Port

POLICY = "name: p\ntools: {pay: {ask: true}}\n"


@pytest.fixture
def port() -> Port:
    return Port()


@pytest.fixture
def home(tmp_path: Path, port: Port, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    notify = tmp_path / "notify.yaml"
    notify.write_text(f"answers: {{bind: '127.0.0.1:{port.number}'}}\n")
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("STANCHION_NOTIFY", str(notify))
    return tmp_path


def asked(home: Path) -> str:
    with (
        Shield.load(home / "policy.yaml", store=f"sqlite:{home / 'state' / 'state.db'}") as shield,
        shield.run(agent="bot", task="bills") as run,
        pytest.raises(Refused) as refused,
    ):
        run.call(pay, amount=5)
    return str(refused.value.ticket)


def pay(amount: int) -> str:
    return f"paid {amount}"


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone at the end, whatever happens."""
    with process:
        try:
            yield process
        finally:
            process.terminate()


def gets(port: int, path: str) -> int:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        link.request("GET", path)
        return link.getresponse().status
    finally:
        link.close()


def test_the_page_is_served_until_it_is_told_to_stop(home: Path, port: Port) -> None:
    ticket = asked(home)
    command = [sys.executable, "-m", "stanchion", "answers", "--policy", str(home / "policy.yaml")]
    store = ["--store", f"sqlite:{home / 'state' / 'state.db'}"]
    with ended(subprocess.Popen([*command, *store], stdout=subprocess.PIPE, text=True)) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline() == f"answers are heard at 127.0.0.1:{port.number}\n"
        shows = ["tickets", "show", ticket, *store]
        piped = [sys.executable, "-m", "stanchion", *shows]
        said = subprocess.run(piped, capture_output=True, text=True, check=True).stdout
        assert "/a/" not in said, "what goes to a pipe may be an agent's"
        with person() as ann:
            code = (
                "import os, sys; os.dup2(os.open(sys.argv[1], 1), 1)\n"
                "os.environ.update(COLUMNS='999', NO_COLOR='1')\n"
                f"from stanchion.cli.main import main; main({shows!r})"
            )
            with ann.begin(code) as program:
                link = ann.reads(r"link +(http[^ ]+)\r\n", program)
        assert gets(port.number, urlsplit(link).path) == 200
        serving.send_signal(signal.SIGTERM)
        assert serving.wait() == 0
    with pytest.raises(OSError, match="refused"):
        gets(port.number, "/")


def test_without_a_place_to_answer_it_says_where_to_write_one(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "notify.yaml").write_text("destinations: {}\n")
    assert main(["answers", "--store", "memory:"]) == 2
    assert "add `answers: {}`" in capsys.readouterr().err


def test_a_place_that_is_taken_is_named(
    home: Path, port: Port, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", port.number)):
        assert main(["answers", "--store", "memory:"]) == 2
    assert f"cannot listen at `127.0.0.1:{port.number}`" in capsys.readouterr().err


def test_a_broker_serves_the_page_beside_itself(port: Port) -> None:
    with open_folder() as folder:
        (folder / "policy.yaml").write_text(POLICY)
        (folder / "policy.yaml").chmod(0o600)
        notify = folder / "notify.yaml"
        notify.write_text(f"answers: {{bind: '127.0.0.1:{port.number}'}}\n")
        broker = python_as(
            None,
            *("-m", "stanchion", "broker", "--socket", str(folder / "broker.sock")),
            *("--policy", str(folder / "policy.yaml"), "--state", str(folder / "state")),
            *("--allow-user", str(os.getuid())),
            STANCHION_NOTIFY=str(notify),
        )
        with ended(broker):
            assert broker.stdout is not None
            assert (
                broker.stdout.readline()
                == f"listening at {folder}/broker.sock as user {os.getuid()}\n"
            )
            assert broker.stdout.readline() == f"answers are heard at 127.0.0.1:{port.number}\n"
            with (
                Shield.load(f"broker:{folder}/broker.sock") as shield,
                shield.run(agent="bot") as run,
                pytest.raises(Refused) as refused,
            ):
                run.call(pay, amount=5)
            assert refused.value.waits
            assert gets(port.number, "/a/x") == 404
            broker.send_signal(signal.SIGTERM)
            assert broker.wait() == 0
        with pytest.raises(OSError, match="refused"):
            gets(port.number, "/")
