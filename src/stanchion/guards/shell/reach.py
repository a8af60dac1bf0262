"""Reaching: whether code, on a command line or written into a file, reaches for what only a person
may do."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from stanchion.guards._own import NOWHERE, STATE, OwnPlaces
from stanchion.guards.shell.usual import is_closed
from stanchion.kernel.regex import regex
from stanchion.readings.shell.ours import ALONE, NAME, READS, Reach, takes, told_in
from stanchion.readings.word_lists import listed

if TYPE_CHECKING:
    from stanchion.readings.shell.python_code import Code

LOOSENING: Final = listed(
    "approve deny answer sign resume reset_tool break_lock accept_store trust allow allow_secret "
    "release grant repin enroll"
)
"""Methods by which Stanchion's API does what only a person may do."""
INNER: Final = (
    "stanchion.cli",
    "stanchion.__main__",
    "stanchion.approvals",
    "stanchion.stores",
    "stanchion.operators",
)
"""Modules that reach past the public API, to the command and to what is kept."""
_CHANGES: Final = regex(
    r"write|unlink|remove|rename|replace|rmtree|truncate|chmod|move|['\"][wax]b?\+?['\"]"
)
_JOINED: Final = regex(r"(['\"])\s*(?:\+|\.\.?|)\s*\1")
_TAKEN: Final = regex(r"(?:\bimport\b|\bfrom\b|\brequire\b|\buse\b)[^\n;]{0,80}?\bstanchion\b")
_CALLED: Final = regex(r"(?:\.|->|::)\s*(\w+)\s*\(")
_BETWEEN: Final = regex(r"[^a-z]+")
_TEXT: Final = regex(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'")
_PARTED: Final = regex(r"[\s'\"`;,()<>|&=\[\]]+")
_HINTS: Final = ("stan", "chion", "decode", "fromhex", "unhex", "chr(", "[::-1]", "exec(", "eval(")
"""One of these is in every text that could name us, as far as it can be read."""
_WORDS: Final = (
    *READS,
    *sorted(ALONE),
    "shield",
    "safe_mode",
    "reset_tool",
    "break_lock",
    "accept_store",
    "enroll",
)
"""One of these is in every text that could do what only a person may do, whatever it says of our
name."""
_ALL_HINTS: Final = tuple(dict.fromkeys((*_HINTS, *_WORDS)))
_OURS: Final = listed(
    "Shield approve resume reset_tool break_lock accept_store allow_secret safe_mode enroll"
)
_WORKED_OUT: Final = regex(
    r"\b(?:exec\w*|system|spawn\w*|popen\w*|require|import)\s*\(\s*[^'\"`\s)]"
)
"""In another language: what is started or imported is no plain text."""


def may_reach(low: str, own: OwnPlaces = NOWHERE) -> bool:
    """Whether code, given in lower case, can reach for it at all."""
    for hint in _ALL_HINTS:
        if hint in low:
            return True
    return own.spelled.search(low) is not None


@lru_cache(1_024)
def reach_of(code: str, own: OwnPlaces = NOWHERE) -> Reach:
    """How surely a piece of code that is about to run does what only a person may do: by our
    command, API or files."""
    found = _read(code, own)
    if found is None:
        return ""
    if _by_text(found, own) or _by_api(found):
        return "danger"
    inner = (
        any(module.startswith(INNER) for module in found.modules)
        or ("run_module", NAME) in found.calls
    )
    if inner and any(takes(text.split()) == "danger" for text in found.texts):
        return "danger"
    if inner or _by_variable(found) or _by_unknown(found):
        return "doubt"
    return "doubt" if _changes_policy(code, found, own) else ""


@lru_cache(1_024)
def written_reach(code: str, own: OwnPlaces = NOWHERE) -> Reach:
    """The same for code that is written into a file: what uses our API may be an operator's own
    program."""
    found = _read(code, own)
    if found is None:
        return ""
    if _by_text(found, own):
        return "danger"
    by_unknown = (
        found.imports_unknown and "Shield" in found.names and not LOOSENING.isdisjoint(found.names)
    )
    return "doubt" if _by_api(found) or by_unknown or _changes_policy(code, found, own) else ""


def _read(code: str, own: OwnPlaces) -> Code | None:
    if not may_reach(code.lower(), own):
        return None
    from stanchion.readings.shell.python_code import python_code

    read = python_code(code)
    return read if read is not None else _roughly(code)


def _by_text(code: Code, own: OwnPlaces) -> bool:
    """Whether a text of the code starts our command, or names what we keep."""
    return any(told_in(text) == "danger" or _leads(text, own) for text in code.texts)


def _by_api(code: Code) -> bool:
    if not any(module == NAME or module.startswith(f"{NAME}.") for module in code.modules):
        return False
    if not LOOSENING.isdisjoint(code.names):
        return True
    return any(name == "safe_mode" and first != "True" for name, first in code.calls)


def _by_unknown(code: Code) -> bool:
    """Whether code works out the name of what it imports or starts, and has words that only we
    understand so."""
    if code.imports_unknown and not _OURS.isdisjoint(code.names):
        return True
    return any(
        _is_told(text.split())
        for text in (code.texts if code.imports_unknown else code.starts_unknown)
    )


def _is_told(words: list[str]) -> bool:
    """Whether words are what our program is told, with or without a name before them."""
    return any(words[at : at + 1] != [] and takes(words[at : at + 4]) == "danger" for at in (0, 1))


def _by_variable(code: Code) -> bool:
    """Whether code that starts us sets a variable of ours."""
    named = any(text.startswith("STANCHION_") for text in code.texts)
    return named and not code.names.isdisjoint({"environ", "putenv", "unsetenv", "env"})


def _leads(text: str, own: OwnPlaces) -> bool:
    return any(is_closed(path) or own.leads_to(path, "read") == STATE for path in _paths(text))


def _paths(text: str) -> list[str]:
    """A text as a path, and what in it looks like one."""
    whole = [text] if "\n" not in text else []
    return whole + [
        part
        for part in _PARTED.split(text)
        if part != text and ("/" in part or part.endswith(".db"))
    ]


def _changes_policy(code: str, found: Code, own: OwnPlaces) -> bool:
    if not own.policies or _CHANGES.search(code) is None:
        return False
    return any("\n" not in text and bool(own.leads_to(text, "write")) for text in found.texts)


def _roughly(code: str) -> Code:
    """What a text in another language seems to name."""
    joined = _JOINED.sub("", "\n".join([line for line in code.split("\n") if not _is_remark(line)]))
    # In what cannot be parsed our name may be in pieces: with everything between its letters gone,
    # it is whole.
    pieced = "import" in joined and NAME in _BETWEEN.sub("", joined.lower())
    modules = {NAME} if pieced or _TAKEN.search(joined) is not None else set()
    modules.update(module for module in INNER if module in joined)
    texts = [found[1] if found[1] is not None else found[2] for found in _TEXT.finditer(joined)]
    calls = [found[1] for found in _CALLED.finditer(joined)]
    names = [*calls, *[text for text in texts if text.isidentifier()]]
    unknown = _WORKED_OUT.search(joined) is not None
    called = tuple([(name, "") for name in calls])
    from stanchion.readings.shell.python_code import Code

    return Code(frozenset(modules), frozenset(names), called, (joined, *texts), unknown)


def _is_remark(line: str) -> bool:
    return (
        line.lstrip().startswith(("# ", "//", "; ", "-- ", "rem ", "REM ")) and "stanchion" in line
    )
