"""Drafts of declarations: what a tool of which nobody says anything seems to do, by its name and
the names of its arguments. Where they leave a doubt, the stricter word holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from msgspec import Struct

from stanchion.kernel.declared import CONTENT, EFFECTS, READ, Declared, strictest
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings import act_words
from stanchion.readings.commands.words import runner_of
from stanchion.readings.known_tools import KnownTool, known_tool
from stanchion.readings.names import KEPT, own_name, plain, words
from stanchion.readings.word_lists import sections

LOCAL: Final = "local"
OUTWARD: Final = "outward"
PRIVILEGE: Final = "privilege"
IRREVERSIBLE: Final = "irreversible"
GENERIC: Final = "generic"
"""Verbs of which the thing says how far they reach: a note is created here, a comment for others.
"""
PAGE: Final = "page"
REACHING: Final = frozenset({OUTWARD, PRIVILEGE, IRREVERSIBLE})
KINDS: Final = (READ, LOCAL, GENERIC, PAGE, OUTWARD, PRIVILEGE, IRREVERSIBLE)
"""The kinds of verbs, the mildest first."""
LISTS: Final = frozenset({"list", "search", "find", "ls"})
"""Verbs that give names of files, and not what is written in them."""
WHERE: Final = frozenset({"to", "back", "forward"})
OF_PAGE: Final = "@page"
"""The sink of what acts on the page that a browser shows."""
DEEPEST: Final = 2
MOST_NAMES: Final = 200
"""How far down in a schema arguments are looked for, and how many of them."""


class DraftedTool(NamedTuple):
    """A drafted declaration, with what it was drafted from, and whether that leaves no doubt."""

    declared: Declared
    because: str
    sure: bool


class Verbs(Struct, frozen=True):
    """The verbs of a name, the one that says what it does first, and all of its words."""

    said: tuple[str, ...]
    name: frozenset[str]
    plain: bool
    """Whether nothing before the verb may be a verb that is not known."""


def draft(tool: str, schema: Mapping[str, Any] | None = None, about: str = "") -> Declared:
    """What a tool seems to do that is called like this and takes these arguments."""
    return explained(tool, schema, about).declared


def explained(tool: str, schema: Mapping[str, Any] | None = None, about: str = "") -> DraftedTool:
    """What a tool seems to do, and why. What it says of itself may only make it stricter."""
    if schema is None:
        return _draft(tool, None, (), _opening(about))
    offered = schema.get("properties")
    names = tuple(sorted(_arguments(offered)))[:MOST_NAMES]
    return _draft(tool, names, _choices(offered), _opening(about))


@lru_cache(KEPT)
def _draft(
    tool: str, names: tuple[str, ...] | None, choices: tuple[str, ...], opening: str
) -> DraftedTool:
    if runner_of(tool).runs:
        why = "it runs what it is given: each call is judged by what that does"
        return DraftedTool(Declared(None, OUTWARD, CONTENT), why, True)
    args = () if names is None else names
    verbs = _verbs(_named(tool))
    found = [_effect(verb, verbs.name, names) for verb in verbs.said or ("",)]
    found += [_effect(verb, verbs.name, names) for verb in choices if verb in _kinds()]
    if _kinds().get(opening, READ) in REACHING and opening not in _table()["nouns"]:
        found.append(_effect(opening, verbs.name, names))
    effect, because = max(found, key=lambda one: EFFECTS.index(one[0]))
    result = None if effect == READ and not _gives_text(verbs, args) else CONTENT
    declared = Declared(None, effect, result, _sinks(verbs, effect, names))
    return _tightened(DraftedTool(declared, because, verbs.plain), known_tool(tool, names), args)


def _tightened(drafted: DraftedTool, known: KnownTool | None, args: tuple[str, ...]) -> DraftedTool:
    """A draft at least as strict as what a known tool of that name does, which may be another."""
    if known is None:
        return drafted
    said, own = known.declared, drafted.declared
    effect = strictest(EFFECTS, (own.effect, said.effect))
    sinks = [sink for sink in said.sinks if sink in args or sink == OF_PAGE]
    declared = Declared(
        None,
        effect,
        CONTENT if CONTENT in (own.result, said.result) or effect != READ else None,
        tuple(dict.fromkeys([*own.sinks, *sinks])),
    )
    because = drafted.because if effect == own.effect else f"as `{known.source}` has it"
    return DraftedTool(declared, because, drafted.sure)


def _gives_text(verbs: Verbs, args: tuple[str, ...]) -> bool:
    """Whether what a tool reads is written by anybody: pages, files, documents."""
    known = _table()
    return bool(
        _holds(verbs.name, known["written"])
        or any(plain(name) in act_words.URLS for name in args)
        or (_holds(verbs.name, known["files"]) and not LISTS.issuperset(verbs.said))
    )


def _sinks(verbs: Verbs, effect: str, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The arguments that say whom or what a tool acts on, else those that its name speaks of."""
    args = () if names is None else names
    named = tuple([name for name in args if _is_sink(name, effect)])
    if named or effect not in REACHING:
        return named
    if _acts_on_page(verbs, names):
        return (OF_PAGE,)
    return tuple([name for name in args if _is_subject(name, verbs)])


