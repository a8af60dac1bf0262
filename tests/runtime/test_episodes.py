"""Episodes in a run: what the envelope counts, the trail records and the budget charges is the
same."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import Action, Finding, Refused, Shield, Stage
from stanchion.audit.manifest_check import hash_faults, read
from stanchion.audit.reader import TrailReader
from stanchion.ops.views.runs import checked
from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.tutor.bundles.file import Bundle, ModelParams
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.envelope.trace import EpisodeTrace
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import Outcome, TutorV2
from stanchion.tutor.manifests.manifest import ManifestError
from stanchion.tutor.playing.episodes import aplay, play
from stanchion.tutor.playing.replays import ReplayError, replay
from stanchion.tutor.rules.bash import bash_rules
from stanchion.tutor.rules.typed import Spoken, TypedRule
from tests.runtime.test_repair import OneWord, charged, journalled, recorded
from tests.tutor.golden_games import FIRST, SECOND, Player, first, second, world_of

OPEN = '{"action":"ASSERT","claim":{"predicate":"lines","subject":"a.txt","value":2}}'
COUNT = '{"action":"PROPOSE","argv":["wc","-l","a.txt"]}'
ON: dict[str, Any] = {
    "layer1_schema": "lenient",
    "layer2_repair": "bestofn",
    "repair_max_attempts": 2,
}


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
            return (
                await aplay(run, TutorEnvelope(base_tutor=second(), **ON), model, 1),
                recorded(made),
                charged(made),
            )

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
    assert [(one.routing, one.attempts) for one in episode.trace.turns] == [
        ("withheld", 1),
        ("read", 1),
    ]
    assert recorded(made) == charged(made) == 2


def test_a_budget_ends_the_episode_with_what_it_has() -> None:
    player, made = Player((OPEN,) * 9), journalled(2)
    with made.run() as run:
        episode = play(run, TutorEnvelope(base_tutor=second(), **ON), player, 3)
    assert [one.attempts for one in episode.trace.turns] == [2]
    assert episode.trace.turns[0].check_verdict == "undecidable"
    assert (episode.won, episode.calls, "2 calls" in episode.stopped) == (False, 2, True)


class Stops:
    """Ends the run on a reply of some words."""

    id = "stops"
    deadline_ms = 60_000
    stages = (Stage.MODEL_REPLY,)

    def judge(self, event: Any) -> Finding | None:
        """End it."""
        return (
            Finding(Action.HALT, "mine.stop", text="that is enough")
            if event.text == "stop"
            else None
        )


def test_a_manifest_and_the_trace_are_written(tmp_path: Path) -> None:
    envelope = TutorEnvelope(base_tutor=second(), manifest_path=str(tmp_path / "m.json"), **ON)
    journal = tmp_path / "trail"
    with (
        Shield.load("default", store="memory:", journal=journal) as shield,
        shield.run("ann") as run,
    ):
        episode = play(run, envelope, Player(("hm", COUNT)), 1, name="small")
    data = read(tmp_path / "m.json")
    assert checked(data, TrailReader(journal), tmp_path).wrong == ()
    assert (data["tutor"]["law"], data["model"]["model_id"], data["benchmark"]["benchmark_ids"]) == (  # noqa: E501
        "2", "small", ["second"],
    )  # fmt: skip
    assert data["result"] == {
        "turns": 1,
        "model_calls": 2,
        "score": 3,
        "won": True,
        "stopped": None,
    }
    assert data["repair_stats"] == {"total_retries": 1, "retries_per_turn": [1]}
    assert EpisodeTrace.from_jsonl((tmp_path / "m.trace.jsonl").read_text()) == episode.trace
    assert sorted(one.name for one in tmp_path.glob("m.*")) == [
        "m.json",
        "m.recording.jsonl",
        "m.trace.jsonl",
    ]


class Breaks:
    """Runs commands, until it raises."""

    def refused(self, _argv: tuple[str, ...], _write: bool, /) -> str:
        """Everything would run."""
        return ""

    def run(self, argv: tuple[str, ...], _write: bool, /) -> Outcome:
        """Show two lines, or raise."""
        if argv[:1] == ("cat",):
            raise OSError("the password is xyzzy")
        return Outcome(True, 0, "2 a.txt\n")

    def is_safe(self, _command: str, /) -> tuple[bool, str]:
        """Everything is."""
        return True, ""

    def execute(self, command: str, _mode: str = "read", /) -> tuple[int, str, str]:
        """The same for the first law."""
        return (0, self.run(tuple(command.split()), False).stdout, "")


class Gives:
    """A model with some replies, and an error behind them."""

    def __init__(self, *replies: str) -> None:
        self._left = iter(replies)

    def __call__(self, _prompt: str, _temperature: float, _seed: int | None, /) -> str:
        for reply in self._left:
            return reply
        raise ConnectionError("the password is xyzzy")


def played(how: str, envelope: TutorEnvelope, model: Any, turns: int) -> Any:
    """Play in a run, in one of two ways."""
    if how == "play":
        with journalled(99).run() as run:
            return play(run, envelope, model, turns)

    async def main() -> Any:
        async with journalled(99).run() as run:
            return await aplay(run, envelope, model, turns)

    return asyncio.run(main())


@pytest.mark.parametrize("how", ["play", "aplay"])
@pytest.mark.parametrize(("make", "script"), [(first, FIRST), (second, SECOND)])
def test_every_episode_can_be_played_again(
    tmp_path: Path, how: str, make: Any, script: tuple[str, ...]
) -> None:
    path = tmp_path / "m.json"
    episode = played(
        how, TutorEnvelope(base_tutor=make(), manifest_path=str(path)), Player(script), len(script)
    )
    again = replay(path)
    assert (again.turns, again.differences, again.notes) == (episode.turns, (), ())


def test_what_the_game_was_made_with_is_played_again(tmp_path: Path) -> None:
    rule = TypedRule("r", ("wc", "-l", "{file}"), Spoken(Predicate.READABLE, "{file}"))
    claims = [Claim(Predicate.LINES, "a.txt", 2)]
    ask = [f'{{"action":"ASK","text":"{one}?"}}' for one in "abc"]
    made = TutorV2("g", Breaks(), "count", claims, writes=True, wip=1, rules=[rule])
    write = COUNT.replace("}", ',"write":true}')
    older = TutorV1("g", Breaks(), bash_rules())
    older.setup_game("count", ["be quick"])
    games: tuple[Any, ...] = (made, older)
    for number, tutor in enumerate(games):
        path = tmp_path / f"{number}.json"
        played(
            "play", TutorEnvelope(base_tutor=tutor, manifest_path=str(path)), Gives(*ask, write), 4
        )
        assert (replay(path).turns, replay(path).differences) == (4, ())


@pytest.mark.parametrize("how", ["play", "aplay"])
@pytest.mark.parametrize("law", ["1", "2"])
@pytest.mark.parametrize(
    ("replies", "error", "why", "calls"),
    [
        ((OPEN, COUNT), ConnectionError, "the model raised `ConnectionError`", 2),
        ((), ConnectionError, "the model raised `ConnectionError`", 0),
        (
            (OPEN, '{"action":"PROPOSE","command":"cat a.txt"}'),
            OSError,
            "a move raised `OSError`",
            2,
        ),
    ],
)
def test_what_raises_leaves_a_manifest_that_can_be_played_again(
    tmp_path: Path,
    how: str,
    law: str,
    replies: tuple[str, ...],
    error: type[Exception],
    why: str,
    calls: int,
) -> None:
    path = tmp_path / "m.json"
    tutor: Any = TutorV2("g", Breaks(), "count", [Claim(Predicate.LINES, "b.txt", 2)])
    if law == "1":
        tutor = TutorV1("g", Breaks(), bash_rules())
        tutor.setup_game("count")
    hands = tutor.executor if law == "1" else tutor.runner
    with pytest.raises(error, match="xyzzy"):
        played(how, TutorEnvelope(base_tutor=tutor, manifest_path=str(path)), Gives(*replies), 5)
    data = read(path)
    assert hash_faults(data) == []
    assert (data["result"]["stopped"], data["result"]["model_calls"], data["result"]["won"]) == (
        why,
        calls,
        False,
    )
    assert not any(b"xyzzy" in one.read_bytes() for one in tmp_path.glob("m.*"))
    assert (tutor.executor if law == "1" else tutor.runner) is hands
    again = replay(path)
    assert (again.turns, again.differences) == (calls, ())


def test_a_game_that_is_under_way_is_not_recorded(tmp_path: Path) -> None:
    path, tutor = tmp_path / "m.json", second()
    tutor.next_turn()
    played("play", TutorEnvelope(base_tutor=tutor, manifest_path=str(path)), Player((COUNT,)), 1)
    assert (read(path)["outputs"]["recording"], hash_faults(read(path))) == (None, [])
    with pytest.raises(ReplayError, match="record a game from its beginning"):
        replay(path)


@pytest.mark.parametrize("wanted", [True, False])
def test_without_a_place_it_is_written_to_the_state_where_it_is_wanted(
    tmp_path: Path, wanted: bool
) -> None:
    with journalled(9).run() as run:
        play(run, TutorEnvelope(base_tutor=second(), manifest_enabled=wanted), Player((COUNT,)), 1)
    found = list((tmp_path / "state" / "tutor").glob("*/manifest.json"))
    assert [hash_faults(read(one)) for one in found] == [[]] * wanted


def test_other_games_have_other_hashes(tmp_path: Path) -> None:
    hashes = []
    games: tuple[Any, ...] = (second, second, first)
    for number, make in enumerate(games):
        path = tmp_path / f"{number}.json"
        with journalled(9).run() as run:
            play(
                run, TutorEnvelope(base_tutor=make(), manifest_path=str(path)), Player((COUNT,)), 1
            )
        hashes.append(read(path)["benchmark"]["benchmark_files_hash"])
    assert hashes[0] == hashes[1] != hashes[2]


def test_chance_needs_a_seed_before_anything_is_asked(tmp_path: Path) -> None:
    player, path = Player((COUNT,)), str(tmp_path / "m.json")
    with journalled(9).run() as run:
        envelope = TutorEnvelope(base_tutor=second(), deterministic_mode=False, manifest_path=path)
        with pytest.raises(ManifestError, match=r"model\.seed"):
            play(run, envelope, player, 1, temperature=0.5)
    assert player.asked == []


@pytest.mark.parametrize(
    ("limit", "replies", "attempts", "says"),
    [
        (2, ("hm", OPEN, COUNT), [2], "2 calls"),
        (9, ("hm", "stop", COUNT), [2], "that is enough"),
        (9, ("stop",), [1], "that is enough"),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_ends_the_run_is_raised_and_the_trace_is_kept(
    tmp_path: Path,
    limit: int,
    replies: tuple[str, ...],
    attempts: list[int],
    says: str,
    asynchronous: bool,
) -> None:
    tutor, made = second(), journalled(limit, Stops(), action="halt")
    envelope = TutorEnvelope(base_tutor=tutor, manifest_path=str(tmp_path / "m.json"), **ON)
    before = len(tutor.pcg.events)

    def played() -> None:
        with made.run() as run:
            play(run, envelope, Player(replies), 5)

    async def aplayed() -> None:
        async with made.run() as run:
            await aplay(run, envelope, Player(replies), 5)

    with pytest.raises(Refused) as refused:
        asyncio.run(aplayed()) if asynchronous else played()
    assert refused.value.ended
    episode = refused.value.partial[-1]
    data = read(tmp_path / "m.json")
    assert hash_faults(data) == []
    assert says in data["result"]["stopped"]
    assert EpisodeTrace.from_jsonl((tmp_path / "m.trace.jsonl").read_text()) == episode.trace
    assert [(one.attempts, one.routing) for one in episode.trace.turns] == [
        (one, "halted") for one in attempts
    ]
    assert data["result"]["model_calls"] == recorded(made) == charged(made) == sum(attempts)
    assert len(tutor.pcg.events) == before  # nothing of the turn was done after the end


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
        play(
            run,
            TutorEnvelope(base_tutor=second(), layer3_policy="bundle", bundle=bundle),
            player,
            1,
        )
    assert player.given == bundle.model_params


SAID = st.one_of(
    st.sampled_from([OPEN, COUNT, "hm", "let me think", "stop", *SECOND]), st.text(max_size=20)
)


@given(
    st.lists(SAID, min_size=40, max_size=40),
    st.integers(0, 3),
    st.integers(1, 12),
    st.sampled_from(["off", "strict", "lenient"]),
    st.sampled_from(["block", "halt"]),
)
def test_manifest_trace_trail_and_budget_agree(
    replies: list[str], most: int, limit: int, schema: Any, action: str
) -> None:
    player, made = Player(tuple(replies)), journalled(limit, OneWord(), Stops(), action=action)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path(folder, "m.json")
        envelope = TutorEnvelope(
            base_tutor=second(), layer1_schema=schema, layer2_repair="bestofn",
            repair_max_attempts=most, manifest_path=str(path),
        )  # fmt: skip
        with made.run() as run, contextlib.suppress(Refused):
            play(run, envelope, player, 6)
        data, trace = (
            read(path),
            EpisodeTrace.from_jsonl(path.with_name("m.trace.jsonl").read_text()),
        )
    assert all(one.attempts <= 1 + most for one in trace.turns)
    assert (
        data["result"]["model_calls"]
        == trace.calls
        == len(player.asked)
        == recorded(made)
        == charged(made)
        <= limit
    )
    assert data["repair_stats"]["total_retries"] == trace.calls - len(
        {one.turn for one in trace.turns}
    )
