"""What is kept under a seal counts only as this user's Stanchion has written it."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stanchion import Action, Refused, Shield
from stanchion.policy.sealed import KEY, FolderSeal, Unsealed

posix = pytest.mark.skipif(os.name != "posix", reason="there are no modes of files")


def kept(folder: Path, name: str = "one") -> bytes:
    """Keep something, and read it back."""
    sealing = FolderSeal(folder)
    sealing.write(folder / "x" / name, "what", name.encode())
    return sealing.read(folder / "x" / name, "what", 10)


def refused(folder: Path, name: str = "one", what: str = "what") -> bool:
    """Whether what is kept does not count."""
    try:
        FolderSeal(folder).read(folder / "x" / name, what, 10)
    except (Unsealed, FileNotFoundError):
        return True
    return False


def test_what_bears_no_seal_of_ours_or_that_of_something_else_does_not_count(
    tmp_path: Path,
) -> None:
    assert kept(tmp_path) == b"one"
    assert refused(tmp_path, what="something else")
    file = tmp_path / "x" / "one"
    sealed = file.read_bytes()
    for body in (b"", b"one", sealed[:-1] + b"x", sealed + b"x", sealed[:-3]):
        file.write_bytes(body)
        assert refused(tmp_path)


@posix
def test_what_others_may_write_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "sealed"
    kept(folder)
    for place, mode in ((folder, 0o700), (folder / "x", 0o700), (folder / KEY, 0o600)):
        assert place.stat().st_mode & 0o777 == mode
    file = folder / "x" / "one"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o620)
    assert refused(folder)
    kept(folder)
    folder.chmod(0o777)
    assert refused(folder)
    with pytest.raises(Unsealed):
        kept(folder, "two")
    folder.chmod(0o755)
    assert kept(folder) == b"one"
    assert folder.stat().st_mode & 0o777 == 0o700


@posix
def test_links_are_not_followed(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "sealed", tmp_path / "elsewhere"
    kept(folder)
    file = folder / "x" / "one"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert refused(folder)
    assert elsewhere.exists()
    (folder / "x").rename(tmp_path / "moved")
    (folder / "x").symlink_to(tmp_path / "moved")
    with pytest.raises(Unsealed):
        kept(folder)


@posix
def test_a_key_that_others_may_read_seals_nothing(tmp_path: Path) -> None:
    kept(tmp_path / "sealed")
    key = tmp_path / "sealed" / KEY
    key.chmod(0o644)
    assert refused(tmp_path / "sealed")
    before = key.read_bytes()
    assert kept(tmp_path / "sealed") == b"one"
    assert key.read_bytes() != before


def test_several_who_make_or_replace_a_key_use_one(
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
        if number % 2:
            (folder / KEY).write_bytes(b"none")
            (folder / KEY).chmod(0o600)

        def at_once(name: str, folder: Path = folder, ready: threading.Barrier = ready) -> bytes:
            ready.wait()
            return kept(folder, name)

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(at_once, "abcdef")) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_an_agent_cannot_put_anything_there(tmp_path: Path) -> None:
    """The guards of a shield keep agents off the folder of the seal, wherever the state folder
    is."""
    guards = [{"id": "f", "use": "files"}, {"id": "sh", "use": "shell"}]
    folder = tmp_path / "state" / "sealed"
    with Shield.load({"name": "p", "version": "1", "guards": guards}).run("a") as run:
        for command in (
            f"cp x {folder}/documents/0",
            f"cat {folder}/key",
            f"rm -rf {folder.parent}",
        ):
            assert run.check("bash", {"command": command}).action is Action.BLOCK
        with pytest.raises(Refused):
            run.call(lambda path: path, path=str(folder / "key"))
