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
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.act_words import DELETES, ELSEWHERE, FILES, PATHS, WEB
from stanchion.readings.commands.shapes import (
    PARTS,
    Call,
    Held,
    given as shaped,
    inner_calls,
    parsed,
)
from stanchion.readings.commands.weights import DOES, LOOKS, PAST, UNDOES, WORDS, marks, only_looks
from stanchion.readings.commands.words import ASKED_BY, COMMANDS, runner_of
from stanchion.readings.names import (
    KEPT,
    LOOK,
    TOOL,
    letters,
    numbered_words,
    plain,
    singular,
    words,
)
from stanchion.readings.word_lists import Strings, in_order, listed

ACTING: Final = listed(
    "action operation verb method command subcommand op cmd function tool toolname resource "
    "resourcetype kind type service objecttype entity api event call task job visibility acl"
)
"""Arguments that say what is done, or to what."""
OF_THINGS: Final = listed(
    "resource resourcetype kind acl visibility service objecttype entity task job jobname event "
    "runbook playbook workflow workflowname dag pipeline procedure automation macro recipe "
    "scriptname"
)
"""Those that only say to what."""
KEPT_SECRET: Final = listed(
    "secret secrets password passwords credential credentials keychain keyring keyvault passwd "
    "vault doppler infisical onepassword bitwarden keepass keepassxc lastpass dashlane var vars "
    "variable variables env"
)
"""Words in the name of a call that may show what nobody else is to know."""
TELLING: Final = (
    DOES | KEPT_SECRET | listed("audit backup edr logging mfa monitoring public sso waf")
)
HELD_ELSEWHERE: Final = ELSEWHERE | listed(
    "drive box mail mailbox outlook gmail imap exchange slack teams discord telegram upload share "
    "publish send attach ftp"
)
"""Words in the name of a tool whose files a service holds."""
VERBS: Final = {"delete": "delete", "put": "update", "patch": "update", "post": "create"}
"""What a method of HTTP does with what its address names."""
OF_PEOPLE: Final = listed("admin active ldap azure google okta user users entra workspace")
"""Words in the name of a tool whose directory is one of people."""
ELSE_FILES: Final = listed("fs filesystem path paths filepath")
"""Words in the name of a tool that is about files, beside those that say so."""
PLACES: Final = PATHS | listed("target targets item items")
"""Arguments of a tool that deletes files that say which."""
METHODS: Final = listed("delete put patch post")
ADDRESSES: Final = in_order(
    "url uri endpoint path href address target route requesturl requestpath fullurl resourceid"
)  # fmt: skip
REACHING: Final = listed(
    "url uri endpoint href uploadurl targeturl host service access visibility audience public "
    "permission sharewith sharedwith"
)
"""Arguments of tools for files that say that these go elsewhere, or who may see them."""
AT_ONCE: Final = listed("action operation op method api endpoint resource route request target")
"""Arguments that may hold a method and an address."""
SAYING: Final = ACTING | OF_THINGS | ASKED_BY | AT_ONCE
TOLD_BY: Final = SAYING | REACHING
STATES: Final = listed("status enabled enable state active mode value desired desiredstate ensure")
"""Arguments that say of what they stand in whether it is on."""
ENDED: Final = {
    **dict.fromkeys(in_order("absent deleted destroyed purged removed terminated"), "delete"),
    **dict.fromkeys(in_order("off poweroff shutdown stopped suspended"), "stop"),
}
"""What is done to what is to be in such a state."""
TAKES: Final = UNDOES | listed("clear overwrite prune reset")
"""Verbs that count where they are a flag of a call."""
UNDOING: Final = frozenset((verb,) for verb in UNDOES)
"""Verbs by which arguments are called that say what is to go."""
CLUSTERS: Final = listed("kubernetes kubectl kube k s cluster manifest helm openshift")
STARTED: Final = listed("automation dag job lambda pipeline playbook procedure runbook workflow")
"""What is started by its name."""
PUTS: Final = listed("apply create update replace patch put")
MANIFESTS: Final = listed("manifest yaml manifests resource definition spec content body object")
LONGEST_TEXT: Final = 16_384
BODIES: Final = in_order("body json data payload form content jsonbody requestbody")
MOST: Final = 32
"""How many arguments of a call are told."""
MANY: Final = 256
"""Of how many no more are told."""
LONGEST: Final = 400
_RUN: Final = regex(r"[\s!()`$]+")
"""What has no place in a value: nothing of it is run."""
_SECRETS: Final = regex(
    r"/variables|(?<!actions)/secrets?\b|/kv/data|vault\.azure|secretmanager|/(?:env|config)[-_]?vars|"
    r"/credentials\b|/api[-_]?keys\b|/env\b|decrypt['\":= ]+true"
)
"""What is in an address at which secrets are given out."""
TEXT: Final = frozenset({str})
DEVICES: Final = "/dev/"
_NAME: Final = regex(r"[A-Za-z][\w.:-]{1,63}")
_PLACE: Final = regex(r"/?[A-Za-z][\w.:/-]{1,99}")
_ASKED: Final = regex(r"(?i)(get|delete|put|patch|post)\s+(\S+)")
"""A method and an address in one text."""
_MUTATES: Final = regex(r"\s*mutation\b[^{]{0,400}\{\s*(?:\w+\s*:\s*)?(\w+)")
_FIELD: Final = regex(r"(\w+)\s*:\s*\"?([\w/*.@-]+)")
HERE: Final = regex(r"(?i)[a-z]+://(?:localhost|127\.|0\.0\.0\.0|\[::1\]|testserver)")
_HOST_AND_PATH: Final = regex(r"(?:[A-Za-z]+://)?([^?#]*)")


