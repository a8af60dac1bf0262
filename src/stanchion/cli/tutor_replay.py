"""`stanchion tutor record` and `replay`: a game that leaves a manifest, and the same game once
more."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stanchion.cli.terminal import put_lines, tell
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.runtime.sandbox.sandbox import SandboxError
from stanchion.tutor.bundles.file import BundleRefused
from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
from stanchion.tutor.manifests.manifest import ManifestError, Model
from stanchion.tutor.playing.games import GameError
from stanchion.tutor.playing.recorded import PlayedGame, play_recorded, script
from stanchion.tutor.playing.replays import Replayed, ReplayError, replay

DIFFERS, LOST = 1, 3
SHOWN: Final = 20
LARGEST: Final = 16 << 20


def record(args: argparse.Namespace) -> int:
    """Play the replies of a file, and leave a manifest."""
    if args.moves is None or args.out is None:
        raise BadInput(
            "give the replies with `--moves FILE`, and where the manifest goes with `--out FILE`"
        )
    replies = _replies(Path(args.moves))
    with AsBadInput(GameError, SandboxError, BundleRefused, EnvelopeError, ManifestError):
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
    put_lines(_played(left))
    tell(f"wrote {args.out}")
    return 0 if left.episode.won else LOST


def _config(args: argparse.Namespace) -> EnvelopeConfig:
    return EnvelopeConfig(
        layer1_schema="off" if args.schema is None else args.schema,
        layer2_repair="off" if args.repair is None else "bestofn",
        repair_max_attempts=0 if args.repair is None else args.repair,
        layer3_policy="off" if args.bundle is None else "bundle",
        policy_bundle_path=args.bundle,
        manifest_path=args.out,
    )


def _replies(path: Path) -> list[str]:
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


def _played(left: PlayedGame) -> Iterator[str]:
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


def again(args: argparse.Namespace) -> int:
    """Play the episode of a manifest again, and say where it differs."""
    with AsBadInput(ReplayError, SandboxError, ManifestError):
        found = replay(args.game, args.root, args.user)
    put_lines(_compared(found))
    return DIFFERS if found.differences else 0


def _compared(found: Replayed) -> Iterator[str]:
    for one in found.differences[:SHOWN]:
        yield f"turn {one.turn}: {one.field}: it was {one.was}, and is {one.now}"
    if len(found.differences) > SHOWN:
        yield f"and {len(found.differences) - SHOWN} more"
    for note in found.notes:
        yield f"note: {note}"
    turns = "1 turn" if found.turns == 1 else f"{found.turns} turns"
    if found.differences:
        yield (
            f"it differs from turn {min(one.turn for one in found.differences)} on; {turns} "
            f"before that went the same"
        )
    else:
        yield f"the same: {turns}"
