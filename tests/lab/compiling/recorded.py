"""Recordings of small games, played without a sandbox: commands give what the test says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.law.v2 import Outcome
from stanchion.tutor.playing.games import Game
from stanchion.tutor.playing.recorded import enveloped
from stanchion.tutor.playing.recordings import GameLine, RecordedRunner, Recorder, to_lines

LINES = {"a.txt": 2, "b.txt": 5, "c.txt": 7, "d.txt": 11, "e.txt": 13}


class Files:
    """A folder in which `wc -l` and `test -f` work."""

    def refused(self, argv: tuple[str, ...], _write: bool) -> str:
        """Programs that are not on the list."""
        return "" if argv[0] in ("wc", "test", "true") else f"`{argv[0]}` is not among the programs"

    def run(self, argv: tuple[str, ...], _write: bool) -> Outcome:
        """What they show."""
        if argv[0] == "true":
            return Outcome(True, 0)
        name = argv[-1]
        if name not in LINES:
            return Outcome(True, 1, "", f"{argv[0]}: {name}: No such file or directory\n")
        return Outcome(True, 0, f"{LINES[name]} {name}\n" if argv[0] == "wc" else "")


def propose(command: str) -> str:
    """A player runs a command."""
    return json.dumps({"action": "PROPOSE", "command": command})


def claims(predicate: str, subject: str, value: int | None = None, polarity: bool = True) -> str:
    """A player claims something."""
    claim = {"predicate": predicate, "subject": subject, "value": value, "polarity": polarity}
    return json.dumps({"action": "ASSERT", "claim": claim})


def game_of(name: str, file: str) -> Game:
    """A game that is won by counting the lines of a file."""
    programs, goal = ("wc", "test", "true"), f"find out how long {file} is"
    return Game(
        name, goal, (Claim(Predicate.LINES, file, LINES[file]),), programs=programs, turns=6
    )


def recorded(
    path: Path, game: Game, replies: Sequence[str], files: Any = None, **layers: Any
) -> Path:
    """Play replies, and write the recording."""
    config = EnvelopeConfig(**layers)
    played = GameLine(
        law="2",
        game=msgspec.to_builtins(game),
        config=msgspec.to_builtins(config),
        turns=min(len(replies), game.turns),
    )
    tape = Recorder()
    left = iter(replies)
    envelope = enveloped(played, RecordedRunner(Files() if files is None else files, tape))
    tape.episode(envelope.run_episode(lambda *_: next(left), played.turns))
    path.write_bytes(to_lines(played, tape))
    return path


def folder(place: Path) -> Path:
    """Traces of five games. Each was played by somebody who guesses first, and by somebody who
    looks."""
    place.mkdir(exist_ok=True)
    for file in LINES:
        name = f"count-{file[0]}"
        guess, look = claims("lines", file, 1), propose(f"wc -l {file}")
        recorded(
            place / f"{name}-weak.recording.jsonl",
            game_of(name, file),
            [guess, propose("true"), look],
        )
        recorded(
            place / f"{name}-strong.recording.jsonl",
            game_of(name, file),
            [propose(f"test -f {file}"), look],
        )
    return place
