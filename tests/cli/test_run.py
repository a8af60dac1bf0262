"""`stanchion run`: a command that can only reach what its policy names."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.runtime.sandbox.sandbox import WallKind
from tests.cli.terminals import BELONGS, Person
from tests.runtime.contained.conftest import project
from tests.runtime.sandbox.conftest import lacking

__all__ = ["project"]

POLICY = """\
name: run
guards:
  - use: egress
    allowed_hosts: ["127.0.0.1:{port}"]
"""
ASKS = """\
import socket, sys
for url in sys.argv[1:]:
    with socket.create_connection(("127.0.0.1", 3128)) as door:
        host = url.split("/")[2]
        lines = [f"GET {url} HTTP/1.1", f"Host: {host}", "Connection: close", "", ""]
        door.sendall("\\r\\n".join(lines).encode())
        said = door.makefile("rb").read()
        print(said.split()[1].decode(), said[-7:].decode())
"""
PYTHON = "/usr/bin/python3"


class Hello(BaseHTTPRequestHandler):
    """Says hello to everybody."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"hello\r\n")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server on loopback."""
    with HTTPServer(("127.0.0.1", 0), Hello) as made:
        working = threading.Thread(target=made.serve_forever, daemon=True)
        working.start()
        yield made.server_port
        made.shutdown()
        working.join()


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that one stands in, behind walls that can be built here."""
    if why := lacking(WallKind.NAMESPACES):
        pytest.skip(why)
    monkeypatch.chdir(project)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(project.parent / "state"))
    for name in ("STANCHION_STORE", "STANCHION_AUDIT"):
        monkeypatch.delenv(name, raising=False)
    return project


def test_what_the_policy_names_is_reached_and_nothing_else(
    here: Path, server: int, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "policy.yaml").write_text(POLICY.format(port=server))
    with socket.create_server(("127.0.0.1", 0)) as other:
        urls = [f"http://127.0.0.1:{port}/" for port in (server, other.getsockname()[1])]
        words = ["run", "--policy", "policy.yaml", "--agent", "a", "--", PYTHON, "-c", ASKS, *urls]
        assert main(words) == 0
    out, err = capfd.readouterr()
    assert [line.split()[0] for line in out.splitlines() if line] == ["200", "403"]
    assert "hello" in out
    assert err == "contained: walls of namespaces, and one door to the network\n"
    assert main(["audit", "tail", "--json"]) == 0
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert any("BLOCK" in str(one) and "egress.internal" in str(one) for one in told)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("state/agents.json", '{{"port":{port}}}'),
        ("notify", "answers: {{bind: '127.0.0.1:{port}'}}"),
    ],
)
def test_our_own_servers_are_out_of_reach_whatever_the_policy_names(
    file: str,
    content: str,
    here: Path,
    server: int,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    where = here.parent / file
    where.parent.mkdir(exist_ok=True)
    where.write_text(content.format(port=server))
    if file == "notify":
        monkeypatch.setenv("STANCHION_NOTIFY", str(where))
    (here / "policy.yaml").write_text(POLICY.format(port=server))
    url = f"http://127.0.0.1:{server}/"
    words = ["run", "--policy", "policy.yaml", "--", PYTHON, "-c", ASKS, url]
    assert main(words) == 0
    assert capfd.readouterr().out.startswith("403")
    assert main(["run", "--shadow", *words[1:]]) == 0
    assert capfd.readouterr().out.startswith("502"), "nor where nothing is refused"


def test_the_policy_and_the_state_are_out_of_reach(
    here: Path, server: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(here / "state"))
    (here / "policy.yaml").write_text(POLICY.format(port=server))
    script = "ls -A state; echo x >policy.yaml; rm -r policy.yaml state; ls -a /root ~; env"
    main(["run", "--policy", "policy.yaml", "--", "sh", "-c", script])
    out, err = capfd.readouterr()
    assert (here / "policy.yaml").read_text() == POLICY.format(port=server)
    assert list((here / "state").iterdir())
    assert "trail" not in out
    assert err.count("busy") == 2
    assert "STANCHION" not in out


def test_what_was_reached_is_learnt_and_what_would_be_refused_is_told(
    here: Path, server: int, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "policy.yaml").write_text(POLICY.format(port=1))
    words = ["run", "--policy", "policy.yaml", "--shadow", "--learn", "learned.yaml", "--"]
    url = f"http://127.0.0.1:{server}/"
    script = f"{PYTHON} -c '{ASKS}' {url}; echo x >learned.yaml; mv learned.yaml other"
    assert main([*words, "sh", "-c", script]) != 0
    out, err = capfd.readouterr()
    assert out.startswith("200")
    assert "busy" in err
    learned = (here / "learned.yaml").read_text()
    assert f'- "127.0.0.1:{server}"  # GET 1' in learned
    assert f'extends: "{here}/policy.yaml"' in learned
    assert main([*words, "true"]) == 2
    assert "`learned.yaml` cannot be written" in capfd.readouterr().err


def test_hooks_that_do_not_reach_what_judges_are_said(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = here / ".claude/settings.json"
    settings.parent.mkdir()
    for text, said in (('{"hooks": {}}', 1), ('{"command": "stanchion hook claude"}', 2)):
        settings.write_text(text)
        assert main(["run", "--", "true"]) == 0
        assert len(capfd.readouterr().err.splitlines()) == said


def test_roots_of_the_policy_may_be_written(here: Path) -> None:
    root = here.parent / "root"
    root.mkdir()
    (here / "p.yaml").write_text(f"name: r\nguards:\n  - {{use: files, root: [., {root}]}}\n")
    assert main(["run", "--policy", "p.yaml", "--", "touch", f"{root}/made"]) == 0
    assert (root / "made").exists()


def test_a_folder_of_git_that_may_be_written_is_said(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / ".git").mkdir()
    (here / "p.yaml").write_text("name: r\nguards:\n  - {use: files, root: [., .git]}\n")
    assert main(["run", "--policy", "p.yaml", "--", "touch", ".git/made"]) == 0
    said = f"git outside may run what is written in `{here}/.git`\n"
    assert capfd.readouterr().err.endswith(said)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("file: token", "`token` can be reached"),
        ("file: ../kept/token", "`../kept/token` can be reached"),
        ("file: link", "`link` can be reached"),
        ("command: [./token]", "names `./token`"),
        ("command: [token]", "bin/token`"),
        ("command: [python3, --file=token]", "names `token`"),
        ("command: [cat, ../kept/token]", "names `../kept/token`"),
    ],
)
def test_secrets_from_places_that_are_inside_are_refused(
    here: Path,
    given: str,
    says: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marker = here.parent / "ran"
    for folder in (here, here / "bin", here.parent / "kept"):
        folder.mkdir(exist_ok=True)
        (folder / "token").write_text(f"#!/bin/sh\ntouch {marker}; echo secretsecret\n")
        (folder / "token").chmod(0o755)
    (here / "link").symlink_to("/root/token")
    monkeypatch.setenv("PATH", f"{here}/bin:{os.environ['PATH']}")
    text = f"name: r\ncredentials:\n  hub: {{url: 'https://h.example', {given}, token: T}}\n"
    (here / "p.yaml").write_text(text)
    assert main(["run", "--policy", "p.yaml", "--home", "../kept", "--", "true"]) == 2
    assert says in capfd.readouterr().err
    assert not marker.exists()


def test_walls_that_do_not_stand_are_said_or_refused(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if why := lacking(WallKind.LANDLOCK):
        pytest.skip(why)
    words = ["run", "--policy", "default", "--walls", "landlock"]
    assert main([*words, "--", "touch", "weaker"]) == 0
    err = capfd.readouterr().err
    assert err.startswith("not contained: walls of landlock hold files")
    assert err.endswith("nothing holds unseen, network, ipc, leftovers, tmp\n")
    assert (here / "weaker").exists()
    assert main([*words, "--require", "--", "touch", "required"]) == 2
    assert "nothing ran: walls of landlock do not hold" in capfd.readouterr().err
    assert not (here / "required").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "say what to run"),
        (["true"], "say what to run"),
        (["--", "no-such-program"], "no such program"),
        (["--walls", "moat", "--", "true"], "`--walls` is `moat`"),
        (["--user", "0", "--", "true"], "from 1"),
        (["--home", "/", "--", "true"], "`/` holds more than one project"),
        (["--home", "nowhere", "--", "true"], "is no folder"),
        (["--show", "nowhere", "--", "true"], "`nowhere`"),
        (["--pass", "NOT_SET", "--", "true"], "`NOT_SET`"),
        (["--policy", "none.yaml", "--", "true"], "none.yaml"),
    ],
)
def test_what_cannot_be_run_is_said(
    here: Path, words: list[str], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words]) == 2
    assert says in capfd.readouterr().err


def test_a_program_outside_of_what_is_shown_is_named(
    here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = here.parent / "bin"
    folder.mkdir()
    (folder / "own").write_text("#!/bin/sh\nexit 4\n")
    (folder / "own").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert main(["run", "--", "own"]) == 2
    assert f"it is in `{folder}`: show that with `--show {folder}`" in capfd.readouterr().err
    assert main(["run", "--show", str(folder), "--", "own"]) == 4


def test_as_another_user(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    here.parent.chmod(0o755)
    assert main(["run", "--user", "23456", "--", "sh", "-c", "! touch x && touch ~/x; id -u"]) == 0
    assert capfd.readouterr().out == "1000\n"


TERMINAL = """
os.set_inheritable(terminal := os.open(sys.argv[1], os.O_RDWR), True)
for one in range(3): os.dup2(terminal, one)
os.chdir(sys.argv[2])
os.execv(sys.argv[3], sys.argv[3:])
"""


@pytest.fixture
def person() -> Iterator[Person]:
    """Somebody at a terminal."""
    own, terminal = os.openpty()
    yield Person(own, terminal)
    os.close(own)
    os.close(terminal)


def at_terminal(person: Person, here: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a program at a terminal, which is its own."""
    given = [os.ttyname(person.terminal), str(here), *words]
    return subprocess.Popen(
        [sys.executable, "-c", BELONGS + TERMINAL, *given], start_new_session=True
    )


