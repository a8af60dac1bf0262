"""What of a change others rely on: files of the public interface, the declarations in them, and
documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stanchion.guards.evidence.files import VIEWING, is_code, named_in
from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.readings.act import act_of
from stanchion.readings.names import plain
from stanchion.readings.texts import texts_given
from stanchion.readings.word_lists import listed

DOCUMENTS: Final = listed("md mdx rst adoc asciidoc textile pod")
"""How the names of files end that are documentation."""
SHELVES: Final = frozenset({"doc", "docs", "documentation"})
"""Folders with documentation."""
TITLES: Final = ("readme", "changelog", "changes", "history", "news")
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
        self, tool: str, traits: tuple[str, ...], args: Mapping[str, Any]
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
