"""Files of other programs: read as they are, replaced whole or not at all; given what is ours, and
brought back to what they were."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from stanchion import typed
from stanchion.kernel.shown import StanchionError

RECORDS: Final = "installed"
MARK: Final = "\ufeff"
"""What some editors begin a file with."""


class FileChanged(OSError):
    """A file is not what it was when it was read."""


class ForeignFile(NamedTuple):
    """A file and what was in it: `None` where there is none. A link leads to the file that is
    meant."""

    path: Path
    raw: bytes | None

    @property
    def text(self) -> str:
        """What is in it, without the mark at its begin; raises `UnicodeDecodeError`."""
        return "" if self.raw is None else self.raw.decode().removeprefix(MARK)

    def bytes_of(self, text: str) -> bytes:
        """A text as bytes of this file, with the mark that it began with."""
        marked = self.raw is not None and self.raw.startswith(MARK.encode())
        return f"{MARK if marked else ''}{text}".encode()


def read_foreign(path: Path) -> ForeignFile:
    """A file as it is. Raises `BadSettings`."""
    path = path.resolve()
    try:
        return ForeignFile(path, path.read_bytes())
    except FileNotFoundError:
        return ForeignFile(path, None)
    except OSError as error:
        raise BadSettings(f"`{path}` cannot be read: {error.strerror}") from None


def write_foreign(file: ForeignFile, new: bytes | None, mode: int = 0o600) -> None:
    """Replace a file that was read, or remove it; its mode and owner stay, and a new one gets
    `mode`. Raises `FileChanged`, and leaves it, where it was changed since."""
    if new is None:
        _same(file)
        file.path.unlink(missing_ok=True)
        return
    there = None if file.raw is None else file.path.stat()
    beside = file.path.with_name(f"{file.path.name}.{os.urandom(4).hex()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(beside, flags, 0o600), "wb") as sink:
            sink.write(new)
            if there is not None and (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(sink.fileno(), there.st_uid, there.st_gid)
            os.fchmod(sink.fileno(), mode if there is None else there.st_mode & 0o7777)
            sink.flush()
            os.fsync(sink.fileno())
        _same(file)
        os.replace(beside, file.path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _same(file: ForeignFile) -> None:
    if read_foreign(file.path).raw != file.raw:
        raise FileChanged(0, "it was changed meanwhile", str(file.path))


class BadSettings(StanchionError, ValueError):
    """Settings cannot be what they should; the message says why, and what to do."""


class TextForm(NamedTuple):
    """What is ours in files of one format, and what one piece of it is called: a text with it, one
    without it by what the text was before, what of it a text has, by name, and what it cannot hold
    in a text. Each raises a `ValueError` for what it does not understand."""

    piece: str = ""
    puts: Callable[[str], str] = str
    takes: Callable[[str, str], str] = lambda text, _: text
    ours: Callable[[str], Mapping[str, Any]] = lambda _: {}
    misses: Callable[[str], Iterable[str]] = lambda _: ()


AS_IT_IS: Final = TextForm()
"""A file that only its own program changes."""


class InstallRecord(Struct, frozen=True):
    """What a file was before it was first changed, and the mark of what was made of it."""

    path: str
    before: bytes | None
    after: str
    folder_made: bool = False


_RECORD: Final = typed.reader(InstallRecord)


class FileChange(Struct, frozen=True):
    """A file, and what is to be in it: `None` where it is to go. `record` is kept until it is as
    it was."""

    file: ForeignFile
    form: TextForm
    new: bytes | None
    record: InstallRecord | None

    @property
    def changes(self) -> bool:
        """Whether the file is not so already."""
        return self.new != self.file.raw

    def diff(self) -> list[str]:
        """What becomes of the file, line by line."""
        old, new = [
            [] if raw is None else raw.decode().splitlines() for raw in (self.file.raw, self.new)
        ]
        name = str(self.file.path)
        return list(difflib.unified_diff(old, new, name, name, lineterm="", n=2))

    def names(self) -> dict[str, list[str]]:
        """The names of what of ours is put in, changes or goes."""
        old, new = [
            self.form.ours(ForeignFile(self.file.path, raw).text)
            for raw in (self.file.raw, self.new)
        ]
        return {
            "new": [name for name in new if name not in old],
            "changed": [name for name in new if name in old and old[name] != new[name]],
            "gone": [name for name in old if name not in new],
        }

    def misses(self) -> list[str]:
        """What is not held in the file as it is to be."""
        new = ForeignFile(self.file.path, self.new)
        return [] if self.record is None else [*self.form.misses(new.text)]

    def carry_out(self, state: Path, mode: int) -> None:
        """Write it; raises `FileChanged` where the file is not the one that was read. What the file
        was is kept before that."""
        record, folder = _record_file(state, self.file.path), self.file.path.parent
        if self.record is not None:
            for private in (state, record.path.parent):
                private.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not folder.exists():
                folder.mkdir(parents=True)
                # Whatever the umask is: who may read the file finds it.
                folder.chmod(mode | (mode & 0o444) >> 2)
            write_foreign(record, msgspec.json.encode(self.record))
        if self.changes:
            write_foreign(self.file, self.new, mode)
        if self.record is None:
            old = _record(state, self.file.path)
            record.path.unlink(missing_ok=True)
            if old is not None and old.folder_made:
                with suppress(OSError):
                    folder.rmdir()


def plan_change(path: Path, form: TextForm, state: Path, *, puts: bool) -> FileChange:
    """What is to be done so that a file has what is ours, or is as it was: to the letter where
    nobody else changed it since, else without what is ours. Raises `BadSettings`."""
    file = read_foreign(path)
    old = _record(state, file.path)
    known = old is not None and old.after == _mark(file.raw)
    before = old.before if old is not None and known else _bare(file, form, old)
    if not puts:
        return FileChange(file, form, before, None)
    new = file.bytes_of(_made(file, form.puts))
    folder_made = not file.path.parent.exists() if old is None else old.folder_made
    return FileChange(
        file, form, new, InstallRecord(str(file.path), before, _mark(new), folder_made)
    )


def remember(file: ForeignFile, state: Path) -> None:
    """Keep what a file was that its own program has changed since."""
    now = read_foreign(file.path)
    old = _record(state, file.path)
    if now.raw != file.raw or old is not None:
        before = file.raw if old is None or old.after != _mark(file.raw) else old.before
        made = InstallRecord(str(file.path), before, _mark(now.raw))
        write_foreign(_record_file(state, file.path), msgspec.json.encode(made))


def is_known(path: Path, state: Path) -> bool:
    """Whether it is known what a file was before it was changed for us."""
    return _record(state, read_foreign(path).path) is not None


def known_files(state: Path) -> list[Path]:
    """The files that were changed for us, and are there."""
    found = [_RECORD.decode(one.read_bytes()) for one in (state / RECORDS).glob("*.json")]
    return sorted(Path(one.path) for one in found if os.path.exists(one.path))


def _bare(file: ForeignFile, form: TextForm, old: InstallRecord | None) -> bytes | None:
    """A file without what is ours."""
    if file.raw is None:
        return None
    before = file if old is None else ForeignFile(file.path, old.before)
    text = _made(file, lambda text: form.takes(text, before.text))
    if text == file.text:
        return file.raw
    made_by_us = before.raw is None and "".join(text.split()) in ("{}", "")
    return None if made_by_us else file.bytes_of(text)


def _made(file: ForeignFile, make: Callable[[str], str]) -> str:
    try:
        return make(file.text)
    except UnicodeDecodeError:
        raise BadSettings(f"`{file.path}` is left as it is: it is not text in UTF-8") from None
    except ValueError as error:
        raise BadSettings(f"`{file.path}` is left as it is: {error}") from None


def _mark(raw: bytes | None) -> str:
    return "" if raw is None else blake2b(raw, digest_size=16).hexdigest()


def _record_file(state: Path, path: Path) -> ForeignFile:
    return read_foreign(state / RECORDS / f"{_mark(os.fsencode(path))}.json")


def _record(state: Path, path: Path) -> InstallRecord | None:
    """What a file was; `None` where that is not known, or can no longer be read."""
    raw = _record_file(state, path).raw
    with suppress(msgspec.MsgspecError):
        return None if raw is None else _RECORD.decode(raw)
    return None
