"""Outcomes of calls: equal where nothing new came of a call, whatever the time was and however ids were drawn."""

from __future__ import annotations

import re
from typing import Any, Final

from holdfast.guards._fingerprint import canonical, digest, exact_of
from holdfast.kernel.events import Failure

READ: Final = 400
"""How much of an error's text tells one error from another."""

_DRAWN: Final = re.compile(
    r"""[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
    |\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?
    |\b0x[0-9a-f]{6,}\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What differs between two results that say the same: drawn ids, times of the clock, addresses in memory."""

_QUOTED: Final = re.compile(r"""(?<!\w)(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)""")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)*")


def result_digest(result: Any) -> tuple[str, int]:
    """The digest of a result, and how much it says, in characters."""
    text = _DRAWN.sub("~", canonical(result))
    return "=" + digest(text), len(text)


def error_digest(failure: Failure) -> str:
    """The signature of a failure: its kind and its words, without what they quote and count.

    Where there are no words, failures of calls with other arguments are other failures.
    """
    words = _DRAWN.sub("~", failure.text[: READ * 4])
    words = " ".join(_NUMBER.sub("0", _QUOTED.sub("?", words)).casefold().split())[:READ]
    about = words if words else exact_of(failure.tool, failure.args)
    return "!" + digest(failure.error, str(failure.status), about)
