"""Names: questions to DNS, answered inside with addresses that stand for the names themselves, so
that no question ever leaves."""

from __future__ import annotations

import socket
import struct
from collections import Counter
from ipaddress import IPv4Address, ip_address
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple

A, NS, CNAME, SOA, PTR, MX, AAAA, SRV, SVCB, HTTPS = 1, 2, 5, 6, 12, 15, 28, 33, 64, 65
NOTHING_OF_IT: Final = frozenset({NS, CNAME, SOA, MX, AAAA, SRV, SVCB, HTTPS})
"""Kinds of records that a name may have, and has none of here. All others are refused: their
answers, or their questions, carry data."""
OK, SERVER_FAILED, NO_NAME, REFUSED = 0, 2, 3, 5
FIRST: Final = IPv4Address("198.18.0.1")
"""Addresses from here on stand for names. They lead nowhere: the range is for benchmarks."""
TTL_S: Final = 60
LONGEST_LABEL: Final = 48
LONGEST_NAME: Final = 160
MOST_BESIDE: Final = 64
"""How many names there may be under the same two last labels."""
_NAME: Final = regex(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")


class NameQuestion(NamedTuple):
    """A question: its number, what it asks about, and its bytes, which are repeated with the
    answer."""

    number: bytes
    name: str
    kind: int
    raw: bytes


def question_in(packet: bytes) -> NameQuestion | None:
    """The one question of a packet; `None` where it is none that is answered."""
    if len(packet) < 17 or packet[2] & 0xF8 or packet[4:6] != b"\0\1" or packet[6:10] != b"\0" * 4:
        return None
    labels, at = [], 12
    while at < len(packet) and (size := packet[at]):
        if size > 63:
            return None
        labels.append(packet[at + 1 : at + 1 + size])
        at += 1 + size
    if len(packet) < at + 5 or packet[at + 3 : at + 5] != b"\0\1":
        return None
    try:
        name = b".".join(labels).decode("ascii").lower()
    except UnicodeDecodeError:
        return None
    kind = int.from_bytes(packet[at + 1 : at + 3], "big")
    return NameQuestion(packet[:2], name, kind, packet[12 : at + 5])


def answer_to(question: NameQuestion, code: int, address: str = "") -> bytes:
    """The answer to a question: an address, or why there is none."""
    head = struct.pack(">2sHHHHH", question.number, 0x8180 | code, 1, 1 if address else 0, 0, 0)
    if not address:
        return head + question.raw
    record = struct.pack(">HHHIH", 0xC00C, A, 1, TTL_S, 4) + socket.inet_aton(address)
    return head + question.raw + record


def carries_data(name: str, kind: int) -> str:
    """Why a question may carry data instead of asking for an address; empty where it does not."""
    if kind not in (A, *NOTHING_OF_IT):
        return f"records of kind {kind}"
    if len(name) > LONGEST_NAME or max(map(len, name.split("."))) > LONGEST_LABEL:
        return "a name that is as long as a message"
    return "" if _NAME.fullmatch(name) is not None else "a name that is none of a host"


class DoorNames:
    """The names that one run has asked for, and the addresses that stand for them inside."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: dict[str, str] = {}
        self._beside: Counter[str] = Counter()

    def admits(self, host: str) -> bool:
        """Whether a name was asked for before, or may be as one more."""
        if host in self._known:
            return True
        parent = ".".join(host.rsplit(".", 2)[-2:])
        if len(self._known) >= self.most or self._beside[parent] >= MOST_BESIDE:
            return False
        self._beside[parent] += 1
        self._known[host] = str(FIRST + len(self._known))
        return True

    def address(self, host: str) -> str:
        """The address that stands for a name that was admitted."""
        return self._known[host]

    def host(self, said: str) -> str:
        """The name that an address stands for; what is said where it stands for none."""
        try:
            number = int(ip_address(said.strip("[]"))) - int(FIRST)
        except ValueError:
            return said
        return list(self._known)[number] if 0 <= number < len(self._known) else said
