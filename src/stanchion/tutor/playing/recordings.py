"""Recordings: what a model said in an episode and what its commands showed, line by line. By one
the episode is played again without either."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.shown import StanchionError
from stanchion.tutor.advice.advisor import WIP
from stanchion.tutor.bundles.file import Bundle
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import (
    Came,
    Episode,
    Halted,
    ModelQuestion,
    NoMoreReplies,
    WithheldReply,
)
from stanchion.tutor.law.v1 import Executor, TutorV1
from stanchion.tutor.law.v2 import CommandRunner, Outcome, TutorV2
from stanchion.tutor.playing.games import Game, load_rules
from stanchion.tutor.rules.typed import TypedRule

LARGEST: Final = 256 << 20


class RecordingError(StanchionError, ValueError):
    """What is wrong with a recording, or with playing it: it goes another way than it was
    recorded."""


class RecordingLine(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """One line of a recording."""


class GameLine(RecordingLine, frozen=True, tag="game", kw_only=True):
    """What was played: the game, under which law, with which layers, by which bundle, for how many
    turns at most."""

    law: str
    game: dict[str, Any]
    rules: tuple[dict[str, Any], ...] = ()
    config: dict[str, Any]
    bundle: dict[str, Any] | None = None
    turns: int
    wip: int = WIP
    constraints: tuple[str, ...] = ()
    """What held in a game of the first law besides what always holds."""


class ReplyLine(RecordingLine, frozen=True, tag="reply", omit_defaults=True):
    """One call of the model. `output` is `None` where a guard kept what it said, and `why` what it
    was told then."""

    prompt: str
    temperature: float
    seed: int | None
    output: str | None
    why: str = ""


class Refusing(RecordingLine, frozen=True, tag="refused"):
    """Whether a command would run, as it was asked for the first time: empty if it would."""

    argv: tuple[str, ...]
    write: bool
    why: str


class Showed(RecordingLine, frozen=True, tag="ran"):
    """What a command showed. Under the first law a command is one text."""

    argv: tuple[str, ...]
    write: bool
    outcome: Outcome


class Broke(RecordingLine, frozen=True, tag="raised"):
    """That a command raised an error in whatever runs it, and of which type."""

    argv: tuple[str, ...]
    write: bool
    error: str


class Broken(Exception):
    """Raised where a command raised an error when it was recorded."""


class EndLine(RecordingLine, frozen=True, tag="over", omit_defaults=True):
    """That the model was asked no more, and why: a budget was used up, say. `halted` says that the
    whole run ended, and `kept` that it did so on the last reply."""

    why: str
    halted: bool = False
    kept: bool = False


Line = GameLine | ReplyLine | Refusing | Showed | Broke | EndLine


def _encode(line: Line) -> bytes:
    """A line in ASCII: a model may say what is no UTF-8, and it is played again as it was said."""
    return json.dumps(msgspec.to_builtins(line), sort_keys=True, separators=(",", ":")).encode()


class Recorder:
    """Takes down what happens in an episode, in its order."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._asked: set[tuple[tuple[str, ...], bool]] = set()

    def reply(
        self, prompt: str, temperature: float, seed: int | None, output: str | None, why: str = ""
    ) -> None:
        """Take down a call of the model."""
        self.lines.append(ReplyLine(prompt, temperature, seed, output, why))

    def episode(self, episode: Episode) -> None:
        """Take down what the model was asked and said in an episode, and why it was asked no
        more."""
        for one in episode.exchanges:
            self.reply(one.prompt, one.temperature, one.seed, one.output, one.why)
        if episode.stopped:
            halted = episode.halted
            if episode.raised is None:  # what raised then raises again
                self.lines.append(
                    EndLine(
                        episode.stopped, halted is not None, halted is not None and halted.asked
                    )
                )

    def refused(self, argv: tuple[str, ...], write: bool, why: str) -> None:
        """Take down whether a command would run."""
        if (argv, write) not in self._asked:
            self._asked.add((argv, write))
            self.lines.append(Refusing(argv, write, why))

    def ran(self, argv: tuple[str, ...], write: bool, outcome: Outcome) -> None:
        """Take down what a command showed."""
        self.lines.append(Showed(argv, write, outcome))

    @contextmanager
    def running(self, argv: tuple[str, ...], write: bool) -> Iterator[None]:
        """Take down an error that a command raises."""
        try:
            yield
        except Exception as error:
            self.lines.append(Broke(argv, write, type(error).__name__))
            raise

    @property
    def calls(self) -> int:
        """How often the model was called."""
        return sum(isinstance(one, ReplyLine) for one in self.lines)


class RecordedRunner:
    """Runs commands under the second law, and takes down what they show."""

    def __init__(self, runner: CommandRunner, recorder: Recorder) -> None:
        self._runner, self._recorder = runner, recorder

    def refused(self, argv: tuple[str, ...], write: bool, /) -> str:
        """Why a command would not run."""
        why = self._runner.refused(argv, write)
        self._recorder.refused(argv, write, why)
        return why

    def run(self, argv: tuple[str, ...], write: bool, /) -> Outcome:
        """Run a command."""
        with self._recorder.running(argv, write):
            outcome = self._runner.run(argv, write)
        self._recorder.ran(argv, write, outcome)
        return outcome


