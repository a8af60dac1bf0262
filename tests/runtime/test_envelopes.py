"""`make_envelope` reads the bundle that the settings name, and uses it only for what it was made
for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit.manifest_check import read
from stanchion.tutor.bundles.file import BundleFault, BundleRefused
from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
from stanchion.tutor.playing.envelopes import make_envelope
from stanchion.tutor.playing.episodes import play
from tests.runtime.test_repair import journalled
from tests.tutor.bundles.made import DOCUMENTED, frozen
from tests.tutor.golden_games import SECOND, Player, first, second

FOR_ALL = {"games": ["*"], "models": ["small*"], "laws": ["2"]}


def settings(
    folder: Path, scope: Any = FOR_ALL, name: str = "b.json", **more: Any
) -> EnvelopeConfig:
    """Settings that name a bundle for some use."""
    (folder / "b.json").write_text(json.dumps(frozen({**DOCUMENTED, "scope": scope})))
    path = str(folder / name)
    return EnvelopeConfig(
        layer3_policy="bundle",
        policy_bundle_path=path,
        manifest_path=str(folder / "m.json"),
        **more,
    )


def test_the_bundle_of_the_path_is_played_by_and_stands_in_the_manifest(tmp_path: Path) -> None:
    player = Player(SECOND[-1:])
    envelope, chosen = make_envelope(second(), settings(tmp_path), model="small:3b")
    with journalled(9).run() as run:
        play(run, envelope, player, 1, name="small:3b", chosen=chosen)
    assert "Play by evidence." in player.asked[0][0]
    policy = read(tmp_path / "m.json")["policy"]
    assert policy["bundle_enabled"]
    assert policy["bundle_hash"] == frozen({**DOCUMENTED, "scope": FOR_ALL})["bundle_hash"]
    assert policy["compiled_by"] == "a compiler"


@pytest.mark.parametrize(
    ("make", "model", "scope", "name", "reason"),
    [
        (second, "small:3b", {**FOR_ALL, "games": ["other"]}, "b.json", BundleFault.OUT_OF_SCOPE),
        (second, "large", FOR_ALL, "b.json", BundleFault.OUT_OF_SCOPE),
        (second, "", FOR_ALL, "b.json", BundleFault.OUT_OF_SCOPE),
        (first, "small:3b", FOR_ALL, "b.json", BundleFault.OUT_OF_SCOPE),
        (second, "small:3b", FOR_ALL, "missing.json", BundleFault.UNREADABLE),
    ],
    ids=["game", "model", "no model", "law", "file"],
)
def test_one_that_is_refused_stops_the_run_or_leaves_it_at_baseline(
    tmp_path: Path, make: Any, model: str, scope: Any, name: str, reason: BundleFault
) -> None:
    config = settings(tmp_path, scope, name)
    with pytest.raises(BundleRefused) as refused:
        make_envelope(make(), config, model)
    assert refused.value.refusal.reason is reason
    envelope, chosen = make_envelope(make(), config, model, refused="baseline")
    player, plain = Player(SECOND), Player(SECOND)
    with journalled(99).run() as run:
        play(run, envelope, player, 3, name=model, chosen=chosen)
    without, _ = make_envelope(make(), EnvelopeConfig())
    without.run_episode(plain, 3)
    assert player.asked == plain.asked
    policy = read(tmp_path / "m.json")["policy"]
    assert not policy["bundle_enabled"]
    assert policy["bundle_path"] == config.policy_bundle_path
    assert policy["bundle_refused"].startswith(f"{reason.value}: ")


def test_layer_3_without_a_file_is_a_wrong_setting() -> None:
    with pytest.raises(EnvelopeError, match="`policy_bundle_path` names none"):
        make_envelope(second(), EnvelopeConfig(layer3_policy="bundle"), refused="baseline")
