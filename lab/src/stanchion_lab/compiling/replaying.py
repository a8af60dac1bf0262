"""Playing replies through the Tutor, and watching what each of them brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from stanchion import typed
from stanchion.readings.claims.claim import Claim
from stanchion.tutor.bundles.file import Bundle
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import (
    Came,
    Episode,
    ModelQuestion,
    Playing,
    TutorEnvelope,
    WithheldReply,
)
from stanchion.tutor.envelope.trace import TraceTurn
from stanchion.tutor.graph import Event, Graph, Status, Truth
from stanchion.tutor.law.v2 import CommandRunner, TutorV2
from stanchion.tutor.playing.recorded import enveloped
from stanchion_lab.compiling.traces import Trace

Answer = Callable[[ModelQuestion], Came]
SETTLED = frozenset({Status.VALIDATED.value, Status.REFUTED.value})


class Step(msgspec.Struct, frozen=True):
    """What one turn came to, as the metric needs it."""

    action: str | None
    """`None` where the reply was no move."""
    move: Mapping[str, Any]
    verdict: str | None
    """Whether it could be made; `None` where it never reached the law."""
    check: str | None
    ill_typed: bool
    withheld: bool
    facts: int
    """How many facts of the world are proven that were not before."""
    proven: frozenset[str]
    """The claims that were proven in this turn, for the first time or again."""
    opened: str
    """The claim that nobody could decide, where it made one."""
    settled: frozenset[str]
    """The claims that were proven or refuted in it."""

    @property
    def claim(self) -> Claim | None:
        """What it claims."""
        given = self.move.get("claim")
        return None if given is None else typed.convert(given, Claim)


class Watched(msgspec.Struct, frozen=True):
    """An episode, turn by turn: what the player was told, and what came of the reply."""

    contexts: tuple[str, ...]
    steps: tuple[Step, ...]
    won: bool


def replay(trace: Trace, world: CommandRunner, replies: Sequence[str | None]) -> Watched:
    """Play replies from the beginning of a trace's game, each in a turn of its own. Every one goes
    through the Tutor; those behind a win are not played."""
    left = iter(replies)

    def said(_asked: ModelQuestion) -> Came:
        reply = next(left)
        return WithheldReply("") if reply is None else reply

    return watch(_envelope(trace, world, None), said, len(replies))


def play(trace: Trace, world: CommandRunner, bundle: Bundle | None, answer: Answer) -> Watched:
    """Play a trace's game to its end with whoever answers, by a bundle or at baseline."""
    return watch(_envelope(trace, world, bundle), answer, trace.game.turns)


def _envelope(trace: Trace, world: CommandRunner, bundle: Bundle | None) -> TutorEnvelope:
    """The trace's game at its beginning. Replies are read as in the trace, and nobody is asked
    again."""
    config = EnvelopeConfig(
        layer1_schema=trace.played.config.get("layer1_schema", "off"),
        layer3_policy="off" if bundle is None else "bundle",
    )
    plain = msgspec.structs.replace(
        trace.played,
        config=msgspec.to_builtins(config),
        bundle=None if bundle is None else msgspec.to_builtins(bundle),
    )
    return enveloped(plain, world)


def watch(envelope: TutorEnvelope, answer: Answer, turns: int) -> Watched:
    """Play an episode, and keep what each turn came to."""
    tutor = envelope.base_tutor
    assert isinstance(tutor, TutorV2)  # no other law is compiled for
    asked: list[ModelQuestion] = []
    known = [0]
    playing = envelope.episode(turns)
    next_asked, episode = _sent(playing, None)
    while next_asked is not None:
        asked.append(next_asked)
        next_asked, episode = _sent(playing, answer(next_asked))
        known.append(tutor.trace().known[-1])
    assert episode is not None  # nothing more is asked
    episode.whole()
    steps = tuple(
        _step(turn, known[number + 1] - known[number], tutor.pcg)
        for number, turn in enumerate(episode.trace.turns)
    )
    return Watched(tuple(one.prompt for one in asked), steps, episode.won)


def _sent(playing: Playing, came: Came | None) -> tuple[ModelQuestion | None, Episode | None]:
    """What is asked next, or the episode where it has ended."""
    try:
        return (next(playing) if came is None else playing.send(came)), None
    except StopIteration as ended:
        return None, ended.value


def _step(turn: TraceTurn, facts: int, graph: Graph) -> Step:
    events = [one for one in graph.events if one.turn == turn.turn]
    move: Mapping[str, Any] = {} if turn.parsed_move is None else turn.parsed_move
    undecided = [
        one for one in events if one.event_type == "check" and one.verdict == "undecidable"
    ]
    return Step(
        action=turn.move_type,
        move=move,
        verdict=turn.move_verdict,
        check=turn.check_verdict,
        ill_typed=_ill_typed(turn, events),
        withheld=turn.routing == "withheld",
        facts=facts,
        proven=frozenset(_texts(graph, events, {Status.VALIDATED.value})),
        opened=next((_text(graph, one) for one in undecided), ""),
        settled=frozenset(_texts(graph, events, SETTLED)),
    )


def _ill_typed(turn: TraceTurn, events: Sequence[Event]) -> bool:
    """Whether the reply was not read by the schema layer, or makes a claim that says nothing."""
    if turn.move_verdict is None:
        return turn.routing != "withheld"
    return turn.move_type is not None and any(
        one.event_type == "move_rejected" and (one.reason or "").startswith("ill-typed")
        for one in events
    )


def _texts(graph: Graph, events: Sequence[Event], ends: frozenset[str] | set[str]) -> list[str]:
    promoted = [
        one for one in events if one.event_type == "promote" and one.data.get("to_status") in ends
    ]
    return [text for one in promoted if (text := _text(graph, one))]


def _text(graph: Graph, event: Event) -> str:
    node = graph.nodes.get(event.target or "")
    return node.text if isinstance(node, Truth) else ""
