"""The log of a server goes on without secrets, also those that go over several lines."""

from __future__ import annotations

import os
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from stanchion.hosts.mcp import streams
from stanchion.hosts.mcp.streams import WITHHELD, without_secrets
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import KEY

BODY = "\n".join(
    "MIIEpAIBAAKCAQEA7bq1x0ZtV9yQw3cRk8Jm5nLd2sXe6uHf4gTp9aWoBiYzKvCj"[:64] for _ in range(8)
)
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"


@pytest.fixture
def hide() -> streams.Hide:
    """What the command takes secrets out with."""
    shield = shield_for({"name": "bare", "guards": [{"use": "secrets"}]})
    return lambda lines: str(shield.policy.veil.words(lines))


def test_a_secret_of_several_lines_is_hidden(
    hide: streams.Hide, capsys: pytest.CaptureFixture[str]
) -> None:
    with without_secrets(hide) as log:
        for line in f"starting\n{PEM}\nstarted with {KEY}".splitlines():
            os.write(log.fileno(), f"{line}\n".encode())
    shown = capsys.readouterr().err
    assert shown.startswith("starting\n")
    assert "started with [redacted" in shown
    assert BODY.splitlines()[0] not in shown
    assert KEY not in shown


def test_nothing_is_lost_of_a_log_that_never_pauses(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "".join(f"line {number}\n" for number in range(40_000)) + "x" * 200_000 + "\nlast"
    with without_secrets(str) as log:
        log.write(lines)
    assert capsys.readouterr().err == lines


def test_a_line_appears_while_the_server_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr("sys.stderr", SimpleNamespace(write=shown.put, flush=lambda: None))
    with without_secrets(str) as log:
        os.write(log.fileno(), b"ready\nnot yet")
        assert shown.get(timeout=60) == "ready\n"


def test_lines_that_nobody_could_read_are_withheld(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(lines: str) -> str:
        raise RuntimeError(KEY)

    with without_secrets(broken) as log:
        log.write(f"with {KEY}\n")
    assert capsys.readouterr().err == WITHHELD
