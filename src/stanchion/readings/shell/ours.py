"""Our own command line: where words start Stanchion, and whether that takes something from a
person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

Reach = Literal["", "doubt", "danger"]
"""How surely something reaches for what only a person may do."""

NAME: Final = "stanchion"
READS: Final[dict[str, frozenset[str]]] = {
    "tickets": listed("list show request"),
    "tools": listed("list"),
    "secrets": listed("allowed kinds forget"),
    "policy": listed("show diff loosens packs"),
    "audit": listed("tail show verify heads export"),
    "safe-mode": listed("on"),
    "operators": listed("list show"),
    "broker": listed("status"),
    "store": frozenset(),
    "resume": frozenset(),
}
"""Commands that change what stands, with what of them only reads or makes it stricter."""
OPEN: Final = listed(
    "demo init lint check explain runs budget state schema lab halt quarantine help"
)
"""Commands that read, judge, measure, or make it stricter."""
LOOSENS: Final = listed(
    """
    approve deny answer sign resume off accepted restored reset allow trust untrust add remove revoke enroll new rotate
    grant release forgive lift retain prune keep delete start stop run repin accept
    """  # noqa: E501
)
"""What an operator does and an agent does not."""
MARK: Final = f":{NAME}…"
"""What stands in an unknown text that was made of words which name us: `$(which:stanchion…)`."""
ALONE: Final = listed("resume operators broker approve grant trust")
"""First words that say enough by themselves."""

_LOOSE: Final = regex(r"[^\w./@\[\]~$%*?{}-]+")
_MODULE: Final = regex(r"-[A-Za-z]*m(.*)", re.DOTALL)
_SPELLED: Final = regex(
    r"stanchion(?:[-_.]guard)?(?:\.(?:exe|cmd|bat|py|pyz))?(?:\[[^\]]*\])?(?:(?:@|==|>=|~=).*)?"
)
_LIVE: Final = regex(r"[*?\[]")
_INSIDE: Final = ("/stanchion/__main__.py", "/stanchion/cli/main.py", "/stanchion/cli/__init__.py")


def takes(words: Sequence[str]) -> Reach:
    """How surely the words behind our name do what only a person may do."""
    plain = [word.lower().replace("_", "-") for word in words if word[:1] != "-"]
    if not plain:
        return ""
    first, rest = plain[0].strip("'\","), [word.strip("'\",") for word in plain[1:]]
    if first in OPEN or any(word in ("-h", "--help") for word in words):
        return ""
    if first in READS:
        if first == "tools":
            return "danger" if any(word in LOOSENS for word in rest[:3]) else ""
        if first != "resume" and (not rest or rest[0] in READS[first]):
            return ""
        return "danger" if first in ALONE or any(word in LOOSENS for word in rest) else "doubt"
    return "danger" if first in ALONE else "doubt"


def starts(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The words that Stanchion would be given, from each place among these where it may be
    started."""
    for at, word in enumerate(words):
        if is_ours(word):
            yield tuple(words[at + 1 :])
            continue
        module = _MODULE.fullmatch(word) if word[:1] == "-" and word[:2] != "--" else None
        if module is not None or word == "--module":
            joined = module is not None and bool(module[1])
            named = (
                module[1]
                if module is not None and joined
                else words[at + 1]
                if at + 1 < len(words)
                else ""
            )
            if named.partition(".")[0].lower() == NAME:
                yield tuple(words[at + (1 if joined else 2) :])


def is_ours(word: str) -> bool:
    """Whether a word names our program: by its name, in a folder, with a version, or by a pattern
    that fits it."""
    low = word.lower()
    if NAME not in low and _LIVE.search(low) is None:
        return False
    low = low.replace("\\", "/")
    base = low.rstrip("/").rpartition("/")[2].rpartition(":")[2]
    if _SPELLED.fullmatch(base) is not None or low.endswith(_INSIDE):
        return True
    live = _LIVE.search(base) is not None
    known = sum(char.isalnum() for char in base)
    return live and known >= 2 and "/" in low and fnmatchcase(NAME, base)


def names_us(words: Iterable[str]) -> bool:
    """Whether one of the words has our name in it, is a piece of it, or a pattern that fits it:
    what a program prints that is given them may be our program's name."""
    return any(_names(word.lower()) for word in words)


def _names(word: str) -> bool:
    if NAME in word or (len(word) >= 4 and word in NAME):
        return True
    base = word.rpartition("/")[2]
    live = _LIVE.search(base) is not None
    return live and sum(char.isalnum() for char in base) >= 4 and fnmatchcase(NAME, base)


def stand_in(name: str, *sources: str | None) -> str:
    """How an unknown text is written that a program made of others, so that it still shows whether
    they name us."""
    return (
        f"$({name}{MARK})"
        if names_us([each for each in sources if each is not None])
        else f"$({name}…)"
    )


def told_in(text: str) -> Reach:
    """How surely a text starts Stanchion for what only a person may do, in whatever language it is
    written."""
    worst: Reach = ""
    low = text.lower()
    if NAME not in low:
        return worst
    for given in starts([word for word in _LOOSE.split(text) if word]):
        first = given[0].lower() if given else ""
        if first in READS or first in ALONE:  # other words behind our name are only words
            reach = takes(given[:12])
            if reach == "danger":
                return reach
            worst = reach if reach else worst
    return worst
