"""Whether a sentence is true of the files in a folder, by looking at them.

What a law calls proven is checked by this. It therefore shares no code with the laws, with how they
read commands, or with how they judge claims: it has the sentence and the files, and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from stanchion.kernel.regex import regex

Holds = Callable[[Path, str], bool]

_TYPED: Final = regex(
    r"(?P<no>not )?(?P<what>[a-z]+)\(`(?P<path>[^`]+)`(?:, `?(?P<value>.*?)`?)?\)"
)
"""How the second law writes a claim."""
_WORDS: Final = (
    ("file", regex(r"File '(?P<path>[^']+)' (?:exists|does (?P<no>not) exist)")),
    ("directory", regex(r"Directory '(?P<path>[^']+)' exists")),
    ("lines", regex(r"File '(?P<path>[^']+)' has (?P<value>[0-9]+) lines")),
    (
        "nonempty",
        regex(r"File '(?P<path>[^']+)' (?:has content|is (?P<no>empty) or does not exist)"),
    ),
    ("contains", regex(r"Pattern '(?P<value>[^']+)' (?P<no>not )?found in file '(?P<path>[^']+)'")),
)
"""How players of the first law, and its rules, write one. A sentence that names no file can be true
of any."""


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


_LOOKS: Final[Mapping[str, Holds]] = {
    "exists": lambda path, _: path.exists(),
    "file": lambda path, _: path.is_file(),
    "directory": lambda path, _: path.is_dir(),
    "nonempty": lambda path, _: path.exists() and path.stat().st_size > 0,
    "lines": lambda path, value: path.is_file() and str(_bytes(path).count(b"\n")) == value,
    "bytes": lambda path, value: path.is_file() and str(len(_bytes(path))) == value,
    "contains": lambda path, value: value.encode() in _bytes(path),
    "digest": lambda path, value: (
        path.is_file() and hashlib.sha256(_bytes(path)).hexdigest() == value
    ),
}


def is_true(sentence: str, folder: Path) -> bool | None:
    """Whether it is true of the files in the folder; `None` if it is about none of them."""
    typed = _TYPED.fullmatch(sentence)
    readings = [(typed["what"], typed)] if typed else []
    readings += [(what, found) for what, words in _WORDS if (found := words.fullmatch(sentence))]
    for what, found in readings:
        parts = found.groupdict()
        path = (folder / parts["path"]).resolve()
        if what in _LOOKS and path.is_relative_to(folder.resolve()):
            return _LOOKS[what](path, parts.get("value") or "") is not bool(parts.get("no"))
    return None
