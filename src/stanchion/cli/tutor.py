"""`stanchion tutor`: play a game in which only what is proven counts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stanchion.cli.options import check_verb, option
from stanchion.cli.parser import count
from stanchion.cli.terminal import tell, visible
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Sandbox, SandboxError
from stanchion.tutor.graph import EdgeType, Status
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import MoveResult
from stanchion.tutor.manifests.manifest import ManifestError
from stanchion.tutor.picture import to_dot, to_jsonl, to_svg
from stanchion.tutor.playing.games import Game, GameError, load_game, rules_of
from stanchion.tutor.playing.recorded import ByHand
from stanchion.tutor.playing.runners import Confining

USAGE: Final = """stanchion tutor play GAME [--root DIR] [--moves FILE] [--graph FILE] [--out FILE]
                            [--user UID]
       stanchion tutor record GAME --moves FILE --out FILE [--root DIR] [--user UID]
                              [--model NAME] [--schema strict|lenient] [--repair N]
                              [--bundle FILE [--baseline]]
       stanchion tutor replay MANIFEST [--root DIR] [--user UID]
       stanchion tutor bundle FILE [--freeze FILE]
       stanchion tutor games [GAME] [--json] [--user UID]"""

DESCRIPTION: Final = """\
play    make moves, one JSON object a line, until what the game asks for is proven or the
        moves end; commands run confined, in the folder of the game; with `--out` it leaves
        what `record` does
record  play the replies of a file, and leave a manifest, the trace and a recording
replay  play a recording again, and say where it differs; no command runs, unless there is
        a folder to run them in
bundle  look at a bundle, or freeze one: only a frozen bundle is played by
games   play the games of the benchmark, or one of them, by the transcripts of a strong and a weak
        player, under both laws, without layers and with them"""

EPILOG: Final = """\
examples:
  stanchion tutor play count.yaml --root notes
  stanchion tutor play count.yaml --moves moves.jsonl --graph evidence.svg --out run.json
  stanchion tutor record count.yaml --moves moves.jsonl --out run.json
  stanchion tutor replay run.json
  stanchion tutor bundle draft.yaml --freeze bundle.json
  stanchion tutor games
  stanchion tutor games evidence-chain --json

moves:
  {"action": "PROPOSE", "command": "wc -l a.txt"}
  {"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt", "value": 3}}
  {"action": "ASK", "text": "which file?"}

A graph is written as `.svg`, `.dot` (Graphviz) or `.jsonl`.

