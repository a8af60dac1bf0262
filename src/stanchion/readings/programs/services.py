"""Services: what code asks of them, by a request over HTTP or through a library of theirs, told as
the commands that ask the same."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.regex import may_stand, regex
from stanchion.readings.commands.deeds import METHODS, request, told
from stanchion.readings.commands.shapes import as_aws, as_word, option
from stanchion.readings.commands.weights import DOES, WORDS as WEIGHTS
from stanchion.readings.names import plain, singular, words
from stanchion.readings.programs.calls import FAKES, Code, CodeCall, known_parts
from stanchion.readings.word_lists import Strings, in_order, listed

LONGEST: Final = 64
MANY: Final = 16
"""How many of what is set, and of services, are kept."""
LIBRARIES: Final = regex(
    r"(?i)\b(?:boto3|botocore|aws-sdk(?:-[a-z0-9]+)*|google[.-]cloud|@google-cloud|googleapiclient|azure|"
    r"kubernetes|@kubernetes|docker|dockerode|github|octokit|gitlab|gitbeaker|stripe|paypal\w*|"
    r"braintree|hcloud|digitalocean|cloudflare|heroku\w*|hvac|etcd3|twilio|shopify|okta|auth0|"
    r"openstack|libcloud|firebase_admin|firebase-admin|supabase|pagerduty|rancher|vercel|netlify|"
    r"GitPython|git|simple-git|rugged|keycloak|ldap3|snowflake|bigquery|fog|droplet_kit|adyen|"
    r"square|razorpay|coinbase|wise|kafka(?:-?js)?|slack(?:_sdk|_bolt)?|Microsoft\.Graph|msgraph|"
    r"amazonaws|awssdk|software\.amazon|Amazon\.\w+|com\.google\.cloud|Aws|ethers|web3|viem|solana|"
    r"bullmq|celery|python_terraform|pulumi|ansible_runner|sendgrid|mailgun|postmark|nodemailer|"
    r"tweepy|twitter\w*|simple_salesforce|jsforce|hubspot|zenpy|jira|atlassian|pyVmomi|pyvmomi|"
    r"proxmoxer|consul|nomad|elasticsearch|opensearch\w*|pinecone|weaviate|qdrant_client|linode\w*|"
    r"boto|ovh|scaleway|vultr|fastly|akamai|datadog\w*|sentry_sdk|ccxt|alpaca\w*|ib_insync|plaid|"
    r"quickbooks|xero\w*|docusign\w*|pymongo|mongoose|mongodb|pika|amqplib|nats|zookeeper|kazoo|"
    r"wp-load|wp-config|octokit|aiobotocore|aioboto3|google\.auth|telegram|discord|notion\w*|airtable|jenkins\w*|"
    r"winrm|pywinrm|msal|hvac|vault|smtplib|exchangelib|O365|"
    r"huggingface_hub|HfApi|DriveApp|GmailApp|SpreadsheetApp|AdminDirectory)\b"
)
"""Libraries through which code does what a service's own program does."""
ASKS: Final = METHODS | listed("request fetch Request fetch_json ajax urlopen axios got ky")
"""Calls that make a request."""
RAISED: Final = frozenset(
    (name, "True") for name in in_order("admin is_admin isAdmin superuser is_superuser is_staff")
)
"""What makes somebody more than others."""
ALONE: Final = listed(
    "create_superuser createsuperuser dbRemoveTable dbWriteTable to_sql lookupCredentials "
    "insertOverwrite saveAsTable purgeQueue"
)
"""Calls that say enough of a service without the name of a library."""
AWS_SERVICE: Final = regex(
    r"client-([a-z0-9-]+)|(?:client|resource)\(\s*['\"]([a-z0-9-]+)|/service/([a-z0-9]+)|"
    r"awssdk[./]services[./](\w+)|AWS\.(\w+)\(|Aws::(\w+)::"
)
"""How code says which service of AWS it calls."""
ASKED: Final = regex(r"(DELETE|PUT|PATCH|POST) (/\S+)")
"""A method and an address in one text, as libraries of forges take them."""
SETTING: Final = regex(r"\.(\w+)(?: ?= ?|\()(0|1|false|False|true|True)\b")
"""A part of something that is changed before it is handed to a service."""
SAID: Final = {"true": True, "false": False}
ENDS: Final = ("-command", "-request", "-async", "-input")
"""What libraries of AWS write behind the name of an operation."""
SHOWN: Final = listed(
    "get_password getPassword list_secret_for_all_namespaces listSecretForAllNamespaces "
    "list_namespaced_secret listNamespacedSecret read_namespaced_secret readNamespacedSecret"
)
WORDS: Final = listed("git fog wise square vault nats consul nomad discord jira")
"""Names of libraries that also stand in texts."""
LOOPS: Final = regex(r"\b(?:for|foreach|forEach|each|each_row|map|chunk|while|iterrows|apply)\b")
MAILS: Final = listed(
    "sendmessage sendmail sendemail postmessage chatpostmessage sendmassmail sendrawemail "
    "sendtemplatedemail sendsms sendbulktemplatedemail delivernow deliverlater sendpush multicast"
)
"""Calls that send a message to somebody."""
KEEPERS: Final = listed("browser_cookie3 rookiepy pycookiecheat secretstorage win32crypt")
"""Libraries of nothing but what somebody keeps secret."""
SURELY: Final = listed("close deactivate decommission delete destroy purge suspend terminate wipe")
"""Verbs by which code does away with what a client of a service that nobody knows holds."""
TELLING: Final = listed("get read access fetch retrieve reveal")
TOLD: Final = listed("secret secrets password passwords credential credentials vault")
"""Words in the name of a call that tells a secret, and in what it is called on; a keyring's are
shown whatever becomes of them."""
DELETING: Final = listed("delete destroy terminate purge remove drop kill stop")
PRINTS: Final = listed("print puts log write echo post send pprint")
CALLS: Final = listed("command input request cmd client async sync")
"""Words in the names of calls that say nothing of what they do."""


