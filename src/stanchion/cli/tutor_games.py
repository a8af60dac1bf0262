"""`stanchion tutor games`: the games of the benchmark, by both players, under both laws, with and
without layers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from stanchion.cli.printing import put_json, table
from stanchion.cli.terminal import Terminal, tell
from stanchion.cli.trouble import AsBadInput
from stanchion.runtime.sandbox.sandbox import SandboxError
from stanchion.tutor.playing.benchmark_runs import (
    BOTH,
    LAWS,
    LAYERS,
    PLAYERS,
    GameResult,
    LayerChange,
    changes,
    names,
    results,
)
from stanchion.tutor.playing.games import GameError

FIGURES: Final = ("score", "calls", "false")
COLUMNS: Final = ("game", "layers", *(name for player in PLAYERS for name in (player, *FIGURES)))
ALL: Final = "all"


def run(args: argparse.Namespace) -> int:
    """Play the games, and print what came of each."""
    with AsBadInput(GameError, SandboxError):
        found = list(results(names() if args.game is None else [args.game], args.user))
    if args.json:
        put_json(*found)
        return 0
    for line in _told(found, Terminal.of_stdout()):
        tell(line)
    return 0


def _told(found: Sequence[GameResult], terminal: Terminal) -> Iterator[str]:
    said = changes(found)
    for law in LAWS:
        of = [one for one in found if one.law == law]
        yield f"law {law}"
        yield from table(COLUMNS, [*_rows(of), *_sums(of)], FIGURES, terminal)
        yield ""
        yield from (_sentence(one) for one in said if one.law == law)
        yield from sorted(
            {f"  false, and called PROVABLE: {text}" for one in of for text in one.false}
        )
        yield ""
    yield "`false` counts claims that a law called PROVABLE and that are false of the files."


def _rows(found: Sequence[GameResult]) -> Iterator[list[str]]:
    """For each game and choice of layers how each player did."""
    for name in dict.fromkeys(one.game for one in found):
        for layers in LAYERS:
            row = [name, layers]
            for one in (one for one in found if (one.game, one.layers) == (name, layers)):
                row += [
                    "won" if one.won else "lost",
                    str(one.score),
                    str(one.calls),
                    str(len(one.false)),
                ]
            yield row


def _sums(found: Sequence[GameResult]) -> Iterator[list[str]]:
    """For each choice of layers how each player did in all games."""
    for layers in LAYERS:
        row = [ALL, layers]
        for player in PLAYERS:
            of = [one for one in found if (one.player, one.layers) == (player, layers)]
            sums = (
                sum(one.score for one in of),
                sum(one.calls for one in of),
                sum(len(one.false) for one in of),
            )
            row += [f"{sum(one.won for one in of)} of {len(of)}", *map(str, sums)]
        yield row


def _sentence(one: LayerChange) -> str:
    if not one.changed:
        return f"{one.player}: no layer changes anything"
    spoilt = f", and loses {len(one.spoilt)} that are won without" if one.spoilt else ""
    return (
        f"{one.player}: {BOTH} wins {len(one.won)} of the {len(one.lost)} games that are lost "
        f"without it{spoilt}"
    )
