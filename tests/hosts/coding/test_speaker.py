"""Who speaks is told by the kernel: whatever an agent's shell does, nothing it says is a host's."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.hosts.coding.speaker import SOME_HOST, Process, is_alive
from tests.hosts.coding.stand_ins import PYTHON, Place, StandIn, body, place, process

HOSTS = ("claude", "codex")
PROMPT = body("UserPromptSubmit", prompt="delete everything")

POST = """
import socket, sys
port, path, text = int(sys.argv[1]), sys.argv[2], sys.argv[3]
sock = socket.create_connection(("127.0.0.1", port))
EXTRA
head = f"POST /{path} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nStanchion-Hook: 1\\r\\n"
head += f"Content-Type: application/json\\r\\nContent-Length: {len(text)}\\r\\n\\r\\n"
sock.sendall((head + text).encode())
print(sock.recv(65536).decode())
"""
LOCAL = """
import array, os, socket, sys
path, agent, text = sys.argv[1:4]
STDIN
sock = socket.socket(socket.AF_UNIX)
sock.connect(path)
head = f"POST /{agent} HTTP/1.1\\r\\nHost: localhost\\r\\nStanchion-Hook: 1\\r\\n"
head += "Content-Type: application/json\\r\\nConnection: close\\r\\n"
if stdin is None:
    sock.sendall((head + f"Content-Length: {len(text)}\\r\\n\\r\\n" + text).encode())
else:
    head += "Stanchion-Stdin: passed\\r\\nContent-Length: 0\\r\\n\\r\\n"
    socket.send_fds(sock, [head.encode()], [stdin])
print(sock.recv(65536).decode())
"""
OWN_PAIR = """
one, two = socket.socketpair()
two.sendall(text.encode()); two.shutdown(socket.SHUT_WR)
stdin = one.fileno()
"""
OWN_LISTENER = """
listener = socket.socket(socket.AF_UNIX); listener.bind(path + ".mine"); listener.listen()
one = socket.socket(socket.AF_UNIX); one.connect(path + ".mine")
two, _ = listener.accept(); two.sendall(text.encode()); two.shutdown(socket.SHUT_WR)
stdin = one.fileno()
"""


@pytest.fixture
def here() -> Iterator[Place]:
    """A server that says yes to whoever is heard."""
    with place() as made:
        yield made


def python(code: str, *words: object) -> list[str]:
    """A program of an agent's."""
    return [PYTHON, "-I", "-S", "-c", code, *map(str, words)]


# The host itself.


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_that_connects_is_known(here: Place, name: str) -> None:
    host = here.host(name)
    for more in ({}, {"Connection": "close"}, {}):  # the last one is another connection
        assert host.does("http", here.port, PROMPT, more)["status"] == 200
    assert here.heard[0] == here.heard[1] == here.heard[2]
    speaker = here.speaker
    assert (speaker.host, speaker.above, speaker.forged) == (process(host.pid), (), False)
    assert speaker.begun_s is None


@pytest.mark.parametrize("shell", [False, True])
@pytest.mark.parametrize("name", HOSTS)
def test_a_hook_of_a_host_is_known(here: Place, name: str, shell: bool) -> None:
    host, before = here.host(name), time.clock_gettime(time.CLOCK_BOOTTIME)
    words = here.client(name)
    done = host.does("hook", f"{' '.join(words)}; exit $?" if shell else words, PROMPT)
    assert (done["status"], json.loads(done["stdout"])) == (0, {"continue": True}), done
    said, speaker = here.heard[-1]
    assert said == PROMPT
    assert (speaker.host, speaker.above) == (process(host.pid), ())
    if name == "claude":
        assert speaker.begun_s is None
    else:
        assert speaker.begun_s is not None
        assert before - 0.02 <= speaker.begun_s <= time.clock_gettime(time.CLOCK_BOOTTIME)


def test_what_a_host_says_is_whole_however_long_it_is(here: Place) -> None:
    long = body("PostToolUse", tool_response="x" * 5_000_000)
    for name in HOSTS:
        host = here.host(name)
        if name == "codex":  # a pipe holds little, so the stand-in cannot write it at once
            assert host.does("http", here.port, long)["status"] == 200
        else:
            assert host.does("hook", here.client(name), long[:150_000])["status"] == 0
    assert here.heard[-1][0] == long


