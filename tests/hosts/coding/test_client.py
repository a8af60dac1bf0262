"""A hook's process refuses in its host's own words, whatever becomes of the daemon.

What stops a host is measured at the real ones. Claude Code, a command with `onFailure: block`: a
status of 2 with words on standard error, or a refusal in JSON with a status of 0. Codex: words on
standard error and a status of 2; alone, neither of them does. Half an answer stops neither.
"""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stanchion.cli.main import main
from stanchion.hosts.coding import AGENTS, carrier, client
from tests.hosts.coding.stand_ins import PYTHON, Place, StandIn, body, place

EVENTS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "PermissionRequest", "New")
HOSTS = ("claude", "codex")
YES = b'{"status": 0, "stdout": "{\\"continue\\": true}", "stderr": ""}'


def framed(data: bytes, status: str = "200 OK", length: int | None = None, more: str = "") -> bytes:
    """An answer of HTTP."""
    size = len(data) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{more}\r\n".encode() + data


BROKEN: dict[str, bytes] = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "no body": framed(b"", length=len(YES)),
    "half a body": framed(YES[:40], length=len(YES)),
    "more than it says": framed(YES + b"{}", length=len(YES)),
    "no length": b"HTTP/1.1 200 OK\r\n\r\n" + YES,
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "rubbish": framed(b"\x00\xff\xfe rubbish"),
    "no object": framed(b"[]"),
    "half an object": framed(YES[:-1]),
    "two objects": framed(YES + YES),
    "no status": framed(b'{"stdout": "{}", "stderr": ""}'),
    "another status": framed(b'{"status": 1, "stdout": "{}", "stderr": ""}'),
    "a number for words": framed(b'{"status": 0, "stdout": 1, "stderr": ""}'),
    "no words": framed(b'{"status": 0, "stdout": "", "stderr": ""}'),
    "words that no host reads": framed(b'{"status": 0, "stdout": "yes", "stderr": ""}'),
    "half of what a host reads": framed(b'{"status": 0, "stdout": "{\\"a\\": ", "stderr": ""}'),
    "a silent refusal": framed(b'{"status": 2, "stdout": "", "stderr": " "}'),
    "500": framed(b"boom", "500 Internal Server Error"),
    "403": framed(YES, "403 Forbidden"),
    "another version": framed(b"it speaks version 7", "426 Upgrade Required"),
}


def stopped(agent: str, event: str, done: dict[str, Any]) -> bool:
    """Whether the host is stopped by what a hook says, as the table of the real ones has it."""
    said = json.loads(done["stdout"]) if done["stdout"].strip() else {}
    inner = said.get("hookSpecificOutput", {})
    denied = (
        inner.get("permissionDecision") == "deny"
        or inner.get("decision", {}).get("behavior") == "deny"
        or said.get("decision") == "block"
    )
    loud = done["status"] == 2 and bool(done["stderr"].strip())
    if agent == "codex":
        return loud and denied
    if event == "PostToolUse":  # only a session that ends does not read on
        return said.get("continue") is False
    return denied if event == "PermissionRequest" else loud


def says_yes(sock: socket.socket) -> None:
    """A daemon that allows everything."""
    sock.recv(65_536)
    sock.sendall(framed(YES))


@contextmanager
def answering(state: Path, answer: Callable[[socket.socket], None]) -> Iterator[None]:
    """Something that listens where the daemon does, and answers so."""
    folder = state / "agents"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / carrier.SOCKET
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                with sock:
                    answer(sock)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        path.unlink()


@pytest.fixture
def here() -> Iterator[Place]:
    """A place whose server is asked for its hosts alone."""
    with place() as made:
        made.socket.unlink()
        yield made


def hook(host: StandIn, here: Place, said: str, seconds: float = 20) -> dict[str, Any]:
    """Have a hook run at a host."""
    return host.does("hook", here.client(host.name, seconds), said)


@pytest.mark.parametrize("name", HOSTS)
def test_an_answer_that_is_broken_is_a_refusal(here: Place, name: str) -> None:
    host = here.host(name)
    sent = b""

    def answer(sock: socket.socket) -> None:
        sock.recv(65_536)
        sock.sendall(sent)

    with answering(here.state, answer):
        for number, (how, broken) in enumerate(BROKEN.items()):
            sent = broken
            event = EVENTS[number % len(EVENTS)]
            done = hook(host, here, body(event))
            assert stopped(name, event, done), (how, done)
            assert "Stanchion refuses" in done["stderr"]
        sent = framed(YES)
        done = hook(host, here, body())
        assert (done["status"], done["stdout"]) == (0, '{"continue": true}')


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("event", EVENTS)
def test_a_daemon_that_does_not_answer_in_time_is_a_refusal(
    here: Place, name: str, event: str
) -> None:
    host, release = here.host(name), threading.Event()
    with answering(here.state, lambda _: (release.wait(20), None)[1]):
        began = time.monotonic()
        done = hook(host, here, body(event), 0.3)
        release.set()
    assert stopped(name, event, done), done
    assert "in time" in done["stderr"]
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("event", carrier.UNBLOCKED)
@pytest.mark.parametrize("name", HOSTS)
def test_where_a_refusal_would_drive_an_agent_on_it_is_told_alone(
    here: Place, name: str, event: str
) -> None:
    with answering(here.state, lambda _: None):
        done = hook(here.host(name), here, body(event))
    assert done["status"] == 0
    assert list(json.loads(done["stdout"])) == ["systemMessage"]


