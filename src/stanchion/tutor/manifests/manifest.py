"""The manifest of a run, version 1.0.0: every field that it has, and which of them it cannot be
without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec

from stanchion import typed
from stanchion.tutor.bundles.canonical import digest

VERSION: Final = "1.0.0"
TUTOR: Final = "tutor"
RUN: Final = "run"

Hash = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
Count = Annotated[int, msgspec.Meta(ge=0)]


class ManifestError(ValueError):
    """What is wrong with a manifest, by the name of its field."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a manifest: it has these fields and no others, and is always written with all of
    them."""


class Environment(Section, frozen=True, kw_only=True):
    """When it ran, and on what. What a trail does not know of a run is `None`."""

    timestamp_start: str
    timestamp_end: str | None = None
    duration_seconds: float | None = None
    python_version: str | None = None
    platform: str | None = None
    hostname: str | None = None


class RepositoryPart(Section, frozen=True, kw_only=True):
    """What git says of the folder that the run was started in. Where it says nothing, `git_missing`
    says why."""

    git_commit: str | None
    git_dirty: bool | None
    git_branch: str | None = None
    git_tags: tuple[str, ...] = ()
    git_missing: str | None = None


class TutorPart(Section, frozen=True, kw_only=True):
    """Which law judged, and which layers stood round it."""

    api_version: str
    law: str
    tutor_file_hash: Hash | None = None
    envelope_enabled: bool = False
    envelope_config: dict[str, Any] | None = None


class Model(Section, frozen=True, kw_only=True):
    """Who played, and how it was asked."""

    temperature: Annotated[float, msgspec.Meta(ge=0)]
    model_id: str | None = None
    provider: str | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


class Benchmark(Section, frozen=True, kw_only=True):
    """What was played: games, and a hash over their files."""

    benchmark_files_hash: Hash
    benchmark_ids: tuple[str, ...] = ()
    benchmark_version: str | None = None
    round: int | None = None


class PolicyPart(Section, frozen=True, kw_only=True):
    """The bundle that was played by. Where one was refused, `bundle_refused` says why, and the
    baseline was played."""

    bundle_enabled: bool = False
    bundle_path: str | None = None
    bundle_hash: str | None = None
    compiled_by: str | None = None
    compiled_at: str | None = None
    bundle_refused: str | None = None


class Outputs(Section, frozen=True, kw_only=True):
    """The files that the run wrote, as seen from the folder of the manifest. `recording` has what
    the model said and what commands showed, for playing it again."""

    jsonl_log: str | None = None
    csv_features: str | None = None
    manifest_file: str | None = None
    recording: str | None = None


class Checksums(Section, frozen=True, kw_only=True):
    """The SHA-256 of those files."""

    jsonl_log_hash: Hash | None = None
    csv_features_hash: Hash | None = None
    recording_hash: Hash | None = None


class RepairStats(Section, frozen=True, kw_only=True):
    """How often the model was asked again, in all and in each turn."""

    total_retries: Count
    retries_per_turn: tuple[Count, ...]


class ResultPart(Section, frozen=True, kw_only=True):
    """What came of it: `model_calls` counts every reply that was asked for, `stopped` says why it
    ended early."""

    turns: Count
    model_calls: Count
    score: int
    won: bool
    stopped: str | None = None


class RunPart(Section, frozen=True, kw_only=True):
    """A run of Stanchion as its trail tells of it."""

    agent: str
    role: str
    task: str
    tenant: str
    parents: tuple[str, ...]
    state: str
    code: str
    decided: dict[str, int]
    refused: Count
    policy: str
    source: str
    env: str | None
    flagged: tuple[str, ...]
    strikes: dict[str, int]


class TrailPart(Section, frozen=True, kw_only=True):
    """Where in the trail the run stands: how many records it has, and of each chain the first and
    the last of them."""

    records: Count
    chains: dict[str, tuple[int, int]]
    """The numbers of its first and its last record."""
    last_hashes: dict[str, str]


class Manifest(Section, frozen=True, kw_only=True):
    """A manifest, of a run of the Tutor or of any other run of Stanchion: the sections of the other
    kind are `None`."""

    manifest_version: str = VERSION
    kind: Literal["tutor", "run"]
    run_id: Annotated[str, msgspec.Meta(min_length=1)]
    environment: Environment
    repository: RepositoryPart | None = None
    tutor: TutorPart | None = None
    model: Model | None = None
    benchmark: Benchmark | None = None
    policy: PolicyPart | None = None
    outputs: Outputs | None = None
    checksums: Checksums | None = None
    repair_stats: RepairStats | None = None
    result: ResultPart | None = None
    run: RunPart | None = None
    trail: TrailPart | None = None


NEEDED: Final = {
    TUTOR: (
        "repository",
        "tutor",
        "model",
        "benchmark",
        "policy",
        "outputs",
        "checksums",
        "result",
    ),
    RUN: ("run", "trail"),
}
"""The sections that each kind of manifest has; what of their fields has no default is needed,
too."""


def complete(manifest: Manifest) -> Manifest:
    """The manifest, where nothing is missing that it cannot be without; raises `ManifestError`.

    Cases, in this order: it is of another version; a section is missing; git says nothing and no
    reason stands there; chance was let in without a seed; repairs were counted wrongly.
    """
    if manifest.manifest_version != VERSION:
        raise ManifestError(
            f"manifest_version: `{manifest.manifest_version}` is not {VERSION}, which is read here"
        )
    for name in NEEDED[manifest.kind]:
        if getattr(manifest, name) is None:
            raise ManifestError(f"{name}: the manifest of a {manifest.kind} needs it")
    git = manifest.repository
    if (
        git is not None
        and (git.git_commit is None or git.git_dirty is None)
        and not git.git_missing
    ):
        raise ManifestError("repository.git_commit: it is null, and `git_missing` does not say why")
    if manifest.model is not None:
        repeatable(manifest.model)
    stats = manifest.repair_stats
    if stats is not None and stats.total_retries != sum(stats.retries_per_turn):
        raise ManifestError("repair_stats.total_retries: it is not the sum of `retries_per_turn`")
    return manifest


def repeatable(model: Model) -> None:
    """Raise `ManifestError` where chance was let in, and no seed says which."""
    if model.temperature > 0 and model.seed is None:
        raise ManifestError(
            f"model.seed: at temperature {model.temperature:g} a run needs one to be repeated"
        )


FIELDS: Final = "field_hashes"
WHOLE: Final = "manifest_hash"
WRITTEN: Final = "manifest.written"
"""The fact by which a trail knows a manifest."""


def hashed(manifest: Manifest) -> dict[str, Any]:
    """A manifest as it is written, with its hashes; raises `ManifestError` where something needed
    is missing."""
    data: dict[str, Any] = msgspec.to_builtins(complete(manifest))
    fields = field_hashes(data)
    return {**data, FIELDS: fields, WHOLE: digest(fields)}


def field_hashes(data: Mapping[str, Any]) -> dict[str, str]:
    """The hash of each field: over its place and its value, so that two cannot be exchanged."""
    return {place: digest([place, value]) for place, value in leaves(data)}


def leaves(data: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of nested mappings with their places, such as `model.seed`. A list is one field,
    and so is a mapping with nothing in it."""
    for name, value in data.items():
        place = f"{above}{_escaped(name)}"
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{place}.")
        else:
            yield place, value


def _escaped(name: str) -> str:
    """A name as a part of a place: a point in it ends no part."""
    return name.replace("\\", "\\\\").replace(".", "\\.")


def manifest_in(data: Mapping[str, Any]) -> Manifest:
    """The manifest of what was written, whether or not its hashes fit; raises `ManifestError`."""
    bare = {name: value for name, value in data.items() if name not in (FIELDS, WHOLE)}
    try:
        return complete(typed.convert(bare, Manifest))
    except msgspec.ValidationError as error:
        raise ManifestError(f"it is no manifest: {error}") from None