def asked_of_services(code: Code, text: str) -> tuple[Strings, ...]:
    """The commands that ask of services what code asks of them."""
    if not code.calls:
        return ()
    imported = LIBRARIES.findall(text) if may_stand(text, LIBRARIES.pattern) else []
    known = bool(imported)
    library = [word for one in dict.fromkeys(imported) for word in named_words(one)]
    mass = library if LOOPS.search(text) is not None else []
    shown: frozenset[str] = frozenset().union(
        *[call.made_of for call in code.calls if call.name in PRINTS]
    )
    settings = SETTING.findall(text)[:MANY] if known else []
    services = _services(text) if known else ()
    found: list[Strings | None] = []
    for call in code.calls:
        found.append(_over_http(call))
        if call.name in SHOWN or call.of in KEEPERS or (call.name in shown and _tells(call)):
            named = [word for word in words(call.name) if word not in ASKING]
            found.append(told(["get", *named, "secret"], ()))
        if not known and SURELY.intersection(words(call.name)) and _is_weighty(call):
            found.append(_through_library(call, [], []))
        if known or call.name in ALONE or not RAISED.isdisjoint(call.named):
            found += [_by_git(call), _through_library(call, library, settings)]
            found.append(_in_bulk(call, mass))
            found += [_by_aws(call, service, settings) for service in services]
    return tuple(dict.fromkeys([each for each in found if each is not None]))


def _is_weighty(call: CodeCall) -> bool:
    """Whether what a call is made on is called like something that others rely on."""
    parts = [*call.of.split(".")[-2:], *[each for each in call.behind if each.isidentifier()]]
    named = [singular(word) for part in parts for word in words(part)]
    return not WEIGHTS["weighty"].isdisjoint(named) and WEIGHTS["trifles"].isdisjoint(named)


def _tells(call: CodeCall) -> bool:
    """Whether a call tells a secret."""
    said = {*words(call.name), *words(call.of[-LONGEST:])}
    return not (said.isdisjoint(TELLING) or said.isdisjoint(TOLD))


def _services(text: str) -> Strings:
    """The services of AWS that code names."""
    named = [name for one in AWS_SERVICE.findall(text) for name in one if name]
    return tuple(dict.fromkeys(named))[:MANY]


