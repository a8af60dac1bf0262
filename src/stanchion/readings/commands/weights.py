"""Weights: how much hangs on what a deed is done to, as marks of the call that is told; so that one
table judges calls, requests, code, and programs that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.act_words import DELETES
from stanchion.readings.names import singular
from stanchion.readings.word_lists import Strings, listed, sections

ASKING: Final = listed("dryrun whatif simulate preview planonly validateonly checkonly checkmode")
"""Options by which a call only says what it would do."""
WORDS: Final = {
    title: words.union(map(singular, words))
    for title, words in sections("stanchion.readings.commands", "weights.txt").items()
}
"""The words of `weights.txt`, as they are and as they are told."""
DRAFTING: Final = sections("stanchion.readings", "drafting.txt")
DOES: Final = WORDS["does"]
"""Words in the name of a call that changes something."""
LOOKS: Final = DRAFTING["read"]
OPENED: Final = frozenset([("private", "false"), ("access", "open")])
OPENS: Final = listed("public ispublic makepublic publiclyaccessible")
"""Options that open something to everybody."""
UNDOES: Final = DELETES | listed("decommission destroy drop purge teardown terminate wipe")
"""Verbs after which nothing is there."""
FINDS: Final = listed("describe fetch find get lookup")
"""Verbs of which what stands before is a product's name."""
SURE: Final = (LOOKS - DRAFTING["nouns"]) | listed("check count find list ls read scan search show")
"""Verbs that only look, and are no nouns where a tool is told what to do."""
JOINS: Final = listed("and or then")
HERE: Final = listed("port pid localport")
"""Options of what runs on this machine."""
ON: Final = (True, "true", "1", "yes")
_SHORT: Final = regex(r"[^\s@]{1,100}")
_TOKEN: Final = regex(r"[a-z0-9]+")
_ANY: Final = regex(r"\{\}|\[\]|\.?\*+|%|1=1|true|/|")
_BETWEEN: Final = regex(r"[\s_.-]+")
_BARE: Final = regex(r"(?:id|name|arn)s?\Z")
PAST: Final = regex(
    r"(?:bypass|override|skip|ignore|disable|without|no|allow)\w*(?:check|approv|interlock|review|"
    r"force|safety|test|valid|protect|confirm|auth|sign|verif|mfa|2fa|secur|encrypt|log|audit|ssl|tls|"
    r"anonym)"
)
"""What goes past a check, in a name without its separators."""

HUGE: Final = regex(
    r"(?:[89]|[1-9]\d|1\d\d)xlarge|\bmetal\b|[-_.](?:3[2-9]|[4-9]\d|[1-4]\d\d)(?:\b|vcpu|gb)|[abh][12]00|"
    r"\bp[3-6](?:d|dn|e|en)?\.|a[23]-(?:high|mega|ultra)gpu|standard_n[cd]\d{2,}"
)
"""What is in the names of machines that cost much by the hour."""
MANY: Final = 20
SIZES: Final = listed(
    "type instancetype machinetype size sku vmsize plan flavor nodetype class instanceclass "
    "servertype dbinstanceclass tier gpu gputype accelerator acceleratortype shape"
)
"""Options that say how large something is."""
COUNTS: Final = listed("count quantity number mincount maxcount nodes nodecount instancecount qty")
"""Options that say how many are made."""

Options = Sequence[tuple[str, str | Literal[True]]]


def marks(name: Strings, words: Strings, options: Options) -> Strings:
    """The marks of a call by the words of its name, all its words, and what it is given by name."""
    texts = [(key, value) for key, value in options if value is not True]
    every, first = _tokens([value for _, value in texts])
    named = "".join([*words, *sorted(every)])
    bare = [_BARE.sub("", key) for key, _ in reversed(options)]
    keys = [key for key in bare if key in WORDS["weighty"]]
    thing = _thing(name, keys) or _thing(words, keys)
    production = not WORDS["production"].isdisjoint(every.union(words))
    found = {
        "--@production": production,
        "--@every": _is_every(words, options),
        "--@weighty": thing in WORDS["weighty"],
        "--@off": any(_is_off(named, *text) for text in texts),
        "--@public": any(_is_public(*option) for option in options),
        "--@huge": any(_is_huge(*text) for text in texts),
        "--@past": any(value in ON and PAST.match(key) is not None for key, value in options),
    }
    found["--@light"] = not production and (
        thing in WORDS["trifles"]
        or (thing in WORDS["small"] and not found["--@every"])
        or not HERE.isdisjoint(bare)
        or not WORDS["trial"].isdisjoint(first.union(words))
    )
    return tuple([mark for mark, holds in found.items() if holds])


def only_looks(said: Strings, words: Strings, options: Options) -> bool:
    """Whether a call only looks, by the words that say what is done, or else by all of its words;
    or only says what it would do."""
    if any(key in ASKING and value in ON for key, value in options):
        return True
    for name in (said, words):
        if not JOINS.isdisjoint(name):
            return False
        if any(word in FINDS and UNDOES.isdisjoint(name[:at]) for at, word in enumerate(name[:-1])):
            return True
        head = next((word for word in name if word in DOES or word in SURE), "".join(name[:1]))
        if head in DOES or head in LOOKS:
            return head in LOOKS
    return False


def _is_every(words: Strings, options: Options) -> bool:
    """Whether a call is about everything there is, or whatever fits."""
    return not WORDS["every"].isdisjoint(words) or any(
        key in WORDS["ranges"]
        or (
            key[:3] == "all" or key in WORDS["every"]
            if value is True
            else _ANY.fullmatch(value) or _BETWEEN.sub("", value) in WORDS["every"]
        )
        for key, value in options
    )


def _is_huge(key: str, value: str) -> bool:
    """Whether an option asks for what costs much: a large machine, or many of them."""
    many = key in COUNTS and value.isdigit() and int(value) >= MANY
    return many or (key in SIZES and HUGE.search(value) is not None)


def _is_public(key: str, value: str | Literal[True]) -> bool:
    """Whether an option lets everybody in."""
    if value is True:
        return key in OPENS
    return (
        (key, value) in OPENED
        or (key in OPENS and value in ON)
        or _BETWEEN.sub("", value) in WORDS["public"]
    )


def _is_off(words: str, key: str, value: str) -> bool:
    """Whether what an option says is that something which protects is off."""
    named = words if key in WORDS["states"] else key
    off = value.replace("_", "") in WORDS["off"]
    return off and any(guard in named for guard in WORDS["guards"])


def _thing(words: Strings, keys: Sequence[str]) -> str:
    """The last word that is a known thing, before one behind the verb that says where that is; or
    else one that the call has by name."""
    things = WORDS["trifles"] | WORDS["small"] | WORDS["weighty"]
    verb = next((at for at, word in enumerate(words) if word in DOES), 0)
    behind = takewhile(lambda word: word not in WORDS["between"], words[verb:])
    named = [*(() if words[verb + 1 :] else reversed(keys)), *words[:verb], *behind]
    return next((word for word in reversed(named) if word in things), "")


def _tokens(values: Sequence[str]) -> tuple[set[str], set[str]]:
    """The words of short values, and those that stand before the first dot of one that is no
    device."""
    short = [value for value in values if _SHORT.fullmatch(value)]
    names = [value.partition(".")[0] for value in short if value[:5] != "/dev/"]
    return set(_TOKEN.findall(" ".join(short))), set(_TOKEN.findall(" ".join(names)))
