"""Layers 1 and 3 in play, and what no layer touches: the law, its advice, and what is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from stanchion.tutor.advice.advisor import advise
from stanchion.tutor.advice.failures import GameTrace as Steps, PlayedStep, failure
from stanchion.tutor.bundles.file import Bundle, Exemplar, ModelParams
from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
from stanchion.tutor.envelope.envelope import Episode, TutorEnvelope, WithheldReply
from stanchion.tutor.graph import Observation
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from tests.architecture.import_rules import imports
from tests.sources import tree_of
from tests.tutor.golden_games import FIRST, SECOND, Player, first, second, world_of

SRC = Path(__file__).resolve().parents[2] / "src"
COUNT = '{"action": "PROPOSE", "command": "wc -l a.txt"}'
ON: dict[str, Any] = {
    "layer1_schema": "lenient",
    "layer2_repair": "bestofn",
    "repair_max_attempts": 2,
}


def played(
    tutor: TutorV1 | TutorV2, script: tuple[str, ...], **more: Any
) -> tuple[Episode, Player]:
    """A game, one reply a turn."""
    player = Player(script)
    return TutorEnvelope(base_tutor=tutor, **more).run_episode(player, len(script)), player


@pytest.mark.parametrize("schema", ["strict", "lenient"])
@pytest.mark.parametrize(
    "reply", ["I do not know.", '{"action": 5}', '{"action": "PROPOSE"}', "", '{"action": "PRO']
)
def test_what_is_no_move_does_not_reach_the_law(schema: str, reply: str) -> None:
    for tutor, untouched in ((first(), first()), (second(), second())):
        episode, _ = played(tutor, (reply,), layer1_schema=schema)
        [turn] = episode.trace.turns
        assert (turn.move_type, turn.parsed_move, turn.move_verdict, turn.score_delta) == (
            None,
            None,
            None,
            0,
        )
        assert turn.routing == "ill_typed"
        untouched.next_turn()
        assert world_of(tutor) == world_of(untouched)
        assert tutor.state == untouched.state


@pytest.mark.parametrize(
    ("reply", "routing"),
    [
        (COUNT, "clean_json"),
        (f"Sure: {COUNT}", "extracted"),
        (f"```json\n{COUNT}\n```", "fence"),
        ("PROPOSE: wc -l a.txt", "degraded"),
    ],
)
def test_what_is_read_leniently_is_played_once(reply: str, routing: str) -> None:
    episode, _ = played(second(), (reply,), layer1_schema="lenient")
    [turn] = episode.trace.turns
    assert (turn.routing, turn.move_verdict, episode.won) == (routing, "legal", True)


def test_the_faults_of_the_first_laws_reading_are_gone() -> None:
    tutor = first()
    episode, _ = played(
        tutor, ("I propose: ls -la", "```bash\ncat config.yaml\n```"), layer1_schema="lenient"
    )
    commands = [one.command for one in tutor.pcg.of(Observation)]
    assert commands == ["ls -la", "cat config.yaml"]
    assert [one.attempts for one in episode.trace.turns] == [1, 1]


BUNDLE = Bundle(
    prompts={
        "system": "You look at files.",
        "action_menu": "Moves: PROPOSE, ASSERT.",
        "error_recovery": "That was no move:",
        "task_template": "Task: {task_description}\n{context}\n{other}",
    },
    exemplars=(Exemplar("a folder", COUNT, "it counts"), Exemplar("x", "y")),
    model_params=ModelParams(stop_sequences=("\nUser:", "")),
)


def test_a_bundle_says_what_is_asked() -> None:
    tutor = TutorV2("g", second().runner, "read {context} well", second().goal)
    _, player = played(tutor, ("no",), layer3_policy="bundle", bundle=BUNDLE)
    _, plain = played(TutorV2("g", second().runner, "read {context} well", second().goal), ("no",))
    [(prompt, _, _)], [(context, _, _)] = player.asked, plain.asked
    assert prompt == "\n\n".join(
        [
            "You look at files.",
            "Moves: PROPOSE, ASSERT.",
            f"Example:\na folder\nReply:\n{COUNT}\nBecause: it counts",
            "Example:\nx\nReply:\ny",
            f"Task: read {{context}} well\n{context}\n{{other}}",
        ]
    )


def test_a_bundle_says_what_is_asked_again() -> None:
    player = Player(("no", COUNT))
    TutorEnvelope(base_tutor=second(), bundle=BUNDLE, layer3_policy="bundle", **ON).run_episode(
        player, 1
    )
    assert "\nThat was no move:\n- " in player.asked[1][0]


def test_what_a_bundle_does_not_have_is_that_of_the_baseline() -> None:
    _, player = played(second(), SECOND, layer3_policy="bundle", bundle=Bundle())
    _, plain = played(second(), SECOND)
    assert player.asked == plain.asked


def test_a_reply_ends_where_the_bundle_has_it_end() -> None:
    episode, _ = played(
        second(), (f"{COUNT}\nUser: thanks",), layer3_policy="bundle", bundle=BUNDLE
    )
    assert (episode.won, episode.exchanges[0].output) == (True, COUNT)


def test_a_model_that_can_be_tuned_is() -> None:
    class Tuned(Player):
        given: ModelParams | None = None

        def tuned(self, params: ModelParams) -> Tuned:
            """Remember them."""
            self.given = params
            return self

    player = Tuned((COUNT,))
    TutorEnvelope(base_tutor=second(), bundle=BUNDLE, layer3_policy="bundle").run_episode(player, 1)
    assert player.given == BUNDLE.model_params
    alone = Tuned((COUNT,))
    TutorEnvelope(base_tutor=second()).run_episode(alone, 1)
    assert alone.given is None


def test_deterministic_mode_holds_for_bundles_and_callers() -> None:
    warm = Bundle(model_params=ModelParams(temperature=0.3))
    with pytest.raises(EnvelopeError, match=r"`model_params\.temperature`"):
        TutorEnvelope(base_tutor=second(), layer3_policy="bundle", bundle=warm)
    with pytest.raises(EnvelopeError, match="`temperature`"):
        TutorEnvelope(base_tutor=second()).run_episode(Player(()), 1, temperature=0.3)
    loose = EnvelopeConfig(layer3_policy="bundle", deterministic_mode=False)
    player = Player((COUNT,))
    TutorEnvelope(second(), loose, warm).run_episode(player, 1, seed=4)
    assert player.asked[0][1:] == (0.3, 4)
    with pytest.raises(EnvelopeError, match="`temperature`"):
        TutorEnvelope(second(), loose, warm).run_episode(player, 1, temperature=0.1)
    free = Player((COUNT,))
    TutorEnvelope(base_tutor=second(), deterministic_mode=False).run_episode(
        free, 1, temperature=0.5
    )
    assert free.asked[0][1] == 0.5


def test_a_bundle_that_nobody_asked_for_is_refused() -> None:
    with pytest.raises(EnvelopeError, match="`layer3_policy`"):
        TutorEnvelope(base_tutor=second(), bundle=BUNDLE)


def test_a_reply_that_is_withheld_is_no_move_and_counts_as_a_call() -> None:
    playing = TutorEnvelope(base_tutor=second(), **ON).episode(1)
    next(playing)
    again = playing.send(WithheldReply("it names a secret"))
    assert "it names a secret" in again.prompt
    with pytest.raises(StopIteration) as ended:
        playing.send(COUNT)
    episode: Episode = ended.value.value
    assert (episode.won, episode.calls, [one.output for one in episode.exchanges]) == (
        True,
        2,
        [None, COUNT],
    )
    alone = TutorEnvelope(base_tutor=second()).episode(1)
    next(alone)
    with pytest.raises(StopIteration) as over:
        alone.send(WithheldReply("it names a secret"))
    assert over.value.value.trace.turns[0].routing == "withheld"


def advice_of(tutor: TutorV1 | TutorV2) -> tuple[Any, Any]:
    """What the advisor and the detectors say of a game."""
    seen = tutor.pcg.of(Observation)
    steps = tuple(PlayedStep(one.command, one.stdout, one.rc != 0) for one in seen)
    trace = Steps(steps, tuple(range(len(seen))), turn=tutor.state.turn)
    return failure(trace), advise(tutor.pcg, trace)


def test_advice_is_that_of_the_moves_whatever_layers_they_came_through() -> None:
    clean = ('{"action": "PROPOSE", "command": "ls -la"}',) * 3
    for make in (first, second):
        plain, layered = make(), make()
        played(plain, clean)
        player = Player(
            ("hm", f"Sure: {clean[0]}", "```bash\nls -la\n```", '{"action": 5}', "PROPOSE: ls -la")
        )
        TutorEnvelope(base_tutor=layered, **ON).run_episode(player, 3)
        assert world_of(layered) == world_of(plain)
        assert advice_of(layered) == advice_of(plain)
        assert advice_of(plain)[0] is not None


def test_no_layer_knows_of_advice() -> None:
    for file in sorted((SRC / "stanchion/tutor/envelope").rglob("*.py")):
        path = PurePosixPath(file.relative_to(SRC).as_posix())
        named = [one.full for one in imports(path, tree_of(file.read_text("utf-8")))]
        assert not [one for one in named if one.startswith("stanchion.tutor.advice")], file


def test_strong_players_play_as_without_layers() -> None:
    strong = (
        '{"action": "ASK", "text": "which file?"}',
        '{"action": "PROPOSE", "command": "grep -F x b.txt"}',
        (
            '{"action": "ASSERT", "claim": {"predicate": "contains", "subject": "b.txt", "value": '
            '"x", "polarity": false}}'
        ),
        COUNT,
    )
    plain, layered = second(), second()
    (alone, asked), (through, again) = played(plain, strong), played(layered, strong, **ON)
    assert asked.asked == again.asked
    assert world_of(plain) == world_of(layered)
    assert [one.state_hash for one in alone.trace.turns] == [
        one.state_hash for one in through.trace.turns
    ]


WITHOUT = """
import importlib, pkgutil, sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "dspy":
            raise {error}("dspy is not for games")
