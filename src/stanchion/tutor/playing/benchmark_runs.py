"""Transcripts: what a player answered in a game, turn by turn, also when it was asked again."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Confined, Sandbox
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import (
    Came,
    Episode,
    ModelQuestion,
    NoMoreReplies,
    TutorEnvelope,
)
from stanchion.tutor.graph import Status, Truth
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.playing.games import Game, GameError, load_game, read_as, rules_of
from stanchion.tutor.playing.oracle import is_true
from stanchion.tutor.playing.recorded import enveloped
from stanchion.tutor.playing.recordings import GameLine
from stanchion.tutor.playing.runners import Confining, ShellExecutor
from stanchion.tutor.rules.typed import TypedRule

Replies = tuple[tuple[str, ...], ...]
"""For each turn the reply to the first question, and those to being asked again, in their order."""


class GameTranscript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The replies of a player under each law. The laws have different moves, and so different
    replies."""

    first: Replies
    second: Replies

    def under(self, law: str) -> Replies:
        """The replies under a law: `1` or `2`."""
        return self.first if law == "1" else self.second


def load_transcript(path: str | Path) -> GameTranscript:
    """Read a file of a transcript; raises `GameError`."""
    found = read_as(path, GameTranscript)
    for law, turns in (("first", found.first), ("second", found.second)):
        if not turns or not all(turns):
            raise GameError(
                f"{path}: `{law}` has a turn without a reply, or no turn: give each turn one at "
                f"least"
            )
    return found


def reply_to(turns: Replies, asked: ModelQuestion) -> Came:
    """What the player answers. Whoever is not asked again does not get the replies to that; whoever
    is asked more often than was written down gets the last of the turn once more. Behind the last
    turn there is nothing."""
    if asked.turn > len(turns):
        return NoMoreReplies("the transcript ends here")
    said = turns[asked.turn - 1]
    return said[min(asked.attempt, len(said) - 1)]


def play_transcript(envelope: TutorEnvelope, turns: Replies, most: int) -> Episode:
    """Play a game of at most so many turns by what a transcript says."""
    playing = envelope.episode(most)
    try:
        asked = next(playing)
        while True:
            asked = playing.send(reply_to(turns, asked))
    except StopIteration as ended:
        episode: Episode = ended.value
        return episode.whole()


FOLDER: Final = Path(__file__).parent / "benchmark"
WORLD: Final = "world"
"""The folder of a game that its commands see: neither what has to be proven nor what was answered
stands in it."""
LAWS: Final = ("1", "2")
PLAYERS: Final = ("strong", "weak")
RETRIES: Final = 2
BOTH: Final = "schema+repair"
LAYERS: Final = {
    "off": EnvelopeConfig(),
    "schema": EnvelopeConfig(layer1_schema="lenient"),
    "repair": EnvelopeConfig(layer2_repair="bestofn", repair_max_attempts=RETRIES),
    BOTH: EnvelopeConfig(
        layer1_schema="lenient", layer2_repair="bestofn", repair_max_attempts=RETRIES
    ),
}


class GameResult(msgspec.Struct, frozen=True):
    """How a game went."""

    game: str
    law: str
    player: str
    layers: str
    won: bool
    score: int
    calls: int
    turns: int
    proven: int
    """How many different claims were called PROVABLE."""
    checked: int
    """How many of these are about files of the game, and so could be checked by looking at them."""
    false: tuple[str, ...]
    """Those that are false of the files."""


class LayerChange(msgspec.Struct, frozen=True):
    """What the layers change for a player under a law."""

    law: str
    player: str
    changed: bool
    """Whether a win, a score or a number of calls differs with any choice of layers."""
    lost: tuple[str, ...]
    """The games that are lost without the layers."""
    won: tuple[str, ...]
    """Those of them that are won with both."""
    spoilt: tuple[str, ...]
    """Games that are won without the layers and lost with both."""
    false: int
    """How many claims were called PROVABLE and are false, with both."""


class Still(Sandbox):
    """A sandbox whose folder does not change, so that each command has to run only once."""

    def __init__(self, root: Path, user: int | None) -> None:
        super().__init__(root, Limits(), user=user)
        self._came: dict[tuple[str, ...], Confined] = {}

    def run(self, argv: Iterable[str], write: bool = False) -> Confined:
        """Run a command, or say what came of it before. Nothing is ever written."""
        words = tuple(argv)
        if words not in self._came:
            self._came[words] = super().run(words)
        return self._came[words]


