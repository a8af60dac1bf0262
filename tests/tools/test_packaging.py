"""What packages are made of: versions for development, extras that exclude each other, parts lists,
and Pythons."""

import json
import sys
import tomllib
from datetime import UTC, datetime
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import pythons, release, sbom
from tools.extras import Extras, complaints, declared

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LAB = tomllib.loads((ROOT / "lab/pyproject.toml").read_text("utf-8"))
OWN = {"stanchion-guard", "stanchion-lab"}


def wanted() -> list[Requirement]:
    """What the development environment asks for by name: the core, `dev` with the extras in it,
    `docs`, the lab."""
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [
        *PROJECT["project"]["dependencies"],
        *extras["dev"],
        *extras["docs"],
        *LAB["project"]["dependencies"],
    ]
    named = [
        Requirement(one) for one in [*asked, *LAB["project"]["optional-dependencies"]["agentdojo"]]
    ]
    inner = [
        Requirement(one)
        for each in named
        if each.name == "stanchion-guard"
        for extra in each.extras
        for one in extras[extra]
    ]
    return [one for one in [*named, *inner] if one.name not in OWN]


def test_a_version_is_kept_for_everything_that_development_needs() -> None:
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    kept: dict[str, list[Requirement]] = {}
    for one in map(Requirement, lines):
        assert [part.operator for part in one.specifier] == ["=="], f"`{one}` is no version"
        kept.setdefault(canonicalize_name(one.name), []).append(one)
    assert len(lines) > 100
    for need in wanted():
        versions = [
            next(iter(one.specifier)).version for one in kept.get(canonicalize_name(need.name), [])
        ]
        assert versions, f"`{need.name}` has no version: run `make lock`"
        assert all(need.specifier.contains(each) for each in versions), (
            f"`{need}` has {versions}: run `make lock`"
        )
    assert OWN.isdisjoint(kept)


def test_the_extras_that_exclude_each_other_are_extras() -> None:
    found = declared(PROJECT)
    assert set(found.names) == set(PROJECT["project"]["optional-dependencies"])
    assert {frozenset({"strands", "mcp"}), frozenset({"crewai", "mcp"})} <= {*found.conflicts}
    assert {"strands", "crewai"}.isdisjoint(found.beside("mcp"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([[{"extra": "a"}, {"extra": "z"}]], "`z` is said to exclude another extra, and is none"),
        ([[{"extra": "a"}, {"extra": "a"}]], "is no pair"),
    ],
)
def test_a_conflict_of_what_is_no_extra_is_named(
    said: list[list[dict[str, str]]], why: str
) -> None:
    project = {
        "project": {"optional-dependencies": {"a": [], "b": []}},
        "tool": {"uv": {"conflicts": said}},
    }
    with pytest.raises(ValueError, match=why):
        declared(project)


def test_everything_but_what_excludes_each_other_is_tried_together() -> None:
    extras, tried = Extras(("a", "b", "c", "d"), (frozenset({"b", "c"}),)), []

    def asked(group: tuple[str, ...]) -> str:
        tried.append(group)
        return "they do not" if {"b", "c"} <= {*group} else ""

    assert complaints(extras, asked) == []
    assert tried == [("a", "d"), ("a", "b", "d"), ("a", "c", "d"), ("b", "c")]


def test_what_does_not_go_together_is_named_and_so_is_an_old_conflict() -> None:
    extras = Extras(("a", "b", "c"), (frozenset({"b", "c"}),))
    assert complaints(extras, lambda group: "") == [
        "b and c go together: remove them from `tool.uv.conflicts`"
    ]
    said = complaints(
        extras, lambda group: "no version" if {"a", "b"} <= {*group} or "c" in group else ""
    )
    assert said == ["a, b do not go together: no version", "a, c do not go together: no version"]


def about(name: str, version: str, *lines: str) -> Message:
    """The metadata of a package."""
    return Parser().parsestr("\n".join([f"Name: {name}", f"Version: {version}", *lines, ""]))


