"""Manifests: nothing needed is missing, and whoever changes a field is named by a checker that
shares no code."""

from __future__ import annotations

import ast
import copy
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion.audit import manifest_check
from stanchion.audit.manifest_check import NoManifest, file_faults, hash_faults, read
from stanchion.tutor.bundles.canonical import canonical
from stanchion.tutor.manifests.manifest import (
    ManifestError,
    Model,
    field_hashes,
    hashed,
    leaves,
    manifest_in,
)
from tests.tutor.manifests.made import made

WORDS = st.text(st.characters(codec="utf-8"))
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(WORDS, inside, max_size=4),
    max_leaves=15,
)

WANTED = {
    "": {"manifest_version", "run_id"},
    "environment": {
        "timestamp_start", "timestamp_end", "duration_seconds", "python_version", "platform",
        "hostname",
    },
    "repository": {"git_commit", "git_branch", "git_dirty", "git_tags"},
    "tutor": {"api_version", "tutor_file_hash", "envelope_enabled", "envelope_config"},
    "model": {"model_id", "provider", "temperature", "top_p", "max_tokens", "seed"},
    "benchmark": {"benchmark_ids", "benchmark_version", "benchmark_files_hash", "round"},
    "policy": {"bundle_enabled", "bundle_path", "bundle_hash", "compiled_by", "compiled_at"},
    "outputs": {"jsonl_log", "csv_features", "manifest_file"},
    "checksums": {"jsonl_log_hash", "csv_features_hash"},
    "repair_stats": {"total_retries", "retries_per_turn"},
}  # fmt: skip
"""What the published format has."""


def written() -> dict[str, Any]:
    """A manifest as its file has it."""
    found: dict[str, Any] = json.loads(json.dumps(hashed(made())))
    return found


def test_every_published_field_is_there() -> None:
    data = written()
    for section, names in WANTED.items():
        assert names <= set(data[section] if section else data)


def test_a_manifest_as_it_was_written_is_whole() -> None:
    assert hash_faults(written()) == []
    assert manifest_in(written()) == made()


def places(data: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The steps to every field of a manifest."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from places(value, (*above, name))
        yield (*above, name)


def test_every_field_that_is_changed_removed_or_added_is_named() -> None:
    fields = [
        place for place in places(written()) if place[0] not in ("field_hashes", "manifest_hash")
    ]
    assert len(fields) > 60
    for place in fields:
        for deed in (lambda _: "changed", lambda one: [one], None):
            data = written()
            inside = data
            for step in place[:-1]:
                inside = inside[step]
            if deed is None:
                del inside[place[-1]]
            else:
                inside[place[-1]] = deed(inside[place[-1]])
            named = ".".join(place)
            found = [one.field for one in hash_faults(data)]
            assert any(one == named or one.startswith(f"{named}.") for one in found), place
            assert all(
                one == named or one.startswith((f"{named}.", named.rpartition(".")[0]))
                for one in found
            )
    data = written()
    data["model"]["extra"] = None
    assert [(one.field, one.why) for one in hash_faults(data)] == [("model.extra", "it was added")]


def test_a_change_of_the_hashes_themselves_is_named() -> None:
    data = written()
    data["field_hashes"]["model.seed"] = data["field_hashes"]["model.top_p"]
    assert [one.field for one in hash_faults(data)] == ["model.seed", "manifest_hash"]
    data = written()
    data["manifest_hash"] = "sha256:0"
    assert [one.field for one in hash_faults(data)] == ["manifest_hash"]
    others: list[Any] = [None, [], "x"]
    for known in others:
        assert [one.field for one in hash_faults({**written(), "field_hashes": known})] == [
            "field_hashes"
        ]


def test_two_fields_cannot_be_exchanged() -> None:
    data = written()
    data["model"]["model_id"], data["model"]["provider"] = (
        data["model"]["provider"],
        data["model"]["model_id"],
    )
    assert {one.field for one in hash_faults(data)} == {"model.model_id", "model.provider"}
    assert field_hashes({"a.b": 1, "a": {"c": 1}}).keys() == {"a\\.b", "a.c"}


@given(st.dictionaries(WORDS, DATA, max_size=5))
def test_both_ways_to_write_and_to_hash_agree(data: dict[str, Any]) -> None:
    assert manifest_check._spelled(data).encode() == canonical(data)
    assert dict(manifest_check._fields(data, ())) == dict(leaves(data))
    assert list(manifest_check.compared(data, field_hashes(data))) == []


def test_the_checker_imports_nothing_of_ours() -> None:
    tree = ast.parse(Path(manifest_check.__file__).read_text("utf-8"))
    names = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
        )
    ]
    assert names
    assert not [name for name in names if name.startswith("stanchion") or not name]


