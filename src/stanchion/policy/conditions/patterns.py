"""Regular expressions in linear time, on RE2."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.policy.conditions.limits import PATTERN, PROGRAM

_MEMORY: Final = 1 << 23
_LITERAL: Final = regex(r"(\^?)((?:[A-Za-z0-9_ \-/:,@#%&=<>~!;'\"]|\\[.\-/])*)(\$?)")

_LACKING: Final = (
    (r"\(\?<?=", "looks around", "join two patterns with `and`, one for each"),
    (
        r"\(\?<?!",
        "looks around",
        "join two patterns with `and not`, the second for what is not wanted",
    ),
    (
        r"\\[1-9]|\(\?P=",
        "refers back to an earlier match",
        "write the choices out, or compare the values in the condition",
    ),
    (r"\(\?>|[*+?}]\+", "does not backtrack", "leave it out: this engine never backtracks"),
)
"""What other engines have: its sign, what it does, and what to write instead."""


def pattern_fault(pattern: str) -> str | None:
    """What is wrong with a regular expression; `None` where nothing is."""
    if len(pattern) > PATTERN:
        return f"a pattern has at most {PATTERN:,} characters: write several"
    if _LITERAL.fullmatch(pattern):
        return None
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    try:
        size = _compiled(pattern).programsize
    except UnicodeEncodeError:
        return "a pattern is made of whole characters: leave out the half of a surrogate pair"
    except re2.error as error:
        said = error.args[0] if error.args else ""
        shown = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        return f"the pattern is not RE2: {_meant(pattern, shown)}"
    if size > PROGRAM:
        return f"the pattern needs {size:,} instructions, {PROGRAM:,} are allowed: repeat less"
    return None


def _meant(pattern: str, said: str) -> str:
    """What RE2 says of a pattern, with what to write for what other engines have and it has not."""
    for sign, what, instead in _LACKING:
        found = re.search(sign, pattern)
        if found is not None:
            return (
                f"`{found[0]}` {what}, which RE2 does not support, because it runs in linear "
                f"time: {instead}"
            )
    return f"{said}; correct it, or write a simpler one"


def pattern_test(pattern: str) -> Callable[[str], bool]:
    """The test of one pattern without a fault: whether it is found anywhere in a text."""
    plain = _LITERAL.fullmatch(pattern)
    if plain is not None:
        return _plain(bool(plain[1]), re.sub(r"\\(.)", r"\1", plain[2]), bool(plain[3]))
    search = _compiled(pattern).search
    return lambda text: search(text.encode("utf-8", "replace")) is not None


def _plain(start: bool, text: str, end: bool) -> Callable[[str], bool]:
    if start and end:
        return lambda given: given == text
    if start:
        return lambda given: given.startswith(text)
    if end:
        return lambda given: given.endswith(text)
    return lambda given: text in given


def _compiled(pattern: str) -> Any:
    """A pattern over bytes: the wrapper's own conversion of offsets costs more than the search."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    return re2.compile(pattern.encode("utf-8"), options)
