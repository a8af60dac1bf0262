"""Links to the page of a ticket: whoever has one may answer that ticket as it was asked then, and
nothing else."""

from __future__ import annotations

import binascii
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Final

import msgspec

from stanchion import typed
from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.shown import StanchionError

LONGEST: Final = 2_000
"""How many characters a token has at most: as many as a button of a chat can carry."""
FORM_MS: Final = 3_600_000
"""How long a page that was shown may be answered."""
SIZE: Final = sha256().digest_size


class BadLink(StanchionError, ValueError):
    """A link that nobody here has made; the text says no more than that."""


class TicketLink(msgspec.Struct, frozen=True, array_like=True):
    """What a link is bound to: a ticket as it was asked once (`generation`), the digest of what was
    asked, and to whom it was sent."""

    tenant: str
    ticket: str
    generation: int
    digest: str
    holder: str


_encode = msgspec.msgpack.Encoder().encode
_decode = typed.unpacker(TicketLink).decode


class TicketLinks:
    """Makes links that begin with `base`, and knows its own by the key."""

    def __init__(self, base: str, key: bytes) -> None:
        self.base, self._key = base.rstrip("/"), key

    def url(self, link: TicketLink) -> str:
        """The address of a ticket's page."""
        return f"{self.base}/a/{self.token(link)}"

    def token(self, link: TicketLink) -> str:
        """What proves that somebody was sent it."""
        body = _encode(link)
        return urlsafe_b64encode(self._signed(b"link", body) + body).decode().rstrip("=")

    def opened(self, token: str) -> TicketLink:
        """What a token is bound to; `BadLink` where it was not made here."""
        try:
            if len(token) > LONGEST:
                raise ValueError
            sealed = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
            signature, body = sealed[:SIZE], sealed[SIZE:]
            if not hmac.compare_digest(signature, self._signed(b"link", body)):
                raise ValueError
            link = _decode(body)
        except (ValueError, binascii.Error, msgspec.MsgspecError):
            raise BadLink("this link leads nowhere: use the one that you were sent") from None
        if self.token(link) != token:  # other spellings of it are none
            raise BadLink("this link leads nowhere: use the one that you were sent")
        return link

    def form(self, token: str, now: int) -> str:
        """What a page has in its form: who sends it back has seen the page."""
        return f"{now}.{self._signed(b'form', f'{now}:{token}'.encode()).hex()}"

    def check_form(self, token: str, sent: str, now: int) -> None:
        """Raise `AnswerRefused` where a form is not of the page of that token, or too old."""
        at, _, _ = sent.partition(".")
        shown = int(at) if at.isascii() and at.isdecimal() and len(at) < 16 else 0
        if not hmac.compare_digest(sent.encode(), self.form(token, shown).encode()):
            raise AnswerRefused("this form is not of this page: open the link again")
        if not shown <= now < shown + FORM_MS:
            raise AnswerRefused("this page was opened too long ago: open the link again")

    def _signed(self, what: bytes, body: bytes) -> bytes:
        return hmac.digest(self._key, b"stanchion-" + what + b"-1\n" + body, "sha256")
