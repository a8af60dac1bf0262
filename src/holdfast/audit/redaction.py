"""Redaction before writing: values under names that promise a secret never reach a record."""

from __future__ import annotations

from typing import Any, Final

MASK: Final = "[redacted]"

SECRET_NAMES: Final = frozenset(
    {
        "accesskey", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "bearer", "bearertoken",
        "clientsecret", "connectionstring", "cookie", "credential", "credentials", "idtoken", "passphrase", "passwd",
        "password", "passwords", "privatekey", "proxyauthorization", "pwd", "refreshtoken", "secret", "secretaccesskey",
        "secretkey", "secrets", "sessiontoken", "setcookie", "signingkey", "token", "webhooksecret", "xapikey",
    }
)  # fmt: skip
"""Names whose values are masked, in lower case and without `-`, `_`, `.` and spaces."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_PLAIN: Final = str.maketrans("", "", "-_. ")
_known: dict[str, bool] = {}


def masked(value: Any) -> Any:
    """Data with the values under secret names masked; what has none is given back as it is."""
    if type(value) is dict:
        changed: dict[Any, Any] | None = None
        for name, item in value.items():
            if type(name) is str and (_known[name] if name in _known else _secret(name)):
                new = MASK if item is not None and not isinstance(item, bool) else item
            elif type(item) is str or type(item) is int:
                continue
            else:
                new = masked(item)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[name] = new
        return value if changed is None else changed
    if type(value) is list or type(value) is tuple:
        if _SCALARS.issuperset(map(type, value)):
            return value
        items = [masked(item) for item in value]
        return value if all(new is item for new, item in zip(items, value, strict=True)) else items
    return value


def _secret(name: str) -> bool:
    """Whether a name promises a secret; remembered, as the same names come again and again."""
    if len(name) > 64:
        return False
    secret = name.lower().translate(_PLAIN) in SECRET_NAMES
    if len(_known) < 10_000:
        _known[name] = secret
    return secret
