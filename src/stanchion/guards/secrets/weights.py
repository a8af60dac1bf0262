"""Weights: what of a name, of what stands between, and of a value speaks for a secret, and how
much.

A value counts where the sum reaches `ENOUGH`. Each feature is one line of a table, so that a figure
can be discussed.
"""

from __future__ import annotations

from typing import Final

ENOUGH: Final = 4.0

NAMES: Final = {
    "password": 3.0, "passwd": 3.0, "passwort": 3.0, "kennwort": 3.0, "passphrase": 3.0, "pwd": 3.0,
    "pass": 2.5, "pw": 2.0, "contrasena": 3.0, "senha": 3.0, "secret": 3.0, "secrets": 2.5,
    "token": 3.0, "pat": 2.0, "bearer": 3.0, "credential": 3.0, "credentials": 3.0, "creds": 3.0,
    "cred": 2.5, "apikey": 3.5, "authtoken": 3.5, "auth": 1.5, "authorization": 3.0, "key": 2.0,
    "privkey": 3.0, "passcode": 2.5, "cookie": 1.5, "accesskey": 3.0, "secretkey": 3.0,
    "licensekey": 2.0, "securestring": 3.0, "psk": 3.0, "sas": 2.0, "signature": 1.5, "sig": 2.0,
}  # fmt: skip
"""What a word of the name promises; the most that any of them does counts."""
ENDS: Final = (
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "privkey",
    "token",
    "secret",
    "pwd",
    "pass",
    "key",
)
"""What a name may end with that is written as one word."""
NO_NAMES: Final = frozenset(
    {
        "bypass",
        "compass",
        "donkey",
        "hockey",
        "hotkey",
        "jockey",
        "monkey",
        "turkey",
        "trespass",
        "whiskey",
        "keykey",
    }
)
"""Words that end so and promise nothing."""
HUMAN: Final = frozenset(
    {"password", "passwd", "passwort", "kennwort", "passphrase", "pwd", "pass", "pw", "contrasena", "senha", "secret",  # noqa: E501
     "passcode", "securestring", "psk", "creds", "credentials"}
)  # fmt: skip
"""What people choose, and so need not look as if chance had made it."""
MORE: Final = {
    "api": 1.0, "access": 1.0, "secret": 1.0, "private": 1.0, "auth": 0.5, "admin": 0.5,
    "master": 0.5, "client": 0.5, "service": 0.5, "webhook": 0.5, "signing": 1.0, "encryption": 1.0,
    "bot": 0.5, "deploy": 0.5, "root": 0.5, "personal": 0.5, "server": 0.5, "account": 0.5,
    "app": 0.5, "refresh": 0.5, "session": 0.5, "recovery": 1.0,
}  # fmt: skip
"""What another word adds to one of those."""
AGAINST: Final = {
    "id": -3.0, "ids": -3.0, "public": -4.0, "pub": -4.0, "publishable": -4.0, "hash": -4.0,
    "hashed": -4.0, "sha": -4.0, "sha1": -4.0, "sha256": -4.0, "sha512": -4.0, "md5": -4.0,
    "checksum": -4.0, "checksums": -4.0, "digest": -4.0, "integrity": -4.0, "uuid": -2.0,
    "guid": -2.0, "version": -3.0, "commit": -4.0, "page": -4.0, "next": -4.0, "cursor": -4.0,
    "continuation": -4.0, "continue": -4.0, "tokenizer": -4.0, "file": -2.0, "path": -3.0,
    "url": -2.0, "uri": -2.0, "name": -2.5, "type": -3.0, "size": -4.0, "length": -4.0,
    "count": -4.0, "policy": -3.0, "field": -2.0, "label": -3.0, "hint": -4.0, "placeholder": -4.0,
    "primary": -3.0, "foreign": -4.0, "sort": -4.0, "cache": -4.0, "partition": -4.0,
    "idempotency": -4.0, "fingerprint": -4.0, "kid": -4.0, "thumbprint": -4.0, "arn": -4.0,
    "algorithm": -4.0, "format": -3.0, "expires": -3.0, "ttl": -4.0, "index": -3.0, "prefix": -2.0,
    "regex": -4.0, "pattern": -4.0, "example": -4.0, "object": -3.0, "routing": -3.0, "etag": -4.0,
    "ref": -2.0, "encrypted": -3.0, "sealed": -4.0, "storage": -0.5, "row": -2.0, "s3": -1.5,
    "bucket": -3.0, "site": -2.0, "keyid": -3.0, "csrf": -4.0, "xsrf": -4.0, "request": -4.0,
    "nonce": -3.0, "author": -3.0, "authority": -3.0, "verify": -2.0, "anon": -4.0, "sync": -4.0,
    "resume": -4.0, "authenticity": -4.0, "socket": -4.0, "search": -4.0, "color": -4.0,
    "colors": -4.0, "sitekey": -4.0, "invalid": -4.0, "wrong": -4.0, "fake": -4.0, "bogus": -4.0,
    "malformed": -4.0, "dummy": -4.0, "non": -4.0, "matching": -4.0, "mismatched": -4.0,
}  # fmt: skip
"""What a word of the name says against it."""
BETWEEN: Final = {"header": 1.5, "assigned": 0.5, "said": 0.25, "beside": -0.75}
"""Where a value stands: in a header of credentials, behind a sign, behind a word such as `is`,
behind a blank."""
QUOTED: Final = 0.25

LONG: Final = ((24, 1.0), (20, 0.75), (16, 0.25), (12, 0.0), (0, -0.5))
"""By the length of a value."""
CLASSES: Final = {1: -1.5, 2: 0.25, 3: 1.0, 4: 1.0}
"""By how many of capitals, small letters, digits and signs there are."""
CHANGES: Final = ((0.4, 1.0), (0.25, 0.75), (0.15, 0.25), (0.0, -0.5))
"""By how often one class follows another, for each character."""
WORDS: Final = -3.5
"""By the share of letters that stand in words."""
CHOSEN_WORDS: Final = -2.0
"""The same in a password as people choose one."""
FLAT: Final = ((0.85, 0.5), (0.75, 0.0), (0.0, -1.0))
"""By the entropy, as a share of the most that the length and the alphabet allow."""
HEXADECIMAL: Final = 0.25
HASH: Final = -1.25
"""Hexadecimal of the length that a hash has, behind a name that promises little."""
CHOSEN: Final = 1.25
"""A password as people choose one: letters, digits and signs, or both cases and digits."""
NO_DIGIT: Final = -2.0
"""Letters without a digit that are not in wild cases, either."""
DENIED: Final = -4.0
"""What a name has to say against a secret so that it is none, however it looks."""
UNLIKELY: Final = -3.0
"""The same for what is weighed."""