def deeds(reading: Any) -> tuple[Held, ...]:
    """What the call of a reading asks of a service by its name or over HTTP, and what it deletes;
    nothing of a tool that is declared as one that does what can be taken back."""
    event = reading.event
    args = getattr(event, "args", None)
    if type(args) is not dict:
        return ()
    found: list[Strings | None] = []
    inner: tuple[Call, ...] = ()
    for value in args.values():  # most calls have no parts, and cost no look for them
        if type(value) in PARTS or (type(value) is str and value[:1] == "{"):
            inner = reading.of(inner_calls)
            break
    for tool, given in ((event.tool, args), *inner):
        name = _named(tool)
        if name.of_files:
            deletes = name.deletes or any(_deletes(*pair) for pair in given.items())
            found.append(_deletion(given) if deletes else None)
        if not name.of_files or name.elsewhere or any(_reaches(*pair) for pair in given.items()):
            found += _asked_of_service(name, event.traits, given)
    if found == [None]:
        return ()
    at = (next(iter(args), ""),)
    return tuple([Held(one, at, False) for one in found if one is not None])


def _deletes(name: str, value: Any) -> bool:
    """Whether an argument says that files are deleted."""
    if value is True:
        return words(name)[:1] in UNDOING
    return type(value) is str and value.lower() in DELETES and plain(name) in ACTING


def _reaches(name: str, value: Any) -> bool:
    """Whether an argument of a tool for files says that these go elsewhere, or who may see them."""
    if value is True and words(name)[:1] in UNDOING:
        return True
    far = type(value) is str and "://" in value[:12]
    return far or plain(name) in REACHING


def _asked_of_service(name: ToldName, traits: Any, args: dict[str, Any]) -> list[Strings | None]:
    """A request, or what a cluster is told to have; and what a call does by the words of its name,
    of its arguments and of the address, where that is not on this machine."""
    if name.runs and TEXT.issuperset(map(type, args.values())) and COMMANDS.issuperset(args):
        return [None]
    heard = _Heard(name, args)
    method = heard.method or name.method
    asked = _request(args, method, heard.url) if method else None
    said = heard.said
    if asked is not None:
        if HERE.match(asked[-1]) is not None:
            return [asked]
        said = [*asked_words(asked[2], asked[-1]), *said]
    elif name.clusters and not PUTS.isdisjoint({*name.words, *said}):
        manifest = _manifest(args)
        if manifest is not None:
            return [manifest]
    effect = effect_of(traits)
    if effect and effect not in LASTING:
        return [asked]
    if name.does or not TELLING.isdisjoint(said) or any(map(_protects, args)):
        flags = [word for key in args if args[key] is True for word in numbered_words(key)]
        flags = [word for word in flags if word in TAKES or word not in DOES]
        deed = told([*name.words, *said, *heard.things], pairs(args), said, flags)
        if deed[0] == TOOL or not KEPT_SECRET.isdisjoint(deed):
            return [asked, deed]
    return [asked]


