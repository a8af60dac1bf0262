"""Traces to compile from: recordings of games, each played again before it is believed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.tutor.envelope.envelope import Episode
from stanchion.tutor.envelope.trace import text_hash
from stanchion.tutor.playing.games import Game
from stanchion.tutor.playing.recorded import enveloped
from stanchion.tutor.playing.recordings import (
    GameLine,
    Line,
    Playback,
    RecordingError,
    ReplyLine,
    Showed,
    read_recording,
)

ENDING: Final = ".recording.jsonl"
LAW: Final = "2"
"""The law that is compiled for. The first one proves what is not so, and a metric by it would pay
for that."""


class NoTraces(ValueError):
    """Why there is nothing to compile from; one line."""


class Trace(msgspec.Struct, frozen=True):
    """A game that was played: the reply that was used in each turn, and what its commands
    showed."""

    path: str
    game: Game
    played: GameLine
    replies: tuple[str | None, ...]
    """`None` where a guard kept what the model said."""
    shown: tuple[Showed, ...]

    @property
    def key(self) -> str:
        """By what games are the same: their file and their rules."""
        return _hash([self.played.game, self.played.rules])

    @property
    def content(self) -> str:
        """By what traces are put in order: everything that is in them, and not what they are
        called."""
        return _hash(msgspec.to_builtins([self.played, self.replies, self.shown]))


def load_traces(names: Iterable[str | Path]) -> tuple[Trace, ...]:
    """The traces of files and folders, in the order of their contents, whatever they are called;
    raises `NoTraces`."""
    files = [file for name in names for file in _files(Path(name))]
    found = {file.resolve(): _trace(file) for file in files}
    if not found:
        raise NoTraces(
            f"there are no traces: name recordings (`*{ENDING}`), or folders that have some"
        )
    return tuple(sorted(found.values(), key=lambda one: (one.key, one.content)))


def _hash(value: Any) -> str:
    """The hash of plain data, in ASCII: a model may say what is no UTF-8."""
    return text_hash(json.dumps(value, sort_keys=True))


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    found = sorted(place.rglob(f"*{ENDING}"))
    if not found:
        raise NoTraces(f"`{place}` has no trace: `stanchion tutor record` leaves `*{ENDING}`")
    return found


def _trace(path: Path) -> Trace:
    try:
        played, lines = read_recording(path)
    except RecordingError as error:
        raise NoTraces(str(error)) from None
    if played.law != LAW:
        raise NoTraces(
            f"{path}: it was played under law {played.law}: only traces of law {LAW} are compiled"
        )
    try:
        game = typed.convert(played.game, Game)
        episode = _again(played, lines)
    except ValueError as error:
        raise NoTraces(f"{path}: it cannot be played again: {error}") from None
    if game.writes:
        raise NoTraces(
            f"{path}: its commands may write, so what one showed then need not be what it shows "
            f"later"
        )
    used = _used(episode)
    if not used:
        raise NoTraces(f"{path}: no turn of it was played to its end")
    return Trace(
        str(path), game, played, used, tuple(one for one in lines if isinstance(one, Showed))
    )


def _again(played: GameLine, lines: tuple[Line, ...]) -> Episode:
    """The episode as it was recorded, with the layers that it had."""
    tape = Playback(lines)
    first = next((one for one in lines if isinstance(one, ReplyLine)), None)
    if first is None:
        raise RecordingError("the model said nothing in it")
    heat = first.temperature if played.bundle is None else None
    playing = enveloped(played, tape).episode(played.turns, temperature=heat, seed=first.seed)
    try:
        asked = next(playing)
        while True:
            asked = playing.send(tape.came(asked))
    except StopIteration as ended:
        episode: Episode = ended.value
        if isinstance(episode.raised, RecordingError):
            raise episode.raised from None
        return episode


def _used(episode: Episode) -> tuple[str | None, ...]:
    """The reply of each turn that the law was given; where the model was asked again, that is one
    of several."""
    used = {one.turn: one for one in episode.trace.turns}
    replies: dict[int, str | None] = {}
    for said in episode.exchanges:
        turn = used.get(said.turn)
        if (
            turn is not None
            and said.turn not in replies
            and text_hash(said.output or "") == turn.output_hash
        ):
            replies[said.turn] = said.output
    return tuple(replies[turn] for turn in sorted(replies))
