"""A runner: what a tool's name says about running what it is given."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.commands.words import ANY, LANGUAGES, PAGE, PARTS, SHELLS, UNSAID, WORDS
from stanchion.readings.names import KEPT, own_name, words


class Runner(NamedTuple):
    """Whether a tool runs what it is given, and how code of its language would be run; empty where
    it is a shell's. `program` are the words of its name from the program on that it is named after:
    `kubectl delete` of `kubectl_delete`."""

    runs: bool
    language: tuple[str, ...] = ()
    program: tuple[str, ...] = ()


NONE: Final = Runner(False)


@lru_cache(KEPT)
def runner_of(tool: str) -> Runner:
    """What a tool's name says: with any separators, in any case, behind the name of a server."""
    own = [word for word in words(tool[-len(own_name(tool)) :]) if word not in UNSAID]
    at = next(
        (at for at, word in enumerate(own) if word in WORDS["named after"]),
        len(own),
    )
    return _runner_of(tool)._replace(program=tuple(own[at:]))


def _runner_of(tool: str) -> Runner:
    said = frozenset(words(tool))
    language = _language(said)
    if not said.isdisjoint(SHELLS) or any(part in tool.lower() for part in PARTS):
        other = not said.isdisjoint(WORDS["something else"]) and said & SHELLS == {"exec"}
        return NONE if other else Runner(True, language)
    if own_name(tool) in WORDS["tools that run by this name alone"]:
        return Runner(True, language)
    if said.isdisjoint(WORDS["starting"]) and said.isdisjoint(WORDS["standing for what runs code"]):
        if language in ((), ANY) or not said.isdisjoint(WORDS["asking"]):
            return NONE
        return Runner(own_name(tool).rstrip("0123456789.") in LANGUAGES, language)
    if not said.isdisjoint(WORDS["in a browser"]):
        return Runner(False, language)
    runs = bool(language) or not said.isdisjoint(WORDS["started"])
    return Runner(True, language) if runs and said.isdisjoint(WORDS["something else"]) else NONE


def _language(said: frozenset[str]) -> tuple[str, ...]:
    """The language that a name says: one that is known, a browser's, or any."""
    known = said & LANGUAGES.keys()
    if known:
        return LANGUAGES[min(known)] if len(known) == 1 else ANY
    if not said.isdisjoint(WORDS["in a browser"]):
        return PAGE
    return () if said.isdisjoint(WORDS["code of some language"]) else ANY