def _effect(verb: str, name: frozenset[str], names: tuple[str, ...] | None) -> tuple[str, str]:
    """How far a verb reaches with the other words of a name as its things, and why."""
    known = _table()
    kind, things = _kinds().get(verb, ""), name - {verb}
    if not kind:
        power = _holds(things, known["power"])
        return (PRIVILEGE if power else OUTWARD), "no verb of its name is known"
    if kind == READ:
        writes = any(plain(name) in act_words.RESULTS for name in names or ())
        return (LOCAL, f"`{verb}` into a file") if writes else (READ, f"`{verb}`")
    if kind == PAGE:
        return OUTWARD, f"`{verb}` on a page"
    if verb in known["opens"] and _opens(things, names):
        return READ, f"`{verb}` of what is only shown"
    effect, thing = _reach(verb, kind, things)
    if effect == LOCAL and kind == GENERIC and _takes_others(verb, things, names):
        return OUTWARD, f"`{verb}` {thing}, and others may take part"
    return effect, f"`{verb}` {thing}".rstrip()


def _opens(things: frozenset[str], names: tuple[str, ...] | None) -> bool:
    """Whether what is opened or gone to is only shown: a page, a file, an address."""
    by_address = any(plain(name) in act_words.URLS for name in names or ())
    return things <= WHERE or by_address or bool(_holds(things, _table()["opened"]))


def _takes_others(verb: str, things: frozenset[str], names: tuple[str, ...] | None) -> bool:
    """Whether arguments of what makes one's own things name others, or may do so; who takes part in
    what there is already, they do not say."""
    known = _table()
    if _holds(things, known["ours"]):
        return False
    if _holds(things, known["meets"]) and (names is None or verb not in known["makes"]):
        return True
    return any(plain(name) in known["reaches"] for name in names or ())


def _reach(verb: str, kind: str, things: frozenset[str]) -> tuple[str, str]:
    """How far a verb reaches that is done to these things, and which of them says so."""
    known = _table()
    power, ours = _holds(things, known["power"]), _holds(things, known["ours"])
    money = _holds(things, known["money"])
    helpers = _holds(things, known["helpers"])
    if helpers and verb in known["hands"] and not (power or money):
        return LOCAL, helpers  # a person of the house goes on
    money = money if kind in (GENERIC, OUTWARD) else ""
    if ours and not power and (kind == GENERIC or verb in known["removes"]):
        return LOCAL, ours
    if kind == IRREVERSIBLE or money:
        return IRREVERSIBLE, money
    if power:
        return PRIVILEGE, power
    shared = _holds(things, known["shared"]) if verb in known["sets"] else ""
    return _reach_of(things) if kind == GENERIC else (OUTWARD if shared else kind, shared)


def _reach_of(things: frozenset[str]) -> tuple[str, str]:
    """How far it reaches that these things are made or changed."""
    known = _table()
    people = _holds(things, known["people"])
    if people:
        return PRIVILEGE, people
    own = _holds(things, known["own"] | known["meets"])
    shared = _holds(things, known["shared"] - known["meets"])
    return (LOCAL, own) if own and not shared else (OUTWARD, shared or "of what others may see")


