"""Who has a run open: noted while it is so, by whoever holds it, and never longer."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion import Shield
from stanchion.runtime.standing import presence
from stanchion.runtime.standing.presence import (
    FIRST_SPACE,
    Asker,
    Live,
    Presence,
    asker,
    beside,
    live_runs,
    state_of,
    this_process,
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The folder of a state."""
    return tmp_path / "home"


@pytest.fixture
def shield(state: Path) -> Iterator[Shield]:
    """A shield with a store that lasts."""
    with Shield.load({"name": "p"}, store=state / "state.db") as shield:
        yield shield


def notes(state: Path) -> list[str]:
    """The names of what is in the folder of notes."""
    return sorted(os.listdir(state / "live"))


def test_a_process_is_noted_while_a_run_is_open(shield: Shield, state: Path) -> None:
    assert live_runs(state) == ()
    with shield.run("a"):
        assert live_runs(state) == (this_process(),)
        with shield.run("b") as run, run.spawn("c"):
            assert live_runs(state) == (this_process(),)
        assert live_runs(state) == (this_process(),)
    assert live_runs(state) == ()
    with shield.run("d"):
        assert live_runs(state) == (this_process(),)


async def _open_and_closed(shield: Shield, state: Path) -> None:
    async with shield.run("a"):
        assert live_runs(state) == (this_process(),)
    assert live_runs(state) == ()


def test_async_runs_are_noted_as_well(shield: Shield, state: Path) -> None:
    asyncio.run(_open_and_closed(shield, state))


def test_a_run_that_is_no_context_manager_counts_until_it_is_closed(
    shield: Shield, state: Path
) -> None:
    run = shield.run("a")
    assert live_runs(state)
    run.close()
    run.close()
    other = shield.run("b")
    assert live_runs(state)
    run.close()
    del run
    gc.collect()
    assert live_runs(state), "a run that ended twice must not end another one"
    other.close()
    assert live_runs(state) == ()


def test_a_run_that_nobody_refers_to_is_open_no_longer(shield: Shield, state: Path) -> None:
    run = shield.run("a")
    run.check("read", {})
    assert live_runs(state)
    del run
    gc.collect()
    assert live_runs(state) == ()


def test_two_shields_of_a_process_are_one_process(shield: Shield, state: Path) -> None:
    with Shield.load({"name": "p"}, store=state / "other.db") as second, shield.run("a"):
        with second.run("b"):
            assert live_runs(state) == (this_process(),)
        assert live_runs(state) == (this_process(),)
    assert live_runs(state) == ()


def test_a_closed_shield_leaves_no_note(shield: Shield, state: Path) -> None:
    shield.run("a")
    shield.close()
    assert notes(state) == []


