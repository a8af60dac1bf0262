"""Erasing: what there is of what is meant, its removal, and what that does not reach: open runs,
and what a store keeps for a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.audit.erasure import Meant, MeantRecords, cut_off, meant_in, remove
from stanchion.audit.keys import TrailKey
from stanchion.audit.reader import Progress, TrailReader, spelled
from stanchion.audit.remains import (
    Remain,
    Tail,
    damaged,
    held_fast,
    pieces,
    strangers,
    tails,
)
from stanchion.audit.runs import OPEN, newest_runs
from stanchion.experience.shelf import NothingKept, ShelfError
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.shown import json_safe
from stanchion.kernel.state import ANCHOR, EPOCH, STANDING
from stanchion.ops.views.names import KeyName, name_of
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.answers.notebook import NOTES, notes_in
from stanchion.runtime.learning.shelves import shelf_of
from stanchion.runtime.operating.retention import SUBJECT
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store

WILL_WRITE: Final = (
    "still open, and records what it produced when it ends: close it first, then erase again"
)
TICKET: Final = "ticket"
IN_STORE: Final = "in the store until it expires: `stanchion state` shows it"
BESIDE: Final = (
    "beside the store: `stanchion tools experience` shows it, and `prune` of that removes it"
)
ASKED: Final = "in the store until it expires: `stanchion tickets show` shows it"


class ErasureLook(Struct, frozen=True):
    """What there is of what is meant in one trail: records, pieces beside chains, beginnings of
    records at the end of segments, and what cannot be erased."""

    folder: Path
    said: MeantRecords
    torn: list[Path]
    tails: list[Tail]
    left: list[Remain]

    def __bool__(self) -> bool:
        return bool(self.said.rows or self.torn or self.tails)


def look_over(folder: Path, meant: Meant, progress: Progress | None) -> ErasureLook:
    """What there is of what is meant in a trail."""
    reader = TrailReader(folder)
    said = meant_in(reader, meant, progress)
    left = [*damaged(reader, meant), *strangers(folder, meant)]
    return ErasureLook(folder, said, pieces(folder, meant), tails(folder, meant), left)


def erasure_request(looks: list[ErasureLook], why: str) -> Request:
    """What somebody is asked to answer for: the records of the first trail, and of those beside
    it."""
    plain = {
        str(one.folder): {
            chain: [list(row) for row in some] for chain, some in one.said.rows.items()
        }
        for one in looks
    }
    records = plain.pop(str(looks[0].folder))
    beside = {folder: rows for folder, rows in plain.items() if rows}
    said = {"records": records, "why": why, **({"beside": beside} if beside else {})}
    return Request(purpose=Purpose.ERASE, tenant=FLEET, subject=SUBJECT, said=said)


def remove_pieces(folder: Path, meant: Meant, key: TrailKey | None) -> None:
    """Remove what crashes have left in a trail; opening it may have made pieces of it before."""
    cut_off(folder, [tail.chain for tail in tails(folder, meant)], key, wall_ms)
    remove(pieces(folder, meant))


def still_there(looks: list[ErasureLook], meant: Meant) -> Iterator[Remain]:
    """What of that was written meanwhile, or held fast, when the rest was erased."""
    for one in looks:
        for chain, rows in one.said.rows.items():
            yield Remain(f"{chain}:{rows[0][0]}", CAME)
    for one in looks:
        yield from held_fast(one.folder, meant)


CAME: Final = "written in the meantime: erase again"


def open_runs(reader: TrailReader, meant: Meant, runs: frozenset[tuple[str, str]]) -> list[Remain]:
    """Runs that are meant and still open; of those that hold a text, the ones that have said it."""
    found = []
    for story in newest_runs(reader):
        run = story.run
        if story.state != OPEN or not meant.is_of(run.id, run.agent, run.task, run.tenant):
            continue
        if meant.containing is None or (run.tenant, run.id) in runs:
            found.append(Remain(f"run {run.id}", WILL_WRITE))
    return found


def kept_in(store: Store, meant: Meant) -> Iterator[Remain]:
    """What a store has of what is meant: open and answered tickets, results that are remembered,
    histories, and what runs have read."""
    for cell in store.look():
        if cell.value is None or cell.key.endswith((EPOCH, f":{ANCHOR}", STANDING)):
            continue
        name = name_of(cell.key)
        if _is_meant(name, cell.value, meant):
            if name.parts[0] == TICKET and isinstance(cell.value, dict):
                yield Remain(f"{veiled(name.text)}, {cell.value.get('state', 'open')}", ASKED)
            else:
                yield Remain(veiled(name.text), IN_STORE)


def in_experience(store: Store) -> Iterator[Remain]:
    """Experience that is kept beside a store, whoever it is of: what it says is redacted and cut,
    and may be of anyone who is meant."""
    try:
        shelf = shelf_of(store, reading=True)
        try:
            count = shelf.count()
        finally:
            shelf.close()
    except NothingKept:
        return
    except ShelfError as error:
        yield Remain("experience", f"cannot be read: {error}")
        return
    if count:
        yield Remain(f"experience, {count:,} incidents", BESIDE)


def _is_meant(name: KeyName, value: Any, meant: Meant) -> bool:
    """Whether a record of the store is about whom is meant, by its key or by what it says, and
    holds the text."""
    value = notes_in(value) if name.parts[0] == NOTES else value
    text = json_safe(msgspec.json.encode(value))
    if meant.containing is not None and spelled(meant.containing)[1:-1] not in text:
        return False
    wanted = meant.named
    if wanted and name.tenant == FLEET:
        return False  # what is kept of operators and of the store itself is of no run
    if "tenant" in wanted and name.tenant not in wanted.pop("tenant"):
        return False
    words = {*name.parts, *_texts(value)} if wanted else set()
    return all(any(word in each for word in words) for each in wanted.values())


def _texts(value: Any) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (str(key), *_texts(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
