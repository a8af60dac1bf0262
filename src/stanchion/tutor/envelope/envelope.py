"""`TutorEnvelope`: plays a game with a model, through the layers that are on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, Final, Protocol, TypeGuard

import msgspec

from stanchion.tutor.bundles.file import Bundle, ModelParams
from stanchion.tutor.envelope.config import (
    EnvelopeConfig,
    EnvelopeError,
    check_temperature,
    config_of,
)
from stanchion.tutor.envelope.laws import Law, Stood, goal_of, law_of, stood
from stanchion.tutor.envelope.prompts import again_of, prompt_of, reason_of
from stanchion.tutor.envelope.repair import (
    BestCandidate,
    Checked,
    NoMore,
    RankedCandidate,
    best_of,
    seed_of,
)
from stanchion.tutor.envelope.schema.reading import MoveReading, ReadVerdict, read_move
from stanchion.tutor.envelope.trace import EpisodeTrace, ModelExchange, States, TraceTurn, text_hash
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.moves.typed import Misread

TURNS: Final = 50


class PromptModel(Protocol):
    """Whatever answers a prompt."""

    def __call__(self, prompt: str, temperature: float, seed: int | None, /) -> str:
        """Its reply."""


class Tunable(Protocol):
    """A model that takes the other parameters of a bundle, too."""

    def tuned(self, params: ModelParams, /) -> PromptModel:
        """The same model with these parameters."""


def is_tunable(model: PromptModel) -> TypeGuard[Tunable]:
    """Whether a model takes parameters, or passes them on to one that does."""
    return callable(getattr(model, "tuned", None))


class ModelQuestion(msgspec.Struct, frozen=True):
    """What the model is to be asked next, and how."""

    turn: int
    attempt: int
    prompt: str
    temperature: float
    seed: int | None


class WithheldReply(msgspec.Struct, frozen=True):
    """A reply that somebody keeps from the game, and what the model is told about it."""

    why: str


class NoMoreReplies(msgspec.Struct, frozen=True):
    """That the model is asked no more, and why. What was said in the turn until then is used."""

    why: str


class Halted(msgspec.Struct, frozen=True):
    """That the run has ended, and why: nothing more is done, not even with what was said in the
    turn. `asked` says whether the model had been asked, and its reply was kept."""

    why: str
    asked: bool = False


Came = str | WithheldReply | NoMoreReplies | Halted
"""What comes of asking the model."""


class Episode(msgspec.Struct, frozen=True):
    """A game that was played: what happened, what the model was asked and said, and how it
    ended."""

    trace: EpisodeTrace
    exchanges: tuple[ModelExchange, ...]
    won: bool
    turns: int
    score: int
    stopped: str = ""
    """Why it ended before its time, where it did."""
    halted: Halted | None = None
    """What ended the run, where something did."""
    raised: Exception | None = None
    """What was raised while a reply was read or a move was made, where something was."""

    @property
    def calls(self) -> int:
        """How often the model was asked."""
        return len(self.exchanges)

    def whole(self) -> Episode:
        """The episode, where nothing was raised in it; raises that otherwise."""
        if self.raised is not None:
            raise self.raised
        return self


Playing = Generator[ModelQuestion, Came, Episode]
"""An episode while it is played: it says what to ask, and is sent the reply."""


class _Halt(Exception):
    """Carries what has ended the run out of a turn."""

    def __init__(self, halted: Halted) -> None:
        super().__init__(halted.why)
        self.halted = halted


class _Reply(msgspec.Struct, frozen=True):
    """A reply, how it was read, and what would come of it."""

    exchange: ModelExchange
    reading: MoveReading[Any]
    stood: Stood


class TutorEnvelope:
    """A referee with optional layers round it. What is legal, proven and counted is up to the
    referee alone.

    The layers are given one by one, as `EnvelopeConfig` has them, or together as `config`. `bundle`
    is what layer 3 uses. Raises `EnvelopeError`.
    """

    def __init__(
        self,
        base_tutor: TutorV1 | TutorV2,
        config: EnvelopeConfig | None = None,
        bundle: Bundle | None = None,
        **layers: Any,
    ) -> None:
        if not isinstance(base_tutor, TutorV1 | TutorV2):
            raise EnvelopeError(
                f"`base_tutor` is a `{type(base_tutor).__name__}`: give a `TutorV1` or a `TutorV2`"
            )
        if config is not None and layers:
            raise EnvelopeError(
                f"`config` is given, and `{next(iter(layers))}` beside it: write one or the other"
            )
        self.base_tutor = base_tutor
        self.config = config_of(layers) if config is None else config
        self.bundle = bundle
        self._law: Law[Any] = law_of(base_tutor)
        self._states = States(self._law.graph, self._law.state)
        if self.config.policy_enabled is not (bundle is not None):
            wrong = (
                "is `bundle`, and there is none: hand it in"
                if bundle is None
                else "is `off`, and there is a bundle"
            )
            raise EnvelopeError(f"`layer3_policy` {wrong}")
        if bundle is not None:
            check_temperature(
                "model_params.temperature", bundle.model_params.temperature, self._deterministic
            )

    @property
    def _deterministic(self) -> bool:
        return self.config.deterministic_mode

    def run_episode(
        self,
        model: PromptModel,
        turns: int = TURNS,
        *,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> Episode:
        """Play until the goal is reached or the turns are over.

        `temperature` is that of the first call of a turn, where no bundle says another; without it
        0.0. A model that is `Tunable` is given the parameters of the bundle; one that has nothing
        more to say raises `NoMore`, and the episode ends. What the model, a command or the law
        itself raises is raised. Nothing is written: the episode has all that a manifest needs, and
        `stanchion.tutor.playing.episodes.play` and `recorded.play_recorded` write it.
        """
        episode, raised = self.play_out(model, turns, temperature=temperature, seed=seed)
        if raised is not None:
            raise raised
        return episode

    def play_out(
        self,
        model: PromptModel,
        turns: int = TURNS,
        *,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> tuple[Episode, Exception | None]:
        """The same for a caller who keeps what was played until something was raised: the episode,
        and what was."""
        tuned = (
            model.tuned(self.bundle.model_params) if self.bundle and is_tunable(model) else model
        )
        raised: list[Exception] = []

        def answer(asked: ModelQuestion) -> Came:
            try:
                return _said(tuned, asked)
            except Exception as error:  # noqa: BLE001 - whatever it is, the episode is kept and it is raised afterwards
                raised.append(error)
                return raised_by("the model", error)

        episode = play_by(self.episode(turns, temperature=temperature, seed=seed), answer)
        return episode, raised[0] if raised else episode.raised

    def episode(
        self, turns: int = TURNS, *, temperature: float | None = None, seed: int | None = None
    ) -> Playing:
        """The same for a caller who asks the model: yields what to ask, and is sent each reply."""
        heat = self._temperature(temperature)
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise EnvelopeError(f"`turns` is `{turns!r}`: write a whole number from 1 on")
        return self._played(turns, heat, seed)

    def _temperature(self, given: float | None) -> float:
        if self.bundle is not None:
            if given is not None:
                raise EnvelopeError("`temperature` is given, and the bundle has one: leave it away")
            return self.bundle.model_params.temperature
        heat = 0.0 if given is None else given
        check_temperature("temperature", heat, self._deterministic)
        return heat

    def _played(self, turns: int, temperature: float, seed: int | None) -> Playing:
        entries: list[TraceTurn] = []
        said: list[ModelExchange] = []
        won, stopped, halted, raised = False, "", None, None
        for _ in range(turns):
            self._law.begin()
            prompt = prompt_of(self.bundle, goal_of(self._law), self._law.told())
            played = len(entries)
            try:
                chosen = yield from self._chosen(prompt, temperature, seed, said)
            except NoMore as over:
                stopped = str(over)
                break
            except _Halt as halt:
                stopped, halted = halt.halted.why, halt.halted
                entries += self._unused(said, "halted")
                break
            except Exception as error:  # noqa: BLE001 - as above: the law's own reading may break
                raised = error
            else:
                raised = self._commit(chosen, entries)
            if raised is not None:
                stopped = raised_by("a move", raised).why
                entries += self._unused(said, "raised") if len(entries) == played else []
                break
            won = self._law.won()
            if won:
                break
        state = self._law.state
        return Episode(
            EpisodeTrace(tuple(entries)),
            tuple(said),
            won,
            state.turn,
            state.score,
            stopped,
            halted,
            raised,
        )

    def _chosen(
        self, prompt: str, temperature: float, seed: int | None, said: list[ModelExchange]
    ) -> Generator[ModelQuestion, Came, BestCandidate[_Reply]]:
        """The reply that is used in a turn; where nothing is repaired it is the only one."""
        turn = self._law.state.turn

        def make(
            index: int, before: tuple[RankedCandidate[_Reply], ...]
        ) -> Generator[ModelQuestion, Came, _Reply]:
            asked = ModelQuestion(turn, index, prompt, temperature, seed)
            if index:
                words = again_of(self.bundle, prompt, [one.checked.why for one in before])
                again = seed_of(self.config.repair_seed, turn, index)
                asked = ModelQuestion(turn, index, words, self.config.repair_temperature, again)
            came = yield asked
            if isinstance(came, NoMoreReplies):
                raise NoMore(came.why)
            if isinstance(came, Halted) and not came.asked:
                raise _Halt(came)
            output = self._stopped(came) if isinstance(came, str) else None
            why = came.why if isinstance(came, WithheldReply) else ""
            exchange = ModelExchange(
                turn, index, asked.prompt, asked.temperature, asked.seed, output, why
            )
            said.append(exchange)
            if isinstance(came, Halted):
                raise _Halt(came)
            reading = self._read(why, output)
            return _Reply(exchange, reading, self._stood(reading, before))

        retries = self.config.repair_max_attempts if self.config.repair_enabled else 0
        return (yield from best_of(make, self._precheck, retries))

    def _stopped(self, reply: str) -> str:
        """A reply up to where the bundle has it end."""
        stops = () if self.bundle is None else self.bundle.model_params.stop_sequences
        ends = [at for one in stops if one and (at := reply.find(one)) >= 0]
        return reply[: min(ends)] if ends else reply

    def _read(self, why: str, output: str | None) -> MoveReading[Any]:
        if output is None:
            return MoveReading(ReadVerdict.ILL_TYPED, what=Misread.EMPTY, why=why)
        mode = self.config.layer1_schema
        try:
            return read_move(output, mode, self._law.shape)
        except AttributeError:
            # the first law's own reading breaks on an action that is no text, and so does a game
            # without repair
            if mode != "off" or not self.config.repair_enabled:
                raise
            return MoveReading(
                ReadVerdict.ILL_TYPED, what=Misread.BAD_FIELD, why="`action` has to be a text"
            )

    def _stood(
        self, reading: MoveReading[Any], before: tuple[RankedCandidate[_Reply], ...]
    ) -> Stood:
        """What would come of a reply. Where nothing is repaired nobody asks, and the law is not
        asked either."""
        if not self.config.repair_enabled:
            return Stood()
        foreseen = [self._law.foresee(move) for move in reading.moves]
        open_before = not self._law.exact and any(one.value.stood.undecided for one in before)
        return stood(foreseen, reading.why, open_before)

    def _precheck(self, reply: _Reply, _before: tuple[RankedCandidate[_Reply], ...]) -> Checked:
        one = reply.stood
        again = bool(one.names & {*self.config.repair_trigger_verdicts})
        return Checked(one.rank, again, reason_of(one.check, one.why, one.missing))

    def _unused(self, said: list[ModelExchange], routing: str) -> list[TraceTurn]:
        """The entry of a turn that did not come to its end: no move of it stands, and its replies
        are counted."""
        asked = [one for one in said if one.turn == self._law.state.turn]
        if not asked:
            return []
        output = "" if asked[-1].output is None else asked[-1].output
        return [
            TraceTurn(
                turn=self._law.state.turn,
                prompt_hash=text_hash(asked[-1].prompt),
                output_hash=text_hash(output),
                move_type=None,
                parsed_move=None,
                check_verdict=None,
                move_verdict=None,
                score_delta=0,
                state_hash=self._states.hash(),
                attempts=len(asked),
                routing=routing,
            )
        ]

    def _commit(self, chosen: BestCandidate[_Reply], entries: list[TraceTurn]) -> Exception | None:
        """Hand the reply that was chosen to the law, and write down what came of it; gives what was
        raised."""
        try:
            for entry in self._committed(chosen):
                entries.append(entry)
        except Exception as error:  # noqa: BLE001 - as above
            return error
        return None

    def _committed(self, chosen: BestCandidate[_Reply]) -> Iterator[TraceTurn]:
        exchange, reading = chosen.best.value.exchange, chosen.best.value.reading
        off = reading.verdict is ReadVerdict.UNCHANGED
        routing = (
            "withheld"
            if exchange.output is None
            else self._law.routing
            if off
            else reading.verdict.value
        )
        output = "" if exchange.output is None else exchange.output
        moves: tuple[Any, ...] = reading.moves if reading.moves else (None,)
        for number, move in enumerate(moves):
            score, events = self._law.state.score, len(self._law.graph.events)
            made = (
                self._law.make(move)
                if move is not None
                else self._law.refuse(output)
                if off
                else None
            )
            kind, plain = (None, None) if move is None else self._law.plain(move)
            checks = [
                one.verdict for one in self._law.graph.events[events:] if one.event_type == "check"
            ]
            yield TraceTurn(
                turn=self._law.state.turn,
                prompt_hash=text_hash(exchange.prompt),
                output_hash=text_hash(output),
                move_type=kind,
                parsed_move=plain,
                check_verdict=checks[0] if checks else None,
                move_verdict=None if made is None else made.verdict.value,
                score_delta=self._law.state.score - score,
                state_hash=self._states.hash(),
                attempts=0 if number else chosen.attempts,
                routing=routing,
            )


def play_by(playing: Playing, answer: Callable[[ModelQuestion], Came]) -> Episode:
    """Play an episode to its end by what somebody answers; what that raises is raised."""
    came: Came | None = None
    while True:
        try:
            asked = next(playing) if came is None else playing.send(came)
        except StopIteration as ended:
            episode: Episode = ended.value
            return episode
        came = answer(asked)


def raised_by(who: str, error: Exception) -> Halted:
    """What an episode is told where something raised an error: its type alone, for its words may
    have secrets."""
    return Halted(f"{who} raised `{type(error).__name__}`")


def _said(model: PromptModel, asked: ModelQuestion) -> Came:
    """What a model says; an iterator that is used up in it is an error, and not the end of the
    episode."""
    try:
        return model(asked.prompt, asked.temperature, asked.seed)
    except NoMore as over:
        return NoMoreReplies(str(over))
    except StopIteration as error:
        raise RuntimeError(
            "the model has raised StopIteration: where it has no more to say, it raises NoMore"
        ) from error