def test_what_is_collected_while_a_process_forks_waits_for_nobody(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child has what its parent had, and the parent holds the lock until the fork is over."""
    here = presence.Presence(state)
    stay = here.enter()
    assert presence._changing.take(1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    stay.end()
    here.close()
    monkeypatch.undo()
    presence._changing.give_back()
    assert list(state.rglob("*")), "the file is the parent's, who removes it"


def test_state_in_memory_is_nobody_elses(tmp_path: Path) -> None:
    with Shield.load({"name": "p"}) as shield, shield.run("a"):
        assert shield.presence is None
    assert not list(tmp_path.rglob("live"))


def test_a_folder_that_cannot_be_written_stops_no_run(shield: Shield, state: Path) -> None:
    (state / "live").write_text("in the way")
    with shield.run("a") as run:
        run.check("read", {})
        assert live_runs(state) == ()
    (state / "live").unlink()
    with shield.run("b"):
        assert live_runs(state) == (this_process(),)


OPEN = """
import os, sys
from pathlib import Path
from stanchion import Shield
from stanchion.runtime.standing.presence import asker, beside, live_runs
state = Path(sys.argv[1])
shield = Shield.load({"name": "p"}, store=state / "state.db", journal="memory:")
run = shield.run("a")
"""
WAIT = "print(os.getpid(), flush=True)\nsys.stdin.readline()\n"
ASK = (
    "found = beside(live_runs(state), asker())\nprint(0 if found is None else found.pid, "
    "flush=True)\n"
)
LOOK = "\n".join(OPEN.splitlines()[:-2]) + "\n" + ASK


@contextmanager
def other(state: Path, code: str = OPEN + WAIT) -> Iterator[subprocess.Popen[str]]:
    """Another process, in a session of its own."""
    program = subprocess.Popen(
        [sys.executable, "-c", code, state],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


def said(program: subprocess.Popen[str]) -> int:
    """The number that a program says next."""
    assert program.stdout is not None
    return int(program.stdout.readline())


def test_another_process_is_seen_until_it_ends_however_it_ends(state: Path) -> None:
    with other(state) as program:
        pid = said(program)
        assert [live.pid for live in live_runs(state)] == [pid]
        assert len(notes(state)) == 1
        program.kill()
        program.wait()
        assert live_runs(state) == ()
        assert notes(state) == []


def test_a_crash_leaves_nothing_that_the_next_process_does_not_remove(state: Path) -> None:
    for _ in range(3):
        with other(state) as program:
            said(program)
    with other(state) as program:
        pid = said(program)
        (only,) = notes(state)
        assert only.startswith(f"{pid}-")


def test_an_interpreter_that_ends_with_open_runs_says_nothing(state: Path) -> None:
    with other(state, OPEN + "keep = [run, shield.run('b')]; keep.append(keep)") as program:
        out, err = program.communicate()
    assert (out, err, program.returncode) == ("", "", 0)
    assert live_runs(state) == ()


FORKED = """
child = os.fork()
if not child:
    run.close()
    del run
    sys.stdin.readline()
    second = shield.run("b")
    print(os.getpid(), flush=True)
    sys.stdin.readline()
    os._exit(0)
print(child, flush=True)
sys.stdout.flush()
import signal
signal.pause()
"""


def test_the_child_of_a_fork_neither_ends_nor_keeps_its_parents_runs(state: Path) -> None:
    with other(state, OPEN + FORKED) as program:
        child = said(program)
        assert program.stdin is not None
        assert [live.pid for live in live_runs(state)] == [program.pid]
        program.stdin.write("go on\n")
        program.stdin.flush()
        assert said(program) == child
        assert {live.pid for live in live_runs(state)} == {program.pid, child}
        program.kill()
        program.wait()
        assert [live.pid for live in live_runs(state)] == [child], (
            "the child must not hold its parent's lock"
        )
        program.stdin.write("end\n")
        program.stdin.flush()


def test_who_looks_never_loses_an_open_run(state: Path) -> None:
    presence, done = Presence(state), threading.Event()
    missed: list[int] = []

    def looks() -> None:
        while not done.is_set():
            live_runs(state)

    def opens(number: int) -> None:
        for _ in range(150):
            stay = presence.enter()
            if not live_runs(state):
                missed.append(number)
            stay.end()

    lookers = [threading.Thread(target=looks) for _ in range(2)]
    openers = [threading.Thread(target=opens, args=(number,)) for number in range(3)]
    for thread in lookers + openers:
        thread.start()
    for thread in openers:
        thread.join()
    done.set()
    for thread in lookers:
        thread.join()
    assert missed == []
    assert live_runs(state) == ()
    presence.close()
    assert notes(state) == []


def test_a_note_that_was_removed_between_runs_is_made_again(state: Path) -> None:
    presence = Presence(state)
    presence.enter().end()
    assert len(notes(state)) == 1
    assert live_runs(state) == ()
    assert notes(state) == []
    stay = presence.enter()
    assert live_runs(state) == (this_process(),)
    stay.end()


def test_who_looks_is_not_taken_for_who_has_a_run_and_stops_nobody(state: Path) -> None:
    presence = Presence(state)
    presence.enter().end()
    (name,) = notes(state)
    with open(state / "live" / name, "rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        stay = presence.enter()
        assert live_runs(state) == (this_process(),)
        assert name not in notes(state)
        stay.end()
    presence.enter().end()
    (name,) = notes(state)
    with open(state / "live" / name, "rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert live_runs(state) == ()


def test_what_is_no_note_is_left_alone(state: Path) -> None:
    folder = state / "live"
    folder.mkdir(parents=True)
    (folder / "readme").write_text("x")
    (folder / f"7-7-{'0' * 16}").mkdir()
    os.mkfifo(folder / f"8-8-{'0' * 16}")
    (folder / f"9-9-{'0' * 16}").symlink_to(folder / "readme")
    before = notes(state)
    assert live_runs(state) == ()
    assert notes(state) == before


@given(body=st.binary(max_size=200) | st.just(b'{"pid":1'))
def test_a_locked_note_that_cannot_be_read_counts_by_its_name(
    body: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    state = tmp_path_factory.mktemp("s")
    presence = Presence(state)
    stay = presence.enter()
    (name,) = notes(state)
    (state / "live" / name).write_bytes(body)
    me = this_process()
    (found,) = live_runs(state)
    try:
        assert found == msgspec.json.decode(body, type=Live)
    except msgspec.MsgspecError:
        assert (found.pid, found.started) == (me.pid, me.started)
    stay.end()
    presence.close()


def test_a_files_state_is_beside_it_whatever_the_environment_says(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "db").symlink_to(tmp_path / "real" / "state.db")
    elsewhere = {"STANCHION_STATE_DIR": str(tmp_path / "other")}
    for name in ("real/state.db", "link/state.db", "db"):
        assert state_of(f"sqlite:{tmp_path / name}", elsewhere) == tmp_path / "real"
    assert state_of("postgresql://host/db#s", elsewhere) == tmp_path / "other"


def test_a_process_with_an_open_run_is_beside_itself(shield: Shield, state: Path) -> None:
    with shield.run("a"):
        assert beside(live_runs(state), asker()) == this_process()
    assert beside(live_runs(state), asker()) is None


SPAWNED = f"""
import subprocess
subprocess.run([sys.executable, "-c", {LOOK!r}, state], start_new_session=True)
"""
SHELL = f"""
import subprocess
words = ["sh", "-c", '"$0" -c "$1" "$2"; true', sys.executable, {LOOK!r}, state]
subprocess.run(words, start_new_session=True)
"""


@pytest.mark.parametrize("way", [SPAWNED, SHELL])
def test_who_descends_from_it_is_beside_it_in_any_session(way: str, state: Path) -> None:
    with other(state, OPEN + way) as program:
        assert said(program) == program.pid


LATER = "import sys\nsys.stdin.readline()\n" + LOOK
ORPHAN = f"""
import signal, subprocess
words = ["sh", "-c", '("$0" -c "$1" "$2" <&3 &) 3<&0', sys.executable, {LATER!r}, state]
subprocess.run(words)
print(0, flush=True)
signal.pause()
"""


def test_who_left_its_parent_but_not_the_session_is_beside_it(state: Path) -> None:
    with other(state, OPEN + ORPHAN) as program:
        assert said(program) == 0
        assert program.stdin is not None
        program.stdin.write("now\n")
        program.stdin.flush()
        assert said(program) == program.pid


def test_another_session_of_the_same_user_is_not_beside_it(state: Path) -> None:
    with other(state) as agent:
        assert said(agent) == agent.pid
        assert [live.pid for live in live_runs(state)] == [agent.pid]
        with other(state, LOOK) as operator:
            assert said(operator) == 0
        assert [live.pid for live in live_runs(state)] == [agent.pid]


PROCESSES = st.builds(
    Live,
    st.integers(1, 4),
    st.sampled_from(["", "10", "20"]),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(["", FIRST_SPACE, "pid:[1]", "pid:[2]"]),
)


def same(one: Live, two: Live) -> bool:
    """Whether two could be one process."""
    return one.pid == two.pid and ("" in (one.started, two.started) or one.started == two.started)


@given(st.lists(PROCESSES, max_size=3), PROCESSES, st.lists(PROCESSES, max_size=3))
def test_who_is_beside_whom(live: list[Live], mine: Live, above: list[Live]) -> None:
    found = beside(live, Asker(mine, tuple(above)))
    for each in live:
        if each.space not in ("", mine.space):
            near = mine.space != FIRST_SPACE
        else:
            near = (
                any(same(each, one) for one in [mine, *above])
                or each.session == mine.session > 0
                or each.tty == mine.tty > 0
            )
        if near:
            assert found is each
            return
    assert found is None
