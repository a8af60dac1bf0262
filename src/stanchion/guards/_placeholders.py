"""What guards that hide parts of content say of them: placeholders, places, and what becomes of the
rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b, sha256
from typing import Any, Final

from stanchion.kernel.actions import STOPS, Action
from stanchion.kernel.events import RunInfo
from stanchion.kernel.findings import Finding, Patch, Terms
from stanchion.readings.texts import TextLeaf, Word

SHOWN: Final = 3
"""How many kinds and places are named."""
NAMES: Final = 3
"""How many names above a value are read: that of its field, and those of the objects around it."""


def placeholder(kind: str, _text: str = "") -> str:
    """What stands in the place of something that was hidden."""
    return f"[redacted:{kind}]"


def pseudonyms(run: RunInfo, salt: str | None, plain: Callable[[str], str] = str) -> Word:
    """Words that are the same for the same value, by default within one tenant and task; `plain`
    makes one of the ways in which a value is written."""
    said = salt if salt is not None else f"{run.tenant}\0{run.task}"
    key = sha256(said.encode("utf-8", "surrogatepass")).digest()

    def word(kind: str, text: str) -> str:
        digits = blake2b(
            plain(text).encode("utf-8", "surrogatepass"), key=key, digest_size=3
        ).hexdigest()
        return f"[{kind}:{digits}]"

    return word


def finding_about(
    action: Action,
    code: str,
    args: tuple[Any, ...],
    patches: tuple[Patch, ...],
    terms: Terms | None = None,
) -> Finding:
    """A finding about what the patches hide. What goes ahead unchanged, or waits for a person, is
    left as it is: only records and tickets do without it."""
    if action == Action.REDACT or action >= STOPS:
        return Finding(action, code, args, patches=patches, terms=terms)
    return Finding(action, code, args, hides=patches)


def above(leaf: TextLeaf) -> tuple[str, ...]:
    """The names under which a value stands, the nearest last."""
    return tuple([step for step in leaf.path if isinstance(step, str)][-NAMES:])


def place_of(leaf: TextLeaf) -> str:
    """Where a text stands, in words."""
    path = ".".join([str(step) for step in leaf.path])
    return (
        (f"a name in `{path}`" if path else "a name")
        if leaf.named
        else f"`{path}`"
        if path
        else "the text"
    )


def listed(words: Iterable[str]) -> str:
    """Several words, each once, the first few of them by name."""
    few = list(dict.fromkeys(words))
    more = f" and {len(few) - SHOWN} more" if len(few) > SHOWN else ""
    return ", ".join(few[:SHOWN]) + more
