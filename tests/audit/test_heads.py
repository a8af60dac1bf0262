"""A chain's head: written by the thread that syncs and by whoever declares something, and never set
back."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit import layout as heads
from stanchion.audit.chain import OpenChain
from stanchion.audit.layout import read_head
from stanchion.audit.notes import OPEN, ChainOpened
from tests.audit.written import AT


def begun(folder: Path) -> OpenChain:
    """A chain with a few records."""
    chain = OpenChain.begin(folder, "0" * 16, None, lambda: AT)
    for _ in range(3):
        chain.note(ChainOpened, OPEN, cut=0, unfit=(), pid=1)
    chain.sync()
    return chain


def test_two_who_seal_at_once_do_not_take_each_others_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each writes beside the head and then puts it in its place: between the two nobody else
    may."""
    chain = begun(tmp_path)
    first, failed, real = threading.Event(), [], heads.write_private

    def slow(*args: Any) -> None:
        real(*args)
        if not first.is_set():
            first.set()
            other.join(
                timeout=0.2
            )  # as long as the other one needs to get through, where nothing keeps it out

    def seal() -> None:
        first.wait()
        try:
            chain.seal(chain.position())
        except OSError as error:
            failed.append(error)

    monkeypatch.setattr(heads, "write_private", slow)
    other = threading.Thread(target=seal)
    other.start()
    chain.seal(chain.position())
    other.join()
    assert not failed
    assert read_head(chain.folder) == chain.position()
    chain.abandon()


def test_a_head_is_never_set_back(tmp_path: Path) -> None:
    """Whoever has taken a position and comes late with it leaves what was sealed since."""
    chain = begun(tmp_path)
    before = chain.position()
    chain.note(ChainOpened, OPEN, cut=0, unfit=(), pid=1)
    chain.sync()
    chain.seal(chain.position())
    chain.seal(before)
    assert read_head(chain.folder) == chain.position() != before
    chain.close({})
