"""Layer 2: the best of a few replies, compared without touching the game, and never more of them
than was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.envelope.envelope import EVIDENCE, Episode, TutorEnvelope
from stanchion.tutor.envelope.laws import Foreseen, law_of, stood
from stanchion.tutor.envelope.repair import seed_of
from stanchion.tutor.envelope.schema.reading import read_move
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import MoveVerdict
from tests.tutor.golden_games import FIRST, SECOND, Looked, Player, first, second, world_of

OPEN = '{"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt", "value": 2}}'
OTHER = '{"action": "ASSERT", "claim": {"predicate": "file", "subject": "a.txt"}}'
ILL = '{"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt"}}'
COUNT = '{"action": "PROPOSE", "command": "wc -l a.txt"}'
GREP = '{"action": "PROPOSE", "command": "grep -F x b.txt"}'
SUDO = '{"action": "PROPOSE", "command": "sudo wc -l a.txt"}'
WRONG = '{"action": "ASSERT", "claim": {"predicate": "contains", "subject": "b.txt", "value": "x"}}'
SAID = '{"action": "RESPOND", "message": "hm"}'
NOISE = "I do not know."


def repaired(
    tutor: TutorV1 | TutorV2, script: tuple[str, ...], turns: int = 1, **more: Any
) -> tuple[Episode, Player]:
    """A game in which replies are asked for again, up to three times a turn."""
    player = Player(script)
    given = {"layer2_repair": "bestofn", "repair_max_attempts": 3, **more}
    return TutorEnvelope(base_tutor=tutor, **given).run_episode(player, turns), player


def test_an_open_claim_is_answered_by_a_demand_for_evidence() -> None:
    tutor = second()
    episode, player = repaired(tutor, (OPEN, COUNT))
    [turn] = episode.trace.turns
    assert (turn.move_type, turn.attempts, episode.won) == ("PROPOSE", 2, True)
    prompts = [prompt for prompt, _, _ in player.asked]
    assert prompts[1].startswith(prompts[0])
    assert f"{EVIDENCE}: an observation of `wc -l a.txt`." in prompts[1]


def test_reasons_are_fed_back() -> None:
    _, player = repaired(second(), (NOISE, ILL, COUNT))
    assert "no JSON" in player.asked[1][0] or "JSON object" in player.asked[1][0]
    assert "`lines` needs a whole number" in player.asked[2][0]


@pytest.mark.parametrize(
    ("script", "chosen"),
    [
        ((OPEN, ILL, NOISE, COUNT), 3),
        ((OPEN, ILL, NOISE, OTHER), 0),
        ((NOISE, ILL, OPEN, OTHER), 2),
        ((NOISE, NOISE, NOISE, ILL), 3),
        ((ILL, NOISE, NOISE, SAID), 3),
        ((OPEN, SAID), 0),
        ((OPEN, SUDO), 0),
        ((COUNT,), 0),
        ((SUDO,), 0),
    ],
)
def test_the_best_is_taken(script: tuple[str, ...], chosen: int) -> None:
    episode, player = repaired(second(), script)
    best = read_move(script[chosen], "off", law_of(second()).shape).move
    assert len(player.asked) == len(script) == episode.trace.turns[0].attempts
    expected = None if best is None else law_of(second()).plain(best)[1]
    assert episode.trace.turns[0].parsed_move == expected


def test_what_is_proven_comes_before_what_is_refuted_and_that_before_an_action() -> None:
    verdicts = [
        Foreseen(MoveVerdict.LEGAL, CheckVerdict.PROVABLE),
        Foreseen(MoveVerdict.LEGAL, CheckVerdict.REFUTABLE),
        Foreseen(MoveVerdict.LEGAL, brings=True),
        Foreseen(MoveVerdict.LEGAL, CheckVerdict.UNDECIDABLE),
        Foreseen(MoveVerdict.LEGAL, CheckVerdict.ILL_TYPED),
        Foreseen(MoveVerdict.BLOCKED, CheckVerdict.PROVABLE),
    ]
    ranks = [stood([one], "", False).rank for one in verdicts]
    assert ranks == sorted(set(ranks))
    assert (
        stood([], "", False).rank
        > stood([Foreseen(MoveVerdict.ILLEGAL, brings=True)], "", False).rank
    )
    assert stood(verdicts, "", False).rank == ranks[-1]


def test_the_first_law_cannot_be_talked_round() -> None:
    tutor = first()
    proposed, wrong = (
        '{"action": "PROPOSE", "command": "test -f a.yaml"}',
        "File 'nope.yaml' exists",
    )
    claims = [
        json.dumps({"action": "ASSERT", "text": text}) for text in ("there is a nope.yaml", wrong)
    ]
    episode, _ = repaired(tutor, (proposed, claims[0], claims[1], claims[1], claims[1]), 2)
    assert episode.trace.turns[1].check_verdict == "undecidable"
    assert wrong not in [one.text for one in tutor.pcg.nodes.values() if hasattr(one, "text")]
    # the law itself would have proven it
    alone = first()
    TutorEnvelope(base_tutor=alone).run_episode(Player((proposed, claims[1])), 2)
    assert alone.pcg.events[-1].event_type in ("promote", "goal_check")


@pytest.mark.parametrize(
    ("triggers", "script", "calls"),
    [
        (("ILL_TYPED", "UNDECIDABLE"), (OPEN, ILL, NOISE, COUNT), 4),
        (("ILL_TYPED",), (OPEN,), 1),
        (("UNDECIDABLE",), (ILL,), 1),
        (("BLOCKED",), (SUDO, COUNT), 2),
        ((), (NOISE,), 1),
    ],
)
def test_triggers_are_names_of_verdicts(
    triggers: tuple[str, ...], script: tuple[str, ...], calls: int
) -> None:
    episode, _ = repaired(second(), script, repair_trigger_verdicts=triggers)
    assert episode.calls == calls


def test_a_refuted_claim_is_asked_for_again_where_that_is_said() -> None:
    episode, _ = repaired(second(), (GREP, WRONG, COUNT), 2, repair_trigger_verdicts=("REFUTABLE",))
    assert [one.attempts for one in episode.trace.turns] == [1, 2]
    assert episode.trace.turns[1].check_verdict == "refutable"


def test_nothing_is_asked_again_unless_it_is_on() -> None:
    player = Player((OPEN, ILL))
    episode = TutorEnvelope(base_tutor=second(), repair_max_attempts=5).run_episode(player, 2)
    assert episode.calls == 2


def test_every_attempt_has_a_seed_of_its_own() -> None:
    _, player = repaired(second(), (NOISE,) * 8, 2, repair_seed=7)
    seeds = [seed for _, _, seed in player.asked]
    assert (seeds[0], seeds[4]) == (None, None)
    again = [seed for seed in seeds if seed is not None]
    assert len({*again}) == 6
    assert again == [seed_of(7, turn, attempt) for turn in (1, 2) for attempt in (1, 2, 3)]
    assert all(0 <= seed < 1 << 31 for seed in again)
    _, without = repaired(second(), (NOISE,) * 4)
    assert {seed for _, _, seed in without.asked} == {None}


def test_attempts_have_the_temperature_of_repair() -> None:
    _, player = repaired(second(), (NOISE,) * 4, repair_temperature=0.7, deterministic_mode=False)
    assert [heat for _, heat, _ in player.asked] == [0.0, 0.7, 0.7, 0.7]


def test_replies_that_break_the_first_laws_reading_are_asked_for_again() -> None:
    episode, _ = repaired(first(), ('{"action": 5}', '{"action": "PROPOSE", "command": "ls"}'))
    assert (episode.trace.turns[0].move_type, episode.calls) == ("PROPOSE", 2)
    episode, _ = repaired(first(), ('{"action": 5}',) * 4)
    [turn] = episode.trace.turns
    assert (turn.move_type, turn.move_verdict, turn.score_delta, turn.attempts) == (
        None,
        None,
        0,
        4,
    )


REPLIES = st.sampled_from(
    [*FIRST, *SECOND, OPEN, ILL, COUNT, GREP, WRONG, SAID, NOISE, '{"action": 5}']
)


class Counting(Looked):
    """Counts the commands that really run."""

    def __init__(self) -> None:
        self.ran = 0

    def run(self, argv: tuple[str, ...], write: bool) -> Any:
        """Run it."""
        self.ran += 1
        return super().run(argv, write)


@given(
    st.lists(REPLIES, min_size=40, max_size=40),
    st.integers(0, 4),
    st.integers(1, 8),
    st.sampled_from(["strict", "lenient", "off"]),
    st.booleans(),
)
def test_calls_are_bounded_and_counted(
    replies: list[str], most: int, turns: int, schema: str, old: bool
) -> None:
    world = Counting()
    tutor = first() if old else TutorV2("second", world, "goal", second().goal)
    given = {"repair_max_attempts": most, "layer1_schema": schema}
    episode, player = repaired(tutor, tuple(replies), turns, **given)
    asked = [
        len([one for one in episode.exchanges if one.turn == turn])
        for turn in range(1, episode.turns + 1)
    ]
    assert all(1 <= calls <= 1 + most for calls in asked)
    assert asked == [one.attempts for one in episode.trace.turns if one.attempts]
    assert sum(asked) == len(player.asked) == episode.calls == episode.trace.calls
    made = [
        one
        for one in episode.trace.turns
        if one.move_type == "PROPOSE" and one.move_verdict == "legal"
    ]
    assert old or world.ran == len(made)
    if schema != "off":
        assert len(episode.trace.turns) == episode.turns  # one move a turn at most


@given(st.lists(REPLIES, max_size=12), st.booleans())
def test_looking_ahead_changes_nothing_and_is_right(replies: list[str], old: bool) -> None:
    tutor = first() if old else second()
    law = law_of(tutor)
    for reply in replies:
        law.begin()
        move = read_move(reply, "lenient", law.shape).move
        if move is None:
            continue
        before, state = world_of(tutor), repr(law.state)
        ahead = law.foresee(move)
        assert (world_of(tutor), repr(law.state)) == (before, state)
        seen = len(law.graph.events)
        result = law.make(move)
        checks = [one.verdict for one in law.graph.events[seen:] if one.event_type == "check"]
        if checks:
            assert ahead.check is not None
            assert checks == [ahead.check.value]
        assert ahead.move is result.verdict or ahead.check is CheckVerdict.ILL_TYPED
