"""Files of a project: which are code, which a command changes, and what of it is public."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.readings.act import act_of
from stanchion.readings.names import plain
from stanchion.readings.texts import texts_given
from stanchion.readings.word_lists import Strings, in_order, listed

ENDINGS: Final = listed(
    "py pyi pyx ipynb js mjs cjs jsx ts mts cts tsx vue svelte go rs java kt kts scala groovy "
    "clj cljs c h cc cpp cxx hh hpp hxx m mm cs fs vb swift rb rake php pl pm lua r jl ex exs "
    "erl hs ml mli elm dart zig nim sol sh bash zsh ps1 sql proto"
)
"""How the names of files end that are code."""
SCRATCH: Final = in_order("/tmp/ /var/tmp/ /dev/ /private/tmp/")
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


def from_home(word: str, home: str) -> str:
    """A word as it is written from a project's folder, where it is a path in it, or an option with
    one. A project may be where others only have scratch."""
    option, sign, path = word.rpartition("=")
    if not home or not f"{path}/".startswith(home):
        return word
    inner = path[len(home) :]
    return f"{option}{sign}{inner if inner else '.'}"


def changed_by(
    tool: str, traits: Strings, args: Mapping[str, Any], given: Names | None, home: str = ""
) -> str:
    """The first code file that a call of a tool changes, by the tool's name and the names of its
    arguments; empty where it changes none."""
    if not act_of(tool, traits).changes:
        return ""
    if str(args.get("command", "")) in VIEWING:
        return ""
    paths = [from_home(path, home) for path in named_in(args)]
    return next((path for path in paths if is_code(path, given)), "")


def named_in(args: Mapping[str, Any]) -> Iterator[str]:
    """What a call's arguments name as files, and what patches in them do."""
    for key, text in texts_given(args):
        name = plain(key)
        if name in PATHS or name.endswith(("path", "file", "filename")):
            if len(text) <= LONGEST:
                yield text
        elif "\n" in text and ("*** " in text or "+++ " in text or "--- a/" in text):
            yield from [found[1] for found in _IN_PATCH.finditer(text)]


DOCUMENTS: Final = listed("md mdx rst adoc asciidoc textile pod")
"""How the names of files end that are documentation."""
SHELVES: Final = listed("doc docs documentation")
"""Folders with documentation."""
TITLES: Final = in_order("readme changelog changes history news")
INSIDE: Final = frozenset(
    {
        "test", "tests", "testing", "spec", "specs", "example", "examples", "script", "scripts",
        "tools", "internal", "private", "vendor", "bench", "benchmarks", "migrations", "fixtures",
    }
)  # fmt: skip
"""Folders whose code nobody outside relies on."""
WHOLE: Final = listed("h hh hpp hxx pyi proto")
"""How the names of files end that consist of declarations."""
OLD: Final = listed("oldstr oldstring oldtext search find")
NEW: Final = listed("newstr newstring newtext replace replacement")
"""Names of arguments with a part of a file before and after a change."""

_PUBLIC: Final = regex(
    r"^[ \t]*(?:"
    r"(?:async +)?(?:def|class) +(?!_)\w[^\n]{0,400}"
    r"|export +[^\n]{1,400}"
    r"|func +(?:\([^)\n]{0,200}\) *)?[A-Z]\w*[^\n]{0,400}|type +[A-Z]\w*[^\n]{0,400}"
    r"|pub +[^\n]{1,400}"
    r"|(?:public|open) +[^\n]{1,400}"
    r"|function +(?!_)\w[^\n]{0,400}"
    r")$",
    re.MULTILINE,
)
"""Lines that declare something which others may use: a name without an underscore, or one that is
called public."""


class Public(NamedTuple):
    """What is public and what documents it, by globs of paths or names; `None` where what is known
    counts."""

    api: Names | None = None
    docs: Names | None = None

    def is_doc(self, path: str) -> bool:
        """Whether a file is documentation."""
        path = path.strip().replace("\\", "/")
        *folders, name = path.lower().split("/")
        if self.docs is not None:
            return path in self.docs or path.rpartition("/")[2] in self.docs
        if name.rpartition(".")[2] in DOCUMENTS and "." in name:
            return True
        return not SHELVES.isdisjoint(folders) or name.partition(".")[0] in TITLES

    def is_api(self, path: str) -> bool:
        """Whether a file is part of the public interface."""
        path = path.strip().replace("\\", "/")
        *folders, name = path.removeprefix("./").split("/")
        if self.api is not None:
            return path in self.api or name in self.api
        if not is_code(path, None) or self.is_doc(path) or _is_test(name.lower()):
            return False
        inner = [one for one in folders if one.lower() in INSIDE or one.startswith(("_", "."))]
        return not inner and (not name.startswith("_") or name.startswith("__init__."))

    def changes(
        self, tool: str, traits: Strings, args: Mapping[str, Any]
    ) -> Iterator[tuple[str, bool]]:
        """The files of the interface (`True`) and the documentation (`False`) that a call of a tool
        changes. A file of the interface counts where what it declares may be another then."""
        if not act_of(tool, traits).changes or str(args.get("command", "")) in VIEWING:
            return
        for path in named_in(args):
            if self.is_doc(path):
                yield path, False
            elif self.is_api(path) and (self.api is not None or _declares(path, args)):
                yield path, True


def _is_test(name: str) -> bool:
    stem = name.partition(".")[0]
    named = stem.startswith("test_") or stem.endswith(("_test", "_spec"))
    return named or ".test." in name or ".spec." in name


def _declares(path: str, args: Mapping[str, Any]) -> bool:
    """Whether a change may touch declarations: those before it are others than those after it, or
    it is not said what is changed."""
    if path.rpartition(".")[2].lower() in WHOLE:
        return True
    before: list[str] = []
    after: list[str] = []
    for key, text in texts_given(args):
        name = plain(key)
        if name.endswith(("path", "file", "filename", "command")):
            continue
        if name in OLD:
            before.append(text)
        elif name in NEW:
            after.append(text)
        elif "\n+" in text or "\n-" in text:
            lines = text.splitlines()
            before += [one[1:] for one in lines if one[:1] == "-" and one[:3] != "---"]
            after += [one[1:] for one in lines if one[:1] == "+" and one[:3] != "+++"]
        else:
            after.append(text)
    return not (before or after) or _declared(before) != _declared(after)


def _declared(texts: list[str]) -> frozenset[str]:
    return frozenset([found[0].strip() for found in _PUBLIC.finditer("\n".join(texts))])
