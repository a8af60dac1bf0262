"""Every trouble with the file is named with its path and what to do, and is over when it is
over."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.kernel.state import Batch, Line, StoreForgot, StoreLost, When, key
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock

A, R = key("t", "a"), key("t", "record")
LINES = (Line(A),)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that does not exist yet."""
    return tmp_path / "state.db"


@pytest.fixture
def used(path: Path) -> Path:
    """A file with a few hundred cells in it, closed."""
    store = SqliteStore(path, FakeClock())
    for number in range(300):
        store.carry(Batch(f"b{number}", lines=(Line(key("t", "cell", str(number))), *LINES)))
    store.close()
    return path


@pytest.fixture
def locker(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody else's connection to the file."""
    db = sqlite3.connect(path, isolation_level=None)
    yield db
    db.close()


def says(path: Path, *parts: str) -> str:
    """A pattern for a message that names the file first and has these parts."""
    return ".*".join([f"`{path}`", *parts])


def test_locked_while_carrying(path: Path, locker: sqlite3.Connection) -> None:
    store = SqliteStore(path, busy_s=0.02)
    store.carry(Batch("one", lines=LINES))
    locker.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        StoreLost, match=says(path, r"locked by another process for more than 0\.02 s", "try again")
    ):
        store.carry(Batch("two", lines=LINES))
    assert store.read(A) == (1, None)
    locker.execute("ROLLBACK")
    assert store.carry(Batch("two", lines=LINES)).values == (1,)
    store.close()


def test_locked_while_opening(path: Path, locker: sqlite3.Connection) -> None:
    locker.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match=says(path, "locked by another process", "try again")):
        SqliteStore(path, busy_s=0.02)
    locker.execute("ROLLBACK")
    SqliteStore(path, busy_s=0.02).close()


def test_full(used: Path) -> None:
    store = SqliteStore(used, FakeClock())
    store.carry(Batch("one", lines=LINES))
    cursor = store._link.ready()
    (pages,) = cursor.execute("PRAGMA page_count").fetchone()
    cursor.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(StoreLost, match=f"disk of `{used}` is full: free some space"):
        store.carry(Batch("big", lines=LINES, puts=((R, "x" * 100_000, When.PROCEED, 0, 0),)))
    assert (store.read(A), store.read(R)) == ((301, None), (0, None))
    assert store.carry(
        Batch("big", lines=LINES, puts=((R, "x" * 100_000, When.PROCEED, 0, 0),))
    ).values == (301,)
    store.close()