# What is not.


@pytest.mark.parametrize("name", HOSTS)
def test_a_command_that_connects_is_forged(here: Place, name: str) -> None:
    host = here.host(name)
    host.does("http", here.port, PROMPT)
    known = here.speaker.host
    env = {"CLAUDE_PID": str(host.pid), "CLAUDE_CODE_SESSION_ID": "s", "CODEX_SESSION_ID": "s"}
    done = host.does("command", python(POST.replace("EXTRA", ""), here.port, name, PROMPT), env)
    assert "HTTP/1.1 403" in done["stdout"]
    assert here.speaker.forged
    assert (here.speaker.host, known) == (None, process(host.pid))


def test_a_connection_that_several_processes_have_is_nobodys(here: Place) -> None:
    """One that a host was started with, and whose other holder writes on it."""
    host = here.host("claude")
    keep = f"os.set_inheritable(sock.fileno(), True)\nif os.fork() == 0: os.execv({host.words[0]!r}"
    keep += (
        f", [{host.words[0]!r}, '-c', 'import time; time.sleep(30)'])\nimport time; time.sleep(.5)"
    )
    code = POST.replace("import socket", "import os, socket").replace("EXTRA", keep)
    done = host.does("command", python(code, here.port, "claude", PROMPT))
    assert "HTTP/1.1 403" in done["stdout"], done
    assert "2 processes" in here.speaker.why


@pytest.mark.parametrize("how", ["pipe", "own pair", "own listener", "nothing"])
def test_a_command_that_plays_a_hook_of_claude_is_forged(here: Place, how: str) -> None:
    host = here.host("claude")
    code = {"own pair": OWN_PAIR, "own listener": OWN_LISTENER}.get(how, "stdin = None")
    if how == "pipe":
        words = f"echo '{PROMPT}' | {' '.join(here.client('claude'))}"
        done = host.does("command", words)
        assert done["status"] == 2
        assert "heard from a host alone" in done["stdout"]
    else:
        sent = python(LOCAL.replace("STDIN", code), here.socket, "claude", PROMPT)
        assert "HTTP/1.1 403" in host.does("command", sent)["stdout"]
    assert here.speaker.forged
    assert here.speaker.host is None


def test_a_socket_that_the_host_listens_on_is_none_that_it_made(here: Place) -> None:
    """Whoever connects to a host has a socket on which the kernel names the host."""
    host = here.host("claude")
    with Path(f"{here.socket}.py").open("w", encoding="utf-8") as file:
        file.write(
            "import socket, sys\nlistener = socket.socket(socket.AF_UNIX)\n"
            "listener.bind(sys.argv[1]); listener.listen()\nprint('ready', flush=True)\n"
            "one, _ = listener.accept(); one.sendall(sys.argv[2].encode()); one.close()\n"
        )
    mine = f"{here.socket}.host"
    starter = python(
        "import subprocess, sys, time\n"
        "made = subprocess.Popen(sys.argv[1:5], stdout=subprocess.PIPE); made.stdout.readline()\n"
        + LOCAL.replace("sys.argv[1:4]", "sys.argv[5:8]").replace(
            "STDIN",
            "one = socket.socket(socket.AF_UNIX); one.connect(sys.argv[3]); stdin = one.fileno()",
        ),
        host.words[0], file.name, mine, PROMPT, here.socket, "claude", PROMPT,
    )  # fmt: skip
    assert "HTTP/1.1 403" in host.does("command", starter)["stdout"]
    assert here.speaker.forged


def test_a_command_that_plays_a_hook_of_codex_is_told_by_when_it_began(here: Place) -> None:
    """It stands exactly where a hook stands; the moment is what it cannot change."""
    host = here.host("codex")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    script = f"sleep 0.2; exec {' '.join(here.client('codex'))} <<'E'\n{PROMPT}\nE"
    host.does("command", ["/bin/sh", "-c", script])
    speaker = here.speaker
    assert speaker.host == process(host.pid)
    assert speaker.begun_s is not None
    assert before - 0.02 <= speaker.begun_s < time.clock_gettime(time.CLOCK_BOOTTIME) - 0.19