NEEDED = {
    "manifest_version": ("manifest_version", "2.0.0"),
    "kind": ("kind", "other"),
    "run_id": ("run_id", ""),
    "repository.git_commit": ("repository", {"git_dirty": False}),
    "repository.git_dirty": ("repository", {"git_commit": "a"}),
    "tutor.api_version": ("tutor", {"law": "2"}),
    "model.temperature": ("model", {"model_id": "m"}),
    "benchmark.benchmark_files_hash": ("benchmark", {"benchmark_ids": []}),
    "no git and no reason": ("repository", {"git_commit": None, "git_dirty": None}),
    "chance without a seed": ("model", {"temperature": 0.3}),
    "retries that do not add up": (
        "repair_stats",
        {"total_retries": 3, "retries_per_turn": [0, 2]},
    ),
    "no result": ("result", None),
    "a hash that is none": ("checksums", {"jsonl_log_hash": "abc"}),
    "an unknown field": ("model", {"temperature": 0.0, "heat": 1}),
}


@pytest.mark.parametrize("case", NEEDED)
def test_what_is_needed_is_asked_for(case: str) -> None:
    name, value = NEEDED[case]
    with pytest.raises(ManifestError) as raised:
        manifest_in({**written(), name: value})
    assert name in str(raised.value)


def test_no_git_is_said() -> None:
    data = {
        **written(),
        "repository": {"git_commit": None, "git_dirty": None, "git_missing": "there is none"},
    }
    assert manifest_in(data).repository is not None


def test_a_seed_lets_chance_in() -> None:
    model = Model(temperature=0.3, seed=7)
    assert hashed(msgspec.structs.replace(made(), model=model))["model"]["seed"] == 7


def test_files_are_held_against_their_hashes(tmp_path: Path) -> None:
    data: dict[str, Any] = copy.deepcopy(written())
    for name, key in (
        ("t.jsonl", "jsonl_log_hash"),
        ("f.csv", "csv_features_hash"),
        ("r.jsonl", "recording_hash"),
    ):
        (tmp_path / name).write_text(name)
        data["checksums"][key] = f"sha256:{sha256(name.encode()).hexdigest()}"
    assert file_faults(data, tmp_path) == []
    (tmp_path / "t.jsonl").write_text("other")
    (tmp_path / "r.jsonl").unlink()
    assert [(one.field, one.why.split("` ")[1][:10]) for one in file_faults(data, tmp_path)] == [
        ("outputs.jsonl_log", "was change"),
        ("outputs.recording", "cannot be "),
    ]
    data["outputs"]["csv_features"] = None
    assert "checksums.csv_features_hash" in [one.field for one in file_faults(data, tmp_path)]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("/dev/zero", "is not in the folder"),
        ("../m.json", "is not in the folder"),
        ("", "is not in the folder"),
        ("a\0b", "is not in the folder"),
        ("zero", "is not a plain file"),
        ("pipe", "is not a plain file"),
    ],
)
def test_a_name_that_leads_elsewhere_is_not_followed(name: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    data = written()
    data["outputs"]["jsonl_log"] = name
    assert says in file_faults(data, tmp_path)[0].why


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1, "a": 2}', "[" * 100_000, '{"a": '])
def test_what_is_no_manifest_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(NoManifest):
        read(tmp_path / "m.json")
    with pytest.raises(NoManifest):
        read(tmp_path / "missing.json")
