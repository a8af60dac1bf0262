"""Manifests of runs: made from what the trail has of a run, and held against it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from stanchion.audit import notes
from stanchion.audit.manifest_check import compared, file_faults, hash_faults, without_hashes
from stanchion.audit.reader import Progress, TrailReader
from stanchion.audit.runs import RunStory, newest_runs, records_of, run_detail
from stanchion.ops.views.runs import LAST, facts_of
from stanchion.telemetry.notices.message import when
from stanchion.tutor.manifests.hashing import FIELDS, WHOLE, WRITTEN, hashed
from stanchion.tutor.manifests.manifest import RUN, TUTOR, Environment, Manifest, RunPart, Trail


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


def _manifest(story: RunStory, trail: Trail) -> Manifest:
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


def _trail(reader: TrailReader, story: RunStory, progress: Progress | None) -> Trail:
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
    return Trail(
        records=records, chains=dict(sorted(ends.items())), last_hashes=dict(sorted(hashes.items()))
    )


def _time(at_ms: int) -> str:
    try:
        return when(at_ms)
    except (OverflowError, OSError, ValueError):
        return str(at_ms)


class WrongView(msgspec.Struct, frozen=True):
    """A field that is not as it was written, or that names a file that is not as it was written."""

    field: str
    why: str


class ManifestView(msgspec.Struct, frozen=True):
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
