"""Runs as a trail tells of them: who is at work, how each stands, what it used; and manifests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from stanchion.audit import notes
from stanchion.audit.manifest_check import compared, file_faults, hash_faults, without_hashes
from stanchion.audit.reader import Progress, TrailReader
from stanchion.audit.runs import LOST, RunStory, newest_runs, records_of, run_detail
from stanchion.ops.views.amounts import MEASURES
from stanchion.ops.views.budgets import Burned, burn_down, ends, policy_of
from stanchion.ops.views.names import began_key
from stanchion.ops.views.records import RecordView, record_view
from stanchion.stores.protocol import Store
from stanchion.telemetry.notices.message import when
from stanchion.tutor.manifests.manifest import (
    FIELDS,
    RUN,
    TUTOR,
    WHOLE,
    WRITTEN,
    Environment,
    Manifest,
    RunPart,
    TrailPart,
    hashed,
)

IDLE: Final = "idle"
"""How a run stands that nobody holds now, and that can go on."""
LAST: Final = "last"
"""What the newest run can be called."""


class RunView(Struct, frozen=True, kw_only=True):
    """A run: `open`, `idle`, `ended`, `halted`, `cancelled` or `lost`. One that is made of checks
    which count is `idle` between two of them: no process holds it, and the next check goes on with
    it. `ended_ms` is `None` for one whose end is not written; `decided` counts its decisions by
    action, `refused` those that did not go ahead. `policy` is the hash of the policy last in force,
    `source` where it came from. `flagged` names the guards that have flagged it, `strikes` counts
    those that each has given it."""

    id: str
    agent: str
    role: str
    task: str
    tenant: str
    parents: tuple[str, ...]
    state: str
    began_ms: int
    ended_ms: int | None
    last_ms: int
    lasted_ms: int
    code: str
    why: str
    decided: dict[str, int]
    refused: int
    policy: str
    source: str
    env: str | None
    flagged: tuple[str, ...]
    strikes: dict[str, int]


class BurnView(Struct, frozen=True, kw_only=True):
    """How a run used one budget up: what was used or reserved of it after each tenth of the run's
    time, `None` where that is not known, and what the store has of it `now`. Numbers are in the
    unit that `measure` names."""

    budget: str
    per: str
    measure: str
    limit: int | None
    window_s: float | None
    used: tuple[int | None, ...]
    now: int | None


class RunDetailView(RunView, frozen=True, kw_only=True):
    """A run in full. `unfinished` counts calls that were started and never said what came of them,
    `calls` names the newest of those. `left_out` is how much it produced that is not kept.
    `tenths_ms` is when each tenth of its time ended. `newest` and `open` are its last decisions and
    unfinished calls, newest first."""

    unfinished: int
    calls: tuple[str, ...]
    produced: tuple[Any, ...]
    left_out: int
    budgets: tuple[BurnView, ...]
    tenths_ms: tuple[int, ...]
    newest: tuple[RecordView, ...]
    open: tuple[RecordView, ...]


Totals = Callable[[frozenset[str]], dict[str, int]]
"""What the store has of counters now, by their keys."""


Kept = Callable[[frozenset[str]], frozenset[str]]
"""Which of these records a store has."""


def none_kept(_keys: frozenset[str]) -> frozenset[str]:
    """What is known of records where no store is asked: nothing."""
    return frozenset()


def runs(
    reader: TrailReader, most: int | None, progress: Progress | None = None, kept: Kept = none_kept
) -> Iterator[RunView]:
    """The newest runs, newest first."""
    return (
        RunView(**facts_of(story))
        for story in _rested(list(newest_runs(reader, most, progress)), kept)
    )


def _rested(stories: list[RunStory], kept: Kept) -> list[RunStory]:
    """Runs whose end is not written and whose process is gone are idle where their next check can
    go on with them."""
    keys = [
        began_key(story.run.tenant, story.run.id) if story.state == LOST else ""
        for story in stories
    ]
    asked = frozenset(filter(None, keys))
    found = kept(asked) if asked else frozenset()
    return [
        replace(story, state=IDLE) if name in found else story
        for story, name in zip(stories, keys, strict=True)
    ]


def run_in_full(
    reader: TrailReader,
    name: str,
    now: Totals,
    progress: Progress | None = None,
    kept: Kept = none_kept,
) -> RunDetailView | None:
    """The newest run of that name, or with `last` the newest of all; `None` where there is none."""
    if name == LAST:
        name = next((story.run.id for story in newest_runs(reader, 1, progress)), LAST)
    detail = run_detail(reader, name, progress)
    if detail is None:
        return None
    (story,) = _rested([detail.story], kept)
    burned = burn_down(reader, story, policy_of(story), progress)
    keys = frozenset(one.key for one in burned if one.key)
    totals = now(keys) if keys else {}
    return RunDetailView(
        **facts_of(story),
        unfinished=detail.unfinished_count,
        calls=tuple([found.stub.id for found in detail.unfinished]),
        produced=story.produced,
        left_out=story.left_out,
        budgets=tuple([_burned(one, totals) for one in burned]),
        tenths_ms=ends(story) if burned else (),
        newest=tuple([record_view(found, story.source) for found in detail.newest]),
        open=tuple([record_view(found, story.source) for found in detail.unfinished]),
    )


def kept_in(store: Store, keys: frozenset[str]) -> frozenset[str]:
    """Which of these records a store has."""
    return frozenset(totals_in(store, keys))


def totals_in(store: Store, keys: frozenset[str]) -> dict[str, int]:
    """What a store has of counters: what is in the window of those that have one."""
    found = (cell for key in sorted(keys) for cell in store.look(key))
    return {
        cell.key: cell.number if cell.live is None else cell.live
        for cell in found
        if cell.key in keys
    }


def facts_of(story: RunStory) -> dict[str, Any]:
    """What is known of a run, by the names of the fields that show it."""
    known = {name: getattr(story.run, name) for name in OF_RUN}
    known |= {name: getattr(story, name) for name in OF_STORY}
    return {**known, "began_ms": story.began, "ended_ms": story.ended, "last_ms": story.last}


OF_RUN: Final = ("id", "agent", "role", "task", "tenant", "parents")
OF_STORY: Final = (
    "state",
    "lasted_ms",
    "code",
    "why",
    "decided",
    "refused",
    "policy",
    "source",
    "env",
    "flagged",
    "strikes",
)
"""What is shown of a run as it is called there."""


def _burned(one: Burned, totals: dict[str, int]) -> BurnView:
    return BurnView(
        budget=one.budget,
        per=one.per,
        measure=MEASURES[one.measure],
        limit=one.limit,
        window_s=one.window_s,
        used=one.used,
        now=totals.get(one.key),
    )


def run_manifest(
    reader: TrailReader, name: str, progress: Progress | None = None
) -> dict[str, Any] | None:
    """The manifest of the newest run of that name, or with `last` of the newest of all; `None`
    where there is none. Everything in it is from the trail: what that does not know is `None`."""
    if name == LAST:
        name = next((story.run.id for story in newest_runs(reader, 1, progress)), LAST)
    detail = run_detail(reader, name, progress)
    return (
        None
        if detail is None
        else hashed(_manifest(detail.story, _trail(reader, detail.story, progress)))
    )


def _manifest(story: RunStory, trail: TrailPart) -> Manifest:
    facts = facts_of(story)
    return Manifest(
        kind=RUN,
        run_id=story.run.id,
        environment=Environment(
            timestamp_start=_time(story.began),
            timestamp_end=None if story.ended is None else _time(story.ended),
            duration_seconds=None if story.ended is None else story.lasted_ms / 1000,
        ),
        run=RunPart(**{name: facts[name] for name in RunPart.__struct_fields__}),
        trail=trail,
    )


def _trail(reader: TrailReader, story: RunStory, progress: Progress | None) -> TrailPart:
    """Where the records of a run stand; they come newest first."""
    records = 0
    ends: dict[str, tuple[int, int]] = {}
    hashes: dict[str, str] = {}
    for found in records_of(reader, story, progress):
        records += 1
        seq = found.stub.seq
        first, last = ends.get(found.chain, (seq, seq))
        ends[found.chain] = (min(first, seq), max(last, seq))
        if last <= seq:
            hashes[found.chain] = found.line.hash
    return TrailPart(
        records=records, chains=dict(sorted(ends.items())), last_hashes=dict(sorted(hashes.items()))
    )


def _time(at_ms: int) -> str:
    try:
        return when(at_ms)
    except (OverflowError, OSError, ValueError):
        return str(at_ms)


class WrongView(Struct, frozen=True):
    """A field that is not as it was written, or that names a file that is not as it was written."""

    field: str
    why: str


class ManifestView(Struct, frozen=True):
    """What was found in a manifest. `known` says whether the trail knows its run, or the manifest
    itself; it is `null` where there is no trail."""

    whole: bool
    known: bool | None
    wrong: tuple[WrongView, ...]


def checked(
    manifest: Mapping[str, Any],
    reader: TrailReader | None,
    folder: Path,
    progress: Progress | None = None,
) -> ManifestView:
    """The fields of a manifest that were changed since it was written, those that are not as the
    trail has them, and those that name a file, seen from a folder, that was changed."""
    found = {one.field: one.why for one in hash_faults(manifest)}
    known = None if reader is None else _hashes_in(reader, manifest, progress)
    if known is not None:
        fields, whole = known
        for one in compared(without_hashes(manifest), fields):
            found.setdefault(one.field, f"{one.why}: the trail has something else")
        if manifest.get(WHOLE) != whole:
            found.setdefault(WHOLE, "the trail has another one")
    for one in file_faults(manifest, folder):
        found.setdefault(one.field, one.why)
    wrong = tuple([WrongView(field, why) for field, why in found.items()])
    return ManifestView(not wrong, None if reader is None else known is not None, wrong)


def _hashes_in(
    reader: TrailReader, manifest: Mapping[str, Any], progress: Progress | None
) -> tuple[dict[str, str], str] | None:
    """The hashes that a manifest would have by the trail: made anew from the records of its run, or
    as it was written down when the Tutor's run ended. Who changes the kind of a manifest is not
    helped by it: both are looked for."""
    name = manifest.get("run_id")
    if not isinstance(name, str):
        return None
    told = _written(reader, name, progress)
    if told is not None or manifest.get("kind") == TUTOR:
        return told
    made = run_manifest(reader, name, progress)
    return None if made is None else (made[FIELDS], made[WHOLE])


def _written(
    reader: TrailReader, name: str, progress: Progress | None
) -> tuple[dict[str, str], str] | None:
    """The hashes that were written down with the newest manifest of that name."""
    for found in reader.of_kinds((notes.FACT,), progress):
        told = found.told()
        if told is not None and told.what == WRITTEN and told.about == f"manifest:{name}":
            fields = {str(place): str(digest) for place, digest in told.data.get("fields", ())}
            return fields, str(told.data.get("manifest_digest", ""))
    return None
