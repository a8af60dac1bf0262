"""A compiled database of patterns that somebody else has put in its place lets no secret
through."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Refused, Shield
from stanchion.guards.secrets import finder as finding
from stanchion.policy.sealed import FolderSeal, ScanCache, Unsealed
from stanchion.readings.scan import Pattern, Scanner, hyper

hyperscan = pytest.importorskip("hyperscan")

SOUGHT = [Pattern(f"\\bkey{number:02d}_[a-z]{{8}}\\b") for number in range(40)]
LONG = "key07_abcdefgh " + "x " * 8_192
NAME = "0" * 64


class Waiting(ScanCache):
    """A cache that does its work at once."""

    def later(self, work: Any) -> None:
        work()


def silent() -> bytes:
    """A database that finds nothing that anybody looks for."""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(expressions=[b"\\xfe\\xff\\xfe\\xff"], ids=[0], elements=1, flags=[0])
    made: bytes = hyperscan.dumpb(database)
    return made


def kept(state: Path) -> Path:
    """The file in which a scanner's patterns are kept."""
    cache = Waiting(state)
    Scanner(SOUGHT, "auto", cache).scan(LONG)
    assert cache.folder is not None
    (file,) = cache.folder.iterdir()
    return file


def found(state: Path) -> list[int]:
    """What a new process would find."""
    return [hit.pattern for hit in Scanner(SOUGHT, "auto", ScanCache(state)).scan(LONG)]


def test_a_database_without_our_seal_is_removed_and_said_aloud(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = kept(tmp_path)
    sealed = file.read_bytes()
    assert Scanner(SOUGHT, "auto", ScanCache(tmp_path)).engine == "hyperscan"
    head = sealed.index(b"\n") + 1
    for body in (silent(), sealed[: head + 32] + silent(), sealed[:head] + bytes(32) + silent()):
        file.write_bytes(body)
        with caplog.at_level(logging.WARNING, "stanchion.policy"):
            caplog.clear()
            assert found(tmp_path) == [7]
        assert "removed and compiled again" in caplog.text
        assert not file.exists()
    assert kept(tmp_path) == file
    assert found(tmp_path) == [7]


def test_a_sealed_file_under_another_name_is_not_the_one_that_was_sealed(tmp_path: Path) -> None:
    file = kept(tmp_path)
    cache = ScanCache(tmp_path)
    file.rename(file.with_name(NAME))
    assert cache.get(NAME) is None
    cache.put(NAME, b"made")
    assert cache.get(NAME) == b"made"


@pytest.mark.skipif(os.name != "posix", reason="there are no modes of files")
def test_what_others_may_write_is_not_used(tmp_path: Path) -> None:
    file = kept(tmp_path)
    sealed = tmp_path / "sealed"
    assert [stat.st_mode & 0o777 for stat in (sealed.stat(), file.parent.stat())] == [0o700, 0o700]
    assert [stat.st_mode & 0o777 for stat in (file.stat(), (sealed / "key").stat())] == [
        0o600,
        0o600,
    ]
    file.chmod(0o620)
    assert ScanCache(tmp_path).get(file.name) is None
    file = kept(tmp_path)
    sealed.chmod(0o777)
    cache = ScanCache(tmp_path)
    assert cache.get(file.name) is None
    cache.put(file.name, b"made")
    assert not file.exists()
    sealed.chmod(0o755)
    cache.put(file.name, b"made")
    assert cache.get(file.name) == b"made"
    assert sealed.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name != "posix", reason="links are no matter of course")
def test_links_are_not_followed(tmp_path: Path) -> None:
    file = kept(tmp_path / "state")
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert ScanCache(tmp_path / "state").get(file.name) is None
    assert elsewhere.exists()
    moved = tmp_path / "moved"
    file.parent.rename(moved)
    file.parent.symlink_to(moved)
    cache = ScanCache(tmp_path / "state")
    cache.put(file.name, b"made")
    assert cache.get(file.name) is None


@pytest.mark.skipif(os.name != "posix", reason="there are no modes of files")
def test_a_key_that_others_may_read_seals_nothing(tmp_path: Path) -> None:
    file = kept(tmp_path)
    key = tmp_path / "sealed" / "key"
    key.chmod(0o644)
    assert ScanCache(tmp_path).get(file.name) is None
    before = key.read_bytes()
    ScanCache(tmp_path).put(file.name, b"made")
    assert key.read_bytes() != before
    assert ScanCache(tmp_path).get(file.name) == b"made"


def test_processes_that_make_the_key_at_once_share_one(tmp_path: Path) -> None:
    ready = threading.Barrier(8)
    failed: list[Exception] = []

    def put(number: int) -> None:
        try:
            ready.wait()
            FolderSeal(tmp_path / "sealed").write(
                tmp_path / "sealed" / "x" / str(number), "what", b"%d" % number
            )
        except (OSError, Unsealed) as error:
            failed.append(error)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    sealing = FolderSeal(tmp_path / "sealed")
    for number in range(8):
        assert sealing.read(tmp_path / "sealed" / "x" / str(number), "what", 10) == b"%d" % number
    with pytest.raises(Unsealed):
        sealing.read(tmp_path / "sealed" / "x" / "1", "something else", 10)


def test_the_old_cache_is_read_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way: a poisoned file where the cache used to be, and one where it is now; the
    secret is found."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    finding.finder.cache_clear()
    policy = {"name": "p", "version": "1", "guards": [{"id": "s", "use": "secrets"}]}
    shield = Shield.load(policy)
    guard = shield.placed(shield.policy.hash, "s")
    assert guard is not None
    name = hyper.name_of(guard.guard._finder.scanner.patterns)
    for folder in (
        tmp_path / "cache" / "stanchion" / "patterns",
        tmp_path / "state" / "sealed" / "patterns",
    ):
        folder.mkdir(mode=0o700, parents=True)
        (folder / name).write_bytes(silent())
    finding.finder.cache_clear()
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]
    with Shield.load(policy).run("a") as run:
        decision = run.check("send", {"text": f"{secret} {'x ' * 9_000}"})
    assert decision.action is not Action.ALLOW
    assert not (tmp_path / "state" / "sealed" / "patterns" / name).exists()


def test_an_agent_cannot_put_a_database_there(tmp_path: Path) -> None:
    """The guards of a shield keep agents off the folder of the seal, wherever the state folder
    is."""
    shield = Shield.load(
        {
            "name": "p",
            "version": "1",
            "guards": [{"id": "f", "use": "files"}, {"id": "sh", "use": "shell"}],
        }
    )
    folder = tmp_path / "state" / "sealed"
    with shield.run("a") as run:
        for command in (
            f"cp x {folder}/patterns/0",
            f"cat {folder}/key",
            f"rm -rf {folder.parent}",
        ):
            assert run.check("bash", {"command": command}).action is Action.BLOCK
        with pytest.raises(Refused):
            run.call(lambda path: path, path=str(folder / "key"))
