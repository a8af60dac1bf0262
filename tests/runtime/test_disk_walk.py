"""Where paths lead is known at once on disks that answer at once, and is what the system says;
whoever may be kept waiting by another asks in a thread, within the deadline."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import example, given, strategies as st

from stanchion.guards._real import RealPathsQuestion
from stanchion.runtime.answers import real_paths as asking
from stanchion.runtime.answers.real_paths import (
    far_mounts,
    real_paths,
    real_paths_at_once,
)
from stanchion.testing import shield_for

pytestmark = pytest.mark.skipif(
    not os.path.exists(asking.MOUNTS), reason="nobody says here what is mounted"
)

PATHS: Final = st.lists(st.sampled_from(["a", "b", "..", ".", ""]), min_size=1).map("/".join)
LINKS: Final = st.dictionaries(st.sampled_from(["a", "b", "a/b", "b/a"]), PATHS)


@given(LINKS, PATHS, st.lists(PATHS))
@example({"a": "b", "b": "a"}, ".", ["a/c", "c"])
@example({"a/b": "../b", "b": "/"}, "a", ["b/etc", "../b/../nope"])
def test_it_leads_where_the_system_says(links: dict[str, str], root: str, paths: list[str]) -> None:
    with TemporaryDirectory() as folder:
        for name, target in sorted(links.items()):
            place = Path(folder, name)
            if not place.parent.is_symlink():  # everything made here is in the folder
                place.parent.mkdir(exist_ok=True)
                place.symlink_to(target or "/")
        asked = [(path, "") for path in [*paths, *[f"{folder}/{name}" for name in "abc"]]]
        asked += [("a", "b"), ("~/x", ""), ("/nope/a", ""), ("/home/nobody/a", ""), ("/", "")]
        question = RealPathsQuestion((f"{folder}/{root}",), (*asked, ("/proc/self/fd/0", "")))
        try:
            at_once = real_paths_at_once(question)
        except BlockingIOError:
            assert links  # in a circle: the system says
        else:
            assert at_once == real_paths(question)


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A box with a folder that is said to be somewhere else, and a link into it."""
    (tmp_path / "the box/far").mkdir(parents=True)
    box = (tmp_path / "the box").resolve()
    (box / "door").symlink_to("far/inside")
    place = str(box / "far").replace(" ", "\\040")
    said = f"/dev/sda / ext4 rw 0 0\nproc /proc proc rw 0 0\nfar:/ {place} nfs4 rw 0 0\n"
    (tmp_path / "mounts").write_text(said, encoding="utf-8")
    monkeypatch.setattr(asking, "MOUNTS", str(tmp_path / "mounts"))
    asking._far_mounts.cache_clear()
    yield box
    asking._far_mounts.cache_clear()


def test_what_may_never_answer_is_not_looked_at(mounted: Path) -> None:
    assert far_mounts() == {str(mounted / "far")}
    for path, waits in (("a", False), ("far", True), ("door/x", True), ("farther", False)):
        question = RealPathsQuestion((str(mounted),), ((path, ""),))
        if waits:
            with pytest.raises(BlockingIOError):
                real_paths_at_once(question)
        else:
            assert real_paths_at_once(question)["paths"] == [str(mounted / path)]


@pytest.mark.parametrize("said", ["far:/ / nfs4 rw 0 0\n", "", "what\n"])
def test_nobody_looks_where_it_is_not_known_what_is_mounted(mounted: Path, said: str) -> None:
    Path(asking.MOUNTS).write_text(said, encoding="utf-8")
    with pytest.raises(BlockingIOError):
        far_mounts()


def test_only_what_may_be_waited_for_is_asked_in_a_thread(mounted: Path) -> None:
    guard = {"use": "files", "root": [str(mounted)], "real_paths": True, "deadline_ms": 30_000}
    run = shield_for({"name": "real", "guards": [guard]}).run()
    before = _asking()
    assert run.check("read_file", {"path": "a"}).proceeds
    assert run.check("read_file", {"path": "/etc/x"}).code == "files.outside"
    assert _asking() == before
    assert run.check("read_file", {"path": "far/a"}).proceeds
    assert _asking() > before


def _asking() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "stanchion-files-real"}
