"""Games whose traces are kept: scripted players, one for each law, and the loop that plays them
without any envelope.

Run as a program it prints the traces, for another process to compare.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.envelope.trace import EpisodeTrace, States, TraceTurn, text_hash
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import Outcome, TutorV2
from stanchion.tutor.moves.legacy import parse_move
from stanchion.tutor.moves.typed import UnreadReply, read
from stanchion.tutor.picture import to_jsonl
from stanchion.tutor.rules.bash import bash_rules
from tests.tutor.worlds import Scripted

FIRST = (
    '{"action": "ASSERT", "text": "File \'config.yaml\' exists", "kind": "existence"}',
    '{"action": "PROPOSE", "intent": "look", "command": "test -f config.yaml"}',
    "Let me look.\nASSERT: File 'config.yaml' exists\nASK: is it valid?",
    "I propose: ls -la",
    "```bash\ncat config.yaml\n```",
    '{"action": "PROPOSE", "command": "rm -rf /"}',
    '{"action": "PROPOSE", "command": "awk \'{print $1}\' f"}',
    '{"action": "CHALLENGE", "text": "the disk is full", "falsify": "df -h"}',
    '{"action": "ASSERT", "text": ""}',
    '{"action": "REFORMULATE", "original": "T5", "new_text": "a file exists"}',
    '{"action": "PROPOSE"}',
    "Ich weiß es nicht.",
    "",
)
"""Replies of a player of the first law, faults of its reading included."""
SECOND = (
    '{"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt", "value": 2}}',
    '{"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt"}}',
    "I would count the lines.",
    '{"action": "PROPOSE", "command": "sudo wc -l a.txt"}',
    '{"action": "PROPOSE", "command": "cat a.txt | wc -l"}',
    '{"action": "ASK", "text": "which file?"}',
    '{"action": "PROPOSE", "command": "grep -F x b.txt"}',
    '{"action": "RESPOND", "message": "nearly"}',
    '{"action": "PROPOSE", "command": "wc -l a.txt"}',
)
"""Replies of a player of the second."""
CLAIMS = (Claim(Predicate.LINES, "a.txt", 2),)


class Looked:
    """Gives commands of the second law their outcomes."""

    def refused(self, argv: tuple[str, ...], write: bool) -> str:
        """Programs that nobody needs."""
        return f"`{argv[0]}` is not among the programs" if argv[0] == "sudo" else ""

    def run(self, argv: tuple[str, ...], write: bool) -> Outcome:
        """Two lines in one file, and nothing in the other."""
        return Outcome(True, 0, "2 a.txt\n") if argv[0] == "wc" else Outcome(True, 1)


def first(clock: Callable[[], str] = lambda: "") -> TutorV1:
    """A game of the first law."""
    world = Scripted({"cat config.yaml": (0, "timeout: 5\n", ""), "ls -la": (0, "a é\n", "")})
    tutor = TutorV1("first", world, bash_rules(), clock=clock)
    tutor.setup_game("find out whether there is a configuration", ["stay in the folder"])
    return tutor


def second(clock: Callable[[], str] = lambda: "") -> TutorV2:
    """A game of the second law."""
    return TutorV2("second", Looked(), "find out how long the notes are", CLAIMS, clock=clock)


class Player:
    """Says what a script says, whatever it is asked, and remembers what it was asked."""

    def __init__(self, script: tuple[str, ...]) -> None:
        self._script = iter(script)
        self.asked: list[tuple[str, float, int | None]] = []

    def __call__(self, prompt: str, temperature: float, seed: int | None) -> str:
        """The next reply."""
        self.asked.append((prompt, temperature, seed))
        return next(self._script)


def plain_first(script: tuple[str, ...]) -> tuple[EpisodeTrace, list[str], TutorV1]:
    """The first law's game as it is played without an envelope, written down by hand."""
    tutor, turns, prompts = first(), list[TraceTurn](), list[str]()
    states = States(tutor.pcg, tutor.state)
    for reply in script:
        tutor.next_turn()
        prompt = tutor.get_context_for_llm()
        prompts.append(prompt)
        for number, move in enumerate(parse_move(reply)):
            score, seen = tutor.state.score, len(tutor.pcg.events)
            result = tutor.execute_move(move)
            fields = {
                name: getattr(move, name) for name in move.__struct_fields__ if name != "raw_text"
            }
            action = move.move_type.value
            made = _entry(tutor, prompt, reply, score, seen, states)
            turns.append(
                TraceTurn(
                    move_type=action,
                    parsed_move=json.loads(json.dumps({"action": action, **fields})),
                    move_verdict=result.verdict.value,
                    attempts=0 if number else 1,
                    routing="parse_move",
                    **made,
                )
            )
        if tutor.check_goal_satisfaction():
            break
    return EpisodeTrace(tuple(turns)), prompts, tutor


def plain_second(
    script: tuple[str, ...], told: Callable[[TutorV2], str]
) -> tuple[EpisodeTrace, list[str], TutorV2]:
    """The second law's game without an envelope."""
    tutor, turns, prompts = second(), list[TraceTurn](), list[str]()
    states = States(tutor.pcg, tutor.state)
    for reply in script:
        tutor.next_turn()
        prompt = told(tutor)
        prompts.append(prompt)
        move = read(reply)
        data = (
            None
            if isinstance(move, UnreadReply)
            else json.loads(json.dumps(msgspec.to_builtins(move)))
        )
        score, seen = tutor.state.score, len(tutor.pcg.events)
        result = tutor.play(reply)
        made = _entry(tutor, prompt, reply, score, seen, states)
        action = None if data is None else data["action"]
        turns.append(
            TraceTurn(
                move_type=action,
                parsed_move=data,
                move_verdict=result.verdict.value,
                attempts=1,
                routing="read",
                **made,
            )
        )
        if tutor.check_goal_satisfaction():
            break
    return EpisodeTrace(tuple(turns)), prompts, tutor


def _entry(
    tutor: TutorV1 | TutorV2, prompt: str, reply: str, score: int, seen: int, states: States
) -> dict[str, Any]:
    checks = [event.verdict for event in tutor.pcg.events[seen:] if event.event_type == "check"]
    return {
        "turn": tutor.state.turn,
        "prompt_hash": text_hash(prompt),
        "output_hash": text_hash(reply),
        "check_verdict": checks[0] if checks else None,
        "score_delta": tutor.state.score - score,
        "state_hash": states.hash(),
    }


def world_of(tutor: TutorV1 | TutorV2) -> list[dict[str, Any]]:
    """Everything in a game's graph, without its clocks."""
    lines = [json.loads(line) for line in to_jsonl(tutor.pcg).splitlines()]
    return [{**line, "created_at": ""} for line in lines]


def printed() -> str:
    """Both traces as an envelope with every layer off writes them, at a time of its own."""
    ticks = count(len(sys.argv) * 1000)
    clock = lambda: f"2020-01-01T{next(ticks)}"  # noqa: E731 - a clock that is handed in is a function
    made = {}
    for name, tutor, script in (("first", first(clock), FIRST), ("second", second(clock), SECOND)):
        made[name] = (
            TutorEnvelope(base_tutor=tutor)
            .run_episode(Player(script), len(script))
            .trace.to_jsonl()
        )
    return json.dumps(made)


if __name__ == "__main__":
    sys.stdout.write(printed())
