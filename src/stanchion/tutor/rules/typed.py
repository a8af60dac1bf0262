"""Typed rules, those of the second law: which single command with which output speaks for which
claim.

A rule speaks for a claim and proves none. That is for the law to do, by derivations of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, get_args

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex
from stanchion.readings.claims.claim import COUNTS, Claim, Predicate, fault, normal
from stanchion.readings.claims.facts import REPLACED, Ran
from stanchion.tutor.rules.rule import (
    RuleError,
    check_pattern,
    compiled,
    each_rule,
    named,
    one_of,
    only_known,
)

LONGEST: Final = 4_096
"""How long a word or a pattern of a rule may be."""
WORDS: Final = 64
"""How many words a command of a rule may have."""
DIGITS: Final = 18
_PLACE: Final = regex(r"\{([A-Za-z_]\w*)\}")
_NUMBER: Final = regex(rf"[0-9]{{1,{DIGITS}}}")


Soundness = Literal["sound", "heuristic"]


class Spoken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claim that a rule speaks for; `{name}` stands for what the name took."""

    predicate: Predicate
    subject: str
    value: int | str | None = None
    polarity: bool = True

    @property
    def claim(self) -> Claim:
        """It as it is written, names included."""
        return Claim(self.predicate, self.subject, self.value, self.polarity)


class TypedRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule. A word `{name}` of its command takes any one word, and a named group of `stdout`
    what it finds."""

    id: str
    command: tuple[str, ...]
    claim: Spoken
    rc: int | tuple[int, ...] = 0
    stdout: str = ""
    soundness: Soundness = "heuristic"
    description: str = ""

    @property
    def premise(self) -> str:
        """What has to be seen, for people."""
        ends = "" if self.rc == 0 else f" ends with {self.rc}"
        return (
            f"`{shlex.join(self.command)}`{ends}"
            f"{f' and prints `{self.stdout}`' if self.stdout else ''}"
        )


RULE: Final = frozenset(TypedRule.__struct_fields__)
CLAIM: Final = frozenset(Spoken.__struct_fields__)
PREDICATES: Final = tuple(str(one.value) for one in Predicate)
SOUNDNESS: Final = get_args(Soundness)


def read_typed_rules(data: Any, where: str = "rules") -> tuple[TypedRule, ...]:
    """The typed rules of a file; raises `RuleError` for the first that is wrong."""
    return each_rule(data, where, _read)


def _read(data: Any, where: str, _domain: str) -> TypedRule:
    data, where = named(data, where, RULE)
    if isinstance(data.get("claim"), Mapping):
        only_known(data["claim"], CLAIM, f"{where}: `claim`")
        if isinstance(data["claim"].get("predicate"), str):
            one_of(data["claim"]["predicate"], PREDICATES, f"{where}: `predicate`")
    if isinstance(data.get("soundness"), str):
        one_of(data["soundness"], SOUNDNESS, f"{where}: `soundness`")
    try:
        rule = typed.convert(data, TypedRule)
    except msgspec.ValidationError as error:
        raise RuleError(f"{where}: {error}") from None
    check_rule(rule, where)
    return rule


def check_rule(rule: TypedRule, where: str) -> None:
    """Raise `RuleError` for a rule that could never speak for anything, or that says too much.

    Cases, in this order: it names no program; it is too long; its pattern is none; its claim has a
    name that nothing takes; its claim says nothing, whatever its names take.
    """
    if not rule.command or not rule.command[0] or _PLACE.fullmatch(rule.command[0]):
        raise RuleError(f"{where}: `command` begins with the name of a program")
    if len(rule.command) > WORDS or any(
        len(one) > LONGEST for one in (*rule.command, rule.stdout, rule.id)
    ):
        raise RuleError(
            f"{where}: a command has at most {WORDS} words, and a text {LONGEST:,} characters"
        )
    groups: frozenset[str] = frozenset()
    if rule.stdout:
        check_pattern(rule.stdout, where)
        groups = frozenset(compiled(rule.stdout).groupindex)
    taken = groups | {place[1] for word in rule.command if (place := _PLACE.fullmatch(word))}
    for name in _names(rule.claim):
        if name not in taken:
            raise RuleError(
                f"{where}: nothing takes `{{{name}}}` of its claim: give `command` a word "
                f"`{{{name}}}`"
            )
    wrong = fault(_sample(rule.claim))
    if wrong:
        raise RuleError(f"{where}: its claim says nothing: {wrong}")


def _names(spoken: Spoken) -> list[str]:
    texts = [spoken.subject, spoken.value if isinstance(spoken.value, str) else ""]
    return [place[1] for text in texts for place in _PLACE.finditer(text)]


def _sample(spoken: Spoken) -> Claim:
    """The claim where each name has taken something that fits."""
    fits = "0" * 64 if spoken.predicate is Predicate.DIGEST else "0"
    value = spoken.value
    if isinstance(value, str):
        value = _typed(spoken.predicate, _PLACE.sub(fits, value))
    return Claim(spoken.predicate, _PLACE.sub(fits, spoken.subject), value, spoken.polarity)


def spoken_for(rule: TypedRule, ran: Ran) -> Claim | None:
    """The claim that a rule speaks for where this was seen; `None` where it does not fit."""
    taken = _words(rule.command, ran.argv)
    if taken is None or ran.rc not in (rule.rc if isinstance(rule.rc, tuple) else (rule.rc,)):
        return None
    if rule.stdout:
        found = (
            compiled(rule.stdout).search(ran.stdout)
            if ran.whole and REPLACED not in ran.stdout
            else None
        )
        if found is None:
            return None
        for name, text in found.groupdict().items():
            if text is None or taken.setdefault(name, text) != text:
                return None
    return _filled(rule.claim, taken)


def _words(pattern: tuple[str, ...], argv: tuple[str, ...]) -> dict[str, str] | None:
    if len(pattern) != len(argv):
        return None
    taken: dict[str, str] = {}
    for wanted, word in zip(pattern, argv, strict=True):
        place = _PLACE.fullmatch(wanted)
        if (taken.setdefault(place[1], word) if place else wanted) != word:
            return None
    return taken


def _filled(spoken: Spoken, taken: Mapping[str, str]) -> Claim | None:
    def put(text: str) -> str:
        return _PLACE.sub(lambda place: taken[place[1]], text)

    value = spoken.value
    if isinstance(value, str):
        value = _typed(spoken.predicate, put(value))
    claim = Claim(spoken.predicate, put(spoken.subject), value, spoken.polarity)
    return None if fault(claim) else normal(claim)


def _typed(predicate: Predicate, value: str) -> int | str:
    """A number, where the predicate counts and the text is one."""
    return int(value) if predicate in COUNTS and _NUMBER.fullmatch(value) else value


class TypedRules:
    """Typed rules by the program they are about, so that a command meets none but its own."""

    def __init__(self, rules: Iterable[TypedRule] = ()) -> None:
        self._of: dict[str, list[TypedRule]] = {}
        self._ids: set[str] = set()
        for rule in rules:
            self.add(rule)

    def __contains__(self, name: str) -> bool:
        return name in self._ids

    def __iter__(self) -> Iterator[TypedRule]:
        for rules in self._of.values():
            yield from rules

    def add(self, rule: TypedRule) -> None:
        """Add a rule; raises `RuleError` where its id is taken."""
        if rule.id in self._ids:
            raise RuleError(f"`{rule.id}` is there twice: give each rule an id of its own")
        self._ids.add(rule.id)
        self._of.setdefault(rule.command[0], []).append(rule)

    def speak(self, ran: Ran) -> Iterator[tuple[TypedRule, Claim]]:
        """Each rule that fits what was seen, with the claim that it speaks for."""
        for rule in self._of.get(ran.argv[0], ()) if ran.argv else ():
            claim = spoken_for(rule, ran)
            if claim is not None:
                yield rule, claim
