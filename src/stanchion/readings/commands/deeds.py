"""Deeds: what a call asks of a service, told as a command, so that one table judges commands and
calls: a request over HTTP as `curl`, and a call that is named after what it does as `tool:` with
the words of its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from stanchion.kernel.declared import LASTING, effect_of
from stanchion.kernel.regex import regex
from stanchion.readings.act_words import DELETES, FILES, PATHS
from stanchion.readings.commands.shapes import Held
from stanchion.readings.names import KEPT, letters, plain, words
from stanchion.readings.word_lists import listed

TOOL: Final = "tool:"
"""What stands for the program where a call is told by its name."""
DOES: Final = listed(
    """
    delete destroy remove drop purge terminate wipe erase del nuke truncate flush flushall flushdb
    flushdatabase empty clear reset uninstall teardown deprovision decommission deregister
    unregister prune evict detach revoke unprotect cancel close archive transfer disable deactivate
    suspend stop shutdown reboot poweroff halt drain cordon scale resize add create put set update
    grant attach invite assign bind promote modify edit upsert patch change make enable authorize
    allow open share publish expose merge accept pay payout refund charge capture send issue
    initiate execute wire run rotate regenerate restore rollback force push upload import replace
    unlink leave kill schedule buy purchase
    """
)
"""Words in the name of a call that changes something."""
MANAGES: Final = listed("manage call invoke api request operation action admin tool client command")
"""Words in the name of a tool whose arguments say what it does."""
ACTING: Final = listed(
    "action operation verb method command subcommand op cmd function tool toolname resource "
    "resourcetype kind type service objecttype entity api event"
)
"""Arguments that say what is done, or to what."""
DELETION: Final = ("rm",)
"""What stands for the words of a tool that deletes files."""
METHODS: Final = listed("delete put patch post")
ADDRESSES: Final = ("url", "uri", "endpoint", "path", "href", "address")
ASKED_BY: Final = ("method", "httpmethod", "verb", "requestmethod", "httpverb")
BODIES: Final = ("body", "json", "data", "payload", "form", "content", "jsonbody", "requestbody")
MOST: Final = 32
"""How many arguments of a call are told."""
MANY: Final = 256
"""Of how many no more are told."""
LONGEST: Final = 400
_BETWEEN: Final = regex(r"[^A-Za-z0-9]+")
_NUMBERED: Final = regex(r"[A-Za-z]{1,5}[0-9]{1,2}[a-z]?")
_NAME: Final = regex(r"[A-Za-z][\w.:-]{1,63}")


def deeds(reading: Any) -> tuple[Held, ...]:
    """What the call of a reading asks of a service by its name or over HTTP; nothing of a tool that
    is declared as one that neither takes something away for good nor gives rights."""
    event = reading.event
    args = getattr(event, "args", None)
    if not args or type(args) is not dict:
        return ()
    telling, method = _telling(event.tool)
    if telling is DELETION:
        paths = [named for name, named in args.items() if plain(name) in PATHS]
        flat = [each for one in paths for each in (one if type(one) is list else [one])]
        words_of = ("rm", "-rf", *[each for each in flat if type(each) is str])
        return (Held(words_of, (next(iter(args)),), False),) if len(words_of) > 2 else ()
    said: list[str] = []
    asked = ""
    for name, value in args.items():
        key = plain(name)
        if (key in ACTING or key in ASKED_BY) and type(value) is str:
            if key in ASKED_BY and value.lower() in METHODS:
                asked = value
            elif _NAME.fullmatch(value) is not None:
                said += _parts(value)
    if asked or method:
        found = _request(args, asked if asked else method)
        if found is not None:
            return (Held(found, (next(iter(args)),), False),)
    if not telling or (DOES.isdisjoint(telling) and DOES.isdisjoint(said)):
        return ()
    effect = effect_of(event.traits)
    if effect and effect not in LASTING:
        return ()
    return (Held(told([*telling, *said], _pairs(args)), (next(iter(args)),), False),)


@lru_cache(KEPT)
def _telling(tool: str) -> tuple[tuple[str, ...], str]:
    """The words of a tool's name where they may say what it does, and the method of HTTP that is
    among them."""
    known = letters(tool)
    method = min(known & METHODS, default="")
    if not known.isdisjoint(FILES):
        return (DELETION if not known.isdisjoint(DELETES) else ()), ""
    web = not known.isdisjoint({"http", "https", "rest", "request", "curl", "fetch"})
    tells = not known.isdisjoint(DOES) or not known.isdisjoint(MANAGES)
    return (_parts(tool) if tells or len(known) == 1 else ()), (method if web else "")


def _parts(name: str) -> tuple[str, ...]:
    """The words of a name; `s3` and `k8s` are one each."""
    return tuple(
        [
            word
            for part in _BETWEEN.split(name[:200])
            for word in ((part.lower(),) if _NUMBERED.fullmatch(part) else words(part))
        ]
    )


def told(name: Iterable[str], pairs: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    """A call as a command: the words of its name, each in the singular, and what it is given as
    options."""
    options = [f"--{key}={value}" if value is not True else f"--{key}" for key, value in pairs]
    return (TOOL, *dict.fromkeys(map(singular, name)), *options[:MOST])


@lru_cache(KEPT)
def singular(word: str) -> str:
    """A word without the ending of many: `policy` of `policies`, `bucket` of `buckets`."""
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word.removesuffix("s")


def _pairs(args: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a call is given, without the levels that it stands on."""
    waiting = list(args.items())
    for name, value in waiting:
        if len(waiting) > MANY:
            return
        key = str(name).lower()[:64]
        if type(value) is dict:
            waiting += value.items()
        elif type(value) is list or type(value) is tuple:
            flat = [each for each in value if isinstance(each, str | int | float)]
            waiting += [pair for each in value if type(each) is dict for pair in each.items()]
            yield key, ",".join(map(str, flat))[:LONGEST]
        elif value is True:
            yield key, True
        elif value is not None:
            yield key, ("false" if value is False else str(value)[:LONGEST].lower())


def _request(args: dict[str, Any], method: str) -> tuple[str, ...] | None:
    """A request over HTTP as `curl` would be told to make it; `None` where it has no address."""
    named = {plain(name): value for name, value in args.items()}
    url = next((named[key] for key in ADDRESSES if type(named.get(key)) is str), "")
    if not url:
        return None
    body = next((named[key] for key in BODIES if named.get(key)), "")
    return request(method, url, body if type(body) is str else msgspec.json.encode(body).decode())


def request(method: str, url: str, body: str) -> tuple[str, ...]:
    """A request as a command."""
    sent = ("--data-raw", body[:LONGEST]) if body else ()
    return ("curl", "-X", method.upper(), *sent, url)
