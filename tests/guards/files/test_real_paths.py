"""Links on a real disk: what they lead to is what counts, where the policy asks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.guards._real import RealPathsQuestion
from stanchion.guards.files.guard import Files
from stanchion.guards.files.real import RealFiles
from stanchion.readings import read
from stanchion.runtime.answers.real_paths import real_paths
from stanchion.testing import shield_for


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A folder with a file, links that stay inside, and links that do not."""
    box, away = tmp_path / "box", tmp_path / "away"
    (box / "src").mkdir(parents=True)
    away.mkdir()
    (box / "src/a.py").write_text("inside", encoding="utf-8")
    (away / "secret").write_text("outside", encoding="utf-8")
    (box / "near").symlink_to("src/a.py")
    (box / "far").symlink_to(away / "secret")
    (box / "folder").symlink_to(away)
    (box / "chain").symlink_to("far")
    (box / "settings").symlink_to(".env")
    return box


def shield(box: Path, **options: Any) -> Shield:
    """A shield whose files are in that box, and which asks the disk."""
    entry = {
        "use": "files",
        "root": [str(box)],
        "real_paths": True,
        "deadline_ms": 30_000,
        **options,
    }
    return shield_for({"name": "real", "guards": [entry]})


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("src/a.py", ""),
        ("near", ""),
        ("new/file.txt", ""),
        ("far", "files.outside"),
        ("chain", "files.outside"),
        ("folder/secret", "files.outside"),
        ("folder/new", "files.outside"),
        ("src/../folder/secret", "files.outside"),
        ("folder/../box/src/a.py", ""),
        ("folder/../x", "files.outside"),
        ("settings", "files.protected"),
    ],
)
def test_links_are_followed(box: Path, path: str, code: str) -> None:
    run = shield(box).run("a", "t")
    assert run.check("read_file", {"path": path}).code == code
    assert run.check("read_file", {"path": f"{box}/{path}"}).code == code
    assert asyncio.run(run.acheck("read_file", {"path": path})).code == code


def test_a_refused_link_is_never_read(box: Path) -> None:
    def read_file(path: str) -> str:
        return (box / path).read_text(encoding="utf-8")

    run = shield(box).run("a", "t")
    assert run.call(read_file, path="near") == "inside"
    with pytest.raises(Refused) as refused:
        run.call(read_file, path="far")
    assert refused.value.decision.determining is not None
    assert refused.value.decision.determining.guard == "files-real"
    assert "(really " in refused.value.decision.message


def test_without_the_option_the_disk_is_not_asked(box: Path) -> None:
    assert shield(box, real_paths=False).run().check("read_file", {"path": "far"}).proceeds


def test_commands_and_folders_beside_paths_are_followed_too(box: Path) -> None:
    run = shield(box).run("a", "t")
    assert run.check("bash", {"command": "cat far"}).code == "files.outside"
    assert run.check("bash", {"command": "cd folder && cat secret"}).code == "files.outside"
    assert run.check("read_file", {"path": "secret", "cwd": "folder"}).code == "files.outside"
    assert run.check("bash", {"command": "cat near > src/b.py"}).proceeds


