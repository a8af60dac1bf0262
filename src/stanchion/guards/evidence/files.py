"""Files that are code, and the calls that change them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.readings.act import act_of
from stanchion.readings.names import plain
from stanchion.readings.texts import texts_given
from stanchion.readings.word_lists import listed

ENDINGS: Final = listed(
    "py pyi pyx ipynb js mjs cjs jsx ts mts cts tsx vue svelte go rs java kt kts scala groovy "
    "clj cljs c h cc cpp cxx hh hpp hxx m mm cs fs vb swift rb rake php pl pm lua r jl ex exs "
    "erl hs ml mli elm dart zig nim sol sh bash zsh ps1 sql proto"
)
"""How the names of files end that are code."""
SCRATCH: Final = ("/tmp/", "/var/tmp/", "/dev/", "/private/tmp/")
"""Where what is written is nobody's work."""

VIEWING: Final = listed("view read open show list find search get cat")
"""What an argument `command` says to a tool that both shows and changes files, where it only
shows."""
PATHS: Final = listed("path paths file files filename filenames target destination dest dst to uri")
LONGEST: Final = 400
_IN_PATCH: Final = regex(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?|--- a/)([^\t\r\n]{1,400})",
    re.MULTILINE,
)


def is_code(path: str, given: Names | None) -> bool:
    """Whether a file is code: by the globs that were given, or by how its name ends."""
    path = path.strip().replace("\\", "/")
    name = path.rpartition("/")[2]
    if given is not None:
        return path in given or name in given
    return (
        "." in name and name.rpartition(".")[2].lower() in ENDINGS and not path.startswith(SCRATCH)
    )


def changed_by(
    tool: str, traits: tuple[str, ...], args: Mapping[str, Any], given: Names | None
) -> str:
    """The first code file that a call of a tool changes, by the tool's name and the names of its
    arguments; empty where it changes none."""
    if not act_of(tool, traits).changes:
        return ""
    if str(args.get("command", "")) in VIEWING:
        return ""
    return next((path for path in named_in(args) if is_code(path, given)), "")


def named_in(args: Mapping[str, Any]) -> Iterator[str]:
    """What a call's arguments name as files, and what patches in them do."""
    for key, text in texts_given(args):
        name = plain(key)
        if name in PATHS or name.endswith(("path", "file", "filename")):
            if len(text) <= LONGEST:
                yield text
        elif "\n" in text and ("*** " in text or "+++ " in text or "--- a/" in text):
            yield from [found[1] for found in _IN_PATCH.finditer(text)]
