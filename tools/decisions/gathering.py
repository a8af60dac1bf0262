"""Gathering: all cases of the sources that are wanted, played in several processes, their lines in
the order of the cases."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from stanchion_lab.measuring.rows import VARIABLE
from tools.decisions import drawing, rows, sessions, tables
from tools.decisions.case import Case, given
from tools.decisions.dialects import choose_dialects, speak
from tools.decisions.kept import Holds, Kept, Line, kept
from tools.decisions.near import name_near, vary
from tools.decisions.place import ROOT, settled
from tools.decisions.playing import play
from tools.decisions.telling import GOT, Told, digest, spelled
from tools.decisions.ways import choose_ways

TABLES, CORPORA, DRAWN, NEAR = SOURCES = ("tables", "corpora", "drawn", "near")
BLOCK: Final = 40
"""How many cases a process is given at a time."""
STEPS: Final = 20
"""How often whoever waits is told how far it is."""


class Wanted(NamedTuple):
    """What is to be played: which sources, and which part of their cases, the first being 1."""

    sources: tuple[str, ...] = SOURCES
    part: tuple[int, int] = (1, 1)


def corpora() -> Path | None:
    """The folder of corpora: the one that is named, or the one beside the checkout; `None` where
    there is none."""
    near = [above / "shared" / "corpora" for above in ROOT.parents]
    named = os.environ.get(VARIABLE)
    found = [Path(named)] if named is not None else near
    return next((each.absolute() for each in found if each.is_dir()), None)


def cases(wanted: Wanted) -> Iterator[Case]:
    """The cases that are wanted, each with a name of its own."""
    seen: Counter[str] = Counter()
    for case in chain(*_offered(wanted)):
        seen[case.name] += 1
        again = seen[case.name]
        if _wants(wanted, case.name) and _source(case.name) in wanted.sources:
            name = case.name if again == 1 else f"{case.name} ~{again}"
            yield msgspec.structs.replace(case, name=name)
        near = name_near(case.name) if NEAR in wanted.sources and again == 1 else None
        if near is not None and _wants(wanted, near):
            yield vary(case, near)


def _wants(wanted: Wanted, name: str) -> bool:
    """Whether a case is in the part: by its name, so that a part has something of everything, and
    stays what it is where cases are added."""
    number, of = wanted.part
    return crc32(name.encode()) % of == number - 1


def _offered(wanted: Wanted) -> Iterator[Iterable[Case]]:
    """The sources that have to be read. A near-miss is made of a case of another source, whether
    that one is wanted or not."""
    near = NEAR in wanted.sources

    def wants(name: str) -> bool:
        varied = name_near(name) if near else None
        return _wants(wanted, name) or (varied is not None and _wants(wanted, varied))

    if TABLES in wanted.sources:
        yield tables.cases()
    folder = corpora() if near or CORPORA in wanted.sources else None
    if folder is not None:
        yield rows.cases(folder)
        yield sessions.cases(folder)
    if near or DRAWN in wanted.sources:
        yield drawing.cases(wants=wants)


def gathered(wanted: Wanted, jobs: int) -> Kept:
    """Play all that is wanted in so many processes, and keep what is decided."""
    every = list(cases(wanted))
    blocks = [every[at : at + BLOCK] for at in range(0, len(every), BLOCK)]
    counts: Counter[str] = Counter()

    def lines() -> Iterator[Line]:
        for done, block in enumerate(_blocks(blocks, jobs), 1):
            counts.update([_source(line.id) for line in block])
            yield from block
            if done * STEPS // len(blocks) > (done - 1) * STEPS // len(blocks):
                print(
                    f"{done * 100 // len(blocks)} % of {len(every):,} cases are played",
                    file=sys.stderr,
                    flush=True,
                )

    names = Counter(_source(case.name) for case in every)
    found = kept(Holds({}, {}), lines())
    decided = {source: counts[source] for source in SOURCES if source in names}
    told = {source: names[source] for source in SOURCES if source in names}
    return msgspec.structs.replace(found, holds=Holds(decided, told, wanted.part, drawing.SEED))


def _blocks(blocks: list[list[Case]], jobs: int) -> Iterator[list[Line]]:
    """The lines of each block, in order."""
    if jobs == 1:
        with settled():
            yield from map(_played, blocks)
        return
    # A process that was forked from one with threads may hang; a fresh one is the same on every
    # platform.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin) as pool:
        yield from pool.map(_played, blocks)


def _source(name: str) -> str:
    return name.partition("/")[0]


_LIFE: Final = ExitStack()
"""What holds for as long as a process lives; nothing does that nobody keeps."""


def _begin() -> None:
    """Settle a process."""
    _LIFE.enter_context(settled())


def _played(block: list[Case]) -> list[Line]:
    return [line for case in block for line in _lines(case)]


def _lines(case: Case) -> Iterator[Line]:
    """What comes of a case plainly, and in the further ways that are chosen for it."""
    own, plain = given(case), play(case)
    yield from _numbered(case.name, own, plain)
    asks = any(told.get(GOT, {}).get("action") == "ESCALATE" for told in plain)
    for way in choose_ways(case):
        if asks or not way.answers:
            yield from _numbered(way.names(case.name), own, play(case, way))
    for dialect in choose_dialects(case):
        yield from _numbered(f"{case.name} [{dialect}]", own, speak(case, dialect))


def _numbered(name: str, case: str, every: Iterable[Told]) -> Iterator[Line]:
    """Lines under names that stay what they are where more or less is written down: what a caller
    gets is numbered by itself, and what is written on the way to it by its kind."""
    number, seen = 1, Counter[str]()
    for told in every:
        if GOT in told:
            yield Line(
                f"{name} #{number}", case, digest(told[GOT]), 1, msgspec.Raw(spelled(told[GOT]))
            )
            number, seen = number + 1, Counter()
        else:
            kind = str(told.get("stage", told.get("fact", next(iter(told)))))
            seen[kind] += 1
            again = "" if seen[kind] == 1 else f"~{seen[kind]}"
            yield Line(
                f"{name} #{number}.{kind}{again}", case, digest(told), 2, msgspec.Raw(spelled(told))
            )
