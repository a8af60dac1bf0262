"""A webhook as a destination: a signed POST, over TLS unless the receiver is on this host."""

from __future__ import annotations

import base64
import binascii
import hmac
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Final
from urllib.parse import SplitResult, urlsplit

from stanchion.kernel.shown import StanchionError
from stanchion.telemetry.notices.message import DeliveryOutcome, NoticeMessage

# Signing a webhook as Standard Webhooks has it, so that a receiver knows who sent it and when.

PREFIX: Final = "whsec_"
LEAST: Final = 24
MOST: Final = 64
"""How many bytes a secret has."""


class BadSecret(StanchionError, ValueError):
    """A secret cannot be used; the text says what it should be, and nothing of what it is."""


def new_secret() -> str:
    """A secret that nobody else has."""
    return PREFIX + base64.b64encode(os.urandom(32)).decode()


def secrets_in(text: str) -> tuple[bytes, ...]:
    """The secrets that a text has, one a line or a word: with two of them each message bears two
    signatures, until every receiver knows the new one. `BadSecret` where one is none."""
    found = tuple(map(_secret, text.split()))
    if not found:
        raise BadSecret(
            f"it is empty: make a secret with `stanchion notify secret`, it begins with `{PREFIX}`"
        )
    return found


def headers_of(
    message_id: str, body: bytes, secrets: tuple[bytes, ...], at_s: int
) -> dict[str, str]:
    """The headers that prove a body: its id, when it was sent, and a signature with each secret."""
    signed = f"{message_id}.{at_s}.".encode() + body
    signatures = [
        base64.b64encode(hmac.digest(secret, signed, sha256)).decode() for secret in secrets
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join([f"v1,{one}" for one in signatures]),
    }


def _secret(word: str) -> bytes:
    if not word.startswith(PREFIX):
        raise BadSecret(
            f"it does not begin with `{PREFIX}`: make one with `stanchion notify secret`"
        )
    try:
        secret = base64.b64decode(word.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise BadSecret(
            f"what follows `{PREFIX}` is not base64: make one with `stanchion notify secret`"
        ) from None
    if not LEAST <= len(secret) <= MOST:
        raise BadSecret(
            f"it has {len(secret)} bytes: give {LEAST} to {MOST}, as `stanchion notify secret` "
            f"prints it"
        )
    return secret


MOST_AFTER_S: Final = 86_400.0
"""How long a receiver may ask to be left alone."""

GONE: Final = 410


class WebhookPost:
    """Posts messages to one address. The secret is asked for each time, so that it can be changed
    meanwhile."""

    def __init__(
        self,
        url: str,
        secret: Callable[[], str],
        deadline_s: float,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._url = url
        self._secret, self._deadline_s, self._now_s = secret, deadline_s, now_s

    def send(self, message: NoticeMessage) -> DeliveryOutcome:
        """Try once."""
        body = message.body.encode()
        try:
            proof = headers_of(message.id, body, secrets_in(self._secret()), int(self._now_s()))
        except (BadSecret, OSError) as error:
            return DeliveryOutcome(False, f"it cannot be signed: {error}")
        return post_json(self._url, body, proof, self._deadline_s, self._now_s)


def post_json(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    deadline_s: float,
    now_s: Callable[[], float] = time.time,
) -> DeliveryOutcome:
    """Post JSON to an address: only an answer from 200 to 299 counts, and no redirect is
    followed."""
    where = urlsplit(url)
    link = _link(where, deadline_s)
    watch = threading.Timer(deadline_s, _cut, (link,))
    watch.daemon = True
    watch.start()
    try:
        path = where.path if where.path else "/"
        query = f"?{where.query}" if where.query else ""
        always = {
            "content-type": "application/json",
            "user-agent": "stanchion",
            "connection": "close",
        }
        link.request("POST", path + query, body, {**always, **headers})
        answer = link.getresponse()
        return _read(answer.status, answer.getheader("retry-after"), now_s)
    except (OSError, http.client.HTTPException) as error:
        return DeliveryOutcome(False, _why(error, deadline_s))
    finally:
        watch.cancel()
        link.close()


def _link(where: SplitResult, deadline_s: float) -> http.client.HTTPConnection:
    host, port = where.hostname, where.port
    assert host is not None
    if where.scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=deadline_s)
    return http.client.HTTPSConnection(
        host, port, timeout=deadline_s, context=ssl.create_default_context()
    )


def _read(status: int, retry_after: str | None, now_s: Callable[[], float]) -> DeliveryOutcome:
    if 200 <= status < 300:
        return DeliveryOutcome(True, f"it answered {status}")
    if 300 <= status < 400:
        return DeliveryOutcome(
            False,
            f"it answered {status}, a redirect, which is not followed: configure the new address",
        )
    if status == GONE:
        return DeliveryOutcome(
            False, "it answered 410: it no longer accepts notices", is_final=True
        )
    return DeliveryOutcome(False, f"it answered {status}", after_s=_after_s(retry_after, now_s))


def _after_s(said: str | None, now_s: Callable[[], float]) -> float:
    """How long the receiver wants to be left alone, by its `Retry-After`."""
    if said is None:
        return 0.0
    try:
        after = (
            float(said)
            if said.strip().isdecimal()
            else parsedate_to_datetime(said).timestamp() - now_s()
        )
    except (ValueError, OverflowError):
        return 0.0
    return min(max(after, 0.0), MOST_AFTER_S)


def _cut(link: http.client.HTTPConnection) -> None:
    """End a connection that takes too long: each of its steps may be in time, and all of them
    not."""
    with suppress(OSError):
        if link.sock is not None:
            link.sock.shutdown(socket.SHUT_RDWR)


def _why(error: Exception, deadline_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"it did not answer within {deadline_s:g} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate cannot be trusted: {error.verify_message}"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "it closed the connection before it answered"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return said.lower() if said else type(error).__name__