MUTATION: Final = "mutation"
"""What is in a text of GraphQL that changes something."""


def may_tell(event: Any) -> bool:
    """Whether a call may ask a service for something, by its tool and the names of its arguments;
    otherwise only one with parts does, or a text that may be GraphQL (`MUTATION`)."""
    name = _named(event.tool)
    by_name = name.deletes if name.of_files else name.does or name.clusters or name.method
    at_service = name.of_files and name.elsewhere and name.does
    return bool(by_name or at_service) or any(
        _tells(one) or (name.of_files and _reaches(one, value)) for one, value in event.args.items()
    )


@lru_cache(KEPT)
def _tells(argument: str) -> bool:
    """Whether an argument may say what is done, by its name."""
    undoes = words(argument)[:1] in UNDOING
    return plain(argument) in TOLD_BY or undoes or _protects(argument)


@lru_cache(KEPT)
def _protects(argument: str) -> bool:
    """Whether an argument may be about what protects, or goes past it."""
    key = plain(argument)
    return PAST.match(key) is not None or any(guard in key for guard in WORDS["guards"])


def asked_words(method: str, url: str) -> list[str]:
    """What a request does, by its method and the words of its address."""
    verb = VERBS.get(method.lower())
    place = _HOST_AND_PATH.match(url[:LONGEST])
    if verb is None or place is None:
        return []
    host, _, path = place[1].partition("/")
    return [*numbered_words(host), verb, *numbered_words(path)]


def _mutation(value: Any) -> str:
    """What a text of GraphQL changes first, or the body that holds it; empty where it changes
    nothing."""
    value = value.get("query") if type(value) is dict else value
    found = _MUTATES.match(value) if type(value) is str and "mutation" in value[:64] else None
    return "" if found is None else found[1]


class ToldName(NamedTuple):
    """What a tool's name says: its words, whether one of them changes something, whether it is
    about files and deletes them, whether a service holds them, and the method of HTTP that is among
    them."""

    words: Strings
    does: bool
    of_files: bool
    deletes: bool
    elsewhere: bool
    clusters: bool
    method: str
    runs: bool


@lru_cache(KEPT)
def _named(tool: str) -> ToldName:
    known = letters(tool)
    return ToldName(
        numbered_words(tool),
        (not known.isdisjoint(TELLING) or known.isdisjoint(LOOKS)) and not runner_of(tool).runs,
        not (
            known - OF_PEOPLE if known.isdisjoint(OF_PEOPLE) else known - {"directory"}
        ).isdisjoint(FILES | ELSE_FILES),
        not known.isdisjoint(DELETES),
        not known.isdisjoint(HELD_ELSEWHERE),
        not known.isdisjoint(CLUSTERS),
        "" if known.isdisjoint(WEB) else min(known & METHODS, default=""),
        runner_of(tool).runs,
    )


class _Heard:
    """What arguments say: words by which something is done, and to what; the method of HTTP, and
    the address that stands behind it."""

    def __init__(self, name: ToldName, args: dict[str, Any]) -> None:
        self.said: list[str] = []
        self.things: list[str] = []
        self.method = self.url = ""
        self._starts = not STARTED.isdisjoint(name.words)
        for key, value in args.items():
            if (changed := _mutation(value)) != "":
                self.said += numbered_words(changed)
            elif not self._undoes(key, value) and _speaks(key, value, name.runs):
                self._take(plain(key), value, args)
        if self.method == "get":
            self.said += ["get", "secret"] if _SECRETS.search(self.url) else []
            self.method = self.url = ""
        elif self.method:
            self.said.append(VERBS[self.method])

    def _undoes(self, name: str, value: Any) -> bool:
        """Note what is to be gone, or is to be in a state of rest, or is started by its name."""
        key = plain(name)
        if key in STATES and str(value) in ENDED:
            self.said.append(ENDED[value])
        elif value and words(name)[:1] in UNDOING:
            self.said += numbered_words(name)
        elif key == "name" and self._starts:
            self.things += numbered_words(str(value))
        else:
            return False
        return True

    def _take(self, key: str, value: Any, args: dict[str, Any]) -> None:
        if type(value) is dict:
            self.said += [word for one in list(value)[:4] for word in numbered_words(str(one))]
        elif key in AT_ONCE and (asked := _ASKED.fullmatch(value)) is not None:
            self.method, self.url = asked[1].lower(), asked[2]
        elif key in ASKED_BY and value.lower() in METHODS:
            self.method = value.lower()
        elif key in ASKED_BY and _SECRETS.search(str(args)) is not None:
            self.said += ["get", "secret"]
        elif value[:5] != DEVICES and (_PLACE if key in AT_ONCE else _NAME).fullmatch(value):
            into = self.things if key in OF_THINGS else self.said
            into += numbered_words(value)


