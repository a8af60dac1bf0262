"""What is learnt from and what is held back: a game is in one part, with all its traces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from stanchion_lab.compiling.metric import worth
from stanchion_lab.compiling.replaying import replay
from stanchion_lab.compiling.traces import NoTraces, Trace
from stanchion_lab.compiling.world import World

EVERY: Final = 4
"""Of so many games one is held back."""


class Known(msgspec.Struct, frozen=True):
    """A game, its traces, and the world as they show it."""

    traces: tuple[Trace, ...]
    world: World

    @property
    def name(self) -> str:
        """What it is called."""
        return self.traces[0].game.name


class Position(msgspec.Struct, frozen=True):
    """A turn of a trace: what the player was told in it, and what its reply was worth."""

    game: Known
    trace: Trace
    turn: int
    context: str
    worth: float

    @property
    def reply(self) -> str | None:
        """What was replied."""
        return self.trace.replies[self.turn]

    def value(self, reply: str) -> float:
        """What another reply is worth here: the Tutor plays the game up to here, and then it."""
        replies = (*self.trace.replies[: self.turn], reply)
        return worth(replay(self.trace, self.game.world, replies))[self.turn]


class Parts(msgspec.Struct, frozen=True):
    """Games to learn from, and games that are held back."""

    learnt: tuple[Known, ...]
    held: tuple[Known, ...]


def parted(traces: Iterable[Trace]) -> Parts:
    """Part games by their contents alone, so that the same traces are always parted the same;
    raises `NoTraces`."""
    groups: dict[str, list[Trace]] = {}
    for trace in traces:
        groups.setdefault(trace.key, []).append(trace)
    games = [Known(tuple(groups[key]), World(groups[key])) for key in sorted(groups)]
    if len(games) < 2:
        raise NoTraces(
            f"all traces are of the game `{games[0].name}`: one game is held back, so give traces "
            f"of two"
        )
    held = max(1, len(games) // EVERY)
    return Parts(tuple(games[held:]), tuple(games[:held]))


def positions(games: Iterable[Known]) -> tuple[Position, ...]:
    """Every turn of every trace, each situation once: where several traces come to it, the best
    reply counts."""
    best: dict[tuple[str, str], Position] = {}
    for game in games:
        for trace in game.traces:
            watched = replay(trace, game.world, trace.replies)
            for turn, value in enumerate(worth(watched)):
                one = Position(game, trace, turn, watched.contexts[turn], value)
                key = (trace.key, one.context)
                if trace.replies[turn] is not None and (key not in best or value > best[key].worth):
                    best[key] = one
    return tuple(best.values())
