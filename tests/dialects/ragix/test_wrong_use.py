"""Wrong use gets one line that names the document's own word."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stanchion.dialects.errors import DialectError
from stanchion.dialects.ragix import (
    EnvelopeConfig,
    FailureDetector,
    MetaCardSelector,
    StrategicAdvisor,
    Tutor,
    TutorEnvelope,
)
from stanchion.runtime.sandbox.sandbox import Sandbox, SandboxError
from stanchion.tutor.playing.runners import ShellExecutor
from tests.dialects.ragix.hands import Hands
from tests.tutor.bundles.made import DOCUMENTED, frozen


@dataclass
class Misspelt:
    """A configuration with a field that nobody reads."""

    layer1_shema: str = "strict"


def tutor() -> Tutor:
    """A game."""
    return Tutor("g", executor=Hands())


def envelope(**given: Any) -> TutorEnvelope:
    """An envelope round it."""
    return TutorEnvelope(tutor(), **given)


def say(*_: Any) -> str:
    """A model."""
    return "hm"


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: Tutor("", executor=Hands()), "`game_id`"),
        (lambda: Tutor("g", executor=object()), "`executor` has no method `is_safe`"),  # type: ignore[arg-type]
        (lambda: Tutor("g", rules_path="gone.yaml", executor=Hands()), "`rules_path`: gone.yaml"),
        (lambda: Tutor("g", fat_llm_callback=5, executor=Hands()), "`fat_llm_callback`"),  # type: ignore[arg-type]
        (lambda: TutorEnvelope("no tutor"), "`base_tutor` is a `str`"),  # type: ignore[arg-type]
        (lambda: envelope(layer1_shema="strict"), "write `layer1_schema`"),
        (lambda: envelope(config=Misspelt()), "write `layer1_schema`"),
        (lambda: envelope(zebra=1), "write one of layer1_schema, "),
        (lambda: envelope(config={"layer1_schema": "off"}), "`config` is a `dict`"),
        (lambda: envelope(config=EnvelopeConfig), "`config` is a `StructMeta`"),
        (
            lambda: envelope(config=EnvelopeConfig(), layer1_schema="off"),
            "`config` is given, and `layer1_schema`",
        ),
        (lambda: envelope(layer1_schema="loose"), "`layer1_schema` is `'loose'`"),
        (lambda: envelope(repair_enabled="yes"), "`repair_enabled` is `'yes'`"),
        (
            lambda: envelope(repair_enabled=True, layer2_repair="off"),
            "`repair_enabled` is `True`, and `layer2_repair`",
        ),
        (lambda: envelope(repair_temperature=0.5), "`repair_temperature` is `0.5`"),
        (lambda: envelope(policy_enabled=True), "`policy_bundle_path` names none"),
        (lambda: envelope(policy_enabled=True, policy_bundle_path="gone.json"), "no such file"),
        (lambda: envelope().run_episode("hm"), "`model` cannot be called"),  # type: ignore[arg-type]
        (lambda: envelope().run_episode(say, 0), "`turns` is `0`: write a whole number from 1 on"),
        (
            lambda: envelope(manifest_enabled=False).run_episode(say, 1, temperature=5),
            "`temperature` is `5`: in `deterministic_mode`",
        ),
        (lambda: tutor().setup_game(5), "`goal` is a `int`: write the goal of the game"),  # type: ignore[arg-type]
        (lambda: tutor().setup_game("win", "no"), "`constraints` is a `str`: give a list of texts"),
        (
            lambda: tutor().setup_game("win", [None]),  # type: ignore[list-item]
            "`constraints` has a `NoneType`: give a list of texts",
        ),
        (
            lambda: envelope().run_episode(say, 1, seed="7"),  # type: ignore[arg-type]
            "`seed` is `'7'`: write a whole number from 0 to",
        ),
        (
            lambda: envelope().run_episode(say, 1, seed=-1),
            "`seed` is `-1`: write a whole number from 0 to",
        ),
        (
            lambda: envelope(manifest_path="/proc/none/m.json").run_episode(say, 1),
            "there is no folder `/proc/none`: make it first",
        ),
        (lambda: tutor().check(5), "`truth` is a `int`: give the words of a claim"),  # type: ignore[arg-type]
        (lambda: envelope(model=5), "`model` is a `int`: give the name of the model"),
        (lambda: envelope(run="mine"), "`run` is a `str`: give a run of a shield"),
        (lambda: Tutor("g", rules_path=5, executor=Hands()), "`rules_path` is a `int`"),  # type: ignore[arg-type]
        (
            lambda: StrategicAdvisor(tutor()).advise(5),  # type: ignore[arg-type]
            "`model` is a `int`: give the name of the model",
        ),
        (lambda: MetaCardSelector(tutor()).select([]), "there is no card for `[]`"),  # type: ignore[arg-type]
        (lambda: FailureDetector(5), "`FailureDetector` is given a `int`"),  # type: ignore[arg-type]
        (lambda: StrategicAdvisor(None), "`StrategicAdvisor`"),  # type: ignore[arg-type]
        (lambda: MetaCardSelector(tutor()).select("boredom"), "there is no card for `boredom`"),
    ],
)
def test_wrong_use_is_told_in_one_line(use: Callable[[], Any], says: str) -> None:
    with pytest.raises(DialectError) as raised:
        use()
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_switches_of_the_tables_turn_layers_on() -> None:
    made = envelope(repair_enabled=True, repair_max_attempts=1).config
    assert (made.layer2_repair, made.repair_enabled, made.layer3_policy) == ("bestofn", True, "off")
    assert envelope(repair_enabled=False).config == EnvelopeConfig()


def test_a_bundle_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(
        json.dumps(
            frozen({**DOCUMENTED, "scope": {"games": ["g"], "models": ["*"], "laws": ["1"]}})
        )
    )
    asked: list[str] = []
    made = TutorEnvelope(
        tutor(), policy_enabled=True, policy_bundle_path=str(path), manifest_enabled=False
    )
    made.run_episode(lambda prompt, *_: asked.append(prompt) or "hm", 1)  # type: ignore[func-returns-value]
    assert DOCUMENTED["prompts"]["system"] in asked[0]


@pytest.mark.parametrize("folder", ["/no/where", 3])
def test_a_folder_that_is_none_is_named_by_its_own_word(folder: Any) -> None:
    with pytest.raises(DialectError, match=r"^`sandbox_root`: "):
        Tutor("g", sandbox_root=folder)


def test_a_command_that_cannot_be_confined_has_the_status_of_one_that_did_not_run(
    tmp_path: Path,
) -> None:
    class Unconfined(Sandbox):
        def run(self, argv: Any, write: bool = False) -> Any:
            raise SandboxError("nothing ran: its folder cannot be read")

    hands = ShellExecutor(tmp_path, sandbox=Unconfined(tmp_path))
    assert hands.execute("ls") == (-1, "", "ERROR: nothing ran: its folder cannot be read")
