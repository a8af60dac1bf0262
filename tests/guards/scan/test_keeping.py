"""Compiled patterns are kept, found again, and never missed where they cannot be."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stanchion.policy.sealed import KEY, FolderSeal, ScanCache
from stanchion.readings.scan import Pattern, Scanner

SOUGHT = [Pattern(f"\\bkey{number:02d}_[a-z]{{8}}\\b") for number in range(40)]
LONG = "key07_abcdefgh " + "x " * 8_192


class Waiting(ScanCache):
    """A cache that does its work when it is told to."""

    def __init__(self, state: Path) -> None:
        super().__init__(state)
        self.waiting: list[Callable[[], None]] = []

    def later(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)


def test_what_is_compiled_beside_a_long_text_is_there_the_next_time(tmp_path: Path) -> None:
    cache = Waiting(tmp_path / "state")
    scanner = Scanner(SOUGHT, "auto", cache)
    assert scanner.scan("key07_abcdefgh")
    assert cache.waiting == []
    first = scanner.scan(LONG)
    assert (scanner.engine, len(cache.waiting)) == ("re2", 1)
    scanner.scan(LONG)
    assert len(cache.waiting) == 1
    cache.waiting[0]()
    assert scanner.engine == "hyperscan"
    assert scanner.scan(LONG) == first
    again = Scanner(SOUGHT, "auto", cache)
    assert again.engine == "hyperscan"
    assert again.scan(LONG) == first
    assert cache.folder is not None
    assert len(list(cache.folder.iterdir())) == 1
    assert Scanner(SOUGHT[:39], "auto", cache).engine == "re2"


def test_several_who_replace_a_key_that_is_none_use_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink

    def slowly(path: Path, missing_ok: bool = False) -> None:
        """Remove it after others have had the time to make one."""
        time.sleep(0.001)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", slowly)
    for number in range(10):
        folder, ready = tmp_path / str(number), threading.Barrier(6)
        folder.mkdir(mode=0o700)
        (folder / KEY).write_bytes(b"none")
        (folder / KEY).chmod(0o600)

        def kept(name: str, folder: Path = folder, ready: threading.Barrier = ready) -> bytes:
            sealing = FolderSeal(folder)
            ready.wait()
            sealing.write(folder / name, "what", name.encode())
            return sealing.read(folder / name, "what", 10)

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(kept, "abcdef")) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_a_kept_file_that_is_damaged_is_as_none(tmp_path: Path) -> None:
    cache = Waiting(tmp_path)
    Scanner(SOUGHT, "auto", cache).scan(LONG)
    cache.waiting[0]()
    assert cache.folder is not None
    (file,) = cache.folder.iterdir()
    whole = file.read_bytes()
    for body in (b"", b"rubbish", whole[:-100], bytes(len(whole)), whole + b"x"):
        file.write_bytes(body)
        scanner = Scanner(SOUGHT, "auto", cache)
        assert scanner.engine == "re2"
        assert [hit.pattern for hit in scanner.scan("key07_abcdefgh")] == [7]


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for cache in (ScanCache(tmp_path / "file"), ScanCache(None)):
        cache.put("name", b"made")
        assert cache.get("name") is None
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_work_is_done_in_a_thread_of_its_own(tmp_path: Path) -> None:
    done = threading.Event()
    seen: list[str] = []

    def work() -> None:
        seen.append(threading.current_thread().name)
        done.set()

    ScanCache(tmp_path).later(work)
    assert done.wait(30)
    assert seen == ["stanchion-patterns"]


def test_few_patterns_need_no_compiling(tmp_path: Path) -> None:
    cache = Waiting(tmp_path)
    scanner = Scanner(SOUGHT[:10], "auto", cache)
    assert scanner.scan(LONG)
    assert cache.waiting == []
