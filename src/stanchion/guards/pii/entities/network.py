"""Addresses of machines: IP, MAC and web."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from string import hexdigits
from typing import Final

from stanchion.guards.pii.entity import PersonalEntity
from stanchion.kernel.regex import regex

RANGE: Final = regex(r"/(\d{1,3})(?!\d)")


def _ip(raw: str, _told: bool) -> Sequence[int]:
    address = raw.partition("/")[0].rstrip(".")
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ()
    if int(found) == 0:
        return ()
    more = RANGE.match(raw, len(address))
    most = 32 if isinstance(found, ipaddress.IPv4Address) else 128
    return (
        (more.end(), len(address)) if more is not None and int(more[1]) <= most else (len(address),)
    )


def _mac(raw: str, _told: bool) -> Sequence[int]:
    return (len(raw),) if len(set(raw) - set(":-.")) > 2 else ()


def _url(raw: str, _told: bool) -> Sequence[int]:
    end = len(raw.rstrip(".,;:!?'\")]}"))
    return (end,) if "." in raw[:end].partition("://")[2] or "localhost" in raw else ()


ENTITIES: Final = (
    PersonalEntity(
        "ip",
        "address of a machine, IPv4 or IPv6, or a range of them",
        sieve=r"\b[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*",
        pattern=r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{0,45}[0-9A-Fa-f](?=:\s)"
        r"|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{0,46})(?:/[0-9]{1,4})?",
        heads=f"{hexdigits}:",
        reads=_ip,
        usual=False,
        longest=56,
        glued=":.@+]",
    ),
    PersonalEntity(
        "mac",
        "address of a network card",
        sieve=r"\b[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-]|\b[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.",
        pattern=r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}"
        r"|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}",
        heads=hexdigits,
        reads=_mac,
        usual=False,
        glued=":.-@+",
    ),
    PersonalEntity(
        "url",
        "address on the web",
        sieve=r"\b(?:https?|ftp)://",
        pattern=r"(?:https?|ftp)://[^\s\"<>\\^`{|}\x00-\x1f]{3,2000}",
        heads="hf",
        reads=_url,
        usual=False,
        longest=2008,
    ),
)

HITS: Final = (
    ("from 106.31.73.20, port 80", "ip"),
    ("Route is 10.0.0.0/8.", "ip"),
    ("my ip is 2400:c401::5054:ff:fe1b:b031", "ip"),
    ("Gateway: fe80::1 on interface", "ip"),
    ("::ffff:10.0.0.1", "ip"),
    ("MAC: 01:23:45:67:89:AB", "mac"),
    ("AA-BB-CC-DD-EE-FF", "mac"),
    ("aabb.ccdd.eeff", "mac"),
    ("see https://webhook.site/a8eedfd6?q=1&b=2.", "url"),
)
MISSES: Final = (
    "Ratio 1:2:3:4",
    "version 1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "at 12:30:45",
    "MyClass::toString",
    "00:00:00:00:00:00",
    "2001::25de::cade",
    "12345:db8::1",
    "https://",
)
