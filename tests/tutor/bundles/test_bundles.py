"""Bundles: both shapes are read, and every bad one is refused by its reason."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion.tutor.bundles.file import BundleFault, BundleFile, BundleRefusal, BundleRefused
from stanchion.tutor.bundles.reading import bundle_hash
from stanchion.tutor.bundles.scope import Use
from stanchion.tutor.playing.bundle_files import LARGEST, choose_bundle, freeze_bundle, load_bundle
from tests.tutor.bundles.made import DOCUMENTED, SCOPE, SHIPPED, USE, frozen, written

BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize("data", [DOCUMENTED, SHIPPED], ids=["documented", "shipped"])
@pytest.mark.parametrize("name", ["bundle.json", "bundle.yaml", "bundle.yml"])
def test_both_shapes_are_read_from_both_kinds_of_files(
    tmp_path: Path, data: dict[str, Any], name: str
) -> None:
    whole = frozen(data)
    text = json.dumps(whole) if name.endswith("json") else yaml.safe_dump(whole, sort_keys=False)
    chosen = choose_bundle(written(tmp_path, text, name), USE)
    assert chosen.refusal is None
    assert chosen.bundle is not None
    assert chosen.bundle.hash == whole["bundle_hash"]
    assert chosen.bundle.prompts["system"].startswith(data["prompts"]["system"])
    assert chosen.bundle.model_params.max_tokens == data["model_params"]["max_tokens"]
    assert chosen.bundle.scope.games == ("count", "log-*")


def test_what_the_shipped_shape_says_reaches_the_player(tmp_path: Path) -> None:
    bundle = choose_bundle(written(tmp_path, frozen(SHIPPED)), USE).bundle
    assert bundle is not None
    assert "Reply with JSON." in bundle.prompts["system"]
    assert "Avoid: verbs of prose" in bundle.prompts["system"]
    assert bundle.prompts["task_template"] == "TASK: {task_description}\n{context}\n{}"
    (one,) = bundle.exemplars
    assert (one.input, one.output, one.rationale) == (
        "sort",
        "sort a",
        "Wrong: order a no such command",
    )


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in DOCUMENTED.items() if key != name}


BAD: dict[str, tuple[Any, BundleFault, str]] = {
    "no hash": (DOCUMENTED, BundleFault.NO_HASH, "freeze it"),
    "wrong hash": ({**frozen(DOCUMENTED), "bundle_id": "other"}, BundleFault.WRONG_HASH, "was changed after it was frozen"),  # noqa: E501
    "hash of another kind": ({**frozen(DOCUMENTED), "bundle_hash": "2277b31f"}, BundleFault.WRONG_HASH, "`2277b31f`"),  # noqa: E501
    "unknown key": (frozen(DOCUMENTED, extra=1), BundleFault.UNKNOWN_KEY, "`extra`"),
    "unknown prompt": (frozen(DOCUMENTED, prompts={"system": "x", "sytem": "y"}), BundleFault.UNKNOWN_KEY, "`sytem`"),  # noqa: E501
    "unknown in an example": (
        frozen(DOCUMENTED, exemplars=[{"input": "a", "output": "b", "wrong": "c"}]),
        BundleFault.UNKNOWN_KEY,
        "exemplars[0]",
    ),
    "no prompts": (frozen(_without("prompts")), BundleFault.BAD_VALUE, "`prompts`"),
    "no parameters": (frozen(_without("model_params")), BundleFault.BAD_VALUE, "`model_params`"),
    "no version": (frozen(_without("bundle_version")), BundleFault.BAD_VALUE, "`bundle_version`"),
    "no scope": (frozen(_without("scope")), BundleFault.NO_SCOPE, "`scope`"),
    "empty scope": (
        frozen(DOCUMENTED, scope={**SCOPE, "games": []}),
        BundleFault.BAD_VALUE,
        "games",
    ),
    "newer": (frozen(DOCUMENTED, bundle_version="1.1.0", new_key=1), BundleFault.NEWER, "`1.1.0`"),
    "much newer": (frozen(DOCUMENTED, bundle_version="2.0"), BundleFault.NEWER, "`2.0`"),
    "a number as version": (
        frozen(DOCUMENTED, bundle_version=1.0),
        BundleFault.BAD_VALUE,
        "in quotes",
    ),
    "reaches into its values": (
        frozen(SHIPPED, prompts={"task_template": "{context.__class__}"}),
        BundleFault.BAD_VALUE,
        "{context.__class__}",
    ),
    "a doubled place": (
        frozen(SHIPPED, prompts={"task_template": "{{context}} {context}"}),
        BundleFault.BAD_VALUE,
        "{{context}}",
    ),
    "an open brace": (frozen(SHIPPED, prompts={"task_template": "{"}), BundleFault.BAD_VALUE, "write `{{`"),  # noqa: E501
    "other game": (frozen(DOCUMENTED, scope={**SCOPE, "games": ["count"]}), BundleFault.OUT_OF_SCOPE, "game `log-7`"),  # noqa: E501
    "other model": (frozen(DOCUMENTED, scope={**SCOPE, "models": ["big"]}), BundleFault.OUT_OF_SCOPE, "model `small:3b`"),  # noqa: E501
    "other law": (frozen(DOCUMENTED, scope={**SCOPE, "laws": ["1"]}), BundleFault.OUT_OF_SCOPE, "law `2`"),  # noqa: E501
    "warm": (frozen(DOCUMENTED, model_params={"temperature": 0.3}), BundleFault.NOT_DETERMINISTIC, "temperature is 0.3"),  # noqa: E501
    "negative": (frozen(DOCUMENTED, model_params={"temperature": -1}), BundleFault.BAD_VALUE, "temperature"),  # noqa: E501
    "a list": ([DOCUMENTED], BundleFault.BAD_VALUE, "a mapping"),
    "nothing": ("", BundleFault.UNREADABLE, "not JSON"),
    "truncated": (json.dumps(frozen(DOCUMENTED))[:-40], BundleFault.UNREADABLE, "cut off"),
    "twice": (('{"bundle_version": "1.0.0", '
              '"bundle_version": "1.0.0"}'), BundleFault.DUPLICATE_KEY, "`bundle_version`"),
    "deep": ("[" * 100_000, BundleFault.UNREADABLE, "not JSON"),
    "not a number": (('{"bundle_version": "1.0.0", "model_params": {"temperature": NaN}, '
                      '"prompts": '
                     '{}}'),
                     BundleFault.BAD_VALUE, ""),
    "half a character": (json.dumps(DOCUMENTED | {"bundle_id": "\ud800"}), BundleFault.BAD_VALUE, "canonical"),  # noqa: E501
    "too large": (json.dumps({"bundle_id": "x" * LARGEST}), BundleFault.TOO_LARGE, "1 MiB"),
}  # fmt: skip


def refusal_of(path: Path, use: Use = USE) -> BundleRefusal:
    """Why a file is refused."""
    chosen = choose_bundle(path, use, "baseline")
    assert chosen.bundle is None
    assert chosen.refusal is not None
    return chosen.refusal


@pytest.mark.parametrize("case", BAD)
def test_a_bad_bundle_is_refused_by_its_reason(case: str, tmp_path: Path) -> None:
    data, reason, says = BAD[case]
    path = written(tmp_path, data)
    found = refusal_of(path)
    assert found.reason is reason, found.why
    assert says in found.why
    with pytest.raises(BundleRefused, match=r"bundle\.json: ") as stopped:
        choose_bundle(path, USE)
    assert stopped.value.refusal.reason is reason


YAML: dict[str, tuple[str, BundleFault, str]] = {
    "bomb": (BOMB, BundleFault.ALIASES, "line 1 has `&a`"),
    "alias": ("a: *b\n", BundleFault.ALIASES, "`*b`"),
    "twice": (
        "bundle_version: '1.0.0'\nbundle_version: '1.0.0'\n",
        BundleFault.DUPLICATE_KEY,
        "a second time",
    ),
    "merge": ("<<: {a: 1}\n", BundleFault.UNREADABLE, "<<"),
    "code": ("a: !!python/object/apply:os.system [x]\n", BundleFault.UNREADABLE, "tag"),
    "two": ("a: 1\n---\nb: 2\n", BundleFault.UNREADABLE, "second document"),
    "truncated": ('bundle_version: "1.0', BundleFault.UNREADABLE, "not YAML"),
    "infinite": (
        "bundle_version: '1.0.0'\nmodel_params: {temperature: .inf}\n",
        BundleFault.UNREADABLE,
        "finite",
    ),
}


@pytest.mark.parametrize("case", YAML)
def test_bad_yaml_is_refused_before_anything_is_built(case: str, tmp_path: Path) -> None:
    text, reason, says = YAML[case]
    found = refusal_of(written(tmp_path, text, "bundle.yaml"))
    assert found.reason is reason, found.why
    assert says in found.why


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    for name in ("pipe.json", "missing.json", "latin.json", "bundle.toml"):
        assert refusal_of(tmp_path / name).reason is BundleFault.UNREADABLE
    assert refusal_of(tmp_path).reason is BundleFault.UNREADABLE


def test_a_warm_bundle_is_used_where_chance_is_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, frozen(DOCUMENTED, model_params={"temperature": 0.3}))
    assert (
        choose_bundle(path, Use(game="count", model="m", law="2", deterministic=False)).bundle
        is not None
    )


def test_the_hash_does_not_depend_on_how_it_is_written() -> None:
    turned = dict(reversed(list(DOCUMENTED.items())))
    whole = {**DOCUMENTED, "model_params": {**DOCUMENTED["model_params"], "temperature": 0}}
    assert (
        bundle_hash(turned)
        == bundle_hash(DOCUMENTED)
        == bundle_hash(whole)
        == bundle_hash(frozen(DOCUMENTED))
    )


def test_any_change_changes_the_hash() -> None:
    known = bundle_hash(DOCUMENTED)
    for name in DOCUMENTED:
        assert bundle_hash({**DOCUMENTED, name: "x"}) != known


def test_freezing_writes_a_bundle_that_is_read(tmp_path: Path) -> None:
    draft = written(tmp_path, yaml.safe_dump(SHIPPED), "draft.yaml")
    found = freeze_bundle(draft, tmp_path / "frozen.json")
    assert found == bundle_hash(SHIPPED)
    loaded = load_bundle(tmp_path / "frozen.json")
    assert isinstance(loaded, BundleFile)
    assert loaded.bundle_hash == found
    with pytest.raises(FileExistsError):
        freeze_bundle(draft, tmp_path / "frozen.json")
    with pytest.raises(ValueError, match="JSON"):
        freeze_bundle(draft, tmp_path / "frozen.yaml")
    assert not (tmp_path / "frozen.yaml").exists()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (_without("scope"), "`scope`"),
        ({**DOCUMENTED, "extra": 1}, "`extra`"),
        ({**DOCUMENTED, "bundle_id": "\ud800"}, "canonical"),
    ],
)
def test_what_is_wrong_is_not_frozen(tmp_path: Path, data: Any, says: str) -> None:
    found = freeze_bundle(written(tmp_path, data), tmp_path / "frozen.json")
    assert isinstance(found, BundleRefusal)
    assert says in found.why
    assert not (tmp_path / "frozen.json").exists()
