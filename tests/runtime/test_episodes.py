"""Episodes in a run: what the envelope counts, the trail records and the budget charges is the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import Action, Finding, Refused, Shield, Stage
from stanchion.runtime.tutor.episodes import aplay, play
from stanchion.tutor.bundles.bundle import Bundle, ModelParams
from stanchion.tutor.envelope.envelope import TutorEnvelope
from tests.runtime.test_repair import OneWord, charged, journalled, recorded
from tests.tutor.golden_games import FIRST, SECOND, Player, first, second, world_of

OPEN = '{"action":"ASSERT","claim":{"predicate":"lines","subject":"a.txt","value":2}}'
COUNT = '{"action":"PROPOSE","argv":["wc","-l","a.txt"]}'
ON: dict[str, Any] = {"layer1_schema": "lenient", "layer2_repair": "bestofn", "repair_max_attempts": 2}


@pytest.mark.parametrize(("make", "script"), [(first, FIRST), (second, SECOND)])
def test_a_run_changes_nothing_of_an_episode(make: Any, script: tuple[str, ...]) -> None:
    through, alone = make(), make()
    made = journalled(100)
    player, other = Player(script), Player(script)
    with made.run() as run:
        episode = play(run, TutorEnvelope(base_tutor=through), player, len(script))
    plain = TutorEnvelope(base_tutor=alone).run_episode(other, len(script))
    assert episode == plain
    assert player.asked == other.asked
    assert world_of(through) == world_of(alone)
    assert recorded(made) == charged(made) == episode.calls


def test_async_code_plays_too() -> None:
    player = Player(("hm", COUNT))

    async def model(prompt: str, temperature: float, seed: int | None) -> str:
        return player(prompt, temperature, seed)

    async def main() -> Any:
        made = journalled(100)
        async with made.run() as run:
            return await aplay(run, TutorEnvelope(base_tutor=second(), **ON), model, 1), recorded(made), charged(made)

    episode, trail, budget = asyncio.run(main())
    assert (episode.won, episode.calls, trail, budget) == (True, 2, 2, 2)


def test_a_reply_that_a_guard_refuses_is_no_move_and_the_advice_is_told() -> None:
    player = Player(("let me think", COUNT))
    with journalled(100, OneWord()).run() as run:
        episode = play(run, TutorEnvelope(base_tutor=second(), **ON), player, 1)
    assert (episode.won, episode.calls) == (True, 2)
    assert "- answer with one word" in player.asked[1][0]
    assert episode.exchanges[0].output is None


def test_without_repair_a_guard_does_not_have_the_model_asked_again() -> None:
    player, made = Player(("let me think", COUNT)), journalled(100, OneWord())
    with made.run() as run:
        episode = play(run, TutorEnvelope(base_tutor=second()), player, 2)
    assert [(one.routing, one.attempts) for one in episode.trace.turns] == [("withheld", 1), ("read", 1)]
    assert recorded(made) == charged(made) == 2


def test_a_budget_ends_the_episode_with_what_it_has() -> None:
    player, made = Player((OPEN,) * 9), journalled(2)
    with made.run() as run:
        episode = play(run, TutorEnvelope(base_tutor=second(), **ON), player, 3)
    assert [one.attempts for one in episode.trace.turns] == [2]
    assert episode.trace.turns[0].check_verdict == "undecidable"
    assert (episode.won, episode.calls, "2 calls" in episode.stopped) == (False, 2, True)


def test_what_ends_the_run_is_raised() -> None:
    policy = {"name": "mine", "guards": [{"use": "budget", "calls": 1, "action": "halt"}]}
    with Shield.load(policy).run() as run, pytest.raises(Refused) as refused:
        play(run, TutorEnvelope(base_tutor=second()), Player((OPEN,) * 3), 3)
    assert refused.value.ended


class Careful:
    """Warns the agent before every call of a model."""

    id = "careful"
    stages = (Stage.MODEL_CALL,)

    def judge(self, event: Any) -> Finding | None:
        """Warn."""
        return Finding(Action.WARN, "mine.careful", text="mind the time")


def test_what_guards_tell_an_agent_reaches_the_model() -> None:
    player = Player((OPEN, COUNT))
    with journalled(100, Careful()).run() as run:
        play(run, TutorEnvelope(base_tutor=second()), player, 2)
    assert "mind the time" in player.asked[1][0]


def test_a_model_that_can_be_tuned_is() -> None:
    class Tuned(Player):
        given: ModelParams | None = None

        def tuned(self, params: ModelParams) -> Tuned:
            """Remember them."""
            self.given = params
            return self

    player, bundle = Tuned((COUNT,)), Bundle(model_params=ModelParams(top_p=0.5))
    with journalled(100).run() as run:
        play(run, TutorEnvelope(base_tutor=second(), layer3_policy="bundle", bundle=bundle), player, 1)
    assert player.given == bundle.model_params


@given(
    st.lists(st.sampled_from([OPEN, COUNT, "hm", "let me think", *SECOND]), min_size=40, max_size=40),
    st.integers(0, 3),
    st.integers(1, 12),
    st.sampled_from(["off", "strict", "lenient"]),
)
def test_trace_trail_and_budget_agree(replies: list[str], most: int, limit: int, schema: Any) -> None:
    player, made = Player(tuple(replies)), journalled(limit, OneWord())
    envelope = TutorEnvelope(
        base_tutor=second(), layer1_schema=schema, layer2_repair="bestofn", repair_max_attempts=most
    )
    with made.run() as run:
        episode = play(run, envelope, player, 6)
    assert all(one.attempts <= 1 + most for one in episode.trace.turns)
    assert episode.trace.calls == episode.calls == len(player.asked) == recorded(made) == charged(made) <= limit
