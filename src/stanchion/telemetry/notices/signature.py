"""Signing a webhook as Standard Webhooks has it, so that a receiver knows who sent it and when."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
from hashlib import sha256
from typing import Final

from stanchion.kernel.shown import StanchionError

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
