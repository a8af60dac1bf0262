"""What the system tells of processes: read as it is, whatever they call themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from stanchion.runtime.standing import presence
from stanchion.runtime.standing.presence import (
    HostProcess,
    ancestors,
    asker,
    process_at,
    read_stat,
    this_process,
)

NUMBERS = st.integers(0, 2**31)


@given(
    st.text(max_size=30) | st.sampled_from([") 1 2 3 4", "a) R 7 7 7 7 7", "\n)"]),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
)
def test_a_name_cannot_be_taken_for_another_field(
    name: str, parent: int, session: int, tty: int, started: int
) -> None:
    between = " ".join(["0"] * 14)
    line = f"7 ({name}) S {parent} 5 {session} {tty} {between} {started} 99 98\n"
    known = read_stat(line, "here")
    assert known is not None
    assert known.process == HostProcess(7, str(started), tty, session, "here")
    assert known.parent == parent


@given(st.text(max_size=60))
def test_a_line_that_cannot_be_read_tells_nothing(line: str) -> None:
    assert read_stat(line, "") is None


def test_this_process_is_known() -> None:
    me = this_process()
    assert (me.pid, me.session) == (os.getpid(), os.getsid(0))
    assert process_at(os.getpid()) == me
    assert me.started.isdigit()


def test_ancestors_are_those_of_the_system() -> None:
    me = asker()
    assert me.process == this_process()
    assert me.ancestors[0] == process_at(os.getppid())
    code = (
        "from stanchion.runtime.standing.presence import asker; print([p.pid for p in "
        "asker().ancestors])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert said.stdout.strip() == str([os.getpid(), *[each.pid for each in me.ancestors]])


def test_a_process_that_is_gone_is_known_by_its_number(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert process_at(ended.pid) is None
    (only,) = ancestors(ended.pid)
    assert (only.pid, only.started) == (ended.pid, "")


@pytest.mark.skipif(not os.path.exists(presence.PS), reason="there is no ps")
def test_without_proc_ancestors_are_those_that_ps_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [each.pid for each in ancestors(os.getpid())]
    monkeypatch.setattr(presence, "PROC", tmp_path)
    assert [each.pid for each in ancestors(os.getpid())] == told
    assert this_process() == HostProcess(os.getpid(), session=os.getsid(0))


def test_without_proc_and_ps_the_parent_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "PROC", tmp_path)
    monkeypatch.setattr(presence, "PS", str(tmp_path / "none"))
    assert asker().ancestors == (HostProcess(os.getppid()),)
