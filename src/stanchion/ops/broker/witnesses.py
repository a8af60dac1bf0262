"""The witnesses that a broker keeps: heads of its clients' trails, with its own time, in its own
folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from stanchion.audit.errors import reason
from stanchion.audit.witnessing.files import FilePlace
from stanchion.audit.witnessing.place import BadPlace, Unreachable, WitnessEntry, number_in
from stanchion.kernel.regex import regex
from stanchion.runtime.remote.messages import Witness
from stanchion.stores.memory import wall_ms

WITNESSES: Final = "witnesses"
"""The folder, in the broker's own, that they are in."""
PIECE: Final = 4 * 1024 * 1024
LONGEST: Final = 1024 * 1024
"""How many bytes of heads one line may have."""
LARGEST: Final = 256 * 1024 * 1024
"""How large one witness may become."""
MOST: Final = 16
"""How many witnesses one user may have: nobody fills the disk of a broker."""

_NAME: Final = regex(r"[A-Za-z0-9_-]{1,64}")


class Unkept(Exception):
    """A witness that is not written down, or not given back; the text says why."""


class Witnesses:
    """Keeps a file for each user and name, which only grows. Safe between threads."""

    def __init__(self, folder: Path | None, clock: Callable[[], int] = wall_ms) -> None:
        self._folder, self._clock = folder, clock

    def write(self, uid: int, asked: Witness) -> bytes:
        """Write heads down; gives the line."""
        file = self._file(uid, asked.name)
        if asked.every_s < 0 or sum(map(len, asked.heads)) > LONGEST:
            raise Unkept(
                f"a line holds at most {LONGEST:,} bytes of heads and a number of seconds: send "
                f"fewer heads"
            )
        if any(number_in(head) is None for head in asked.heads):
            raise Unkept("this is not a head: send what `stanchion audit heads` prints")
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not file.exists() and len(list(file.parent.iterdir())) >= MOST:
                raise Unkept(
                    f"user {uid} has {MOST} witnesses here, which is the most: continue with one "
                    f"of them"
                )
            if file.exists() and file.stat().st_size > LARGEST:
                raise Unkept(f"the witness `{asked.name}` is full: continue under another name")
            entry = WitnessEntry(asked.heads, self._clock(), asked.every_s)
            return FilePlace(file, asked.name).append(entry).line
        except (BadPlace, Unreachable) as error:
            raise Unkept(str(error)) from None
        except OSError as error:
            raise Unkept(f"it cannot be written: {reason(error)}") from None

    def piece(self, uid: int, name: str, offset: int) -> bytes:
        """A piece of what was written down; empty at the end."""
        file = self._file(uid, name)
        try:
            with file.open("rb") as kept:
                kept.seek(max(0, offset))
                return kept.read(PIECE)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise Unkept(f"it cannot be read: {reason(error)}") from None

    def _file(self, uid: int, name: str) -> Path:
        if self._folder is None:
            raise Unkept("this broker keeps no witnesses: start it with `stanchion broker`")
        if not _NAME.fullmatch(name):
            raise Unkept(
                f"`{name[:64]}` is not a witness name: write letters, digits, `-` and `_`, 64 at "
                f"most"
            )
        return self._folder / str(uid) / f"{name}.jsonl"
