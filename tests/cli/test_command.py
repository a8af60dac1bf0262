"""The command as a shell runs it: help, versions, pipes, signals, and what it loads."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from stanchion import __version__
from stanchion.cli.command import BadInput, every_option, parser_of
from stanchion.cli.main import COMMANDS, PLACES, command_of, main

STANCHION = [sys.executable, "-m", "stanchion"]
CALL = '{"run": "r", "stage": "tool_call", "tool": "bash", "args": {}}\n'


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """The command, running with pipes on all sides; one that hangs is ended, so that its test
    fails."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen([*STANCHION, *words], text=True, env=environment, **pipes) as process:  # type: ignore[call-overload]
        watch = Timer(60, process.kill)
        watch.start()
        try:
            yield process
        finally:
            watch.cancel()
            process.kill()


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to run the command in; modules that are loaded from it are forgotten after."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


def test_alone_it_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    alone = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == alone
    assert alone.startswith("usage: stanchion COMMAND")
    assert all(name in alone and summary in alone for name, summary in COMMANDS.items())


@pytest.mark.parametrize("command", ["notify", "audit", "policy", "secrets"])
def test_without_its_verb_a_command_says_what_each_does(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = parser_of(command, command_of(command))
    assert main([command]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith(f"see `stanchion {command} --help`\n")
    assert len(said.err.splitlines()) < 30
    verbs = next(str(action.metavar) for action in own._actions if action.dest == "verb").split("|")
    assert [verb for verb in verbs if not re.search(rf"^{verb} +\w", said.err, re.MULTILINE)] == []


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"stanchion {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert f"usage: stanchion {command}" in text
    assert f"\nexamples:\n  stanchion {command}" in text
    assert "\nexit status:\n  0  " in text
    assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_verb_takes_is_declared(command: str) -> None:
    declared = command_of(command)
    if not callable(declared.work):
        names = {one.name for one in every_option(declared.options)}
        assert all(set(verb.takes.split()) <= names for verb in declared.work.values())


def test_only_commands_have_places() -> None:
    assert PLACES.keys() <= COMMANDS.keys()


def test_a_flag_that_needs_no_value_is_not_guessed() -> None:
    with pytest.raises(BadInput, match="has no option `--js`"):
        parser_of("check", command_of("check")).unknown(["--js"])
    assert main(["check", "--tool", "bash", "--js"]) == 2


def test_bytes_that_are_no_text_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--tool", os.fsdecode(b"\xff")]) == 2
    assert capsys.readouterr().err == "stanchion: `--tool` is not UTF-8: give it in that encoding\n"


def test_a_broken_policy_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy.yaml").write_text("name: [\n", encoding="utf-8")
    assert main(["check", "--tool", "bash", "--policy", str(tmp_path / "policy.yaml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"stanchion: {tmp_path}/policy.yaml:2:1: is not YAML")


@pytest.mark.parametrize(
    "code", ["def judge(:", "1 / 0", "import sys; sys.exit(0)", "raise ImportError", "judge = 5"]
)
def test_a_guard_that_cannot_be_loaded_is_no_consent(
    code: str, in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_folder / "broken.py").write_text(f"{code}\n", encoding="utf-8")
    (in_folder / "policy.yaml").write_text(
        "name: p\nguards:\n  - {use: python, call: 'broken:judge'}\n", encoding="utf-8"
    )
    assert main(["check", "--tool", "bash", "--policy", "policy.yaml"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("stanchion: guard python: `broken:judge` ")
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("words", [["--tool", "bash", "--json"], ["--batch", "-"]])
def test_what_a_guard_prints_is_not_in_the_answers(words: list[str], tmp_path: Path) -> None:
    code = "print('loaded')\ndef judge(event):\n    print('judged')\n"
    (tmp_path / "loud.py").write_text(code, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(
        "name: p\nguards:\n  - {use: python, call: 'loud:judge'}\n", encoding="utf-8"
    )
    command = [*STANCHION, "check", *words, "--policy", "policy.yaml"]
    done = subprocess.run(
        command, cwd=tmp_path, input=CALL, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["action"] == "ALLOW"
    assert done.stderr == "loaded\njudged\n"


def test_loading_the_command_loads_nothing_heavy() -> None:
    probe = "import sys, stanchion.cli.main as m; list(m.help_lines()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    heavy = {
        "asyncio",
        "yaml",
        "stanchion.cli.check",
        "stanchion.cli.demo",
        "stanchion_lab",
        "platformdirs",
        "sqlite3",
    }
    assert "stanchion.cli.main" in done.stdout.split()
    assert heavy & set(done.stdout.split()) == set()


def test_a_check_does_not_load_the_demo() -> None:
    probe = (
        "import sys; from stanchion.cli.main import main; main(['check', '--tool', 'x']); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "stanchion.cli.check" in done.stdout.split()
    assert {"stanchion.cli.demo", "asyncio"} & set(done.stdout.split()) == set()


def test_it_converses_over_a_pipe() -> None:
    with started("check", "--batch", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in (1, 2, 3):
            process.stdin.write(CALL)
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["id"].endswith(f".{number}")
        process.stdin.write("oops\n")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["line"] == 4
        assert process.wait() == 2


def test_ctrl_c_leaves_quietly() -> None:
    with started("check", "--batch", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(CALL)
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == ""


def test_a_reader_that_leaves_is_no_error_and_no_consent() -> None:
    with started("check", "--batch", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(CALL)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(CALL)
        process.stdin.close()
        assert process.wait() == 141
        assert process.stderr.read() == ""


@pytest.mark.parametrize("words", [["--tool", "bash"], ["--tool", "bash", "--json"]])
def test_an_answer_that_nobody_got_is_no_consent(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*STANCHION, "check", *words], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


class Full(io.BytesIO):
    """A device that has no room for the first thing written to it."""

    def write(self, data: Any, /) -> int:
        if self.tell() == 0:
            self.seek(1)
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


@pytest.mark.parametrize("words", [["--tool", "bash"], ["--tool", "bash", "--json"]])
def test_an_answer_that_cannot_be_written_is_no_consent(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Full(), encoding="utf-8"))
    assert main(["check", *words]) == 1
    assert (
        capsys.readouterr().err
        == "stanchion: cannot continue: [Errno 28] No space left on device\n"
    )


def test_answers_are_utf_8_whatever_the_surroundings_say() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    line = '{"run": "r", "stage": "prompt", "text": "grüße"}\n'.encode()
    command = [*STANCHION, "check", "--batch", "-"]
    done = subprocess.run(command, input=line, capture_output=True, env=environment, check=True)
    assert json.loads(done.stdout.decode())["content"] == "grüße"
    command = [*STANCHION, "check", "--tool", "grüße"]
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"  tool     gr\\xfc\\xdfe\n" in done.stdout


def test_it_writes_nowhere_but_in_the_state_folder(tmp_path: Path) -> None:
    home, state = tmp_path / "home", tmp_path / "kept"
    home.mkdir()
    command = [*STANCHION, "check", "--tool", "bash"]
    environment = {**os.environ, "HOME": str(home), "STANCHION_STATE_DIR": str(state)}
    subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True)
    assert list(home.rglob("*")) == []
    assert {path.parts[-2] if path.is_file() else path.name for path in state.glob("*")} == {
        "checks"
    }


def test_a_url_that_is_one_word_too_many_keeps_its_password(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["state", "x", "postgresql://ann:hunter2@db/x"]) == 2
    said = capsys.readouterr().err
    assert "hunter2" not in said
    assert "an argument too many" in said
