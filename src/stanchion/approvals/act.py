"""Acts: what only an operator may do, in the form that is signed, and the answers that carry it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from stanchion import typed
from stanchion.approvals.errors import AnswerRefused

FORM: Final = b"stanchion-answer-1\n"
"""What every signed message begins with: a signature made for anything else is none for an
answer."""

LARGEST: Final = 65_536
"""How long an answer can be at most, in bytes."""


GRANT_S: Final = 900.0
"""How long an approval can be used, unless the person says otherwise."""

LONGEST_S: Final = 86_400.0
"""How long an approval can be used at most."""


class Purpose(StrEnum):
    """What an answer is about. An answer to one thing is none to another."""

    TICKET = "ticket"
    RESUME = "resume"
    SAFE_MODE_OFF = "safe-mode-off"
    ALLOW = "allow"
    RESET = "reset"
    BREAK_LOCK = "break-lock"
    SETTLE = "settle"
    RELEASE = "release"
    TOP_UP = "top-up"
    STORE = "store"
    TOOL = "tool"
    POLICY = "policy"
    RETENTION = "retention"
    ERASE = "erase"
    OPERATORS = "operators"


class Strength(StrEnum):
    """What is known of whoever answers, the weakest first."""

    CLAIMED = "claimed"
    """Somebody says so, and it may have been a program."""
    LINK = "link"
    """They have the link that was sent for this ticket."""
    CHAT = "chat"
    """The workspace of a chat has signed who it is."""
    KEY = "key"
    """They have an operator's key."""

    def reaches(self, least: str) -> bool:
        """Whether it is at least so much; the empty word asks for nothing."""
        known = [*Strength]
        return not least or known.index(self) >= known.index(Strength(least))


class Way(StrEnum):
    """How somebody answers, and so what is known of who it was."""

    KEY = "key"
    SSH_AGENT = "ssh-agent"
    TERMINAL = "terminal"
    """Somebody typed a code at a terminal. It may have been a program."""
    PROGRAM = "program"
    """The program that holds the state in its own memory says so."""
    DIALOG = "dialog"
    """Somebody answered in a dialog of the host, and the host says so to the process that
    judges."""
    LINK = "link"
    """Somebody opened the link of a ticket, and answered on its page."""
    CHAT = "chat"
    """Somebody pressed a button in a chat, which says who it was."""

    @property
    def strength(self) -> Strength:
        """What is known of who it was."""
        return STRENGTHS.get(self, Strength.CLAIMED)

    @property
    def proven(self) -> bool:
        """Whether a signature says who it was."""
        return self.strength is Strength.KEY


STRENGTHS: Final = {
    Way.KEY: Strength.KEY,
    Way.SSH_AGENT: Strength.KEY,
    Way.LINK: Strength.LINK,
    Way.CHAT: Strength.CHAT,
}
RELAYED: Final = (Way.LINK, Way.CHAT)
"""Ways on which somebody is not at this machine: the page of answers hears them."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody's yes or no, whole. `subject` is what it is about (a ticket's id, a scope, a
    fingerprint), `generation` which one of that name, `digest` the hash of all that they were shown
    of it, `agents` for whom it is, and `until` when it is no answer any more."""

    purpose: Purpose
    tenant: str
    subject: str
    generation: int
    digest: str
    operator: str
    role: str
    until: int
    policy: str = ""
    scope: str = "once"
    yes: bool = True
    comment: str = ""
    agents: tuple[str, ...] = ()

    @property
    def message(self) -> bytes:
        """What is signed."""
        return FORM + _encode(self)


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An act, and how it is known whose it is: `signature` and the fingerprint of the key, in
    hexadecimal digits and as OpenSSH writes it. Without a signature it is unproven."""

    act: Act
    way: Way
    key: str = ""
    signature: str = ""

    @property
    def bytes(self) -> bytes:
        """It as any process can carry it."""
        return _encode(self) + b"\n"


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def answer_of(data: bytes) -> Answer:
    """The answer that was carried here; `AnswerRefused` where it is none."""
    if len(data) > LARGEST:
        raise AnswerRefused(f"this is not an answer: it has more than {LARGEST:,} bytes")
    try:
        return typed.decode(data, Answer)
    except msgspec.MsgspecError as error:
        raise AnswerRefused(
            f"this is not an answer: {error}; use it exactly as `stanchion tickets sign` wrote it"
        ) from None
