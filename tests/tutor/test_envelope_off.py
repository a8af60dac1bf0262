"""With every layer off the envelope changes nothing: prompts, calls, reading, verdicts, scores and
states are the same, byte for byte, as those of the kept traces and of the game without an
envelope."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.envelope.laws import context_of
from stanchion.tutor.envelope.trace import (
    EpisodeTrace,
    ModelExchange,
    TraceError,
    from_lines,
    to_lines,
)
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from tests.tutor.golden_games import (
    FIRST,
    SECOND,
    Player,
    first,
    plain_first,
    plain_second,
    second,
    world_of,
)

UPDATE = os.environ.get("STANCHION_UPDATE_GOLDEN") == "1"
GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).resolve().parents[2]
OFF = {"layer1_schema": "off", "layer2_repair": "off", "layer3_policy": "off"}
GAMES: dict[str, tuple[Any, tuple[str, ...], Any]] = {
    "first": (first, FIRST, lambda: plain_first(FIRST)),
    "second": (second, SECOND, lambda: plain_second(SECOND, context_of)),
}


def kept(name: str) -> str:
    """The kept trace of a game."""
    return (GOLDEN / f"{name}.jsonl").read_bytes().decode()


@pytest.mark.parametrize("name", GAMES)
def test_a_game_without_an_envelope_is_as_it_was(name: str) -> None:
    trace = GAMES[name][2]()[0]
    if UPDATE:
        (GOLDEN / f"{name}.jsonl").write_bytes(trace.to_jsonl().encode())
    assert trace.to_jsonl() == kept(name), (
        "if this is right, run with STANCHION_UPDATE_GOLDEN=1, and look at the change"
    )


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("given", [OFF, {"config": EnvelopeConfig()}, {}])
def test_an_envelope_that_is_off_changes_nothing(name: str, given: dict[str, Any]) -> None:
    make, script, play = GAMES[name]
    tutor, player = make(), Player(script)
    episode = TutorEnvelope(base_tutor=tutor, **given).run_episode(player, len(script))
    plain, prompts, alone = play()
    assert episode.trace.to_jsonl() == plain.to_jsonl() == kept(name)
    assert player.asked == [(prompt, 0.0, None) for prompt in prompts]
    assert world_of(tutor) == world_of(alone)
    assert (tutor.state, episode.won) == (alone.state, alone.state.goal_satisfied)
    assert episode.calls == episode.trace.calls == len(prompts) == episode.turns


def test_the_kept_games_show_every_verdict() -> None:
    turns = [one for name in GAMES for one in EpisodeTrace.from_jsonl(kept(name)).turns]
    assert {one.move_verdict for one in turns} == {"legal", "illegal", "blocked"}
    assert {one.check_verdict for one in turns} >= {None, "provable", "undecidable"}
    assert any(one.attempts == 0 for one in turns)


@pytest.mark.parametrize(
    "around",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns"},
    ],
)
def test_traces_are_the_same_in_every_process(around: dict[str, str]) -> None:
    env = {**os.environ, **around, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.tutor.golden_games", *around]
    done = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    assert json.loads(done.stdout) == {name: kept(name) for name in GAMES}


def test_what_breaks_the_first_laws_reading_breaks_it_still() -> None:
    with pytest.raises(AttributeError):
        TutorEnvelope(base_tutor=first()).run_episode(Player(('{"action": 5}',)), 1)


def test_a_trace_is_read_again() -> None:
    trace = plain_first(FIRST)[0]
    assert EpisodeTrace.from_jsonl(trace.to_jsonl()) == trace
    said = (ModelExchange(1, 0, "a\ud800", 0.0, None, "b"), ModelExchange(1, 1, "a", 0.0, 3, None))
    assert from_lines(to_lines(said), ModelExchange) == said


@pytest.mark.parametrize(
    "text", ["{", '{"turn": 1}', "[]", '{"turn": 1, "extra": 2}', "[" * 100_000]
)
def test_lines_that_are_no_trace_are_refused_by_number(text: str) -> None:
    good = plain_first(FIRST)[0].to_jsonl()
    with pytest.raises(TraceError, match=r"line \d+"):
        EpisodeTrace.from_jsonl(good + text)


def test_half_a_character_in_a_reply_is_written_down() -> None:
    for tutor, reply in (
        (first(), '{"action": "ASSERT", "text": "a\\ud800"}'),
        (second(), '{"action": "ASK", "text": "a\\ud800"}'),
    ):
        trace = TutorEnvelope(base_tutor=tutor).run_episode(Player((reply,)), 1).trace
        assert EpisodeTrace.from_jsonl(trace.to_jsonl()) == trace


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"config": EnvelopeConfig(), "layer1_schema": "off"}, "layer1_schema"),
        ({"layer1_scheme": "off"}, "layer1_scheme"),
        ({"layer1_schema": "loose"}, "layer1_schema"),
        ({"layer3_policy": "bundle"}, "layer3_policy"),
    ],
)
def test_an_envelope_that_cannot_be_is_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(EnvelopeError, match=f"`{field}`"):
        TutorEnvelope(base_tutor=first(), **given)


def test_what_is_no_referee_is_refused() -> None:
    with pytest.raises(EnvelopeError, match="`base_tutor`"):
        TutorEnvelope(base_tutor=object())  # type: ignore[arg-type]


@pytest.mark.parametrize("turns", [0, -1, True, 1.5])
def test_turns_are_counted(turns: Any) -> None:
    with pytest.raises(EnvelopeError, match="`turns`"):
        TutorEnvelope(base_tutor=first()).run_episode(Player(()), turns)


def test_a_referee_is_kept_as_it_is() -> None:
    for tutor in (first(), second()):
        envelope = TutorEnvelope(base_tutor=tutor)
        assert envelope.base_tutor is tutor
        assert isinstance(tutor, TutorV1 | TutorV2)
