"""What everybody may know: samples of makers' documentation, values that are made for browsers, and
mere counting."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex

SAMPLES: Final = (
    "hal+9ooo_da!sY",  # NuGet, nuget.config
    "33f!!lloppa",  # NuGet, nuget.config
    # Azurite
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    # Cosmos emulator
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
    # Hardhat and Anvil, account 0
    "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    # Hardhat and Anvil, account 1
    "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",  # RFC 7617
    "QWxhZGRpbjpPcGVuU2VzYW1l",  # MDN, the same
    "dXNlcjpwYXNzd29yZA",  # `user:password`
    "dXNlcm5hbWU6cGFzc3dvcmQ",  # `username:password`
    "czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3",  # RFC 6749, client
    "czZCaGRSa3F0MzpnWDFmQmF0M2JW",  # RFC 6749, client
    "2YotnFZFEjr1zCsicMWpAA",  # RFC 6749, access token
    "tGzv3JOkF0XG5Qx2TlKWIA",  # RFC 6749, refresh token
    "dGhlIHNhbXBsZSBub25jZQ",  # RFC 6455
    "JBSWY3DPEHPK3PXP",  # seeds of one-time passwords, everywhere
)
"""What makers and standards print for all to see, and what emulators have built in."""
PADDING: Final = 4
"""How much may stand around a sample: quotes, or what fills up its encoding."""
_FOR_BROWSERS: Final = regex(
    r"(?:pk|pub|phc|pubk|pk_(?:live|test))[_.-][\w.-]+|[su]ub-c-[0-9a-f-]+|6L[0-9A-Za-z_-]{38}|"
    r"AIza[\w-]{35}"
)
"""How values begin that pages show to everybody who opens them; a rule of its own knows when
Google's are more."""
_BY_FORMAT: Final = regex(
    r"pk\.eyJ[\w-]+\.[\w-]+|"
    r"eyJ[\w-]+\.(?:eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI[\w-]{0,48}|"
    r"eyJzb21lIjoicGF5bG9hZCJ9)\.[\w-]*"
)
"""Mapbox's public tokens: an object with the user's name, which a secret one begins otherwise; web
tokens that say what those of jwt.io and PyJWT's page say, whoever signs them."""
_AFTER: Final = {"9": "0", "0": "a", "z": "0"}
"""What people write next where a row of digits or letters ends."""
LEAST: Final = 10
"""A row that is shorter may be chance."""


def sampled(value: str) -> bool:
    """Whether a maker or a standard printed it, or a maker's format says that it is for
    everybody."""
    return (
        any(sample in value and len(value) <= len(sample) + PADDING for sample in SAMPLES)
        or _BY_FORMAT.fullmatch(value) is not None
    )


def repeated(before: str, value: str) -> bool:
    """Whether it is the name of its user once more, as in what comes preset: `guest:guest`."""
    return before.endswith(f"/{value}:")


def for_browsers(value: str) -> bool:
    """Whether a value says of itself that pages show it."""
    return _FOR_BROWSERS.fullmatch(value) is not None


def everybodys(value: str) -> bool:
    """Whether a value that is only weighed is one that everybody may know."""
    return sampled(value) or for_browsers(value) or counted(value)


def counted(value: str) -> bool:
    """Whether more than half of a value is the alphabet or the digits, one after another."""
    lowered = value.lower()
    steady = LEAST - 1
    # A row that is long enough has a step at one of every so many places.
    if not any(map(_follows, lowered[::steady], lowered[1::steady])):
        return False
    longest = run = steps = 0
    for one, two in pairwise(lowered):
        follows = _follows(one, two)
        run = run + 1 if follows else 0
        steps += follows
        longest = max(longest, run)
    return longest + 1 >= LEAST and steps * 2 > len(value)


def _follows(one: str, two: str) -> bool:
    """Whether people write one character right behind another where they count."""
    return (one.isalnum() and ord(two) == ord(one) + 1) or _AFTER.get(one) == two
