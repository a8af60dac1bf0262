"""The world of a game as its traces have shown it: nothing runs while a bundle is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.tutor.law.v2 import Outcome
from stanchion_lab.compiling.traces import NoTraces, Trace

UNKNOWN: Final = Outcome(False, why="no trace shows what it gives")


class World:
    """Gives a command the outcome that it had in some trace of the game. What was in none is no
    evidence."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._shown: dict[tuple[tuple[str, ...], bool], Outcome] = {}
        self._programs: frozenset[str] = frozenset()
        for trace in traces:
            self._programs = frozenset(trace.game.programs)
            for one in trace.shown:
                self._take(trace, (one.argv, one.write), one.outcome)

    def _take(self, trace: Trace, command: tuple[tuple[str, ...], bool], outcome: Outcome) -> None:
        known = self._shown.get(command)
        if known is None or not known.ended:
            self._shown[command] = outcome
        elif outcome.ended and outcome != known:
            line = " ".join(command[0])
            raise NoTraces(
                f"{trace.path}: `{line}` shows something else than in another trace of the game "
                f"`{trace.game.name}`: "
                "compile from traces of the same files"
            )

    def refused(self, argv: tuple[str, ...], _write: bool, /) -> str:
        """Why a command would not run."""
        return (
            ""
            if argv[0] in self._programs
            else f"`{argv[0]}` is not among the programs of this game"
        )

    def run(self, argv: tuple[str, ...], write: bool, /) -> Outcome:
        """What a command showed."""
        return self._shown.get((argv, write), UNKNOWN)
