"""Passes and tokens are of use to the user they were made for, and to nobody who changes them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion.kernel.events import RunInfo
from stanchion.ops.broker.brokered_runs import KEY_FILE, Passed, Passes, key_in

PASSES = Passes(b"k" * 32)
INFO = RunInfo("run-1", "ann", task="bill", allotment=(5, -1, -1, -1, -1))
PASSED = Passed("boot", 7, INFO, None, (0, 7, 8, 9), "")


def test_a_pass_is_for_one_user() -> None:
    sealed = PASSES.sealed(PASSED)
    assert PASSES.opened(sealed, 7) == PASSED
    assert PASSES.opened(sealed, 8) is None
    assert Passes(b"x" * 32).opened(sealed, 7) is None


@given(data=st.data())
def test_a_pass_that_was_changed_is_none(data: st.DataObject) -> None:
    sealed = bytearray(PASSES.sealed(PASSED))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))
    assert PASSES.opened(bytes(sealed), 7) is None
    assert PASSES.opened(bytes(sealed[:place]), 7) is None


def test_a_larger_budget_cannot_be_sealed_without_the_key() -> None:
    rich = msgspec.structs.replace(INFO, allotment=(500, -1, -1, -1, -1))
    richer = msgspec.structs.replace(PASSED, info=rich)
    forged = PASSES.sealed(PASSED)[:32] + msgspec.msgpack.encode(richer)
    assert PASSES.opened(forged, 7) is None


def test_a_token_is_for_one_user_and_one_run() -> None:
    token = PASSES.token(7, "run-1")
    assert PASSES.is_token(token, 7, "run-1")
    assert not PASSES.is_token(token, 8, "run-1")
    assert not PASSES.is_token(token, 7, "run-2")
    assert not PASSES.is_token("\ud800", 7, "run-1")


def test_a_key_is_made_once_and_is_the_brokers_alone(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    assert key_in(tmp_path) == key
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o077 == 0
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(OSError, match="not a key"):
        key_in(tmp_path)
