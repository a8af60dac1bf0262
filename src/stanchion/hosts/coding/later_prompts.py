"""Prompts that an agent has written for later: its host says them as if the user had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

from stanchion.kernel.compare_and_set import LEFT
from stanchion.kernel.state import key
from stanchion.runtime.driving.sync import change_now
from stanchion.runtime.shield import Shield

MOST: Final = 2_000
"""How many are remembered in a project. Where there are more, nobody knows any more which prompt is
whose."""


def note_later(shield: Shield, said: Iterable[Any]) -> None:
    """Remember, in the project's store, texts that an agent gives to a tool which says them
    later."""
    digests = [_digest(one) for one in _texts(said)]

    def noted(value: Any, _now: int) -> Any:
        known = [] if value is None else list(value["said"])
        new = [one for one in digests if one not in known]
        return {"said": [*known, *new][: MOST + 1]} if new and len(known) <= MOST else LEFT

    tenant = shield.tenancy.of(None)
    change_now(shield, "later", tenant, key(tenant, "hosted", "later"), noted)


def is_later(shield: Shield, text: str) -> bool:
    """Whether an agent of the project has written a prompt."""
    tenant = shield.tenancy.of(None)
    where = key(tenant, "hosted", "later")
    value = change_now(shield, "later", tenant, where, lambda _value, _now: LEFT).value
    said = [] if value is None else value["said"]
    return len(said) > MOST or _digest(text) in said


def _texts(said: Iterable[Any]) -> Iterator[str]:
    """All texts in the arguments of a call, however deep."""
    for one in said:
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            yield from _texts(one.values() if isinstance(one, dict) else one)


def _digest(text: str) -> str:
    words = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return blake2b(words, digest_size=12).hexdigest()
