"""A runner: what a tool's name says about running what it is given."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.commands.words import (
    ANY,
    ASKING,
    AWS,
    CALLED,
    CALLED_TOO,
    ELSE,
    EVALUATING,
    KEEPING,
    LANGUAGES,
    PAGE,
    PAGES,
    PARTS,
    SERVICES,
    SHELLS,
    SPEAKING,
    STANDING,
    STARTED,
    STARTS,
    UNSAID,
    WHOLE,
)
from stanchion.readings.names import KEPT, numbered_words, own_name, words


class Runner(NamedTuple):
    """Whether a tool runs what it is given, and how code of its language would be run; empty where
    it is a shell's. `program` are the words of its name from the program on that it is named
    after: `kubectl delete` of `kubectl_delete`. Where it `evaluates`, what plainly is code is read;
    where it `keeps` code or speaks of it, not even what is named after a language."""

    runs: bool
    language: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    evaluates: bool = False
    keeps: bool = False


NONE: Final = Runner(False)


@lru_cache(KEPT)
def runner_of(tool: str) -> Runner:
    """What a tool's name says: with any separators, in any case, behind the name of a server."""
    own = [CALLED_TOO.get(word, word) for word in numbered_words(tool[-len(own_name(tool)) :])]
    own = [word for word in own if word not in UNSAID]
    at = next((at for at, word in enumerate(own) if word in CALLED), len(own))
    if at == len(own) and (AWS[0] in words(tool) or (own and own[0] in SERVICES)):
        own, at = [*AWS, *own], 0  # a server of nothing but operations
    said = frozenset(own)
    runner = _runner_of(tool)
    keeps = not said.isdisjoint(ASKING | ELSE | KEEPING)
    evaluates = not keeps and (bool(runner.language) or not said.isdisjoint(EVALUATING))
    return runner._replace(program=tuple(own[at:]), evaluates=evaluates, keeps=keeps)


def _runner_of(tool: str) -> Runner:
    said = frozenset(words(tool))
    language = _language(said)
    if not said.isdisjoint(SHELLS) or any(part in tool.lower() for part in PARTS):
        other = not said.isdisjoint(ELSE) and said & SHELLS == {"exec"}
        return NONE if other else Runner(True, language)
    if own_name(tool) in WHOLE:
        return Runner(True, language)
    if said.isdisjoint(STARTS) and said.isdisjoint(STANDING):
        alone = own_name(tool).rstrip("0123456789.") in LANGUAGES
        return (
            Runner(alone, language)
            if language and language != ANY and said.isdisjoint(ASKING)
            else NONE
        )
    if not said.isdisjoint(PAGES):
        return Runner(False, language)
    runs = bool(language) or not said.isdisjoint(STARTED)
    return Runner(True, language) if runs and said.isdisjoint(ELSE) else NONE


def _language(said: frozenset[str]) -> tuple[str, ...]:
    """The language that a name says: one that is known, a browser's, or any."""
    known = said & LANGUAGES.keys()
    if known:
        return LANGUAGES[min(known)] if len(known) == 1 else ANY
    if not said.isdisjoint(PAGES):
        return PAGE
    return () if said.isdisjoint(SPEAKING) else ANY