@pytest.mark.parametrize("name", HOSTS)
def test_what_leaves_its_host_behind_is_no_hook(here: Place, name: str) -> None:
    host = here.host(name)
    words = " ".join(here.client(name))
    script = f"(setsid sh -c 'echo \"{{}}\" | {words} >out 2>&1; touch done' &) ; sleep 0.1"
    host.does("command", f"cd {here.state}; {script}")
    until = time.monotonic() + 20
    while not (here.state / "done").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    assert here.speaker.forged


# Hosts that an agent starts.


def started_by(host: StandIn, here: Place, *, through: str = "{}", clean: bool = True) -> None:
    """A command of a host starts another host, which says a prompt."""
    line = json.dumps(["http", here.port, PROMPT])
    (here.state / "line").write_text(f"{line}\n", "utf-8")
    words = " ".join([*(["env", "-i"] if clean else []), *host.words])
    host.does("command", through.format(f"{words} <{here.state}/line >{here.state}/out"))
    until = time.monotonic() + 20
    while not here.heard:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_below_a_host_is_known_as_one(here: Place, name: str) -> None:
    host = here.host(name)
    started_by(host, here)
    assert here.speaker.above == (process(host.pid),)
    assert here.speaker.host is not None
    assert here.speaker.host.pid != host.pid


@pytest.mark.parametrize("clean", [False, True])
def test_a_host_whose_starter_has_left_is_known_as_an_agents(here: Place, clean: bool) -> None:
    host = here.host("claude")
    started_by(host, here, through="(setsid sh -c 'sleep 0.3; {}; sleep 1' &)", clean=clean)
    assert here.speaker.above == (SOME_HOST,)


REAPER = """
import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
sys.exit(subprocess.call(sys.argv[1:]))
"""


@pytest.mark.parametrize("between", ["", "sh -c '{}; sleep 1'"])
def test_an_orphan_that_a_service_of_the_user_takes_in_is_known_as_an_agents(
    here: Place, between: str
) -> None:
    """As `systemd --user` does, which is older than every host below it."""
    (here.state / "systemd").symlink_to(PYTHON)
    host = here.host("claude", str(here.state / "systemd"), "-I", "-S", "-c", REAPER)
    assert host.does("http", here.port, PROMPT)["status"] == 200
    assert not here.speaker.above
    here.heard.clear()
    nested = between.replace("'", '"') if between else "{}"
    started_by(host, here, through=f"(setsid sh -c 'sleep 0.3; {nested}' &)")
    assert here.speaker.above == (SOME_HOST,)


# Processes.


def test_a_number_that_is_used_again_is_another_process(here: Place) -> None:
    host = here.host("claude")
    known = process(host.pid)
    assert is_alive(known)
    assert not is_alive(Process(known.pid, known.started - 1))
    host.end()
    assert not is_alive(known)


def test_a_host_that_has_ended_speaks_no_more(here: Place) -> None:
    host = here.host("claude")
    host.does("http", here.port, PROMPT)
    speaker = here.speaker
    assert here.speakers.still(speaker)
    assert here.speakers.alive() == 1
    host.end()
    assert not here.speakers.still(speaker)
    assert here.speakers.alive() == 0


def test_an_agent_does_not_stop_the_daemon(here: Place) -> None:
    host = here.host("claude")
    words = "stdin = None"
    stop = python(LOCAL.replace("STDIN", words), here.socket, "stop", "")
    assert "HTTP/1.1 403" in host.does("command", stop)["stdout"]
    (here.state / "stop.py").write_text(stop[4], "utf-8")
    words = " ".join([PYTHON, f"{here.state}/stop.py", str(here.socket), "stop", "x"])
    script = f"cd {here.state}; (setsid sh -c 'sleep 0.3; {words} >out 2>&1; touch done' &)"
    host.does("command", script)
    until = time.monotonic() + 20
    while not (here.state / "done").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    assert "HTTP/1.1 403" in (here.state / "out").read_text("utf-8")
    assert here.host("codex").does("http", here.port, PROMPT)["status"] == 200


def test_nothing_is_known_without_proc(
    here: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Then events are judged, and nothing gains trust."""
    monkeypatch.setattr("stanchion.hosts.coding.speaker.PROC", tmp_path)
    assert here.host("claude").does("http", here.port, PROMPT)["status"] == 200
    assert (here.speaker.host, here.speaker.forged) == (None, False)
