"""The first ten minutes of the tutorial, played as its page says: from a built wheel, in an
environment with nothing but what the wheel and one extra need."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.cli.terminals import BELONGS, Person, person
from tests.docs.markdown import ROOT, blocks

PAGE = (ROOT / "docs/tutorial/ten-minutes.md").read_text(encoding="utf-8")


def shown(text: str) -> str:
    """Something that the page shows, or tells to type."""
    assert text in PAGE, f"the page does not have `{text}`"
    return text


class Environment:
    """An environment of its own, a home and an empty folder to work in."""

    def __init__(self, place: Path, wheel: Path) -> None:
        self.work, self.bin = place / "work", place / "venv/bin"
        self.work.mkdir()
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True
        )
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(self.bin / "python"),
            "install",
            "-q",
            "--no-input",
        ]
        offline = ["--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
        subprocess.run([*pip, *offline, str(wheel)], check=True)
        (site,) = place.glob("venv/lib/python*/site-packages")
        for needed in distribution("stanchion-guard").requires or []:
            if "extra ==" not in needed:
                _link(re.split(r"[^\w.-]", needed, maxsplit=1)[0], site)
        for signing in ("cryptography", "cffi", "bcrypt"):
            _link(signing, site)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("STANCHION_", "PYTHON", "XDG_"))
        }
        own = {"HOME": str(place), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        self.env = {**kept, **own, "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def says(self, command: str, status: int = 0) -> str:
        """What a command of the page prints."""
        words = shown(f"$ {command}").removeprefix("$ ").split()
        done = subprocess.run(
            words, cwd=self.work, env=self.env, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (status, ""), done.stdout
        return done.stdout

    def at_terminal(self, someone: Person, command: str, *asked: tuple[str, str]) -> str:
        """What the screen shows in the end of a command that asks a person at a terminal: each time
        it shows something, they type something. `{}` is what it has shown."""
        words = command.split()
        code = f"{BELONGS}\nos.execv(sys.argv[2], sys.argv[2:])"
        tty = someone.terminal
        someone.screen = before = ""
        program = subprocess.Popen(
            [
                str(self.bin / "python"),
                "-c",
                code,
                os.ttyname(tty),
                str(self.bin / words[0]),
                *[word.replace("~", self.env["HOME"]) for word in words[1:]],
            ],
            cwd=self.work,
            env=self.env,
            stdin=tty,
            stdout=tty,
            stderr=tty,
            start_new_session=True,
        )
        for shows, types in asked:
            said = someone.reads(shows, until=program)
            before, someone.screen = before + someone.screen, ""
            someone.types(f"{types.format(said)}\n")
        someone.reads("\\Z(?!)", until=program)
        assert program.wait() == 0, before + someone.screen
        return someone.screen


def _link(name: str, site: Path) -> None:
    """Have a package of this environment in another one."""
    one = distribution(name)
    for top in {
        file.parts[0] for file in one.files or [] if file.parts[0] not in {"..", "__pycache__"}
    }:
        (site / top).symlink_to(str(one.locate_file(top)))


class Agent:
    """The program of the page, at work: a line is typed, and what it prints until its next prompt
    is read."""

    def __init__(self, where: Environment) -> None:
        self._program = subprocess.Popen(
            [str(where.bin / "python"), "agent.py"],
            cwd=where.work,
            env=where.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.reads("> ")

    def reads(self, end: str) -> str:
        """What it prints, up to some words."""
        assert self._program.stdout is not None
        said = b""
        while not said.endswith(end.encode()):
            one = self._program.stdout.read(1)
            assert one, said.decode()
            said += one
        return said.decode().removesuffix(end)

    def does(self, line: str) -> str:
        """What it prints for a line."""
        self._types(shown(f"> {line}").removeprefix("> "))
        return self.reads("> ")

    def ends(self) -> None:
        """Type an empty line, and wait for its end."""
        self._types("")
        assert self._program.wait() == 0

    def stop(self) -> None:
        """End it, however far it has come."""
        self._program.kill()
        self._program.communicate()

    def _types(self, line: str) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(f"{line}\n".encode())
        self._program.stdin.flush()


@pytest.fixture
def empty(wheels: dict[str, Path], tmp_path: Path) -> Environment:
    """An environment with the wheel and its extra `signing`."""
    return Environment(tmp_path, wheels["stanchion"])


@pytest.fixture
def at_the_end() -> Iterator[ExitStack]:
    """What is done when the test is over, however it ended."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def someone() -> Iterator[Person]:
    """Somebody at a second terminal."""
    with person() as one:
        yield one


