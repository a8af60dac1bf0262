"""Tools: what a tool does and what its parameters are for, read from its name and its definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from stanchion.guards.flow import english
from stanchion.guards.flow.nouns import FILES, GRAVE, MAILS, MONEY, OF_VERB, WEB, groups, stem
from stanchion.guards.flow.roles import Role, role, split
from stanchion.guards.flow.values import MAIL, URL, values, words
from stanchion.kernel.regex import regex
from stanchion.readings.hostile import GRAMMAR, Grammar, normal
from stanchion.readings.hostile.effects import (
    ANY,
    BOOK,
    CREATE,
    DELETE,
    EFFECTS,
    EXEC,
    PAY,
    SEND,
    SHARE,
    UPDATE,
)
from stanchion.readings.hostile.lexicon import COMMANDS, READS, VERBS, VISITS, Verbs

BOOLEANS: Final = frozenset({"true", "false", "True", "False"})
FIRST: Final = 14
"""How many words of a description tell what a tool does."""
CHANGES: Final = CREATE | UPDATE
HARD: Final = SEND | PAY | DELETE | SHARE | BOOK
"""Effects that cannot be taken back, or reach others."""
NARROW: Final = {verb: EFFECTS[name] for verb, name in english.NARROW.items()}
NEUTRAL: Final = frozenset(english.NEUTRAL.split())
TO_THE_USER: Final = frozenset(english.TO_THE_USER.split())
TO_A_PERSON: Final = frozenset(english.TO_A_PERSON.split())
ANSWERING: Final = frozenset(english.ANSWERING.split())
ADDRESSES: Final = frozenset(english.ADDRESSES.split())
OPENS: Final = VISITS | {"goto", "load"}
COMPOUND: Final = regex("_|[a-z][A-Z]")
FOUND_BY_DESCRIPTION: Final = (Role.TARGET, Role.SECRET)


class Tool:
    """One tool as it is understood. It never changes.

    `effects` are what it brings about, none for one that only reads; `lead` is its verb, `groups` and `stems` what it
    is about. `words` are those of its name.
    """

    __slots__ = (
        "_choices",
        "_roles",
        "effects",
        "groups",
        "lead",
        "may_be_neutral",
        "name",
        "reads",
        "stems",
        "words",
    )

    def __init__(self, name: str, about: Any = "", schema: Any = None, traits: Iterable[str] = ()) -> None:
        self.name = name
        said = _first_words(about)
        self.words = tuple(split(name))
        self.lead, self.reads = _lead(self.words, said)
        nouns = [word for word in self.words if word != self.lead]
        self.groups = groups(nouns)
        if not self.groups:
            self.groups = groups(said)
        if not self.groups:
            self.groups = OF_VERB.get(self.lead, 0)
        self.stems = frozenset([stem(word) for word in nouns if len(word) > 2])
        if self.lead in OPENS and self.groups & (WEB | FILES | MAILS):
            self.reads = True
        own = set(self.words)
        self.may_be_neutral = own <= TO_THE_USER or not own.isdisjoint(NEUTRAL | TO_A_PERSON | ANSWERING)
        traits = frozenset(traits)
        self.reads = (self.reads or "read_only" in traits) and "destructive" not in traits
        self.effects = 0 if self.reads else _effects(self.lead, self.groups)
        if "destructive" in traits and not self.effects & HARD:
            self.effects |= DELETE
        self._roles: dict[str, Role] = {}
        self._choices: dict[str, frozenset[str]] = {}
        self._read_schema(schema)

    def role(self, name: str, text: str) -> Role:
        """What a parameter is for: by its name, by what is said of it, or by what it holds."""
        found = self._roles.get(name)
        if found is None:
            found = role(name)
        if found is Role.OTHER and (MAIL.fullmatch(text.strip()) or URL.match(text)):
            return Role.TARGET
        return found

    def commands(self, args: Any) -> list[str]:
        """The commands for a shell or an interpreter among the arguments of a call."""
        return [text for name, text in values(args) if self.role(name, text) is Role.COMMAND]

    def chosen(self, name: str, text: str) -> bool:
        """Whether a value is one of a few that the definition offers."""
        return (name in self._choices and text in self._choices[name]) or text in BOOLEANS

    def neutral(self, args: Mapping[str, Any]) -> bool:
        """Whether a call only thinks, ends, talks to the user or hands over to a person."""
        if not self.may_be_neutral:
            return False
        words = set(self.words)
        if not words.isdisjoint(TO_A_PERSON):
            return True
        roles = {self.role(name, "") for name in args}
        harmless = roles.isdisjoint((Role.TARGET, Role.OBJECT, Role.COMMAND))
        if harmless and not words.isdisjoint(NEUTRAL):
            return True
        if words <= TO_THE_USER and roles <= {Role.CONTENT}:
            return True
        return harmless and not words.isdisjoint(ANSWERING)

    def severe(self, roles: Iterable[Role]) -> bool:
        """Whether a call does what cannot be taken back, touches what is grave, or has a destination."""
        effects = self.effects
        if effects & PAY or (effects & HARD and not effects & (CHANGES | EXEC)):
            return True
        return bool(self.groups & GRAVE) or any(each in FOUND_BY_DESCRIPTION for each in roles)

    def _read_schema(self, schema: Any) -> None:
        known = schema.get("properties") if isinstance(schema, dict) else None
        shared = schema.get("$defs", {}) if isinstance(schema, dict) else {}
        for name, each in known.items() if isinstance(known, dict) else ():
            if not isinstance(each, dict):
                continue
            choices = _choices(each, shared if isinstance(shared, dict) else {})
            if choices:
                self._choices[name] = choices
            found = role(name)
            if found is Role.OTHER and isinstance(each.get("description"), str):
                about = [stem(word) for word in words(normal(each["description"]))[:FIRST]]
                hints = {role(word) for word in about}
                found = next((each for each in FOUND_BY_DESCRIPTION if each in hints), found)
            self._roles[name] = found


class Vocabulary(NamedTuple):
    """What tools add to a language: names that are no words of honest texts, and verbs by which a text may want
    something."""

    names: frozenset[str]
    verbs: Verbs
    grammar: Grammar


def vocabulary(tools: Iterable[Tool]) -> Vocabulary:
    """The vocabulary of these tools. It takes long to make, and is the same for every run that has them."""
    known = list(tools)
    verbs = _own_verbs(known)
    names = frozenset([each.name.lower() for each in known if COMPOUND.search(each.name)])
    return Vocabulary(names, verbs, _grammar(verbs))


def _own_verbs(tools: Iterable[Tool]) -> Verbs:
    """The verbs of a language, and those that only tools know: a tool's name says that its first word is one."""
    found = dict(VERBS)
    for tool in tools:
        first = tool.words[0] if tool.words else ""
        if len(first) > 3 and not tool.reads and not tool.lead:
            found.setdefault(first, 0)
    return found


