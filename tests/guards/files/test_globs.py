"""Globs over places, and the files that are protected."""

from __future__ import annotations

import pytest

from stanchion.guards._protected import Use
from stanchion.guards.files import Files
from stanchion.guards.files.protected import shown_by
from stanchion.guards.files.protected.classes import FAMILIES, RULES
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.paths.place import fault, matches, pattern, place_of

NOWHERE = Files(root=())
TOOLS: dict[Use, str] = {"read": "read_file", "write": "write_file", "delete": "delete_file"}


def code(guard: Files, path: str, use: Use) -> str:
    """What a guard says of a path; empty where it says nothing."""
    event = ToolCall(id="e", at=0, run=RunInfo("r"), tool=TOOLS[use], args={"path": path})
    finding = guard.judge(read(event))
    return "" if finding is None else finding.code


@pytest.mark.parametrize(
    ("glob", "path", "holds"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", True),
        ("src/**", "src2/a", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("**/test_*", "a/b/test_x.py", True),
        ("**/test_*", "test_x.py", True),
        ("*.md", "docs/deep/x.md", True),
        ("*.md", "x.mdx", False),
        ("docs/", "docs/a/b", True),
        ("docs/", "a/docs/b", True),
        ("a/docs/", "docs/b", False),
        ("/etc/**", "/etc/x", True),
        ("/etc/**", "etc/x", False),
        ("/etc/x", "../../etc/x", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/b/**/z", "a/x/b/y/b/z", True),
        ("a/**/z", "a/b", False),
        ("?:/x/**", "d:/X/y", True),
        ("?.py", "a.py", True),
        ("../x/**", "../x/y", True),
        ("**", "anything/at/all", True),
    ],
)
def test_a_glob_matches(glob: str, path: str, holds: bool) -> None:
    assert matches(pattern(glob), place_of(path, lenient=path[1:2] == ":").folded) is holds


def test_a_folder_above_what_is_meant_counts_where_it_is_asked_for() -> None:
    assert matches(pattern("/a/b/c/**"), place_of("/a"), deep=True)
    assert matches(pattern("a/b/*"), place_of("a"), deep=True)
    assert not matches(pattern("/a/b"), place_of("/a"))
    assert not matches(pattern("/a/b"), place_of("/x"), deep=True)


@pytest.mark.parametrize(
    ("glob", "says"), [("", "empty"), ("src/**.py", "whole names"), ("a**", "whole names")]
)
def test_globs_that_mean_nothing_are_faults(glob: str, says: str) -> None:
    assert says in str(fault(glob))
    with pytest.raises(ValueError, match=says):
        Files(deny=(glob,))


SHOWN = shown_by("hit")
LEFT = shown_by("miss")


@pytest.mark.parametrize(("_family", "path", "use"), SHOWN)
def test_what_a_family_shows_is_protected(_family: str, path: str, use: Use) -> None:
    assert code(NOWHERE, path, use) == "files.protected"


@pytest.mark.parametrize(("_family", "path", "use"), shown_by("told"))
def test_of_what_agents_follow_they_are_told(_family: str, path: str, use: Use) -> None:
    assert code(NOWHERE, path, use) == "files.instructs"


@pytest.mark.parametrize(("_family", "path", "use"), LEFT)
def test_what_a_family_leaves_alone_is_not(_family: str, path: str, use: Use) -> None:
    assert code(NOWHERE, path, use) == ""


def test_every_family_shows_both() -> None:
    for shown in (shown_by("hit"), shown_by("miss")):
        assert {name for name, _, _ in shown} == {family.__name__ for family in FAMILIES}
    assert all(fault(glob) is None for rule in RULES for glob in rule.globs)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/etc/sh*dow", "files.protected"),
        ("/e?c/shadow", "files.protected"),
        ("~/.ss*/id_rsa", "files.protected"),
        ("src/*.py", ""),
        ("src/*", ""),
        ("**/*", ""),
        ("*.json", ""),
    ],
)
def test_wildcards_that_can_only_mean_a_protected_file(path: str, says: str) -> None:
    assert code(NOWHERE, path, "read") == says