def _speaks(name: str, value: Any, runs: bool) -> bool:
    """Whether an argument says what is done, or to what, and holds no command."""
    key = plain(name)
    if key not in SAYING or (runs and key in COMMANDS and type(value) is str):
        return False
    return type(value) is dict or type(value) is str


def _manifest(args: dict[str, Any]) -> Strings | None:
    """What a cluster is told to have, as `kubectl` would be told it."""
    given = [value for name, value in args.items() if plain(name) in MANIFESTS]
    text = next((value for value in given if type(value) is str), "")
    body = text if text else msgspec.json.encode(given[0]).decode() if given else ""
    return ("sh", "-c", shaped("kubectl apply -f -", body[:LONGEST_TEXT])) if body else None


def _deletion(args: dict[str, Any]) -> Strings | None:
    """The deletion of files as `rm` would be told to do it."""
    given = [value for name, value in args.items() if plain(name) in PLACES]
    paths = [each for one in given for each in (one if type(one) is list else [one])]
    words = [each for each in paths if type(each) is str and each]
    return ("rm", "-r", *words) if words else None


def told(
    name: Iterable[str],
    pairs: Iterable[tuple[str, Any]],
    verbs: Iterable[str] = (),
    flags: Iterable[str] = (),
) -> Strings:
    """A call as a command: the words of its name and of what it is told by `flags`, each in the
    singular, what it is given as options, and the marks of its weight; `verbs` are the words that
    say what is done, where not all do. What only looks is told as another program."""
    named, given = tuple(dict.fromkeys(map(singular, name))), list(pairs)[:MOST]
    words = tuple(dict.fromkeys([*named, *map(singular, flags)]))
    options = [
        f"--{key}" if value is True else f"--{key}={_RUN.sub('', value)}" for key, value in given
    ]
    program = LOOK if only_looks(tuple(verbs), named, given) else TOOL
    return (program, *words, *options, *marks(named, words, given))


def pairs(args: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a call is given, without the levels that it stands on."""
    waiting = list(args.items())
    for name, value in waiting:
        if len(waiting) > MANY:
            return
        key = plain(str(name))
        if type(value) is dict and not value:
            yield key, "{}"
        elif type(value) is dict:
            waiting += [
                (f"{key}{one}" if plain(str(one)) in STATES else one, each)
                for one, each in value.items()
            ]
        elif type(value) is list or type(value) is tuple:
            flat = [each for each in value if isinstance(each, str | int | float)]
            waiting += [pair for each in value if type(each) is dict for pair in each.items()]
            yield key, ",".join(map(str, flat))[:LONGEST]
        elif value is True:
            yield key, True
        elif type(value) is str and value[:1] == "{" and (held := parsed(value)) is not None:
            waiting += held.items()
            yield key, value[:LONGEST].lower()
        elif _mutation(value):
            yield from [(plain(one), text.lower()) for one, text in _FIELD.findall(value[:LONGEST])]
        elif value is not None:
            yield key, ("false" if value is False else str(value)[:LONGEST].lower())


def _request(args: dict[str, Any], method: str, url: str) -> Strings | None:
    """A request over HTTP as `curl` would be told to make it; `None` where it has no address."""
    named = {plain(name): value for name, value in args.items()}
    url = url or next((named[key] for key in ADDRESSES if type(named.get(key)) is str), "")
    if not url:
        return None
    body = next((named[key] for key in BODIES if named.get(key)), "")
    return request(method, url, body if type(body) is str else msgspec.json.encode(body).decode())


def request(method: str, url: str, body: str) -> Strings:
    """A request as a command."""
    sent = ("--data-raw", body[:LONGEST]) if body else ()
    return ("curl", "-X", method.upper(), *sent, url)
