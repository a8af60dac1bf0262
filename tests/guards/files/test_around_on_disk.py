"""What is around a project, on a disk: its changes outside are asked about, and what is on another
disk is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.guards._real import RealPathsQuestion
from stanchion.guards.files.guard import Files
from stanchion.guards.files.real import RealFiles
from stanchion.kernel.actions import Action
from stanchion.readings import read
from stanchion.runtime.answers.real_paths import real_paths
from stanchion.stores.memory import MemoryStore

PROJECT = "/home/dev/proj"


def said(real: str, use: str, absent: bool = False, **options: Any) -> tuple[Action, str] | None:
    """What is said of a path that leads there, on a disk with a project."""
    guard = RealFiles(Files(surroundings=True, **options))
    asked = RealPathsQuestion((".",), (("link/x", ""),), (use,), "")
    finding = guard.judge(read(asked), {"roots": [PROJECT], "paths": [real], "absent": [absent]})
    return None if finding is None else (finding.action, finding.code)


@pytest.mark.parametrize(
    ("real", "reading", "writing"),
    [
        ("/home/dev/proj/src/a.py", None, None),
        ("/home/dev/other/a.py", None, "files.outside"),
        ("/home/dev/Documents/taxes.txt", "files.outside", "files.outside"),
        ("/home/bob/proj/a.py", "files.outside", "files.outside"),
        ("/srv/site/index.html", None, "files.outside"),
        ("/tmp/build/a.o", None, None),
        ("/home/dev/.cache/pip/x", None, None),
        ("/usr/include/stdio.h", None, "files.protected"),
        ("/usr/local/lib/python3.13/site-packages/numpy/a.py", None, None),
        ("/home/dev/.ssh/id_ed25519", "files.protected", "files.protected"),
    ],
)
def test_a_person_is_asked_about_what_is_not_the_projects(
    real: str, reading: str | None, writing: str | None
) -> None:
    for use, code in (("read", reading), ("write", writing)):
        action = Action.ESCALATE if code == "files.outside" else Action.BLOCK
        assert said(real, use) == (None if code is None else (action, code))


def test_what_is_on_another_disk_is_not_outside() -> None:
    assert said("/workspace/a.py", "write") == (Action.ESCALATE, "files.outside")
    assert said("/workspace/a.py", "write", absent=True) is None
    assert said("/etc/passwd", "write", absent=True) == (Action.BLOCK, "files.protected")


def test_the_policy_says_how_mildly_it_is_answered() -> None:
    assert said("/srv/x/a", "write", asked="warn") == (Action.WARN, "files.outside")
    assert said("/srv/x/a", "write", outside_write="warn") == (Action.WARN, "files.outside")


def test_of_several_paths_the_worst_counts() -> None:
    guard = RealFiles(Files(surroundings=True))
    asked = RealPathsQuestion((".",), (("a", ""), ("b", "")), ("write", "write"), "")
    answer = {"roots": [PROJECT], "paths": ["/srv/x/a", "/etc/passwd"], "absent": [False, False]}
    finding = guard.judge(read(asked), answer)
    assert finding is not None
    assert (finding.action, finding.code) == (Action.BLOCK, "files.protected")


def test_a_disk_knows_which_paths_are_of_another(tmp_path: Path) -> None:
    paths = [
        str(tmp_path / "new/deep/file"),
        "/no-such-folder/x",
        "/home/no-such-person/x",
        "/no-such-folder",
        "/",
    ]
    answer = real_paths(RealPathsQuestion((str(tmp_path),), tuple([(path, "") for path in paths])))
    assert answer["absent"] == [False, True, True, True, False]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with links that stay inside, and links that do not; the home is that of
    whoever tests."""
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "inner").symlink_to("src")
    (place / "out").symlink_to(Path.home())
    (place / "chain").symlink_to("out")
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("pack", ["coding-agent", "mcp"])
def test_the_packs_ask_before_a_file_outside_is_changed(project: Path, pack: str) -> None:
    run = Shield.load(pack, store=MemoryStore(), safe_mode=False).run(agent="coder", task="fix")
    away = Path.home() / "other-project"
    outside: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"path": str(away / "a.py"), "content": "x"}),
        ("write_file", {"path": "out/other-project/a.py", "content": "x"}),
        ("edit_file", {"path": "chain/notes.txt", "new_str": "x"}),
        ("read_file", {"path": "out/Documents/taxes.txt"}),
        ("copy_file", {"source": "src/a.py", "destination": str(away / "a.py")}),
        ("bash", {"command": f"echo x > {away}/a.py"}),
        ("bash", {"command": f"cd {away} && touch a.py"}),
        ("bash", {"command": f"git clone https://example.com/r.git {away}/r"}),
        ("bash", {"command": f"python3 -c \"open('{away}/a.py', 'w')\""}),
    ]
    for tool, args in outside:
        asked = run.check(tool, args)
        assert (asked.action, asked.code) == (Action.ESCALATE, "files.outside"), (tool, args)
    honest: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"path": str(project / "src/a.py"), "content": "x"}),
        ("write_file", {"path": "inner/b.py", "content": "x"}),
        ("write_file", {"path": "/no-such-folder/a.py", "content": "x"}),
        ("bash", {"command": "ls -la / && cat /etc/os-release && make 2>/dev/null"}),
        ("bash", {"command": "gcc -o src/x src/x.c && cp src/x /tmp/x"}),
    ]
    for tool, args in honest:
        assert run.check(tool, args).proceeds, (tool, args)