def _grammar(verbs: Verbs) -> Grammar:
    """The verbs by which a text may want something, where people's verbs are these."""
    return Grammar({**dict.fromkeys(verbs, ANY), **COMMANDS}) if len(verbs) > len(VERBS) else GRAMMAR


def _first_words(about: Any) -> list[str]:
    if isinstance(about, dict):
        about = about.get("description", "")
    return [_verb(word) for word in words(normal(about))[:FIRST]] if isinstance(about, str) else []


def _verb(word: str) -> str:
    base = word.removesuffix("s")
    return base if base in VERBS or base in READS else word


def _lead(words: Iterable[str], said: Iterable[str]) -> tuple[str, bool]:
    """The verb of a tool, and whether it is one of reading: of its name, then of its description."""
    for word in (*words, *said):
        if word in READS:
            return word, True
        if word in VERBS:
            return word, False
    return "", False


def _effects(lead: str, about: int) -> int:
    found = NARROW.get(lead, VERBS.get(lead, 0))
    if lead == "send":
        return PAY if about & MONEY else SEND
    if about & MONEY and not found & SEND and found & (CREATE | BOOK):
        found |= PAY
    return found


def _choices(parameter: dict[str, Any], shared: dict[str, Any]) -> frozenset[str]:
    options = [parameter, *[one for key in ("anyOf", "allOf", "oneOf") for one in parameter.get(key, ())]]
    found: list[Any] = []
    for option in options:
        if not isinstance(option, dict):
            continue
        listed = option.get("enum")
        if listed is None and isinstance(option.get("$ref"), str):
            listed = shared.get(option["$ref"].rpartition("/")[2], {}).get("enum")
        found += listed if isinstance(listed, list) else []
    return frozenset([str(each) for each in found])
