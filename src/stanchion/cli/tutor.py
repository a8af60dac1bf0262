"""`stanchion tutor`: play a game in which only what is proven counts, record one, replay it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from stanchion.cli.command import Args, AsBadInput, BadInput, DeclaredCommand, Verb, count, option
from stanchion.cli.printing import put_json, put_view, table
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.ops.views.amounts import counted
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Sandbox
from stanchion.tutor.bundles.file import BundleFile, BundleRefusal, BundleRefused
from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
from stanchion.tutor.graph import EdgeType, Status
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import MoveResult
from stanchion.tutor.manifests.manifest import ManifestError, Model
from stanchion.tutor.picture import to_dot, to_jsonl, to_svg
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
from stanchion.tutor.playing.bundle_files import freeze_bundle, load_bundle
from stanchion.tutor.playing.games import Game, load_game, rules_of
from stanchion.tutor.playing.recorded import ByHand, PlayedGame, play_recorded, script
from stanchion.tutor.playing.replays import Replayed, replay
from stanchion.tutor.playing.runners import Confining

FIGURES: Final = ("score", "calls", "false")
COLUMNS: Final = ("game", "layers", *(name for player in PLAYERS for name in (player, *FIGURES)))
ALL: Final = "all"


def games(args: Args) -> int:
    """Play the games, and print what came of each."""
    found = list(results(names() if args.game is None else [args.game], args.user))
    put_json(*found) if args.json else put_view(found, _told_of_games)
    return 0


def _told_of_games(found: Sequence[GameResult], terminal: Terminal) -> Iterator[str]:
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


DIFFERS, LOST = 1, 3
DIFFERENCES: Final = 20
LARGEST: Final = 16 << 20


def record(args: Args) -> int:
    """Play the replies of a file, and leave a manifest."""
    if args.moves is None or args.out is None:
        raise BadInput(
            "give the replies with `--moves FILE`, and where the manifest goes with `--out FILE`"
        )
    replies = _replies_in(Path(args.moves))
    with AsBadInput(BundleRefused, EnvelopeError, ManifestError):
        left = play_recorded(
            args.game,
            script(replies),
            _config(args),
            Model(temperature=0.0, model_id=args.model or "script"),
            root=args.root,
            turns=len(replies),
            refused="baseline" if args.baseline else "stop",
            user=args.user,
        )
    put_lines(_played_lines(left))
    tell(f"wrote {args.out}")
    return 0 if left.episode.won else LOST


def _config(args: Args) -> EnvelopeConfig:
    return EnvelopeConfig(
        layer1_schema="off" if args.schema is None else args.schema,
        layer2_repair="off" if args.repair is None else "bestofn",
        repair_max_attempts=0 if args.repair is None else args.repair,
        layer3_policy="off" if args.bundle is None else "bundle",
        policy_bundle_path=args.bundle,
        manifest_path=args.out,
    )


def _replies_in(path: Path) -> list[str]:
    """The replies of a file, one a line."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"`{path}` has more than {LARGEST >> 20} MiB")
        found = [line for line in path.read_text("utf-8").split("\n") if line.strip()]
    except OSError as error:
        raise BadInput(f"`{path}`: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"`{path}` is not UTF-8") from None
    if not found:
        raise BadInput(f"`{path}` has no reply")
    return found


def _played_lines(left: PlayedGame) -> Iterator[str]:
    if left.chosen.refusal is not None:
        yield f"note: the bundle is refused, and the baseline is played: {left.chosen.refusal.why}"
    for one in left.episode.trace.turns:
        check = f", {one.check_verdict}" if one.check_verdict else ""
        yield (
            f"{one.turn}. {one.move_type or 'no move'}: {one.move_verdict or 'not read'}{check}, "
            f"{one.score_delta:+d}"
        )
    if left.episode.stopped:
        yield f"ended early: {left.episode.stopped}"
    end = "proven" if left.episode.won else "not proven"
    yield f"{end} after turn {left.episode.turns}, with {left.episode.score} points"


def again(args: Args) -> int:
    """Play the episode of a manifest again, and say where it differs."""
    with AsBadInput(ManifestError):
        found = replay(args.game, args.root, args.user)
    put_lines(_compared(found))
    return DIFFERS if found.differences else 0


def _compared(found: Replayed) -> Iterator[str]:
    for one in found.differences[:DIFFERENCES]:
        yield f"turn {one.turn}: {one.field}: it was {one.was}, and is {one.now}"
    if len(found.differences) > DIFFERENCES:
        yield f"and {len(found.differences) - SHOWN} more"
    for note in found.notes:
        yield f"note: {note}"
    turns = counted(found.turns, "turn")
    if found.differences:
        yield (
            f"it differs from turn {min(one.turn for one in found.differences)} on; {turns} "
            f"before that went the same"
        )
    else:
        yield f"the same: {turns}"


def bundle(args: Args) -> int:
    """Say what a frozen bundle is for, or freeze one; one that is refused is bad input."""
    if args.freeze is not None:
        made = _frozen(args.game, args.freeze)
        if isinstance(made, BundleRefusal):
            raise BadInput(f"`{args.game}` is not frozen ({made.reason.value}): {made.why}")
        tell(f"wrote {args.freeze}: {made}")
        return 0
    found = load_bundle(args.game)
    if isinstance(found, BundleRefusal):
        raise BadInput(f"`{args.game}` is refused ({found.reason.value}): {found.why}")
    put_lines(_lines(found))
    return 0


def _frozen(draft: str, to: str) -> str | BundleRefusal:
    try:
        return freeze_bundle(draft, to)
    except FileExistsError:
        raise BadInput(f"`{to}` already exists: use another file") from None
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else type(error).__name__
        raise BadInput(f"`{to}` cannot be written: {reason}") from None
    except ValueError as error:
        raise BadInput(str(error)) from None


def _lines(bundle: BundleFile) -> Iterator[str]:
    yield f"{bundle.bundle_id or 'a bundle'}, version {bundle.bundle_version}"
    yield f"hash         {bundle.bundle_hash}"
    if bundle.scope is not None:
        for name in ("games", "models", "laws"):
            yield f"{name:<12} {', '.join(getattr(bundle.scope, name))}"
    prompts = [
        name
        for name in bundle.prompts.__struct_fields__
        if getattr(bundle.prompts, name) is not None
    ]
    yield f"prompts      {', '.join(prompts) or 'none'}"
    yield f"exemplars    {len(bundle.exemplars)}"
    yield f"temperature  {bundle.model_params.temperature:g}"


SHOWN: Final = 2_000
HINTED: Final = Status.HINTED
WRITTEN: Final = {".svg": to_svg, ".dot": to_dot, ".jsonl": to_jsonl}


def _play(args: Args) -> int:
    wanted = None if args.graph is None else Path(args.graph)
    if wanted is not None and wanted.suffix not in WRITTEN:
        raise BadInput(f"`--graph {args.graph}` has no known ending: write {', '.join(WRITTEN)}")
    with AsBadInput(ManifestError):
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


NEEDS: Final = "`stanchion tutor {}` needs a file: see `stanchion tutor --help`"


TUTOR_COMMAND: Final = DeclaredCommand(
    usage="""stanchion tutor play GAME [--root DIR] [--moves FILE] [--graph FILE] [--out FILE]
                            [--user UID]
       stanchion tutor record GAME --moves FILE --out FILE [--root DIR] [--user UID]
                              [--model NAME] [--schema strict|lenient] [--repair N]
                              [--bundle FILE [--baseline]]
       stanchion tutor replay MANIFEST [--root DIR] [--user UID]
       stanchion tutor bundle FILE [--freeze FILE]
       stanchion tutor games [GAME] [--json] [--user UID]""",
    description="""\
play    make moves, one JSON object a line, until what the game asks for is proven or the
        moves end; commands run confined, in the folder of the game; with `--out` it leaves
        what `record` does
record  play the replies of a file, and leave a manifest, the trace and a recording
replay  play a recording again, and say where it differs; no command runs, unless there is
        a folder to run them in
bundle  look at a bundle, or freeze one: only a frozen bundle is played by
games   play the games of the benchmark, or one of them, by the transcripts of a strong and a weak
        player, under both laws, without layers and with them""",
    epilog="""\
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
  3  the moves ended before it was""",
    options=(
        option("verb play|record|replay|bundle|games", "what to do"),
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
    ),
    work={
        "play": Verb(_play, "game root moves graph user out", NEEDS.format("play")),
        "record": Verb(
            record,
            "game root moves user out model schema repair bundle baseline",
            NEEDS.format("record"),
        ),
        "replay": Verb(again, "game root user", NEEDS.format("replay")),
        "bundle": Verb(bundle, "game freeze", NEEDS.format("bundle")),
        "games": Verb(games, "game user json"),
    },
)