def test_a_root_that_is_itself_a_link_is_where_it_leads(box: Path, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(box)
    run = shield(tmp_path / "door").run("a", "t")
    assert run.check("read_file", {"path": "src/a.py"}).proceeds
    assert run.check("read_file", {"path": "far"}).code == "files.outside"


def test_the_working_directory_becomes_a_real_root(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(box)
    run = shield_for(
        {"name": "here", "guards": [{"use": "files", "real_paths": True, "deadline_ms": 30_000}]}
    ).run()
    assert run.check("read_file", {"path": str(box / "src/a.py")}).proceeds
    assert run.check("read_file", {"path": str(box.parent / "away/secret")}).code == "files.outside"


def test_links_are_held_against_a_tasks_files(box: Path) -> None:
    entry = {"use": "files", "root": [str(box)], "real_paths": True, "deadline_ms": 30_000}
    policy = {"name": "real", "tasks": {"t": {"files": {"write": ["src/**"]}}}, "guards": [entry]}
    (box / "src/link").symlink_to("../top")
    run = shield_for(policy).run("a", "t")
    assert run.check("write_file", {"path": "near"}).code == "files.denied"
    assert run.check("write_file", {"path": "src/link"}).code == "files.denied"
    assert run.check("write_file", {"path": "src/new"}).proceeds


def test_home_and_file_urls_are_found_on_the_disk(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(box))
    asked = RealPathsQuestion(
        ("~",),
        (("~/near", ""), (f"file://{box}/ne%61r", ""), ("$HOME/near", "")),
        ("read",) * 3,
        "",
    )
    answer = real_paths(asked)
    found = [str(box.resolve() / "src/a.py")] * 3
    assert answer == {"roots": [str(box.resolve())], "paths": found, "absent": [False] * 3}


def test_a_late_answer_is_judged_by_what_was_asked(box: Path) -> None:
    guard = RealFiles(Files(root=(str(box),)))
    asked = RealPathsQuestion((str(box),), (("far", ""),), ("read",), "")
    finding = guard.judge(read(asked), real_paths(asked))
    assert finding is not None
    assert finding.code == "files.outside"


def test_an_answer_about_something_else_is_a_failure(box: Path) -> None:
    guard = RealFiles(Files(root=(str(box),)))
    with pytest.raises(ValueError, match="other paths"):
        guard.judge(
            read(RealPathsQuestion((str(box),), (("far", ""),), ("read",), "")),
            {"roots": [str(box)], "paths": []},
        )


DIFF = {"command": "diff <(ls src | sort) <(ls . | sort) > /dev/stderr"}


def test_what_a_command_has_open_is_not_looked_up_in_this_process(box: Path) -> None:
    held = [
        os.open(box.parent / "away/secret", os.O_RDONLY) for _ in range(70)
    ]  # 63 and 64 among them
    try:
        assert shield(box).run("a", "t").check("bash", DIFF).proceeds
    finally:
        for one in held:
            os.close(one)


def test_what_a_tool_of_this_process_has_open_is_where_it_leads(box: Path) -> None:
    run = shield(box).run("a", "t")
    for name, code in (("away/secret", "files.outside"), ("box/src/a.py", "")):
        held = os.open(box.parent / name, os.O_RDONLY)
        try:
            assert run.check("read_file", {"path": f"/dev/fd/{held}"}).code == code
        finally:
            os.close(held)


def test_what_is_below_an_open_folder_may_be_anywhere(box: Path) -> None:
    run = shield(box).run("a", "t")
    assert run.check("bash", {"command": "cat /dev/fd/3/etc/hosts"}).code == "files.outside"
    without = shield(box, real_paths=False).run()
    assert without.check("bash", {"command": "cat /dev/fd/3/etc/hosts"}).code == "files.outside"


ASKED = """
import os, sys, threading
from stanchion.guards._real import RealPathsQuestion
from stanchion.runtime.answers.real_paths import real_paths
pipe = os.pipe()[0]
own = ("/proc/self/status", "/proc/self", "/dev/fd/4000", f"/proc/{os.getpid()}/environ", f"/dev/fd/{pipe}")
paths = (*own, "/proc/thread-self/status")
asked = RealPathsQuestion(("/",), tuple([(path, "") for path in paths]))
told = []
thread = threading.Thread(target=lambda: told.append(real_paths(asked)["paths"]))
thread.start()
thread.join()
print(told[0])
"""  # noqa: E501


@pytest.mark.skipif(
    not Path("/proc/thread-self").exists(), reason="needs a `/proc` as Linux has it"
)
def test_no_number_of_a_process_is_in_an_answer() -> None:
    answers = [
        subprocess.run(
            [sys.executable, "-c", ASKED], capture_output=True, text=True, check=True
        ).stdout
    ]
    answers += [
        subprocess.run(
            [sys.executable, "-c", ASKED], capture_output=True, text=True, check=True
        ).stdout
    ]
    own = ["status", "", "fd/4000", "environ", "fd/pipe"]
    expected = [f"/proc/[pid]/{name}".rstrip("/") for name in [*own, "task/[tid]/status"]]
    assert answers == [f"{expected}\n"] * 2
