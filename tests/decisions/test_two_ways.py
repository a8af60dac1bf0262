"""Two ways of deciding are one: whatever is seen of a session is the same, byte for byte, whichever
way it went."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from stanchion.runtime.answers import repository
from stanchion.runtime.deciding import quiet
from tests.decisions.near_misses import COUNTING, WRITTEN, befall, draw_cases, plainly, unhurry
from tests.decisions.seen import Seen, compare
from tests.decisions.ways import ENGINE, Engine, Session, Way
from tests.decisions.wrong_ways import WRONG, Wrong
from tests.sampling import SOAK, some
from tools.decisions import drawing, sessions, tables
from tools.decisions.case import Case
from tools.decisions.place import settled

CORPORA: Final = os.environ.get("STANCHION_CORPORA", "")  # tests themselves see nothing of it
WHOLE: Final = Seen.__struct_fields__


class Pair(NamedTuple):
    """Two ways that have to be one, in these parts of what is seen. `numbered`: batches have the
    same numbers in both, so what befalls a batch befalls both."""

    one: Way
    other: Way
    parts: tuple[str, ...] = WHOLE
    numbered: bool = True


@contextmanager
def _engine_alone() -> Iterator[None]:
    """No call goes straight: the engine decides all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quiet, "lane_of", lambda *_: None)
        yield


TRAIL: Final = Engine("engine with a trail", journal="trail")
PAIRS: Final = (
    Pair(Engine("engine alone", around=_engine_alone), ENGINE),
    Pair(Engine("engine alone with a trail", around=_engine_alone, journal="trail"), TRAIL),
    Pair(ENGINE, Engine("engine on a loop", driver="loop")),
    # A store that outlives its process is also asked whether it is still the same one.
    Pair(
        ENGINE,
        Engine("engine on SQLite", store="sqlite"),
        ("verdicts", "state", "notices"),
        numbered=False,
    ),
    Pair(
        Engine("engine alone on SQLite", around=_engine_alone, store="sqlite"),
        Engine("engine on SQLite", store="sqlite"),
    ),
    Pair(TRAIL, Engine("engine on a loop with a trail", driver="loop", journal="trail")),
)
"""The ways that are compared. A new path of the runtime is a line here."""

BEFALLEN: Final = {session.case.name.partition("/")[2]: session for session in befall()}
NAMED: Final = {case.name.partition("/")[2]: Session(case, close=True) for case in WRITTEN}
PLAINLY: Final = {
    f"{name}, plainly": plainly(session)
    for name, session in (NAMED | BEFALLEN).items()
    if session.case.policy is COUNTING
}


def _find_honest() -> Iterator[Case]:
    """Sessions of corpora in which nobody does wrong; none where there are no corpora."""
    cases = sessions.cases(Path(CORPORA)) if CORPORA else ()
    return (case for case in cases if "honest_sessions" in case.name)


EVERY: Final = NAMED | BEFALLEN | PLAINLY
SOURCES: Final[dict[str, Callable[[], Iterable[Session]]]] = {
    "written": NAMED.values,
    "plain": lambda: some(PLAINLY.values(), 40, "plain"),
    "befallen": lambda: some(BEFALLEN.values(), 7, "befallen"),
    "near misses": lambda: map(Session, draw_cases(1_000 if SOAK else 3)),
    "tables": lambda: map(Session, map(unhurry, some(tables.cases(), 500, "tables"))),
    "honest": lambda: map(Session, map(unhurry, some(_find_honest(), 100, "honest"))),
    "drawn": lambda: map(Session, map(unhurry, drawing.cases(2_000 if SOAK else 0))),
}
"""What is played: what is written always, the rest by samples where there is no time for all. What
befalls a session comes in threes, so every seventh has something of each."""

WANTED: Final = {
    "blanks at the end": ("loops.repeat",),
    "too much": ("size.too_long", "kernel.too_large"),
    "told once": ("loops.near",),
    "windows of time": ("time.nearly",),
    "what is reserved": ("budget.nearly", "budget.exceeded", "breaker.open", "kernel.halted"),
    "what is redacted": ("secrets.redacted", "tool.denied"),
    "where paths lead": ("files.outside", "files.unclear"),
    "who has named it": ("flow.sink", "flow.read_out"),
    "calls through a run": ("KeyboardInterrupt", "TimeoutError", "tool.denied"),
    "who has to ask": ("shell.service", "shell.git"),
    "refused again and again": ("loops.refused", "ask_person", "kernel.ended"),
    "two runs": ("kernel.quarantined",),
    "what is reserved, struck after 1": ("KeyboardInterrupt", "budget.nearly"),
    "what is reserved, without batch 1": ("kernel.store_lost",),
    "what is reserved, without batch 2": ("kernel.done_unsettled",),
}
"""Codes and errors that sessions have to come to."""


@pytest.fixture(autouse=True)
def _settle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same place for all ways; what is asked of a repository is waited for however busy the
    machine is."""
    monkeypatch.setattr(repository, "WAITED_S", 60)
    with settled():
        yield


def _play(way: Way, session: Session, folder: Path) -> Seen:
    place = folder / way.name / session.case.name.replace("/", " ")[:80]
    place.mkdir(parents=True)
    return way.play(session, place)


@pytest.mark.parametrize("source", SOURCES)
def test_both_ways_are_one(source: str, tmp_path: Path) -> None:
    played = list(SOURCES[source]())
    if not played:
        pytest.skip("no corpora are there, or no time for it")
    for number, session in enumerate(played):
        numbered = session.struck or session.turns or session.case.lost
        seen: dict[str, Seen] = {}
        for pair in [pair for pair in PAIRS if pair.numbered or not numbered]:
            for way in (pair.one, pair.other):
                if way.name not in seen:
                    seen[way.name] = _play(way, session, tmp_path / str(number))
            one, other = seen[pair.one.name], seen[pair.other.name]
            if "pages" not in pair.parts and other.pages:
                continue  # who keeps pages of a run takes ids for them, and all others move
            differ = list(compare(other, one, pair.parts))
            assert not differ, f"{session.case.name}: {pair.other.name} differs: {differ}"


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.way.name)
def test_a_way_that_is_wrong_in_one_thing_is_noticed(wrong: Wrong, tmp_path: Path) -> None:
    session = EVERY[wrong.session]
    right = TRAIL if wrong.way.journal == "trail" else ENGINE
    one, other = [_play(way, session, tmp_path) for way in (right, wrong.way)]
    assert set(wrong.parts) <= {told.partition(" ")[0] for told in compare(other, one)}


@pytest.mark.parametrize("name", WANTED)
def test_a_session_comes_to_what_it_is_written_for(name: str, tmp_path: Path) -> None:
    """One that is quiet all the way would show nothing."""
    told = b"".join(_play(ENGINE, EVERY[name], tmp_path).verdicts).decode()
    assert [code for code in WANTED[name] if f'"{code}"' not in told] == []