class RecordedExecutor:
    """Runs texts under the first law, and takes down what they show."""

    def __init__(self, executor: Executor, recorder: Recorder) -> None:
        self._executor, self._recorder = executor, recorder

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """Whether nothing is against a command, and what is."""
        safe, why = self._executor.is_safe(command)
        self._recorder.refused((command,), False, "" if safe else why)
        return safe, why

    def execute(self, command: str, mode: str = "read", /) -> tuple[int, str, str]:
        """Run a text."""
        with self._recorder.running((command,), mode == "write"):
            rc, stdout, stderr = self._executor.execute(command, mode)
        self._recorder.ran((command,), mode == "write", Outcome(True, rc, stdout, stderr))
        return rc, stdout, stderr


class Playback:
    """Gives what was recorded, each thing once and in its order: it answers for the model, and runs
    the commands, of an episode that is played again. What was not recorded so raises
    `RecordingError`."""

    def __init__(self, lines: Iterable[Line]) -> None:
        kept = list(lines)
        self._replies = deque(one for one in kept if isinstance(one, ReplyLine))
        self._shown = iter([one for one in kept if isinstance(one, Showed | Broke)])
        self._over = next((one for one in kept if isinstance(one, EndLine)), None)
        self._refused = {
            (one.argv, one.write): one.why for one in kept if isinstance(one, Refusing)
        }

    def came(self, asked: ModelQuestion) -> Came:
        """What came of asking the model then. Another prompt is no error here: the trace shows
        it."""
        over = self._over
        if not self._replies:
            if over is not None:
                return Halted(over.why) if over.halted else NoMoreReplies(over.why)
            raise RecordingError("the model is asked once more than it was")
        reply = self._replies.popleft()
        if (reply.temperature, reply.seed) != (asked.temperature, asked.seed):
            now = f"temperature {asked.temperature:g} and seed {asked.seed}"
            was = f"temperature {reply.temperature:g} and seed {reply.seed}"
            raise RecordingError(f"the model is asked with {now}: it was {was}")
        if over is not None and over.kept and not self._replies:
            return Halted(over.why, asked=True)
        return WithheldReply(reply.why) if reply.output is None else reply.output

    def left(self) -> tuple[int, int]:
        """How many replies, and how many commands, are left."""
        return len(self._replies), sum(1 for _ in self._shown)

    def refused(self, argv: tuple[str, ...], write: bool, /) -> str:
        """Why a command would not run then."""
        if (argv, write) not in self._refused:
            raise RecordingError(f"`{' '.join(argv)}` was not asked for when it was recorded")
        return self._refused[argv, write]

    def run(self, argv: tuple[str, ...], write: bool, /) -> Outcome:
        """What a command showed then."""
        shown = next(self._shown, None)
        if shown is None or (shown.argv, shown.write) != (argv, write):
            was = "nothing" if shown is None else f"`{' '.join(shown.argv)}`"
            raise RecordingError(f"`{' '.join(argv)}` is run: it was {was}")
        if isinstance(shown, Broke):
            raise Broken(shown.error)
        return shown.outcome

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """Whether nothing was against a command, and what was."""
        why = self.refused((command,), False)
        return not why, why

    def execute(self, command: str, mode: str = "read", /) -> tuple[int, str, str]:
        """What a text showed then."""
        outcome = self.run((command,), mode == "write")
        return outcome.rc, outcome.stdout, outcome.stderr


def to_lines(played: GameLine, recorder: Recorder) -> bytes:
    """A recording as it is written."""
    return b"".join(_encode(one) + b"\n" for one in (played, *recorder.lines))


def read_recording(path: str | Path) -> tuple[GameLine, tuple[Line, ...]]:
    """What was played, and what happened then; raises `RecordingError`."""
    lines = tuple(_lines(Path(path)))
    if (
        not lines
        or not isinstance(lines[0], GameLine)
        or any(isinstance(one, GameLine) for one in lines[1:])
    ):
        raise RecordingError(f"{path}: a recording begins with one line of type `game`")
    return lines[0], lines[1:]


def _lines(path: Path) -> Iterator[Line]:
    try:
        if path.stat().st_size > LARGEST:
            raise RecordingError(f"{path}: it has more than {LARGEST >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise RecordingError(f"{path}: it cannot be read: {str(error.strerror).lower()}") from None
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                yield typed.convert(json.loads(line), Line)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise RecordingError(f"{path}: line {number}: {error}") from None


def referee(played: GameLine, hands: Any) -> TutorV1 | TutorV2:
    """The referee at the beginning of the game; `hands` run its commands."""
    game = typed.convert(played.game, Game)
    if played.law == "1":
        tutor = TutorV1(game.name, hands, load_rules())
        tutor.setup_game(game.goal, played.constraints)
        return tutor
    rules = typed.convert(played.rules, tuple[TypedRule, ...])
    return TutorV2(game.name, hands, game.goal, game.claims, game.writes, played.wip, rules=rules)


def line_of(
    game: Game,
    rules: Sequence[TypedRule],
    law: str,
    config: EnvelopeConfig,
    turns: int,
    bundle: Bundle | None = None,
) -> GameLine:
    """What is played, as a recording says it."""
    plain = msgspec.to_builtins
    return GameLine(
        law=law,
        game=plain(game),
        rules=tuple(plain(rules)),
        config=plain(config),
        bundle=None if bundle is None else plain(bundle),
        turns=turns,
    )
