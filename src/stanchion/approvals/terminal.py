"""Asking a person at the terminal: never a pipe, never what was typed ahead, and one answer.

A program can play a terminal and copy the code from it. What must be proven needs an operator's
key.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TextIO

from stanchion.approvals.errors import AnswerRefused, OperatorKeyError

TERMINAL: Final = "/dev/tty"
"""The terminal that a process belongs to, whatever its input and output are."""

LETTERS: Final = "ACDEFGHJKMNPQRTUVWXY34679"
"""What codes are made of: no two of them look alike."""

LENGTH: Final = 6

WITHIN_S: Final = 300.0
"""How long a person may take."""

LONGEST: Final = 1024
"""How many bytes an answer or a passphrase has at most."""


class NotATerminal(AnswerRefused):
    """There is no terminal at which a person could be asked."""


class NotConfirmed(AnswerRefused):
    """Nobody typed what was asked for."""


def ask(words: Iterable[str], environ: Mapping[str, str], within_s: float = WITHIN_S) -> None:
    """Show lines at the terminal and have a person type the code below them; `NotConfirmed` where
    nobody does.

    The lines are shown as they are: what steers a terminal is written out by the caller. One wrong
    answer ends it.
    """
    lines = list(words)
    code = "".join([secrets.choice(LETTERS) for _ in range(LENGTH)])
    with _terminal() as tty, _set(tty, echo=True), _screen(tty) as screen:
        for line in lines:
            _put(screen, line)
        _forget_typed(tty)
        shown = (
            code
            if environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
            else f"\x1b[1m{code}\x1b[0m"
        )
        _put(screen, f"Type {shown} to continue; anything else cancels.")
        answer = _line(tty, within_s)
    if answer.strip().upper() != code.encode():
        raise NotConfirmed(
            "the code was not typed: nothing has changed; run the command again to retry"
        )


def passphrase(prompt: str, within_s: float = WITHIN_S) -> bytes:
    """A passphrase typed at the terminal, which does not show it."""
    try:
        return _typed(prompt, within_s)
    except NotATerminal:
        raise OperatorKeyError(
            "there is no terminal to type the passphrase in: give it with `--passphrase-fd N`"
        ) from None


def _typed(prompt: str, within_s: float) -> bytes:
    with _terminal() as tty, _set(tty, echo=False), _screen(tty) as screen:
        _forget_typed(tty)
        _put(screen, f"{prompt} (not shown):")
        return _line(tty, within_s)


def from_fd(number: int) -> bytes:
    """A passphrase from a file descriptor: its first line, without the end of that."""
    data = b""
    try:
        if os.isatty(number):
            raise OperatorKeyError(
                f"the file descriptor {number} is a terminal: leave the option out, and type the "
                f"passphrase"
            )
        while b"\n" not in data and len(data) <= LONGEST:
            part = os.read(number, LONGEST)
            if not part:
                break
            data += part
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "no such number"
        raise OperatorKeyError(
            f"the file descriptor {number} cannot be read ({why}): open it for the command, as in "
            f"`3< FILE`"
        ) from None
    line = data.split(b"\n", 1)[0].removesuffix(b"\r")
    if not line or len(line) > LONGEST:
        raise OperatorKeyError(
            f"the file descriptor {number} has no passphrase: its first line is empty or too long"
        )
    return line


@contextlib.contextmanager
def _terminal() -> Iterator[int]:
    """The terminal of this process, open for both directions."""
    if os.name == "nt":
        raise NotATerminal("answering at a terminal needs a POSIX terminal: use a key")
    try:
        tty = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise NotATerminal(
            "there is no terminal to ask a person in: run this in a terminal, or use a key"
        ) from None
    try:
        if os.tcgetpgrp(tty) != os.getpgrp():
            raise NotATerminal(
                "this command runs in the background: bring it to the front with `fg`, or use a key"
            )
        yield tty
    except OSError:
        raise NotConfirmed("the terminal is gone: nothing has changed") from None
    finally:
        os.close(tty)


@contextlib.contextmanager
def _set(tty: int, echo: bool) -> Iterator[None]:
    """Have the terminal give whole lines, however it was left, and be as it was afterwards."""
    import termios

    try:
        before, now = termios.tcgetattr(tty), termios.tcgetattr(tty)
    except termios.error as error:
        raise OSError(*error.args) from None
    now[0] = (now[0] | termios.ICRNL) & ~(termios.IGNCR | termios.INLCR)
    now[3] = now[3] | termios.ICANON | termios.ISIG
    now[3] = now[3] | termios.ECHO if echo else now[3] & ~(termios.ECHO | termios.ECHONL)
    try:
        termios.tcsetattr(tty, termios.TCSAFLUSH, now)
        yield
    except termios.error as error:
        raise OSError(*error.args) from None
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(tty, termios.TCSAFLUSH, before)


def _screen(tty: int) -> TextIO:
    return open(tty, "w", encoding="locale", closefd=False)


def _put(screen: TextIO, line: str) -> None:
    """Write one line; what the terminal's encoding lacks is written out."""
    screen.write(line.encode(screen.encoding, "backslashreplace").decode(screen.encoding) + "\n")
    screen.flush()


def _forget_typed(tty: int) -> None:
    import termios

    termios.tcflush(tty, termios.TCIFLUSH)


def _line(tty: int, within_s: float) -> bytes:
    """One line as it is typed, without its end."""
    until = time.monotonic() + within_s
    data = b""
    while b"\n" not in data:
        left = until - time.monotonic()
        if left <= 0 or not select.select([tty], [], [], left)[0]:
            raise NotConfirmed(
                f"nobody answered within {within_s:g} s: nothing has changed; run the command again"
            )
        part = os.read(tty, LONGEST)
        data += part
        if not part or len(data) > LONGEST:
            raise NotConfirmed("that is not an answer: nothing has changed; run the command again")
    return data.split(b"\n", 1)[0]