def stanchion(*words: str) -> list[str]:
    """The command."""
    return [sys.executable, "-m", "stanchion", "run", "--policy", "default", "--", *words]


def test_the_command_has_the_terminal(here: Path, person: Person) -> None:
    script = 'trap "echo caught; exit 5" INT; trap "stty size" WINCH; echo up; '
    script += "while :; do sleep 0.02; done"
    with at_terminal(person, here, *stanchion("sh", "-c", script)) as started:
        person.reads(r"up\r\n")
        termios.tcsetwinsize(person.terminal, (40, 100))
        person.reads(r"40 100\r\n")
        person.types("\x03")
        person.reads(r"caught\r\n")
        assert started.wait() == 5


def test_a_shell_outside_can_stop_it_and_have_it_go_on(here: Path, person: Person) -> None:
    line = " ".join(stanchion("sh", "-c", "'echo up; read x; echo said $x'"))
    with at_terminal(person, here, "/bin/bash", "--norc", "-i") as started:
        for waits, types in (
            (r"[$#] ", f"{line}\r"),
            (r"\nup\r\n", "\x1a"),
            (r"(?s)Stopped.*[$#] ", "fg\r"),
            (r"(?s)Stopped.*fg\r\n.*said \$x'\r\n", "hi\r"),
            (r"(?s)said hi\r\n.*[$#] ", "exec sh -c 'echo out; exit 6'\r"),
        ):
            person.reads(waits)
            person.types(types)
        person.reads(r"[\r\n]out\r\n")
        assert started.wait() == 6


