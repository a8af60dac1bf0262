"""One turn of a weak player in a game of the benchmark: what it said, what became of that, and what
the law did."""

from typing import NamedTuple

from stanchion.tutor.envelope.envelope import Episode, ModelQuestion, TutorEnvelope
from stanchion.tutor.envelope.laws import Foreseen, law_of
from stanchion.tutor.envelope.schema.moves import SECOND
from stanchion.tutor.envelope.schema.reading import read_move
from stanchion.tutor.law.v2 import Outcome, TutorV2
from stanchion.tutor.playing.benchmark_runs import (
    BOTH,
    FOLDER,
    LAYERS,
    WORLD,
    load_transcript,
    reply_to,
)
from stanchion.tutor.playing.games import load_game

GAME, PLAYER, TURN = "evidence-chain", "weak", 3


class Said(NamedTuple):
    """A reply, how layer 1 read it, what layer 2 foresaw, and what the model was told when it was
    asked again."""

    reply: str
    read: str
    ahead: str
    told: str


class Turned(NamedTuple):
    """A turn: its replies, the last of which was taken or not, the move that reached the law, and
    what it proved."""

    said: list[Said]
    taken: int
    move: str
    verdict: str
    proven: list[str]


class Shelf:
    """Runs `cat` by reading a file of the game, and nothing else: a picture needs no walls."""

    def refused(self, argv: tuple[str, ...], _write: bool, /) -> str:
        """Why a command would not run."""
        return "" if argv[:1] == ("cat",) and len(argv) == 2 else "a picture only reads files"

    def run(self, argv: tuple[str, ...], _write: bool, /) -> Outcome:
        """What the file holds."""
        return Outcome(True, 0, (FOLDER / GAME / WORLD / argv[1]).read_text("utf-8"))


def turned() -> Turned:
    """Play the turn with both layers."""
    game = load_game(FOLDER / GAME / "game.yaml")
    replies = load_transcript(FOLDER / GAME / f"{PLAYER}.yaml").second[TURN - 1 : TURN]
    tutor = TutorV2(game.name, Shelf(), game.goal, game.claims)
    fresh = law_of(TutorV2(game.name, Shelf(), game.goal, game.claims))
    open_before = [one for one in game.claims if tutor.check(one).verdict.name != "PROVABLE"]
    asked, episode = _asked(TutorEnvelope(tutor, LAYERS[BOTH]), replies)
    said = []
    for number, one in enumerate(asked):
        reply = str(reply_to(replies, one))
        told = (
            asked[number + 1].prompt.splitlines()[-1].removeprefix("- ")
            if number + 1 < len(asked)
            else ""
        )
        read = read_move(reply, "lenient", SECOND)
        said.append(Said(reply, read.verdict.value, _ahead(fresh.foresee(read.move)), told))
    made = episode.trace.turns[0]
    assert made.parsed_move is not None  # the turn of the picture ends with a move
    command = str(made.parsed_move.get("command", ""))
    taken = next(at for at, one in enumerate(said) if command and command in one.reply)
    proven = [one.text for one in open_before if tutor.check(one).verdict.name == "PROVABLE"]
    return Turned(said, taken, f"{made.move_type} {command}", str(made.move_verdict), proven)


def _ahead(one: Foreseen) -> str:
    """What layer 2 foresees of a move, in words."""
    claim = "" if one.check is None else f", {one.check.value}"
    return f"{one.move.value}{claim}{', can bring evidence' if one.brings else ''}"


def _asked(
    envelope: TutorEnvelope, replies: tuple[tuple[str, ...], ...]
) -> tuple[list[ModelQuestion], Episode]:
    """What the model was asked in a turn, and how it ended."""
    playing = envelope.episode(turns=1)
    asked = [next(playing)]
    try:
        while True:
            asked.append(playing.send(reply_to(replies, asked[-1])))
    except StopIteration as ended:
        return asked, ended.value
