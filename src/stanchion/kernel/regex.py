"""Regular expressions: those that a module names when it is loaded and that are compiled when one
is first used, and those that take linear time whatever the text.

A process that starts pays for those it needs: compiling one takes longer than loading the module it
stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, AnyStr, Final, cast

MEMORY: Final = 8 << 20
LARGEST: Final = 100_000
"""How many steps the program of an expression has that an automaton always has room for."""


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, compiled when something is asked of it for the first time."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))


def linear(expression: str, memory: int = MEMORY) -> Any:
    """An expression over bytes, one for each character, compiled by RE2; its automaton takes no
    more than so many bytes. Raises `ValueError` where RE2 refuses it."""
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = memory
    try:
        return re2.compile(expression.encode("latin-1"), options)
    except re2.error as error:
        said = error.args[0]
        raise ValueError(said.decode("utf-8", "replace") if type(said) is bytes else said) from None


Finds = Callable[[bytes], Any]
"""Gives the numbers of expressions that stand anywhere in some bytes, `None` where none does."""


@lru_cache(64)
def finding(*expressions: str) -> Finds:
    """What says which expressions stand anywhere in some bytes. It is compiled when it is first
    asked for, and the same for the same. It does without what RE2 falls back on where its automaton
    has no room: none may be larger than `LARGEST`."""
    import re2

    together = re2.Set.SearchSet(linear("", 8 * MEMORY).options)
    for expression in expressions:
        together.Add(expression.encode("latin-1"))
    together.Compile()
    find: Finds = together.Match
    return find


def may_stand(text: str, *expressions: str) -> bool:
    """Whether one of several expressions may stand in a text: a look that takes linear time, before
    it is looked for where it is. For RE2 a character beyond Latin-1 is a `?`."""
    return finding(*expressions)(text.encode("latin-1", "replace")) is not None


def finders(owned: Iterable[tuple[str, int]]) -> list[tuple[Finds, tuple[int, ...]]]:
    """What looks for expressions together, as many as an automaton has room for, and whose each
    is."""
    made: list[tuple[Finds, tuple[int, ...]]] = []
    some: list[tuple[str, int]] = []
    room = LARGEST
    for expression, owner in owned:
        room -= _steps(expression)
        if room < 0 and some:
            made.append((finding(*[one for one, _ in some]), tuple([at for _, at in some])))
            some, room = [], LARGEST - _steps(expression)
        some.append((expression, owner))
    if some:
        made.append((finding(*[one for one, _ in some]), tuple([at for _, at in some])))
    return made


@lru_cache(256)
def _steps(expression: str) -> int:
    steps: int = linear(expression).programsize
    return steps


class _Regex:
    """Becomes the compiled pattern, method by method: each is found here from its second use on."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._given = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = self.__dict__.get("_compiled")
        if compiled is None:
            compiled = self.__dict__["_compiled"] = re.compile(self.pattern, self._given)
        found = self.__dict__[name] = getattr(compiled, name)
        return found

    def __repr__(self) -> str:
        return f"regex({self.pattern!r})"
