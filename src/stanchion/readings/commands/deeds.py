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
from stanchion.readings.act_words import DELETES, FILES, PATHS, WEB
from stanchion.readings.commands.runner import runner_of
from stanchion.readings.commands.shapes import Held, given as shaped
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
ACTING: Final = listed(
    "action operation verb method command subcommand op cmd function tool toolname resource "
    "resourcetype kind type service objecttype entity api event"
)
"""Arguments that say what is done, or to what."""
KEPT_SECRET: Final = listed(
    "secret secrets password passwords credential credentials keychain keyring keyvault passwd"
)
"""Words in the name of a call that may show what nobody else is to know."""
MILD: Final = listed(
    "add create put set update send make enable open share publish edit modify upsert change patch "
    "issue import run execute schedule upload initiate cancel close allow invite buy purchase"
)
"""Those that matter only where something matters to others that they are done to."""
MATTERS: Final = KEPT_SECRET | listed(
    """
    repository repo project branch ref head push commit tag protection ruleset merge pull pr mr
    collaborator member membership permission role policy binding user invitation team iam grant
    access group org organization admin owner principal acl right privilege rolebinding scope
    clusterrolebinding clusterrole key token apikey accesskey webhook dns zone domain nameserver
    route53 mx firewall security ingress sg rule nsg bucket visibility public database db table
    snapshot backup cluster instance deployment deploy campaign bulk broadcast newsletter mass
    blast everyone payout payroll wire transfer refund charge payment disbursement stripe paypal
    adyen braintree wise mollie square razorpay gocardless coinbase mfa account image service
    kubernetes k8s kubectl s3 aws ec2 rds gcs object variable number license plan seat phone
    profile record document row many all data key password resource replica
    """
)
"""Words for what others rely on."""
HARD: Final = (DOES - MILD) | KEPT_SECRET
ELSE_FILES: Final = listed("fs filesystem path paths filepath")
"""Words in the name of a tool that is about files, beside those that say so."""
METHODS: Final = listed("delete put patch post")
ADDRESSES: Final = ("url", "uri", "endpoint", "path", "href", "address")
ASKED_BY: Final = listed("method httpmethod verb requestmethod httpverb")
SAYING: Final = ACTING | ASKED_BY
CLUSTERS: Final = listed("kubernetes kubectl k s cluster manifest helm openshift")
PUTS: Final = listed("apply create update replace patch put")
MANIFESTS: Final = listed("manifest yaml manifests resource definition spec content body object")
LONGEST_TEXT: Final = 16_384
BODIES: Final = ("body", "json", "data", "payload", "form", "content", "jsonbody", "requestbody")
MOST: Final = 32
"""How many arguments of a call are told."""
MANY: Final = 256
"""Of how many no more are told."""
LONGEST: Final = 400
_BETWEEN: Final = regex(r"[^A-Za-z0-9]+")
_NUMBERED: Final = regex(r"[A-Za-z]{1,5}[0-9]{1,2}[a-z]?")
_RUN: Final = regex(r"[\s!()`$]+")
"""What has no place in a value: nothing of it is run."""
_SECRETS: Final = regex(r"/variables|/secrets?\b|/kv/data|vault\.azure|secretmanager")
"""What is in an address at which secrets are given out."""
_NAME: Final = regex(r"[A-Za-z][\w.:-]{1,63}")


def deeds(reading: Any) -> tuple[Held, ...]:
    """What the call of a reading asks of a service by its name or over HTTP, and what it deletes;
    nothing of a tool that is declared as one that does what can be taken back."""
    event = reading.event
    args = getattr(event, "args", None)
    if not args or type(args) is not dict:
        return ()
    name = _named(event.tool)
    found: tuple[str, ...] | None = None
    if name.of_files:
        found = _deletion(args) if name.deletes else None
    else:
        said, method = _said(args)
        if method or name.method:
            found = _request(args, method if method else name.method)
        elif name.clusters:
            found = _manifest(args)
        if found is None and (name.does or (said and _tells((*name.words, *said)))):
            effect = effect_of(event.traits)
            if not effect or effect in LASTING:
                found = told([*name.words, *said], _pairs(args))
    return () if found is None else (Held(found, (next(iter(args)),), False),)


def may_tell(event: Any) -> bool:
    """Whether a call may ask a service for something, by its tool and the names of its
    arguments."""
    name = _named(event.tool)
    by_name = name.deletes if name.of_files else name.does or name.clusters or name.method
    return bool(by_name) or any(plain(one) in SAYING for one in event.args)


class ToldName(NamedTuple):
    """What a tool's name says: its words, whether one of them changes something, whether it is
    about files and deletes them, and the method of HTTP that is among them."""

    words: tuple[str, ...]
    does: bool
    of_files: bool
    deletes: bool
    clusters: bool
    method: str


@lru_cache(KEPT)
def _named(tool: str) -> ToldName:
    known = letters(tool)
    return ToldName(
        _parts(tool),
        _tells(_parts(tool)) and not runner_of(tool).runs,
        not known.isdisjoint(FILES | ELSE_FILES),
        not known.isdisjoint(DELETES),
        not known.isdisjoint(CLUSTERS) and not known.isdisjoint(PUTS),
        "" if known.isdisjoint(WEB) else min(known & METHODS, default=""),
    )


def _tells(words: Iterable[str]) -> bool:
    """Whether words say that something is done that may matter to others."""
    known = set(words)
    if not HARD.isdisjoint(known):
        return True
    return not MILD.isdisjoint(known) and not MATTERS.isdisjoint(map(singular, known))


def _said(args: dict[str, Any]) -> tuple[list[str], str]:
    """The words by which arguments say what is done, and the method of HTTP."""
    said: list[str] = []
    method = ""
    for name, value in args.items():
        key = plain(name)
        if key in SAYING and type(value) is str:
            if key in ASKED_BY and value.lower() in METHODS:
                method = value
            elif key in ASKED_BY and _SECRETS.search(str(args)) is not None:
                said += ["get", "secret"]
            elif _NAME.fullmatch(value) is not None:
                said += _parts(value)
    return said, method


def _manifest(args: dict[str, Any]) -> tuple[str, ...] | None:
    """What a cluster is told to have, as `kubectl` would be told it."""
    given = [value for name, value in args.items() if plain(name) in MANIFESTS]
    text = next((value for value in given if type(value) is str), "")
    body = text if text else msgspec.json.encode(given[0]).decode() if given else ""
    return ("sh", "-c", shaped("kubectl apply -f -", body[:LONGEST_TEXT])) if body else None


def _deletion(args: dict[str, Any]) -> tuple[str, ...] | None:
    """The deletion of files as `rm` would be told to do it."""
    given = [value for name, value in args.items() if plain(name) in PATHS]
    paths = [each for one in given for each in (one if type(one) is list else [one])]
    words = [each for each in paths if type(each) is str and each]
    return ("rm", "-rf", *words) if words else None


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
    options = [
        f"--{key}" if value is True else f"--{key}={_RUN.sub('', value)}" for key, value in pairs
    ]
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
