"""Policy documents as they were read, kept under seal in the state folder: a process that starts
need not read YAML.

A document is kept by its whole text and by the code that reads it: of a file that was changed, or
after an update, nothing is found. One that does not bear our seal is as if it were not there, and
the text is read again.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.policy.document import Document, Location, Node, Unreadable
from stanchion.policy.seal import Sealing, Unsealed

SEALED: Final = "sealed"
DOCUMENTS: Final = "documents"
MOST_CHARS: Final = 1024 * 1024
"""A longer text is read each time."""
MOST_BYTES: Final = 16 * 1024 * 1024
"""What is larger is nothing that we have kept."""
MOST_FILES: Final = 64
"""How many are kept; the oldest go first."""
READERS: Final = ("composed.py", "document.py", "document_cache.py", "given_data.py", "scalars.py")
"""The code that makes a document of a text."""


class DocumentCache:
    """Keeps documents beneath a state folder that is there already; it makes none."""

    def __init__(self, state: Path | None) -> None:
        self._sealing = None if state is None or not state.is_dir() else Sealing(state / SEALED)

    def get(self, text: str, origin: str) -> Document | None:
        """What was read of this text before, as it stands in that file; `None` where that is not
        known for sure."""
        name = self._name(text)
        if self._sealing is None or not name:
            return None
        try:
            body = self._sealing.read(
                self._sealing.folder / DOCUMENTS / name, _what(name), MOST_BYTES
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
            if len(body) <= MOST_BYTES:
                self._sealing.write(folder / name, _what(name), body)
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


def _what(name: str) -> str:
    return f"document\n{name}"


def _plain(node: Node, origin: str) -> list[Any]:
    """A node as plain data: its value, its place, the place of its key, and its text."""
    value: Any = node.value
    if isinstance(value, Unreadable):
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


def _node(plain: Any, origin: str) -> Node:
    value, line, column, key_line, key_column, text = plain
    if isinstance(value, dict):
        value = {name: _node(child, origin) for name, child in value.items()}
    elif isinstance(value, list):
        value = [_node(child, origin) for child in value]
    key = Location(origin, key_line, key_column) if key_line else None
    return Node(value, Location(origin, line, column), key, text)


def _prune(folder: Path) -> None:
    """Remove what is older than the newest."""
    with os.scandir(folder) as entries:
        found = sorted(
            [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries]
        )
    for _, path in found[:-MOST_FILES]:
        os.unlink(path)