def _over_http(call: CodeCall) -> Strings | None:
    """A request that may change something, of which the address is known."""
    asked = ASKED.match(str(*call.args[:1]))
    if asked is not None:
        return request(asked[1], asked[2], " ".join(sorted(call.made_of)))
    name = call.name if call.name in ASKS else call.name.lower()
    if name not in ASKS and "request" not in words(call.name):
        return None
    given = [each for each in call.args if each is not None]
    named = dict(call.named)
    url = next((each for each in (*given, named.get("url")) if each and "://" in each[:8]), None)
    if url is None or (name in METHODS and not call.of and call.on is None):
        return None
    method = name if name in METHODS else (named.get("method") or "")
    method = method or next((each for each in given if each.lower() in METHODS), "")
    if method.lower() not in METHODS:
        return None
    return request(method, url, _body(call, {url, method}))


def _body(call: CodeCall, said: set[str]) -> str:
    """What a request sends: what is given by name, and everything else that it is made of."""
    held = {key: value for key, value in call.named if value is not None and "://" not in value}
    words = " ".join(sorted(call.made_of - said))
    return msgspec.json.encode({**held, "words": words}).decode() if held else words


def _by_git(call: CodeCall) -> Strings | None:
    """`repo.git.push("origin", "main", force=True)`, `git.push(["--force"])`, and a push of a
    remote."""
    name = call.name.replace("_", "-").lower()
    last = call.owner.lower()
    if last not in ("git", "simplegit") and not (name == "push" and "remote" in call.of + last):
        return None
    if last == "origin" and name != "push":
        return None
    refs = [value for key, value in call.named if key == "refspec" and value is not None]
    remote = ["origin"] if refs else []
    flags = [f"--{key.replace('_', '-')}" for key, value in call.named if value in (None, "True")]
    return (
        "git",
        name,
        *known_parts(call.args),
        *remote,
        *refs,
        *flags,
    )


def named_words(library: str) -> Strings:
    """The words of a library's name, as services are called."""
    plain = library.lower()
    if plain in WORDS:
        return ()
    return ("aws",) if "boto" in plain or plain == "amazonaws" else words(plain)


def _in_bulk(call: CodeCall, library: list[str]) -> Strings | None:
    """What code that has a loop does of a service for each of them: it sends a message to whom
    nobody can tell from the text, or deletes whatever it comes by."""
    name = call.name.replace("_", "").lower()
    if not library or not FAKES.isdisjoint(call.behind):
        return None
    if name in MAILS or (name == "create" and call.of.endswith("messages")):
        return told(["send", "bulk", "message"], ())
    of = [word for part in call.of.split(".")[-2:] for word in words(part)]
    said = [word for word in words(call.name) if word in DELETING]
    return (
        told([*said, "many", *library, *of], ()) if said and "filters" not in call.behind else None
    )


def _by_aws(call: CodeCall, service: str, settings: list[tuple[str, str]]) -> Strings | None:
    """A call of an operation of AWS, as its own program is told to do it."""
    operation = as_word(call.name)
    operation = next(
        (operation.removesuffix(end) for end in ENDS if operation.endswith(end)), operation
    )
    if "-" not in operation or not FAKES.isdisjoint(call.behind):
        return None
    options = [
        each
        for key, value in (*call.named, *settings)
        for each in option(key, SAID.get(str(value).lower(), str(value)), True)
    ]
    places = [each for each in sorted(call.behind) if "://" in each]
    return (*as_aws([service.lower(), operation]), *options, *places)


def _through_library(
    call: CodeCall, library: list[str], settings: list[tuple[str, str]]
) -> Strings | None:
    """A call of a library, by the words of its name and of what it is called on."""
    if not FAKES.isdisjoint(call.behind):
        return None
    name = [word for word in words(call.name) if word not in CALLS]
    of = [word for part in call.of.split(".") for word in words(part)]
    if call.name not in ALONE and (DOES.isdisjoint(name) or not (of or len(name) > 1)):
        return None
    behind = [word for each in sorted(call.behind) if "/" not in each for word in words(each[:64])]
    given = [("given", each[:400].lower()) for each in call.args if each is not None]
    inside = sorted({each for each in call.made_of if not each.isidentifier()} - {*call.args})
    given += [("given", each[:400].lower()) for each in inside[:16]]
    named = [
        (plain(key), True if value is None or value in ("True", "true") else value.lower())
        for key, value in (*call.named, *settings)
    ]
    about = [each for each in (*library, *of, *behind) if each not in ASKING]
    return told([*about, *name], [*named, *given])


ASKING: Final = listed(
    "list get describe search find all auto_paging_iter paging iter view read from env"
)
"""Words of what something was found by, which says nothing of what is then done to it."""