def test_the_first_ten_minutes(
    empty: Environment, someone: Person, at_the_end: ExitStack, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    assert empty.says("stanchion --version").startswith("stanchion ")
    assert empty.says("stanchion init --all").startswith("policy.yaml is written")
    policy = empty.work / "policy.yaml"
    written = policy.read_text(encoding="utf-8")
    shown('$ pip install "$(echo CHECKOUT/dist/stanchion_guard-*.whl)[signing]"')
    secret = ("assphrase [^\\r\\n]*not shown", "correct horse")
    enrolled = empty.at_terminal(
        someone,
        shown("$ stanchion operators add ann").removeprefix("$ "),
        secret,
        secret,
        (r"Type (?:\x1b\[1m)?([A-Z0-9]+)", "{}"),
    )
    assert "ann is an operator now" in enrolled
    (program,) = [block.text for block in blocks(PAGE) if block.language == "python"]
    (empty.work / "agent.py").write_text(program, encoding="utf-8")

    agent = Agent(empty)
    at_the_end.callback(agent.stop)
    assert agent.does("write_file src/login.py") == shown("wrote src/login.py\n")
    refused = agent.does("write_file src/test_login.py")
    assert refused == shown("refused: writers do not change tests; ask the reviewer to do it\n")
    explained = empty.says("stanchion explain last")
    assert "BLOCK  by writers-leave-tests-alone (rule.broken)" in explained
    assert "to pass  `not glob(action.target_file" in explained
    assert (
        f"entry    {policy.resolve()}:{1 + written[: written.index('- use: rule')].count(chr(10))}"
        in explained
    )
    assert shown(agent.does("bash rm -rf /")).startswith("refused: ")
    listed = [line.split() for line in empty.says("stanchion explain").splitlines()]
    assert [words[3] for words in listed[:2]] == ["BLOCK", "BLOCK"]

    stricter = written.replace(
        'tools: [format_disk, "admin_*"]', shown('tools: [format_disk, "admin_*", search]')
    )
    policy.write_text(stricter, encoding="utf-8")
    assert stricter != written
    agent.reads(shown("policy: the new one is in force\n"))
    denied = shown("refused: tool `search` is on the denylist; do the step with another tool\n")
    assert agent.does("search tea") == denied
    policy.write_text(written, encoding="utf-8")
    shown(f"{agent.reads('(hash ')}(hash HASH)\n")
    agent.reads("\n")
    assert agent.does("search tea").startswith(denied.rstrip())

    waits = shown(agent.does("bash sudo ls"))
    assert waits.startswith("refused: this command wants to be root; ")
    ticket = empty.says("stanchion tickets list").splitlines()[1].split()[0]
    approve = shown("$ stanchion tickets approve TICKET --key ~/.config/stanchion/keys/ann")
    said = empty.at_terminal(someone, approve.removeprefix("$ ").replace("TICKET", ticket), secret)
    assert "is approved, signed: the same call goes ahead once" in said
    assert agent.does("bash sudo ls") == shown("ran sudo ls\n")
    assert agent.does("bash sudo ls").startswith(waits.rstrip())
    agent.ends()

    assert "writer-1" in empty.says("stanchion runs")
    assert "policy.reloaded" in empty.says("stanchion audit tail")
    assert empty.says("stanchion audit verify").splitlines()[-1].startswith("whole: ")
    with capsys.disabled():
        print(f"\nthe first ten minutes took {time.monotonic() - began:.1f} s")
