"""Where patterns start: a relative one in its folder and nowhere else, an absolute one at the top.
Drawn paths are compared with what `os.path` makes of them."""

from __future__ import annotations

import os
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from stanchion.dialects.agent33 import Files, Guardrails, Scope, Task
from stanchion.testing import shield_for

STARTS: tuple[str, ...] = (
    "",
    "./",
    "../",
    "../../",
    "x/../../",
    "src/../",
    "/",
    "/srv/",
    "~/",
    "~bob/",
    "file:///",
    "file://{root}/",
)
STARTS += ("{root}/", "{root}/../", "{root}/x/../", "{up}/", "//", "/../", "{root}2/")
ENDS = (
    "src/a",
    "src/b/c.md",
    "SRC/a",
    "srcs/a",
    "a.md",
    "src/../a",
    "src/./b//c",
    "src/../../src/a",
    "b/src/a",
)
PATHS = tuple(f"{start}{end}" for start, end in product(STARTS, ENDS))
PATTERNS = (
    "src/**",
    "./src/",
    "*.md",
    "**/a",
    "src/*",
    "**",
    "../src/**",
    "/src/**",
    "/**",
    "{root}/src/**",
    "~/src/**",
)


def model(root: str, text: str, path: str) -> bool:
    """Whether a pattern allows a path, by the plain path of each."""
    path = path.removeprefix("file://")
    if path[:1] == "~" or text[:1] == "~":
        return path.startswith("~/") and text[:1] == "~" and model("/home/ann", text[2:], path[2:])
    bare = text.rstrip("/")
    deep = f"{text}**" if text.endswith("/") else text
    start = f"{root}/**" if "/" not in bare and text[:1] != "/" else root
    names = [part for part in os.path.normpath(os.path.join(start, deep)).split("/") if part]
    wanted = "".join([r"(?:/[^/]+)*" if name == "**" else "/" + _name(name) for name in names])
    return re.fullmatch(wanted, _real(os.path.normpath(os.path.join(root, path)))) is not None


def _name(name: str) -> str:
    return "[^/]*".join([re.escape(part) for part in name.split("*")])


def _real(path: str) -> str:
    """The path with one slash in front: `normpath` keeps two."""
    return "/" + path.lstrip("/")


def filled(text: str, root: str) -> str:
    return text.replace("{root}", root).replace("{up}", os.path.dirname(root))


def climbs(path: str) -> bool:
    """Whether a path from the top climbs above it."""
    path = path.removeprefix("file://")
    names = [name for name in path.split("/") if name not in ("", ".")]
    depths = [
        sum(-1 if name == ".." else 1 for name in names[:at]) for at in range(1, len(names) + 1)
    ]
    return path[:1] == "/" and min(depths) < 0


def compare(
    says: Any, root: str, pattern: str, known: bool, climbing: bool, paths: tuple[str, ...] = PATHS
) -> set[bool]:
    """Whether answers are those of the model; it gives which there were."""
    text, seen = filled(pattern, root), set()
    for drawn in paths:
        path = filled(drawn, root)
        expected = model(root, text, path)
        absolute = path.removeprefix("file://")[:1] == "/"
        # The text alone does not tell where a relative path or pattern leads from the top.
        if not known and (text[:1] == "/") != absolute:
            expected = False
        # A pattern that climbs is about folders above one that is relative itself.
        if text[:3] == "../" and not climbing:
            expected = False
        said = says(path)
        # What climbs above the top may be meant to start below another folder: refused, or allowed
        # as it is written.
        assert said is expected or (expected and climbs(path)), (root, text, path, expected)
        seen.add(said)
    return seen


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("root", ["/srv/app/deep", "."], ids=["absolute", "relative"])
def test_the_guard_reads_patterns_as_the_model_does(root: str, pattern: str) -> None:
    real = root if root != "." else "/nobody/knows/where"
    guard = {
        "use": "files",
        "shipped": False,
        "root": [root],
        "outside_read": "allow",
        "outside_write": "allow",
    }
    policy = {
        "name": "n",
        "tasks": {"t": {"files": {"write": [filled(pattern, real)]}}},
        "guards": [guard],
    }
    with shield_for(policy).run("a", "t") as run:
        known = real == root
        seen = compare(
            lambda path: run.check("write_file", {"path": path}).proceeds,
            real,
            pattern,
            known,
            climbing=not known,
        )
    assert seen == {True, False} or (seen == {False} and known and pattern == "../src/**")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("boxed", [False, True], ids=["working-directory", "sandbox"])