@contextmanager
def readable(world: Path) -> Iterator[Path]:
    """A copy of a folder that everybody can read, for as long as it is needed: commands may run as
    somebody who cannot read where Stanchion is installed, and would find nothing there."""
    with TemporaryDirectory(prefix="stanchion-game-") as made:
        copy = Path(shutil.copytree(world, Path(made) / WORLD))
        for one in (Path(made), copy, *copy.rglob("*")):
            one.chmod(0o755 if one.is_dir() else 0o644)
        yield copy


def names() -> list[str]:
    """The games that there are."""
    return sorted(one.parent.name for one in FOLDER.glob("*/game.yaml"))


def results(chosen: Sequence[str], user: int | None = None) -> Iterator[GameResult]:
    """Play some games; raises `GameError` and `SandboxError`."""
    for name in chosen:
        if name not in names():
            raise GameError(f"`{name}` is no game of the benchmark: there are {', '.join(names())}")
        yield from _game(FOLDER / name, user)


def _game(folder: Path, user: int | None) -> Iterator[GameResult]:
    file = folder / "game.yaml"
    game = load_game(file)
    rules = rules_of(game, file)
    world = folder / WORLD
    with readable(world) as copy, Still(copy, user) as sandbox:
        for law, player in product(LAWS, PLAYERS):
            said = load_transcript(folder / f"{player}.yaml").under(law)
            for layers, config in LAYERS.items():
                envelope = enveloped(_played(game, rules, law, config), _hands(law, sandbox, game))
                episode = play_transcript(envelope, said, game.turns)
                yield _result(
                    game,
                    (law, player, layers),
                    episode,
                    called_provable(envelope.base_tutor),
                    world,
                )


def _played(game: Game, rules: tuple[TypedRule, ...], law: str, config: EnvelopeConfig) -> GameLine:
    plain = msgspec.to_builtins
    return GameLine(
        law=law, game=plain(game), rules=tuple(plain(rules)), config=plain(config), turns=game.turns
    )


def _result(
    game: Game, how: tuple[str, str, str], episode: Episode, proven: tuple[str, ...], world: Path
) -> GameResult:
    law, player, layers = how
    known = {one: is_true(one, world) for one in proven}
    return GameResult(
        game=game.name,
        law=law,
        player=player,
        layers=layers,
        won=episode.won,
        score=episode.score,
        calls=episode.calls,
        turns=episode.turns,
        proven=len(proven),
        checked=sum(one is not None for one in known.values()),
        false=tuple(one for one, true in known.items() if true is False),
    )


def _hands(law: str, sandbox: Sandbox, game: Game) -> ShellExecutor | Confining:
    return ShellExecutor(sandbox=sandbox) if law == "1" else Confining(sandbox, game.programs)


def called_provable(tutor: TutorV1 | TutorV2) -> tuple[str, ...]:
    """The claims that a law called PROVABLE at any time, each once: those of its graph, and where
    it has a list of claims to be proven, these and their opposites as it judges them in the end."""
    graph = tutor.pcg
    validated: set[str | None] = {one.id for one in graph.of(Truth, Status.VALIDATED)}
    validated |= {
        one.target
        for one in graph.events
        if one.event_type == "check" and one.verdict == "provable"
    }
    texts = [one.text for one in graph.of(Truth) if one.id in validated]
    if isinstance(tutor, TutorV2):
        judged = [claim for one in tutor.goal for claim in (one, one.denied())]
        texts += [one.text for one in judged if tutor.check(one).verdict is CheckVerdict.PROVABLE]
    return tuple(dict.fromkeys(texts))


def changes(found: Iterable[GameResult]) -> list[LayerChange]:
    """For each law and player what the layers change."""
    rows = list(found)
    return [
        _change([one for one in rows if (one.law, one.player) == (law, player)], law, player)
        for law, player in product(LAWS, PLAYERS)
    ]


def _change(rows: list[GameResult], law: str, player: str) -> LayerChange:
    without = {one.game: one for one in rows if one.layers == "off"}
    both = {one.game: one for one in rows if one.layers == BOTH}
    lost = tuple(name for name, one in without.items() if not one.won)
    return LayerChange(
        law,
        player,
        changed=any(_figures(one) != _figures(without[one.game]) for one in rows),
        lost=lost,
        won=tuple(name for name in lost if both[name].won),
        spoilt=tuple(name for name, one in without.items() if one.won and not both[name].won),
        false=sum(len(one.false) for one in both.values()),
    )


def _figures(one: GameResult) -> tuple[bool, int, int]:
    return one.won, one.score, one.calls
