"""Recent decisions: a small private file in the state folder, so that a later command can explain what one decided.

It is a convenience and no audit trail: it is bounded, and what it loses nobody misses.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.audit.journal import Journal
from holdfast.audit.record import Entry
from holdfast.kernel.decision import Decision
from holdfast.kernel.events import Event, Moment, RunInfo

STATE_DIR: Final = "HOLDFAST_STATE_DIR"
FILE: Final = "recent.jsonl"
OLDER: Final = "recent.older.jsonl"
LIMIT: Final = 1024 * 1024
"""How many bytes a file has before it becomes the older one, and the one before it is forgotten."""

MAX_TEXT: Final = 1_000
_CONTENT: Final = frozenset({"text", "args", "result", "messages", "params", "url", "headers", "payload"})
_IN_ENTRY: Final = frozenset({"id", "at", "run", "call", "tool"})


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision's record with what explaining it needs besides: where its policy came from, who was at work, and the
    fields of the event that are not its content."""

    entry: Entry
    run: RunInfo
    source: str = ""
    env: str | None = None
    event: dict[str, Any] = {}


class Recent:
    """The file of recent decisions in a folder, which is made when the first one is written."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self._older = folder / OLDER

    @classmethod
    def of_user(cls, environ: Mapping[str, str]) -> Recent:
        """The file in the user's state folder, or in the one that `HOLDFAST_STATE_DIR` names."""
        folder = environ.get(STATE_DIR, "")
        if not folder:
            import platformdirs

            folder = platformdirs.user_state_dir("holdfast")
        if not Path(folder).is_absolute():
            raise OSError(f"the state folder `{folder}` is not an absolute path: set {STATE_DIR} to one")
        return cls(Path(folder))

    def append(self, remembered: Remembered) -> None:
        """Add one decision, whole or not at all as readers see it; raises `OSError` where that cannot be."""
        # A line begins with its line break: one that was cut off by a full disk then spoils no other.
        line = b"\n" + msgspec.json.encode(remembered)
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._open()
        try:
            if os.fstat(file).st_size + len(line) > LIMIT:
                self._rotate(len(line))
                os.close(file)
                file = self._open()
            if os.write(file, line) != len(line):
                raise OSError("there is no room left for it")
        finally:
            os.close(file)

    def _open(self) -> int:
        """The file for appending, private to its owner; what is no plain file is refused, and never waited for."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, name, 0)
        file = os.open(self.file, flags, 0o600)
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            os.close(file)
            raise OSError(f"`{self.file}` is no plain file: remove it")
        if os.name == "posix" and mode & 0o077:
            os.fchmod(file, 0o600)
        return file

    def _rotate(self, more: int) -> None:
        """Let the file become the older one. One process does it; others append meanwhile."""
        mark = self.file.with_suffix(".lock")
        lock = os.open(mark, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            with suppress(ImportError):
                import fcntl

                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    return
            if self.file.stat().st_size + more > LIMIT:
                os.replace(self.file, self._older)
        finally:
            os.close(lock)

    def newest(self) -> Iterator[Remembered]:
        """The decisions still here, newest first; lines that cannot be read are passed over."""
        read = msgspec.json.Decoder(Remembered).decode
        for file in (self.file, self._older):
            try:
                lines = file.read_bytes().split(b"\n")
            except FileNotFoundError:
                continue
            for line in reversed(lines):
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    yield read(line)

    def find(self, decision: str) -> Remembered | None:
        """The decision with that id; the newest, where several have it."""
        return next((one for one in self.newest() if one.entry.id == decision), None)


class RecentJournal:
    """Writes to another journal, and every record to the recent ones as well.

    The other journal decides whether a decision was recorded; trouble with the recent ones is told once, and changes
    nothing.
    """

    def __init__(
        self, inner: Journal, recent: Recent | None, tell: Callable[[OSError], None], source: str, env: str | None
    ) -> None:
        self._inner = inner
        self._recent = recent
        self._tell = tell
        self._source, self._env = source, env
        self.last: Remembered | None = None
        """The newest record, however writing it to the file went."""

    def write(self, moment: Moment, decision: Decision, took_ns: int, notes: tuple[str, ...] = ()) -> bytes:
        """Write one decision down."""
        body = self._inner.write(moment, decision, took_ns, notes)
        entry = msgspec.json.decode(body, type=Entry)
        event = moment.events[0]
        self.last = Remembered(entry, event.run, self._source, self._env, beside_content(event))
        if self._recent is not None:
            try:
                self._recent.append(self.last)
            except (OSError, UnicodeEncodeError) as error:
                self._recent = None
                self._tell(error if isinstance(error, OSError) else OSError(str(error)))
        return body

    def close(self) -> None:
        """Close the other journal; this one holds nothing open."""
        self._inner.close()


def beside_content(event: Event) -> dict[str, Any]:
    """What an event says besides its content, which may hold anything and is in the record as it may be kept."""
    said: dict[str, Any] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if name in _CONTENT or name in _IN_ENTRY:
            continue
        if isinstance(value, tuple) or value is None or isinstance(value, bool | int):
            said[name] = value
        elif isinstance(value, str):
            said[name] = value[:MAX_TEXT]
    return said