def _verbs(name: tuple[str, ...]) -> Verbs:
    """The verbs of a name. Its first sure verb says what it does, whatever product stands before
    it; where there is none, the first word that may be one. One that acts counts wherever it
    stands, unless it may be a noun there: a *post* is got."""
    known, nouns = _kinds(), _table()["nouns"]
    listed = [word for word in name if word in known]
    sure = [word for word in listed if word not in nouns]
    heads = sure[:1] or listed[:1]
    reads = bool(heads) and known[heads[0]] == READ
    joined = not _table()["joins"].isdisjoint(name)
    others = listed if joined or not (sure or reads) else sure
    acting = [word for word in others if known[word] != READ]
    is_plain = bool(heads) and (bool(sure) or heads[0] == name[0])
    return Verbs(tuple(dict.fromkeys([*heads, *acting])), frozenset(name), is_plain)


def _named(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name, those that make up one verb as one: `check` and `out`."""
    name, made, known = words(tool[-len(own_name(tool)) :]), list[str](), _kinds()
    for word in name:
        if made and made[-1] + word in known:
            made[-1] += word
        else:
            made.append(word)
    return tuple(made)


def _holds(things: Iterable[str], listed: frozenset[str]) -> str:
    """The first word, in the singular or the plural, that stands in a list; empty without one."""
    return min(
        [word for word in things if word in listed or word.removesuffix("s") in listed], default=""
    )


@lru_cache(KEPT)
def _is_sink(name: str, effect: str) -> bool:
    """Whether an argument of that name says whom or what a call acts on."""
    known, last = _table(), name.rpartition(".")[2]
    said = words(last)
    if effect == READ:
        return bool(said) and said[-1] in known["sinks of reads"]
    if "to" in said[1:]:
        said = said[: said.index("to", 1)]
    listed = known["sinks"] | known["sinks of acting"]
    files = (act_words.PATHS | act_words.RESULTS) - {"location"}
    if plain(last) in listed | files or (said and said[-1] in known["sinks of reads"]):
        return True
    while len(said) > 1 and said[-1] in known["trailing"] and said[-1] not in known["sinks"]:
        said = said[:-1]
    return bool(said) and said[-1] in listed and not (len(said) > 1 and said[-1] in UNSAID)


UNSAID: Final = frozenset({"to", "from", "source", "base", "target", "title"})
"""Words that say whom a call acts on only where they are the whole name of an argument."""


def _acts_on_page(verbs: Verbs, names: tuple[str, ...] | None) -> bool:
    """Whether a tool acts on an element of the page that a browser shows."""
    elements = _table()["elements"]
    return _kinds().get(next(iter(verbs.said), "")) == PAGE and (
        names is None or any(plain(name) in elements for name in names)
    )


def _is_subject(name: str, verbs: Verbs) -> bool:
    """Whether an argument names what the tool's own name speaks of: `hotel` of `reserve_hotel`.
    What is only made by the call is no subject of it."""
    said = words(name.rpartition(".")[2])[-1:]
    things = verbs.name - {*verbs.said} - act_words.CONTENTS
    if plain(name) in ("name", "title"):
        return _table()["makes"].isdisjoint(verbs.said)
    return any(word in things or word.removesuffix("s") in things for word in said)


def _arguments(offered: Any, before: str = "", depth: int = 0) -> Iterator[str]:
    """The names of the arguments that a schema offers, with a dot where one lies in another."""
    for name, inner in offered.items() if isinstance(offered, dict) else ():
        yield f"{before}{name}"
        if depth < DEEPEST and isinstance(inner, dict) and "properties" in inner:
            yield from _arguments(inner["properties"], f"{before}{name}.", depth + 1)


def _choices(offered: Any) -> tuple[str, ...]:
    """The verbs among which an argument chooses what is done."""
    found = set[str]()
    for name, inner in offered.items() if isinstance(offered, dict) else ():
        listed = inner.get("enum") if isinstance(inner, dict) else None
        if isinstance(listed, list) and plain(str(name)) in _table()["selectors"]:
            found.update([words(str(one))[0] for one in listed[:MOST_NAMES] if words(str(one))])
    return tuple(sorted(found)) if found else ()


def _opening(about: str) -> str:
    """The first word of what a tool says of itself, as a name would have it."""
    first = words(about[:100])[:1]
    return first[0].removesuffix("s") if first else ""


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind in KINDS for word in _table()[kind]}


@cache
def _table() -> dict[str, frozenset[str]]:
    return sections(__package__ or "", "drafting.txt")