def test_a_shell_inside_can_stop_what_is_in_it(here: Path, person: Person) -> None:
    with at_terminal(person, here, *stanchion("bash", "--norc", "-i")) as started:
        for waits, types in (
            (r"(?s)contained.*[$#] ", "(echo in; exec sleep 314)\r"),
            (r"[\r\n]in\r\n", "\x1a"),
            (r"(?s)[\r\n]in\r\n.*Stopped.*[$#] ", "jobs; exec sh -c 'echo out; exit 6'\r"),
        ):
            person.reads(waits)
            person.types(types)
        person.reads(r"[\r\n]out\r\n")
        assert started.wait() == 6


def begun(here: Path, script: str, *before: str) -> subprocess.Popen[str]:
    """A contained run whose script has said that it is up."""
    words = [*before, *stanchion("sh", "-c", script)]
    started = subprocess.Popen(words, cwd=here, stdout=-1, stderr=-3, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "up\n"
    return started


def test_as_the_first_process_of_a_container_it_passes_on_that_it_is_to_end(here: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can make a first process")
    apart = ("unshare", "--pid", "--fork", "--mount-proc")
    with begun(
        here, "trap 'exit 9' TERM; echo up; while :; do sleep 0.02; done", *apart
    ) as started:
        place = Path(f"/proc/{started.pid}/task/{started.pid}/children")
        os.kill(int(place.read_text()), signal.SIGTERM)
        assert started.wait() == 9


def test_while_it_is_stopped_there_is_no_network_inside(here: Path) -> None:
    os.mkfifo(here / "go")
    asks = (
        f"{PYTHON} -c 'import socket; socket.create_connection((\"127.0.0.1\", 3128), 1).recv(1)'"
    )
    with begun(here, f"echo up; read x <go; {asks} 2>&1 | tail -1") as started:
        started.send_signal(signal.SIGSTOP)
        (here / "go").write_text("\n")
        assert started.stdout is not None
        assert started.stdout.readline() == "TimeoutError: timed out\n"
        started.send_signal(signal.SIGCONT)
        assert started.wait() == 0
