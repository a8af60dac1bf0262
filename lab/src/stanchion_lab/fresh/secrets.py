"""Fresh credentials: formats that makers use × the places in which they stand, and what only looks
like one."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

import msgspec

from stanchion_lab.fresh import Rows
from stanchion_lab.fresh.words import HEX, host, name, token, user, word

FILE: Final = "makers.yaml"
EACH: Final = 6
OTHERS: Final = 1200

ALPHABETS: Final = {
    "hex": HEX,
    "HEX": HEX.upper(),
    "alnum": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "lower": "0123456789abcdefghijklmnopqrstuvwxyz",
    "upper": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "base32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "url64": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_",
    "base64": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
    "digits": "0123456789",
    "BECH32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}


class Maker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of credential: the name of the variable that it is kept in, and its parts: a text, or
    `ALPHABET:LENGTH`. `bare` says that its shape alone tells what it is; others need their name
    beside them."""

    maker: str
    variable: str
    parts: tuple[str, ...]
    bare: bool = True


@cache
def makers() -> tuple[Maker, ...]:
    """All kinds that are drawn."""
    text = files("stanchion_lab.fresh").joinpath(FILE).read_bytes()
    return tuple(msgspec.yaml.decode(text, type=list[Maker]))


def draw(random: Random) -> Rows:
    """Draw texts for the measure `secrets`."""
    rows = [_secret(random, maker) for maker in makers() for _ in range(EACH)]
    rows += [_other(random) for _ in range(OTHERS)]
    return {"secrets.jsonl": rows}


def value_of(random: Random, maker: Maker) -> str:
    """A value in a maker's format."""
    return "".join([_part(random, part) for part in maker.parts])


def _part(random: Random, part: str) -> str:
    alphabet, colon, length = part.rpartition(":")
    if not colon or alphabet not in ALPHABETS:
        return part
    return token(random, ALPHABETS[alphabet], int(length))


def _secret(random: Random, maker: Maker) -> dict[str, Any]:
    contexts = {**NAMED, **BARE} if maker.bare else NAMED
    context = random.choice(list(contexts))
    text = contexts[context](random, maker.variable, value_of(random, maker))
    return _row("secret", context, maker.maker, text)


def _row(label: str, kind: str, rule: str, text: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "label": label,
        "rule": rule,
        "payload_b64": b64encode(text.encode()).decode(),
    }


Context = Callable[[Random, str, str], str]

NAMED: Final[dict[str, Context]] = {
    "environment": lambda r, n, v: f"# {word(r)}\n{r.choice(('', 'export '))}{n}={v}\nDEBUG=1\n",
    "quoted environment": lambda r, n, v: f'export {n}="{v}"',
    "yaml": lambda r, n, v: f"{word(r)}:\n  {n.lower()}: {v}\n  region: eu-west-1\n",
    "json": lambda r, n, v: json.dumps(
        {"name": name(r), n.lower(): v, "port": r.randint(1000, 9000)}
    ),
    "toml": lambda r, n, v: f'[{word(r)}]\n{n.lower()} = "{v}"\nretries = {r.randint(1, 9)}\n',
    "properties": lambda r, n, v: f"{word(r)}.{n.lower().replace('_', '.')}={v}\n",
    "python": lambda r, n, v: f'import os\n\n{n} = "{v}"\nclient = {word(r).title()}Client({n})\n',
    "javascript": lambda r, n, v: (
        f"const {_camel(n)} = '{v}';\nawait connect({{ {_camel(n)} }});\n"
    ),
    "terraform": lambda r, n, v: f'variable "{n.lower()}" {{\n  default = "{v}"\n}}\n',
    "docker": lambda r, n, v: f"FROM debian:12\nENV {n}={v}\nRUN make\n",
    "compose": lambda r, n, v: f"services:\n  {word(r)}:\n    environment:\n      - {n}={v}\n",
    "command": lambda r, n, v: f"{n}={v} ./{word(r)} --port {r.randint(1000, 9000)}",
    "log": lambda r, n, v: (
        f"2026-03-{r.randint(10, 28)}T11:02:07Z INFO {word(r)} starting with {n}={v} retries=3"
    ),
    "php": lambda r, n, v: f"<?php define('{n}', '{v}');",
    "xml": lambda r, n, v: f'<add key="{_camel(n)}" value="{v}" />',
}

BARE: Final[dict[str, Context]] = {
    "bearer": lambda r, _n, v: (
        f"curl -H 'Authorization: Bearer {v}' https://{host(r)}/v1/{word(r)}"
    ),
    "chat": lambda r, _n, v: f"hey, use {v} for the {word(r)} thing until {user(r)} is back",
    "query": lambda r, _n, v: f"GET https://{host(r)}/{word(r)}?page={r.randint(1, 9)}&key={v} 200",
    "list": lambda r, _n, v: f"- {word(r)}\n- {v}\n- {word(r)}\n",
}


