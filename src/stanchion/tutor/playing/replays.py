"""Replaying: an episode is played again from its recording, and compared with its trace, turn by
turn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.audit.manifest_check import NoManifest, file_faults, hash_faults, read
from stanchion.kernel.shown import StanchionError
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Sandbox
from stanchion.tutor.envelope.envelope import Episode, TutorEnvelope, play_by
from stanchion.tutor.envelope.trace import EpisodeTrace, TraceError, TraceTurn
from stanchion.tutor.manifests.manifest import TUTOR, Manifest, ManifestError, manifest_in
from stanchion.tutor.playing.games import Game
from stanchion.tutor.playing.manifests import LAWS, game_hash, tutor_hash
from stanchion.tutor.playing.recorded import enveloped, heat_of
from stanchion.tutor.playing.recordings import (
    GameLine,
    Line,
    Playback,
    RecordingError,
    read_recording,
)
from stanchion.tutor.playing.runners import hands_of

SHOWN: Final = 200


class ReplayError(StanchionError, ValueError):
    """Why a manifest cannot be played again."""


class ReplayDifference(msgspec.Struct, frozen=True):
    """Where an episode that was played again differs from what was recorded: the turn, the field,
    and both values."""

    turn: int
    field: str
    was: str
    now: str


class Replayed(msgspec.Struct, frozen=True):
    """An episode that was played again: how many turns went as they were recorded, where the others
    differ, and what else should be known of it."""

    turns: int
    differences: tuple[ReplayDifference, ...] = ()
    notes: tuple[str, ...] = ()


class _Recorded(msgspec.Struct, frozen=True):
    """What a manifest vouches for."""

    manifest: Manifest
    played: GameLine
    lines: tuple[Line, ...]
    trace: EpisodeTrace


def replay(path: str | Path, root: str | Path | None = None, user: int | None = None) -> Replayed:
    """Play the episode of a manifest again with what the model said then. Commands show what they
    showed then; with a `root` they run again in that folder. Raises `ReplayError` where nothing can
    be compared, and `SandboxError`."""
    known = _recorded(Path(path))
    if root is None:
        found = _again(known, None)
    else:
        with Sandbox(root, Limits(), user=user) as sandbox:
            found = _again(known, sandbox)
    first = min((one.turn for one in found), default=None)
    same = {one.turn for one in known.trace.turns if first is None or one.turn < first}
    return Replayed(len(same), tuple(found), tuple(_notes(known, Path(path), root)))


def _recorded(path: Path) -> _Recorded:
    """What stands beside a manifest, where all of it is as it was written."""
    try:
        data = read(path)
        wrong = [*hash_faults(data), *file_faults(data, path.parent)]
        if wrong:
            raise ReplayError(f"{path}: `{wrong[0].field}`: {wrong[0].why}")
        manifest = manifest_in(data)
        outputs = manifest.outputs
        if manifest.kind != TUTOR or outputs is None or outputs.jsonl_log is None:
            raise ReplayError(
                f"{path}: it names no trace and no recording: the Tutor did not write it"
            )
        if outputs.recording is None:
            raise ReplayError(
                f"{path}: it has no recording: record a game from its beginning, under the usual "
                f"rules"
            )
        played, lines = read_recording(path.parent / outputs.recording)
        tutor = manifest.tutor
        if (
            tutor is None
            or played.law not in LAWS
            or (played.law, played.config) != (tutor.law, tutor.envelope_config)
        ):
            raise ReplayError(
                f"{path}: its recording is not of the law and the layers that it names"
            )
        trace = EpisodeTrace.from_jsonl((path.parent / outputs.jsonl_log).read_text("utf-8"))
    except (NoManifest, ManifestError) as error:
        raise ReplayError(f"{path}: {error}") from None
    except (RecordingError, TraceError, OSError, UnicodeDecodeError) as error:
        raise ReplayError(str(error)) from None
    return _Recorded(manifest, played, lines, trace)


def _again(known: _Recorded, sandbox: Sandbox | None) -> list[ReplayDifference]:
    """Where the episode goes another way. Where it cannot go on, it is played once more up to
    there, to compare what came before; not so in a folder, where commands have been run."""
    tape = Playback(known.lines)
    try:
        envelope = enveloped(
            known.played,
            tape
            if sandbox is None
            else hands_of(
                known.played.law, sandbox, typed.convert(known.played.game, Game).programs
            ),
        )
    except (msgspec.ValidationError, ValueError) as error:
        raise ReplayError(f"what was recorded cannot be played any more: {error}") from None
    try:
        episode = _run(envelope, known, tape, known.played.turns)
    except RecordingError as error:
        at = envelope.base_tutor.state.turn
        stopped = ReplayDifference(at, "recording", "it went on", str(error))
        if sandbox is not None or at == 1:
            return [stopped]
        tape = Playback(known.lines)
        before = _run(enveloped(known.played, tape), known, tape, at - 1).trace
        past = EpisodeTrace(tuple(one for one in known.trace.turns if one.turn < at))
        return [*compared(past, before), stopped]
    return [
        *compared(known.trace, episode.trace),
        *_ends(known, episode, tape if sandbox is None else None),
    ]


def _run(envelope: TutorEnvelope, known: _Recorded, tape: Playback, turns: int) -> Episode:
    model = known.manifest.model
    assert model is not None  # the manifest of a run of the Tutor has one
    episode = play_by(
        envelope.episode(turns, temperature=heat_of(known.played, model), seed=model.seed),
        tape.came,
    )
    if isinstance(episode.raised, RecordingError):
        raise episode.raised from None
    return episode


def compared(known: EpisodeTrace, now: EpisodeTrace) -> Iterator[ReplayDifference]:
    """The fields in which two traces differ, entry by entry."""
    for was, came in zip_longest(known.turns, now.turns):
        if was is None or came is None:
            there: TraceTurn = came if was is None else was
            words = ("nothing", "a move") if was is None else ("a move", "nothing")
            yield ReplayDifference(there.turn, "move", *words)
            continue
        for name in TraceTurn.__struct_fields__:
            one, other = getattr(was, name), getattr(came, name)
            if one != other:
                yield ReplayDifference(was.turn, name, _short(one), _short(other))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _ends(known: _Recorded, episode: Episode, tape: Playback | None) -> Iterator[ReplayDifference]:
    """What differs at the end: the result, and what was recorded and not asked for any more."""
    result, last = known.manifest.result, episode.turns
    assert result is not None  # the manifest of a run of the Tutor has one
    for name in ("turns", "score", "won"):
        was, now = getattr(result, name), getattr(episode, name)
        if was != now:
            yield ReplayDifference(last, f"result.{name}", _short(was), _short(now))
    if tape is not None:
        replies, commands = tape.left()
        if replies or commands:
            yield ReplayDifference(
                last, "recording", f"{replies} more replies and {commands} more commands", "the end"
            )


def _notes(known: _Recorded, path: Path, root: str | Path | None) -> Iterator[str]:
    tutor, files = known.manifest.tutor, known.manifest.benchmark
    if tutor is not None and tutor.tutor_file_hash not in (None, tutor_hash()):
        yield "the source of the Tutor is not the one that it was recorded with"
    if root is not None and files is not None:
        outputs = known.manifest.outputs
        names = [] if outputs is None else [outputs.jsonl_log, outputs.recording]
        apart = [path, *(path.parent / name for name in names if name is not None)]
        if (
            game_hash(known.played.game, known.played.rules, root, apart)
            != files.benchmark_files_hash
        ):
            yield f"the files in `{root}` are not those that it was played with"
