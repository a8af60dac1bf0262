"""What Stanchion keeps in a guarded folder, under a key of its own: files that only this user's
Stanchion has written are told from all others.

Policy documents are kept as they were read, so that a process that starts need not read YAML. A
document is kept by its whole text and by the code that reads it: of a file that was changed, or
after an update, nothing is found. One that does not bear our seal is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.policy.document import Document, DocumentNode, Location, UnreadableValue

if TYPE_CHECKING:
    pass

KEY: Final = "key"
KEY_BYTES: Final = 32
MARK: Final = b"stanchion-sealed-1\n"
"""What a sealed file begins with; its number is the version of the format."""

_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_MADE: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class Unsealed(Exception):
    """A file that bears no seal of ours, or that others may write; the words say which."""


class FolderSeal:
    """Seals files of one folder. The key is made with the first file; whoever cannot read it cannot
    seal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, file: Path, what: str, most: int) -> bytes:
        """What a sealed file holds; `Unsealed` where nobody knows who wrote it, `OSError` where
        there is none."""
        checked(file.parent)
        body = _read(file, most + len(MARK) + hashlib.sha256().digest_size)
        key = self._key()
        if not body.startswith(MARK):
            raise Unsealed("it has no seal")
        size = hashlib.sha256().digest_size
        seal, inner = body[len(MARK) : len(MARK) + size], body[len(MARK) + size :]
        if key is None or not hmac.compare_digest(seal, _seal(key, what, inner)):
            raise Unsealed("its seal is not ours")
        return inner

    def write(self, file: Path, what: str, inner: bytes) -> None:
        """Write a sealed file, whole or not at all; `OSError` or `Unsealed` where the folder cannot
        be trusted."""
        for folder in (self.folder, file.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            checked(folder)
        key = self._key()
        key = key if key is not None else self._new_key()
        part = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
        try:
            _write(part, MARK + _seal(key, what, inner) + inner)
            part.replace(file)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def _key(self) -> bytes | None:
        """The key; `None` where there is none yet, or none that can be one."""
        checked(self.folder)
        try:
            key = _read(self.folder / KEY, KEY_BYTES, secret=True)
        except (FileNotFoundError, Unsealed):
            return None
        return key if len(key) == KEY_BYTES else None

    def _new_key(self) -> bytes:
        """A key for this folder: of processes that make one at once, all use the first."""
        with _alone(self.folder):
            key = self._key()
            if key is None:
                self._put_key()
                key = self._key()
        if key is None:
            raise Unsealed("its key was replaced while it was made")
        return key

    def _put_key(self) -> None:
        """Put a key where there is none; one that cannot be used is removed, and nothing that it
        sealed is ours."""
        file = self.folder / KEY
        file.unlink(missing_ok=True)
        part = file.with_name(f"{KEY}.{os.urandom(8).hex()}")
        try:
            _write(part, os.urandom(KEY_BYTES))
            with contextlib.suppress(FileExistsError):
                os.link(part, file)
        finally:
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Do something in a folder while no other process does, where the system can lock one."""
    if os.name == "nt":
        yield
        return
    import fcntl

    number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def checked(folder: Path) -> None:
    """Raise `Unsealed` for a folder that is a link, somebody else's, or open to others' writing;
    one that others may only look into is closed to them."""
    known = folder.lstat()
    if not stat.S_ISDIR(known.st_mode):
        raise Unsealed(f"`{folder}` is not a folder")
    if not _is_ours(known) or known.st_mode & 0o022:
        raise Unsealed(f"others may write in `{folder}`")
    if os.name == "posix" and known.st_mode & 0o077:
        folder.chmod(0o700)


def _read(file: Path, most: int, secret: bool = False) -> bytes:
    """The bytes of a file that only its user may write, or, where it is `secret`, read."""
    try:
        number = os.open(file, _READ)
    except FileNotFoundError:
        raise
    except OSError as error:  # a link, above all
        raise Unsealed(f"it cannot be opened as a file: {error.strerror}") from None
    with open(number, "rb") as opened:
        known = os.fstat(opened.fileno())
        if not stat.S_ISREG(known.st_mode):
            raise Unsealed("it is not a file")
        if not _is_ours(known) or (
            os.name == "posix" and known.st_mode & (0o077 if secret else 0o022)
        ):
            raise Unsealed("others may write it")
        body = opened.read(most + 1)
    if len(body) > most:
        raise Unsealed("it is too large")
    return body


def _write(file: Path, body: bytes) -> None:
    with open(os.open(file, _MADE, 0o600), "wb") as writing:
        writing.write(body)


def _is_ours(known: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or known.st_uid == os.getuid()


def _seal(key: bytes, what: str, inner: bytes) -> bytes:
    """The seal over what a file is and what it holds, each with its length, so that nothing passes
    for another."""
    name = what.encode()
    body = MARK + len(name).to_bytes(8, "big") + name + len(inner).to_bytes(8, "big") + inner
    return hmac.digest(key, body, "sha256")


SEALED: Final = "sealed"
DOCUMENTS: Final = "documents"
MOST_CHARS: Final = 1024 * 1024
"""A longer text is read each time."""
MOST_DOCUMENT_BYTES: Final = 16 * 1024 * 1024
"""What is larger is nothing that we have kept."""
MOST_FILES: Final = 64
"""How many are kept; the oldest go first."""
READERS: Final = ("composed.py", "document.py", "sealed.py")
"""The code that makes a document of a text."""


class DocumentCache:
    """Keeps documents beneath a state folder that is there already; it makes none."""

    def __init__(self, state: Path | None) -> None:
        self._sealing = None if state is None or not state.is_dir() else FolderSeal(state / SEALED)

    def get(self, text: str, origin: str) -> Document | None:
        """What was read of this text before, as it stands in that file; `None` where that is not
        known for sure."""
        name = self._name(text)
        if self._sealing is None or not name:
            return None
        try:
            body = self._sealing.read(
                self._sealing.folder / DOCUMENTS / name, _document_name(name), MOST_DOCUMENT_BYTES
            )
            return Document(origin, _node(msgspec.msgpack.decode(body), origin))
        except (Unsealed, OSError, msgspec.DecodeError, ValueError, TypeError):
            return None

    def put(self, text: str, document: Document) -> None:
        """Keep what was read of a text, if nothing is wrong with it."""
        name = self._name(text)
        if self._sealing is None or not name or document.faults:
            return
        folder = self._sealing.folder / DOCUMENTS
        with contextlib.suppress(Unsealed, OSError, ValueError, OverflowError, TypeError):
            body = msgspec.msgpack.encode(_plain(document.root, document.origin))
            if len(body) <= MOST_DOCUMENT_BYTES:
                self._sealing.write(folder / name, _document_name(name), body)
                _prune(folder)

    def _name(self, text: str) -> str:
        """What a text is kept under; empty where it is not kept."""
        if len(text) > MOST_CHARS:
            return ""
        try:
            return sha256("\n".join([*_code(), text]).encode()).hexdigest()
        except (OSError, UnicodeEncodeError):
            return ""


def _code() -> list[str]:
    """What tells this code from any other that reads documents: where its files are, and when they
    were written."""
    here = os.path.dirname(__file__)
    seen = [(name, os.stat(os.path.join(here, name))) for name in READERS]
    return [here, *[f"{name} {one.st_size} {one.st_mtime_ns}" for name, one in seen]]


def _document_name(name: str) -> str:
    return f"document\n{name}"


def _plain(node: DocumentNode, origin: str) -> list[Any]:
    """A node as plain data: its value, its place, the place of its key, and its text."""
    value: Any = node.value
    if isinstance(value, UnreadableValue):
        raise ValueError("what cannot be read is not kept")
    if isinstance(value, dict):
        value = {name: _plain(child, origin) for name, child in value.items()}
    elif isinstance(value, list):
        value = [_plain(child, origin) for child in value]
    for place in (node.at, node.key):
        if place is not None and (place.file != origin or not place.line or place.path):
            raise ValueError("only what stands in one file is kept")
    key = (0, 0) if node.key is None else (node.key.line, node.key.column)
    return [value, node.at.line, node.at.column, *key, node.text]


def _node(plain: Any, origin: str) -> DocumentNode:
    value, line, column, key_line, key_column, text = plain
    if isinstance(value, dict):
        value = {name: _node(child, origin) for name, child in value.items()}
    elif isinstance(value, list):
        value = [_node(child, origin) for child in value]
    key = Location(origin, key_line, key_column) if key_line else None
    return DocumentNode(value, Location(origin, line, column), key, text)


def _prune(folder: Path) -> None:
    """Remove what is older than the newest."""
    with os.scandir(folder) as entries:
        found = sorted(
            [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries]
        )
    for _, path in found[:-MOST_FILES]:
        os.unlink(path)
