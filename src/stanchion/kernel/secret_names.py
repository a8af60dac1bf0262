"""Names that promise a secret: what stands under them is masked in records, and looked at by
guards."""

from __future__ import annotations

from typing import Final

SECRET_NAMES: Final = frozenset(
    {
        "accesskey", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "bearer",
        "bearertoken", "clientsecret", "connectionstring", "cookie", "credential", "credentials",
        "idtoken", "passphrase", "passwd", "password", "passwords", "privatekey",
        "proxyauthorization", "pwd", "refreshtoken", "secret", "secretaccesskey", "secretkey",
        "secrets", "sessiontoken", "setcookie", "signingkey", "token", "webhooksecret", "xapikey",
    }
)  # fmt: skip
"""The names, in lower case and without `-`, `_`, `.` and spaces."""

LONGEST: Final = 64

_PLAIN: Final = str.maketrans("", "", "-_. ")
KNOWN: Final[dict[str, bool]] = {}
"""What was found out about names, as the same ones come again and again."""


def promises_secret(name: str) -> bool:
    """Whether a name promises a secret."""
    known = KNOWN.get(name)
    if known is not None:
        return known
    if len(name) > LONGEST:
        return False
    secret = plain_name(name) in SECRET_NAMES
    if len(KNOWN) < 10_000:
        KNOWN[name] = secret
    return secret


def plain_name(name: str) -> str:
    """A name as those of the list are written."""
    return name.lower().translate(_PLAIN)
