"""Volatile arguments: what numbers or names a call, or says how far it has come, and not what it
asks for."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from stanchion.readings.act import act_of
from stanchion.readings.names import KEPT, letters
from stanchion.readings.word_lists import listed

TRIES: Final = listed("attempt attempts retry retries try tries nonce timestamp iteration")
"""Words in the name of an argument that tells one try from another."""
MAKERS: Final = listed("request trace span correlation idempotency dedup deduplication")
"""Words that make an id or a key one of the call itself."""
PLACES: Final = listed("page offset skip cursor")
"""Words in the name of an argument that says where to go on. Who only reads gets more of the same
by it; who acts may mean another thing by each."""
LONGEST: Final = 64

MASK: Final = "~"
"""What stands for a value that is volatile."""


def settled(args: dict[str, Any], volatile: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of a call without what is volatile in them."""
    return {**args, **dict.fromkeys([name for name in volatile if _is_mark(args[name])], MASK)}


@lru_cache(KEPT)
def volatile_names(tool: str, *names: Any) -> tuple[str, ...]:
    """Those of a call's arguments that may be volatile, by their names."""
    return tuple([name for name in names if type(name) is str and _volatile(tool, name)])


def _volatile(tool: str, name: str) -> bool:
    said = letters(name)
    if said & TRIES or (said & MAKERS and said & {"id", "key", "token"}):
        return True
    return bool(said & PLACES) and reads(tool)


def reads(tool: str) -> bool:
    """Whether a tool is called like one that only looks: by a word for it, and none for changing or
    telling."""
    act = act_of(tool)
    return (
        (act.verb == "read" or act.asks or (act.seeks and not act.verb))
        and not act.says
        and not act.changes
    )


def _is_mark(value: Any) -> bool:
    """Whether a value is a number or one short word: no text, and nothing that has parts."""
    if type(value) is str:
        return len(value) <= LONGEST and len(value.split()) <= 2
    return type(value) in (int, float)