def test_the_disk_fails(used: Path) -> None:
    """A limit on the size of files makes every longer write fail."""
    store = SqliteStore(used, FakeClock())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(used), before[1]))
    try:
        with pytest.raises(
            StoreLost, match=f"disk of `{used}` failed .SQLITE_IOERR.*check the disk"
        ):
            store.carry(Batch("big", lines=LINES, puts=((R, "x" * 1_000_000, When.PROCEED, 0, 0),)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert store.carry(Batch("big", lines=LINES)).values == (300,)
    store.close()


def test_damaged_while_carrying(used: Path) -> None:
    whole = used.read_bytes()
    roots = 7 * 4096
    used.write_bytes(whole[:roots] + b"\xff" * (len(whole) - roots))
    store = SqliteStore(used, FakeClock())
    with pytest.raises(StoreLost, match=says(used, "is damaged", "restore a copy of it")):
        store.carry(Batch("one", lines=LINES))
    with pytest.raises(StoreLost, match=says(used, "is damaged")):
        list(store.look())
    store.close()
    used.write_bytes(whole)
    again = SqliteStore(used, FakeClock())
    assert again.carry(Batch("c", lines=LINES)).values == (300,)
    again.close()


def test_damaged_and_put_right_under_the_same_store(used: Path) -> None:
    """The file is replaced by another process, as a person would, while the store stays open."""
    copy = used.with_name("copy.db")
    shutil.copyfile(used, copy)
    clock = FakeClock()
    store = SqliteStore(used, clock)
    store.carry(Batch("before", lines=LINES))
    _replace(used, b"not a database, whatever it was before" * 200)
    clock.advance(5_000)
    with pytest.raises(
        StoreLost, match=says(used, "is not an SQLite database", "use another file")
    ):
        store.carry(Batch("lost", lines=LINES))
    _replace(used, copy.read_bytes())
    with pytest.raises(StoreForgot):
        store.carry(Batch("after", lines=LINES))
    store.close()


def test_a_row_that_is_not_what_was_written(used: Path) -> None:
    db = sqlite3.connect(used, isolation_level=None)
    db.execute("UPDATE kept SET cells = x'91c1' WHERE owner = ?", (A,))
    db.close()
    store = SqliteStore(used, FakeClock())
    for attempt in (
        lambda: store.carry(Batch("one", lines=LINES)),
        lambda: store.read(A),
        lambda: list(store.look()),
    ):
        with pytest.raises(StoreLost, match=says(used, "is damaged")):
            attempt()
    store.close()


@pytest.mark.parametrize("content", [b"x", b"hello, this is text\n" * 300, bytes(range(256)) * 64])
def test_no_database_while_opening(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for reading in (False, True):
        with pytest.raises(
            StoreError, match=says(path, "is not an SQLite database", "use another file")
        ):
            SqliteStore(path, reading=reading)
    assert path.read_bytes() == content


def test_damaged_while_opening(used: Path) -> None:
    whole = used.read_bytes()
    used.write_bytes(whole[:100] + b"\xee" * 3996 + whole[4096:])
    with pytest.raises(StoreError, match=says(used, "is damaged", "move it away to start empty")):
        SqliteStore(used)


def test_a_folder(tmp_path: Path) -> None:
    for reading in (False, True):
        with pytest.raises(StoreError, match=says(tmp_path, "is a folder: give a file in it")):
            SqliteStore(tmp_path, reading=reading)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    path = tmp_path / "file" / "folder" / "state.db"
    with pytest.raises(StoreError, match=says(path, "cannot be created", "use another place")):
        SqliteStore(path)


PLAIN_USER = """
import json, os, sys
import urllib.parse  # which pathlib imports late, when the library may be out of the plain user's reach
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import SqliteStore

if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
said = []
for path, reading in json.loads(sys.argv[1]):
    try:
        store = SqliteStore(path, reading=reading)
        said.append(f"reads {store.read('{t}a')[0]}")
        store.close()
    except StoreError as error:
        said.append(str(error))
print(json.dumps(said))
"""  # noqa: E501


@pytest.fixture
def everybodys() -> Iterator[Path]:
    """A folder that every user can come to, unlike those of tests."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_what_a_plain_user_may_not_do(everybodys: Path) -> None:
    """Permissions mean nothing to root, so a process of another user tries."""
    file, folder = everybodys / "state.db", everybodys / "closed"
    store = SqliteStore(file)
    store.carry(Batch("one", lines=LINES))
    store.close()
    file.chmod(0o444)
    folder.mkdir(mode=0o555)
    secret = everybodys / "secret" / "state.db"
    secret.parent.mkdir(mode=0o000)
    everybodys.chmod(0o555)
    new = folder / "new.db"
    asked = [
        (str(file), False),
        (str(file), True),
        (str(new), False),
        (str(secret), False),
        (str(secret), True),
    ]
    command = [sys.executable, "-c", PLAIN_USER, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    everybodys.chmod(0o755)
    written, read, made, *hidden = json.loads(done.stdout)
    assert written == f"`{file}` cannot be written: let this user write the file and its folder"
    assert read == "reads 1"
    assert made.startswith(
        f"`{new}` cannot be created (Permission denied): let this user write to its folder"
    )
    assert (
        hidden
        == [f"`{secret}` cannot be opened: let this user read and write the file and its folder"]
        * 2
    )


def _replace(path: Path, content: bytes) -> None:
    """Put another file in a path's place; its log goes with the old one."""
    other = path.with_name("other")
    other.write_bytes(content)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    other.rename(path)


@pytest.mark.parametrize("to", [b"", b"\0" * 100_000])
def test_a_file_that_is_zeroed_under_an_open_store_is_not_gone_on_with(
    used: Path, to: bytes
) -> None:
    """What the store remembers of it is no reason to go on."""
    store = SqliteStore(used, FakeClock())
    assert store.carry(Batch("before", lines=LINES)).go
    with used.open("r+b") as file:
        file.truncate(len(to))
        file.write(to)
    for number in range(2):
        with pytest.raises(StoreLost):
            store.carry(Batch(f"after{number}", lines=LINES))
    store.close()