def test_a_task_of_the_specification_reads_them_so(
    boxed: bool, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "one/two/three"
    root.mkdir(parents=True)
    monkeypatch.chdir(tmp_path if boxed else root)
    text = filled(pattern, str(root))
    tasks = {"t": Task(scope=Scope(files=Files(write=(text,))), risk_level="low")}  # type: ignore[arg-type]
    box: dict[str, Any] = {"sandbox": root} if boxed else {}
    with (
        Guardrails.load(tasks=tasks, store="memory:", journal="memory:", **box) as rails,
        rails.hooks("a", "t") as hooks,
    ):

        def says(path: str) -> bool:
            result = hooks.pre_execution("Write", {"file_path": path, "content": ""})
            assert result.proceeds is (result.message == "")
            return result.proceeds

        # An absolute pattern is about absolute paths; a relative one about both.
        paths = tuple(
            one
            for one in PATHS
            if text[:1] != "/" or filled(one, "/r").removeprefix("file://")[:1] == "/"
        )
        compare(says, str(root), pattern, True, True, paths)
        if text[:1] == "/":
            assert not any(
                says(one)
                for one in ("src/a", "./src/a", "../src/a", "../../../../../src/a", "src/b/c.md")
            )


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("echo x > src/a 2>/dev/null", True),
        ("cd {root} && touch src/a", True),
        ("cd src && touch a", True),
        ("echo x > ../src/a", False),
        ("echo x > /src/a", False),
        ("rm -r ../src/b", False),
        ("cd .. && touch src/a", False),
        ("cd /; touch src/a", False),
        ("cp src/a ~/src/a", False),
        ("touch {root}/../src/a", False),
    ],
)
def test_commands_write_in_the_scope_alone(
    command: str, passes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = {"t": {"scope": {"files": {"write": ["src/**"]}}, "risk_level": "low"}}
    with (
        Guardrails.load(tasks=tasks, store="memory:", journal="memory:") as rails,
        rails.hooks("a", "t") as hooks,
    ):
        result = hooks.pre_execution("bash", {"command": filled(command, str(tmp_path))})
        assert result.proceeds is passes
        assert bool(result.message) is not passes


def test_links_out_of_the_scope_are_followed(tmp_path: Path) -> None:
    box, away = tmp_path / "box", tmp_path / "away"
    for folder in (box / "src/in", box / "lib", away):
        folder.mkdir(parents=True)
    for link, to in (
        ("src/near", "in"),
        ("src/lib", "../lib"),
        ("src/away", str(away)),
        ("src/gone", "/no-such-disk/x"),
        ("to", "src"),
    ):
        (box / link).symlink_to(to)
    # `surroundings` opens what is temporary or on another disk; the task's patterns still hold
    # there.
    guard = {
        "use": "files",
        "shipped": False,
        "root": [str(box)],
        "real_paths": True,
        "deadline_ms": 30_000,
    }
    guard |= {"surroundings": True}
    policy = {"name": "n", "tasks": {"t": {"files": {"write": ["src/**"]}}}, "guards": [guard]}
    with shield_for(policy).run("a", "t") as run:
        for start, end in product(
            ("", f"{box}/"),
            ("src/in/a", "src/near/a", "src/lib/a", "src/away/a", "src/gone/a", "to/in/a"),
        ):
            path = f"{start}{end}"
            real = os.path.realpath(os.path.join(box, path))
            expected = all(model(os.path.realpath(box), "src/**", one) for one in (end, real))
            assert run.check("write_file", {"path": path}).proceeds is expected, path


@pytest.mark.parametrize("outside", ["allow", "warn"])
def test_what_is_outside_and_not_refused_has_to_be_listed(outside: str) -> None:
    guard = {
        "use": "files",
        "shipped": False,
        "outside_write": outside,
        "write": ["src/**", "../lib/**"],
    }
    with shield_for({"name": "n", "guards": [guard]}).run("a") as run:
        said = {
            path: run.check("write_file", {"path": path})
            for path in ("../src/a", "../../lib/a", "../lib/a")
        }
    assert [one.proceeds for one in said.values()] == [False, False, True]
    assert said["../src/a"].code == "files.denied"
    assert said["../lib/a"].code == ("" if outside == "allow" else "files.outside")


def test_a_variable_that_nobody_knows_is_in_no_list() -> None:
    guard = {"use": "files", "shipped": False, "write": ["src/**", "**"]}
    with shield_for({"name": "n", "guards": [guard]}).run("a") as run:
        assert run.check("write_file", {"path": "$THERE/src/a"}).code == "files.denied"
        assert run.check("read_file", {"path": "$THERE/src/a"}).proceeds
