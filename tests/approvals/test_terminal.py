"""Asking at a terminal: a person who reads the code and types it, and nothing else, is an
answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from stanchion.approvals.errors import OperatorKeyError as BadInput
from stanchion.approvals.terminal import LETTERS, LONGEST, from_fd
from tests.cli.terminals import person

ASK = """
from stanchion.approvals.terminal import ask
try:
    ask(["pay 5 to bob", "é → \\\\x1b"], {"NO_COLOR": "1"})
    print("confirmed")
except Exception as error:
    print(type(error).__name__, error)
"""
CODE = r"Type ([A-Z0-9]{6}) to continue"


@pytest.mark.parametrize("typed", ["{}", "  {} ", "{}\t"])
@pytest.mark.parametrize("lower", [False, True])
def test_who_types_the_code_has_confirmed(typed: str, lower: bool) -> None:
    with person() as ann:
        program = ann.begin(ASK)
        code = ann.reads(CODE)
        ann.types(typed.format(code.lower() if lower else code) + "\n")
        assert program.communicate()[0] == b"confirmed\n"
    assert "pay 5 to bob\r\n" in ann.screen
    assert len(code) == 6
    assert set(code) <= set(LETTERS)


@pytest.mark.parametrize("typed", ["", "yes", "{}{}", "{}X", "X{}", "{} {}", "ｘ"])
def test_one_wrong_answer_ends_it(typed: str) -> None:
    with person() as ann:
        program = ann.begin(ASK)
        code = ann.reads(CODE)
        ann.types(typed.format(code, code) + f"\n{code}\n")
        assert program.communicate()[0].startswith(b"NotConfirmed the code was not typed")


def test_another_code_is_drawn_every_time() -> None:
    codes = set()
    for _ in range(3):
        with person() as ann:
            program = ann.begin(ASK)
            codes.add(ann.reads(CODE))
            ann.types("\n")
            program.communicate()
    assert len(codes) == 3


def test_what_was_typed_ahead_does_not_count() -> None:
    with person() as ann:
        ann.types("no\nnever\n")
        program = ann.begin(ASK)
        ann.types(f"{ann.reads(CODE)}\n")
        assert program.communicate()[0] == b"confirmed\n"


def test_a_terminal_that_was_left_raw_is_asked_all_the_same_and_left_so() -> None:
    with person() as ann:
        raw = termios.tcgetattr(ann.terminal)
        raw[0] &= ~termios.ICRNL
        raw[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        termios.tcsetattr(ann.terminal, termios.TCSANOW, raw)
        raw = termios.tcgetattr(ann.terminal)
        program = ann.begin(ASK)
        ann.types(f"{ann.reads(CODE)}\r")
        assert program.communicate()[0] == b"confirmed\n"
        assert termios.tcgetattr(ann.terminal) == raw


def test_a_pipe_is_no_person() -> None:
    with person() as ann:
        said = ann.start(ASK, stdin=b"yes\n" * 100, belongs=False)
    assert said == (
        "NotATerminal there is no terminal to ask a person in: run this in a terminal, or use a "
        "key\n"
    )


def test_a_terminal_on_standard_input_is_not_enough() -> None:
    with person() as ann:
        program = subprocess.run(
            [sys.executable, "-c", ASK],
            stdin=ann.terminal,
            capture_output=True,
            start_new_session=True,
        )
        assert program.stdout.startswith(b"NotATerminal there is no terminal")


BEHIND = f"""
import subprocess, sys
said = subprocess.run([sys.executable, "-c", {ASK!r}], capture_output=True, process_group=0)
sys.stdout.write(said.stdout.decode())
"""


def test_who_runs_in_the_background_is_not_asked() -> None:
    with person() as ann:
        assert ann.start(BEHIND).startswith("NotATerminal this command runs in the background")


def test_the_end_of_input_is_no_answer() -> None:
    with person() as ann:
        program = ann.begin(ASK)
        ann.reads(CODE)
        ann.types("\x04")
        assert program.communicate()[0].startswith(b"NotConfirmed that is not an answer")


def test_too_much_is_no_answer() -> None:
    with person() as ann:
        program = ann.begin(ASK)
        ann.reads(CODE)
        ann.types("x" * (LONGEST + 1) + "\n")
        assert program.communicate()[0].startswith(b"NotConfirmed that is not an answer")


def test_a_terminal_that_is_closed_confirms_nothing() -> None:
    quiet = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + ASK
    with person() as ann:
        program = ann.begin(quiet)
        ann.reads(CODE)
        ann.hangs_up()
        said = program.communicate()[0]
    assert said.startswith(b"NotConfirmed")


def test_nobody_waits_for_ever() -> None:
    with person() as ann:
        said = ann.start(ASK.replace('"1"})', '"1"}, within_s=0)'))
    assert said.startswith("NotConfirmed nobody answered within 0 s")


SECRET = """
from stanchion.approvals.terminal import passphrase
try:
    print(passphrase("the passphrase of `ann`"))
except BaseException as error:
    print(type(error).__name__)
"""


def test_a_passphrase_is_typed_unseen() -> None:
    with person() as ann:
        before = termios.tcgetattr(ann.terminal)
        ann.types("typed ahead\n")
        program = ann.begin(SECRET)
        ann.reads(r"the passphrase of `ann` \(not shown\):\r\n")
        ann.types(" correct hörse \n")
        assert program.communicate()[0].decode() == f"{' correct hörse '.encode()!r}\n"
        assert termios.tcgetattr(ann.terminal) == before
        ann.types("end\n")
        ann.reads("end")
    assert "rse" not in ann.screen


def test_the_terminal_is_as_it_was_after_an_interrupt() -> None:
    with person() as ann:
        before = termios.tcgetattr(ann.terminal)
        program = ann.begin(SECRET)
        ann.reads("not shown")
        ann.types("\x03")
        assert program.communicate()[0] == b"KeyboardInterrupt\n"
        assert termios.tcgetattr(ann.terminal) == before
    assert program.returncode != -signal.SIGINT


LINES = st.binary(min_size=1, max_size=LONGEST).filter(
    lambda line: b"\n" not in line and not line.endswith(b"\r")
)


@given(LINES, st.sampled_from([b"", b"\n", b"\r\n", b"\nmore\n"]))
def test_the_first_line_of_a_descriptor_is_the_passphrase(line: bytes, end: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, line + end)
    os.close(writing)
    try:
        assert from_fd(reading) == line
    finally:
        os.close(reading)


@pytest.mark.parametrize("given", [b"", b"\n", b"\r\nx", b"x" * (LONGEST + 1)])
def test_a_descriptor_without_passphrase_is_refused(given: bytes, tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(given)
    with open(tmp_path / "words", "rb") as file, pytest.raises(BadInput, match="has no passphrase"):
        from_fd(file.fileno())


@pytest.mark.parametrize("number", [-1, 10**6, 10**30])
def test_a_descriptor_that_is_not_open_is_named(number: int) -> None:
    with pytest.raises(BadInput, match=rf"descriptor {number} cannot be read .* `3< FILE`"):
        from_fd(number)


def test_a_terminal_gives_no_passphrase_that_is_seen() -> None:
    with person() as ann, pytest.raises(BadInput, match="is a terminal"):
        from_fd(ann.terminal)
