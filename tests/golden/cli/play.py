"""Runs a command line in this process with a clock that stands still and ids that repeat, and
compares with files."""

import io
import itertools
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.testing.clock import FakeClock

UPDATE = os.environ.get("STANCHION_UPDATE_GOLDEN") == "1"
"""Whether the files are rewritten with what comes out now. Read on import: tests have a world of
their own."""


TICKET = re.compile(
    r"""(?<="ticket":")[0-9a-f]{12}(?=")|(?<=  ticket   )[0-9a-f]{12}|(?<=approve )[0-9a-f]{12}"""
)


class Played(NamedTuple):
    """What a command wrote, and its exit status."""

    status: int
    out: str
    err: str


def play(words: list[str], stdin: bytes = b"", nonce: str = "n") -> Played:
    """Run `stanchion` with these words; the ids of its first run have the nonce and a 1 in them."""
    nonces = (f"{nonce}{number}" for number in itertools.count(1))
    clock = FakeClock()

    def load(source: str, **options: Any) -> Shield:
        return Shield.load(source, clock=clock, nonces=lambda: next(nonces), **options)

    with _streams(stdin) as (out, err):
        status = main(words, load)
    return Played(status, _text(out), _text(err))


@contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    streams = [io.TextIOWrapper(io.BytesIO(given), encoding="utf-8") for given in (stdin, b"", b"")]
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        yield streams[1], streams[2]


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def same(file: Path, text: str) -> None:
    """Fail unless the file holds this text; rewrite it first where that was asked for. The ids of
    tickets are no
    promise: they change with the policy."""
    text = TICKET.sub("<ticket>", text)
    if UPDATE:
        file.write_text(text, encoding="utf-8")
    hint = (
        f"if this is right, run with STANCHION_UPDATE_GOLDEN=1 and look at the change of "
        f"{file.name}"
    )
    assert file.is_file(), f"{file.name} is missing: {hint}"
    assert text == file.read_text(encoding="utf-8"), hint
