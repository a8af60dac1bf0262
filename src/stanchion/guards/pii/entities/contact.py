"""Ways to reach a person: e-mail addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stanchion.guards.pii.entity import PersonalEntity
from stanchion.kernel.regex import regex

DOMAIN: Final = regex(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}(?:xn--[A-Za-z0-9-]{0,58}[A-Za-z0-9]|[A-Za-z]{2,24})"
)


def _email(raw: str, _told: bool) -> Sequence[int]:
    at = raw.index("@")
    local = raw[:at]
    if ".." in local or local[-1] == ".":
        return ()
    domain = DOMAIN.match(raw, at + 1)
    return (domain.end(),) if domain is not None else ()


ENTITIES: Final = (
    PersonalEntity(
        "email",
        "e-mail address",
        sieve="@",
        pattern=r"[A-Za-z0-9_][A-Za-z0-9._%+'-]{0,63}@[A-Za-z0-9.-]{1,190}",
        reads=_email,
        usual=False,
        longest=256,
        glued="@.%+'-",
    ),
)

HITS: Final = (
    ("my address is info@presidio.site.", "email"),
    ("mailto:ann.lee+news@mail.example.co.uk?subject=x", "email"),
    ("user@xn--80ak6aa92e.com", "email"),
    ("<a@xn--d1acufc.xn--p1ai>", "email"),
    ("john_doe@example.org,", "email"),
)
MISSES: Final = (
    "@ann at example.org",
    "a..b@example.org",
    "ann@localhost",
    "pkg@1.2.3",
    "x @ y.com",
    "git@",
)