sys.meta_path.insert(0, Refusing())
import stanchion.tutor, stanchion.tutor.playing
for room in (stanchion.tutor, stanchion.tutor.playing):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        importlib.import_module(module.name)
from tests.tutor.golden_games import printed
assert "provable" in printed()
assert not [name for name in sys.modules if name.split(".")[0] == "dspy"]
"""


@pytest.mark.parametrize("error", ["RuntimeError", "ModuleNotFoundError"])
def test_games_are_played_where_there_is_no_dspy(error: str) -> None:
    root, path = SRC.parent, ":".join(filter(None, sys.path))
    command = [sys.executable, "-c", WITHOUT.format(error=error)]
    subprocess.run(command, cwd=root, env={"PYTHONPATH": f"{root}:{path}"}, check=True)


def test_nothing_but_the_lab_imports_dspy() -> None:
    for file in sorted((SRC / "stanchion").rglob("*.py")):
        text = file.read_text("utf-8")
        if "dspy" in text:
            path = PurePosixPath(file.relative_to(SRC).as_posix())
            assert not [
                one for one in imports(path, tree_of(text)) if one.module.split(".")[0] == "dspy"
            ], file


def test_the_script_of_the_first_law_goes_through_every_layer() -> None:
    player = Player(FIRST * 3)
    episode = TutorEnvelope(
        base_tutor=first(), bundle=BUNDLE, layer3_policy="bundle", **ON
    ).run_episode(player, 13)
    assert len(episode.trace.turns) == episode.turns
    assert episode.calls == len(player.asked)