exit status:
  0  what the game asks for is proven, the replay is the same, the bundle is frozen, or the games
     of the benchmark were played, however they ended
  1  the replay differs
  2  the game cannot be played: its file, its rules, its folder, or the walls round its commands
  3  the moves ended before it was"""

TAKES: Final = {
    "play": frozenset({"root", "moves", "graph", "user", "out"}),
    "record": frozenset(
        {"root", "moves", "user", "out", "model", "schema", "repair", "bundle", "baseline"}
    ),
    "replay": frozenset({"root", "user"}),
    "bundle": frozenset({"freeze"}),
    "games": frozenset({"user", "json"}),
}
LOST: Final = 3
SHOWN: Final = 2_000
HINTED: Final = Status.HINTED
WRITTEN: Final = {".svg": to_svg, ".dot": to_dot, ".jsonl": to_jsonl}


OPTIONS: Final = (
    option("verb " + "|".join(TAKES), "what to do"),
    option(
        "game FILE",
        "the file of the game, a manifest, a bundle, or the name of a game of the benchmark",
        nargs="?",
    ),
    option("--root DIR", "the folder it is played in (default: that of the game)"),
    option("--moves FILE", "the moves (default: standard input)"),
    option("--graph FILE", "where to write the evidence"),
    option("--user UID", "who commands run as, where you are root", type=count),
    option("--out FILE", "where to write the manifest"),
    option("--model NAME", "whose replies they are (default: script)"),
    option("--schema MODE", "how replies are read: strict or lenient (default: by the law)"),
    option("--repair N", "how often the next reply may be asked for in a turn", type=count),
    option("--bundle FILE", "the frozen bundle to play by"),
    option("--baseline", "go on without the bundle if it is refused"),
    option("--freeze FILE", "where to write the frozen bundle"),
    option("--json", "answer with JSON, one line for each game and how it was played"),
)


def run(args: argparse.Namespace) -> int:
    """Play a game, record or replay one, look at a bundle, or play the benchmark."""
    check_verb("tutor", TAKES, args, "game")
    if args.verb == "games":
        from stanchion.cli import tutor_games

        return tutor_games.run(args)
    if args.game is None:
        raise BadInput(f"`stanchion tutor {args.verb}` needs a file: see `stanchion tutor --help`")
    if args.verb == "play":
        return _play(args)
    if args.verb == "bundle":
        from stanchion.cli import tutor_bundle

        return tutor_bundle.run(args)
    from stanchion.cli import tutor_replay

    return tutor_replay.record(args) if args.verb == "record" else tutor_replay.again(args)


def _play(args: argparse.Namespace) -> int:
    wanted = None if args.graph is None else Path(args.graph)
    if wanted is not None and wanted.suffix not in WRITTEN:
        raise BadInput(f"`--graph {args.graph}` has no known ending: write {', '.join(WRITTEN)}")
    with AsBadInput(GameError, SandboxError, ManifestError):
        game = load_game(args.game)
        rules = rules_of(game, args.game)
        root = args.root or Path(args.game).parent
        kept = None if args.out is None else ByHand(game, rules, root, args.out)
        said: list[str] = []
        with Sandbox(root, Limits(), user=args.user) as sandbox:
            confined = Confining(sandbox, game.programs)
            runner = confined if kept is None else kept.runner(confined)
            tutor = TutorV2(game.name, runner, game.goal, game.claims, game.writes, rules=rules)
            won = _played(tutor, game, args.moves, said)
        if kept is not None:
            kept.finish(said)
            tell(f"wrote {args.out}")
    if wanted is not None:
        wanted.write_text(WRITTEN[wanted.suffix](tutor.pcg), "utf-8")
        tell(f"wrote {wanted}")
    return 0 if won else LOST


def _played(tutor: TutorV2, game: Game, moves: str | None, said: list[str]) -> bool:
    """Play, and keep what was said; gives whether the goal was reached."""
    tell(f"{visible(game.name)}: {visible(game.goal)}")
    for claim in game.claims:
        tell(f"  to be proven: {visible(claim.text)}")
    for reply in _replies(moves, game.turns):
        said.append(reply)
        tutor.next_turn()
        _tell(tutor, tutor.play(reply))
        if tutor.check_goal_satisfaction():
            tell(f"proven in turn {tutor.state.turn}, with {tutor.state.score} points")
            return True
        advice = tutor.advise()
        if advice is not None:
            tell(f"   advice: {advice.card.title}. {advice.card.instruction}")
    going = tutor.course().intent.value
    tell(
        f"not proven after turn {tutor.state.turn}, with {tutor.state.score} points; course: "
        f"{going}",
    )
    return False


def _replies(moves: str | None, most: int) -> Iterator[str]:
    try:
        source = sys.stdin if moves is None else open(moves, encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        raise BadInput(f"`{moves}`: {error.strerror}") from None
    with source:
        asks = moves is None and os.isatty(source.fileno())
        for _ in range(most):
            if asks:
                sys.stdout.write("> ")
                sys.stdout.flush()
            line = source.readline()
            while line and not line.strip():
                line = source.readline()
            if not line:
                return
            yield line


def _tell(tutor: TutorV2, result: MoveResult) -> None:
    turn = tutor.state.turn
    tell(
        f"{turn}. {result.verdict.value}{f': {visible(result.reason)}' if result.reason else ''}",
    )
    seen = result.observation
    if seen is not None:
        output = (seen.stdout or seen.stderr)[:SHOWN].rstrip("\n")
        for line in output.split("\n") if output else ():
            tell(f"   | {visible(line)}")
        tell(f"   {seen.id}: ended with {seen.rc}")
    for truth in result.truths:
        status = tutor.pcg.status(truth.id)
        stands = "claimed" if status is None else status.value
        by = "".join(f" by `{edge.transform}`" for edge in tutor.pcg.into(EdgeType.HINTS, truth.id))
        tell(
            f"   {truth.id}: {visible(truth.text)} is "
            f"{stands}{visible(by) if status is HINTED else ''}",
        )