@pytest.mark.parametrize("event", EVENTS[:4])
def test_codex_hears_the_same_refusal_from_the_hook_and_from_the_daemon(event: str) -> None:
    status, out, err = carrier.refusal("codex", body(event).encode(), "no")
    theirs = AGENTS["codex"].refusal(event, "no")
    assert (status, err, json.loads(out)) == (2, "no", json.loads(theirs.stdout))
    assert (theirs.status, theirs.stderr) == (2, "no")


@pytest.mark.parametrize("name", HOSTS)
def test_a_daemon_that_cannot_be_started_is_a_refusal(here: Place, name: str) -> None:
    host = here.host(name)
    config = here.state / carrier.CONFIG
    for written in ('{"python": "/nowhere/python"}', '{"python": "/bin/false"}', "{", "[]"):
        config.write_text(written, "utf-8")
        done = hook(host, here, body())
        assert stopped(name, "PreToolUse", done), (written, done)
        assert "Stanchion refuses" in done["stderr"]


def test_words_that_mean_nothing_are_a_refusal(here: Place) -> None:
    for words in ([], ["claude", "speed"], ["claude", "deadline=soon"], ["claude", "state=here"]):
        done = subprocess.run(
            [PYTHON, "-I", "-S", client.__file__, *words], input=body(), capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert "Stanchion refuses" in done.stderr


def test_a_hook_of_a_newer_version_has_the_daemon_make_room(here: Place) -> None:
    """It comes again until another daemon is there."""
    host, calls = here.host("claude"), []

    def answer(sock: socket.socket) -> None:
        sock.recv(65_536)
        calls.append(1)
        again = "Stanchion-Again: 1\r\n"
        sock.sendall(framed(b"", "503 -", more=again) if len(calls) < 4 else framed(YES))

    with answering(here.state, answer):
        assert hook(host, here, body())["stdout"] == '{"continue": true}'
    assert len(calls) == 4


def test_the_environment_does_not_lead_to_another_daemon(here: Place) -> None:
    """A project's settings can give a hook any."""
    host = here.host("claude")
    with answering(here.state, says_yes):
        env = {"STANCHION_STATE_DIR": "/nowhere", "XDG_STATE_HOME": "/nowhere", "HOME": "/nowhere"}
        done = host.does("hook", here.client("claude"), body(), env)
    assert done["stdout"] == '{"continue": true}'


def test_the_command_goes_to_the_state_folder_of_everything_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(carrier, "main", called.append)
    monkeypatch.delenv("STANCHION_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", "/x")
    main(["hook", "claude"])
    monkeypatch.setenv("STANCHION_STATE_DIR", "/s")
    main(["hook", "claude"])
    assert called == [["claude", "state=/x/stanchion"], ["claude", "state=/s"]]
    monkeypatch.setenv("STANCHION_STATE_DIR", "here")
    assert main(["hook", "claude"]) == 2
    assert "not an absolute path" in capsys.readouterr().err


def test_a_hook_loads_next_to_nothing(here: Place) -> None:
    """What it loads is what it costs: it is started for each call of a tool."""
    code = f"import sys; sys.argv[:] = sys.argv[1:]; sys.path.insert(0, {str(Path(client.__file__).parent)!r})"  # noqa: E501
    code += "; before = set(sys.modules); import carrier; status = carrier.main(sys.argv[1:])"
    code += "; open(sys.argv[2][6:] + '/loaded', 'w').write(' '.join(set(sys.modules) - before))"
    host, words = here.host("claude"), here.client("claude")
    with answering(here.state, says_yes):
        done = host.does("hook", [*words[:3], "-c", code, *words[3:]], body())
    assert done["stdout"] == '{"continue": true}', done
    loaded = set((here.state / "loaded").read_text("utf-8").split())
    assert loaded <= {"carrier", "_socket", "_json"}, loaded


def test_a_signal_ends_a_hook_as_a_failure() -> None:
    """Hosts that are told to block on failure do; the shell around the hook of Codex makes it 2."""
    made = subprocess.Popen(
        [PYTHON, "-I", "-S", client.__file__, "codex"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.kill(made.pid, signal.SIGTERM)
    out, _ = made.communicate()
    assert made.returncode != 0
    assert out == b""