def test_a_parts_list_has_each_part_with_its_licence_hash_and_needs() -> None:
    found = {
        "top": about(
            "Top",
            "1",
            "License-Expression: MIT",
            "Requires-Dist: Low_Er>=2",
            "Requires-Dist: x; extra == 'y'",
        ),
        "low-er": about("low.er", "2", "Classifier: License :: OSI Approved :: BSD License"),
    }
    made = sbom.parts_list("top", found, {"low-er": "ab" * 32}, datetime(2026, 1, 2, tzinfo=UTC))
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.6", 1)
    assert made["serialNumber"].startswith("urn:uuid:")
    assert made["metadata"]["timestamp"] == "2026-01-02T00:00:00Z"
    assert made["metadata"]["component"]["licenses"] == [{"expression": "MIT"}]
    (part,) = made["components"]
    assert part == {
        "type": "library",
        "bom-ref": "pkg:pypi/low-er@2",
        "name": "low-er",
        "version": "2",
        "purl": "pkg:pypi/low-er@2",
        "licenses": [{"license": {"name": "BSD License"}}],
        "hashes": [{"alg": "SHA-256", "content": "ab" * 32}],
    }
    needs = {one["ref"]: one["dependsOn"] for one in made["dependencies"]}
    assert needs == {"pkg:pypi/low-er@2": [], "pkg:pypi/top@1": ["pkg:pypi/low-er@2"]}
    again = sbom.parts_list("top", found, {"low-er": "ab" * 32}, datetime(2026, 1, 2, tzinfo=UTC))
    assert json.dumps(again) == json.dumps(made)


def test_the_text_of_a_licence_is_not_its_name() -> None:
    kind = "Classifier: License :: OSI Approved :: MIT License"
    assert sbom.licences(about("a", "1", f"License: {'words ' * 40}", kind)) == [
        {"license": {"name": "MIT License"}}
    ]
    assert sbom.licences(about("a", "1", "License: MIT", kind)) == [{"license": {"name": "MIT"}}]
    assert sbom.licences(about("a", "1")) == []


def test_a_wheel_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        sbom.main([str(tmp_path / "a.whl")])
    assert "run `make wheel` first" in capsys.readouterr().err


def test_every_python_that_is_claimed_is_looked_for(tmp_path: Path) -> None:
    assert pythons.claimed() == ["3.11", "3.12", "3.13"]
    for name in ("3.12.9", "3.12.10"):
        python = tmp_path / "versions" / name / "bin" / "python3.12"
        python.parent.mkdir(parents=True)
        python.touch()
    assert pythons.interpreter("3.12", "", tmp_path) == tmp_path / "versions/3.12.10/bin/python3.12"
    assert pythons.interpreter("3.13", "", tmp_path) is None
    assert pythons.interpreter(
        "3.13", str(Path(sys.executable).parent), tmp_path / "none"
    ) is None or sys.version_info >= (3, 13)


def test_the_readme_has_a_check_that_a_release_plays() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    ((command, status),) = release.CHECK.findall(readme)
    assert command.startswith("stanchion check --policy policy.yaml")
    assert status == "3"


def test_a_release_has_one_version_and_a_heading_for_it() -> None:
    assert release.versions() == PROJECT["project"]["version"]


def test_a_release_is_refused_by_what_a_command_says(tmp_path: Path) -> None:
    with pytest.raises(release.Failed, match="ended with 3"):
        release.run(sys.executable, "-c", "raise SystemExit(3)", where=tmp_path)


@pytest.mark.parametrize(
    ("licence", "fine"), [("MIT License", True), ("Apache-2.0", True), ("AGPL-3.0-only", False)]
)
def test_a_licence_that_asks_for_more_is_named(licence: str, fine: bool) -> None:
    assert (release.LICENCES.search(licence) is not None) == fine