def _camel(variable: str) -> str:
    head, *tail = variable.lower().split("_")
    return head + "".join([part.title() for part in tail])


def _other(random: Random) -> dict[str, Any]:
    kind = random.choice(list(OTHER))
    value, names = OTHER[kind](random)
    context = random.choice(list(NAMED))
    return _row("not_secret", kind, kind, NAMED[context](random, random.choice(names), value))


PLACEHOLDERS: Final = (
    "YOUR_API_KEY", "<your-token>", "xxxxxxxxxxxxxxxxxxxxxxxx", "changeme", "REPLACE_ME", "sk-...",
    "********", "TODO", "insert-key-here", "dummy", "none", "example-token", "0000000000000000",
    "...",
)  # fmt: skip
REFERENCES: Final = (
    "${{{0}_KEY}}", "$({0}_TOKEN)", "{{{{ secrets.{0} }}}}", "${{{{ secrets.{0}_TOKEN }}}}",
    "vault:kv/data/{0}#token", "op://infra/{0}/password",
    "arn:aws:secretsmanager:eu-west-1:000000000000:secret:{0}", "env:{0}_PASSWORD",
    "process.env.{0}_KEY", "!Ref {0}Secret", "%{0}_TOKEN%", "ssm:/prod/{0}/key",
)  # fmt: skip

Value = Callable[[Random], tuple[str, tuple[str, ...]]]

OTHER: Final[dict[str, Value]] = {
    "commit": lambda r: (token(r, HEX, 40), ("COMMIT", "GIT_SHA", "REVISION", "PARENT_COMMIT")),
    "short commit": lambda r: (
        token(r, HEX, r.randint(7, 12)),
        ("BUILD_COMMIT", "HEAD", "VERSION_HASH"),
    ),
    "uuid": lambda r: (
        _uuid(r),
        ("REQUEST_ID", "TRACE_ID", "DEVICE_UUID", "SESSION_UUID", "TENANT_ID"),
    ),
    "checksum": lambda r: (
        f"sha256:{token(r, HEX, 64)}",
        ("DIGEST", "IMAGE_DIGEST", "CHECKSUM", "CONTENT_HASH"),
    ),
    "bare checksum": lambda r: (
        token(r, HEX, r.choice((32, 64, 128))),
        ("MD5SUM", "SHA256", "ETAG", "FILE_HASH"),
    ),
    "integrity": lambda r: (
        f"sha512-{token(r, ALPHABETS['base64'], 86)}==",
        ("INTEGRITY", "RESOLVED_INTEGRITY"),
    ),
    "placeholder": lambda r: (
        r.choice(PLACEHOLDERS),
        ("API_KEY", "AUTH_TOKEN", "SECRET_KEY", "PASSWORD"),
    ),
    "reference": lambda r: (
        r.choice(REFERENCES).format(word(r).upper()),
        ("API_KEY", "AUTH_TOKEN", "DB_PASSWORD"),
    ),
    "order": lambda r: (
        f"ORD-{r.randint(10**7, 10**9)}-{token(r, ALPHABETS['upper'], 4)}",
        ("ORDER_NO", "INVOICE"),
    ),
    "version": lambda r: (
        f"{r.randint(0, 9)}.{r.randint(0, 40)}.{r.randint(0, 99)}-rc.{r.randint(1, 5)}",
        ("VERSION",),
    ),
    "path": lambda r: (
        f"/srv/{word(r)}/{name(r)}/token.txt",
        ("TOKEN_FILE", "KEY_PATH", "CREDENTIALS_FILE"),
    ),
    "name": lambda r: (f"{name(r)}-{word(r)}", ("KEY_NAME", "SECRET_NAME", "BUCKET", "TOKEN_TYPE")),
    "setting": lambda r: (
        str(r.choice((3600, "true", "RS256", "authorization_code"))),
        ("TOKEN_TTL", "AUTH_METHOD"),
    ),
    "public key": lambda r: (
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{token(r, ALPHABETS['base64'], 43)}",
        ("PUBLIC_KEY", "DEPLOY_KEY_PUB"),
    ),
    "image": lambda r: (
        f"data:image/png;base64,iVBORw0KGgo{token(r, ALPHABETS['base64'], 120)}",
        ("ICON", "LOGO"),
    ),
    "trace": lambda r: (f"00-{token(r, HEX, 32)}-{token(r, HEX, 16)}-01", ("TRACEPARENT",)),
    "build": lambda r: (
        f"{r.randint(20240101, 20261231)}.{r.randint(1, 30)}-{token(r, HEX, 8)}",
        ("BUILD_ID", "RELEASE"),
    ),
    "colour": lambda r: (f"#{token(r, HEX, 6)}", ("KEY_COLOR", "THEME_KEY")),
}


def _uuid(random: Random) -> str:
    return "-".join([token(random, HEX, length) for length in (8, 4, 4, 4, 12)])
