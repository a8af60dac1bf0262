"""Directions: which way a value of a policy becomes stricter, and whether a change went that
way."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

from stanchion.kernel.actions import Action
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.severity import severer


class Direction(StrEnum):
    """Which changes of a value are known to let nothing more through; any other change counts as
    loosening."""

    LOWER = "a smaller number; null is no limit"
    HIGHER = "a larger number; null is less than any"
    SOONER = "a smaller number; 0 is never"
    MORE = "a list with more in it"
    WIDER = "a list with more in it; null is everything"
    FEWER = "a list with less in it; null is everything"
    SHORTER = "a list with less in it; null is no list"
    ON = "true"
    OFF = "false"
    ACTION = "a severer action; null is none"
    GIVEN_ACTION = "a severer action; null is unknown"
    BY_STAGE = "a severer action at every stage"
    ONCE_SET = "something where there was nothing"
    ASKING = "asking about more, of the same people"
    WORDS = "any: it is for people"
    SAME = "none"


Stricter: TypeAlias = Direction | tuple[Any, ...]
"""A direction, or the choices there are, the mildest first."""


def keeps(stricter: Stricter, old: Any, new: Any) -> bool:
    """Whether a new value is known to let nothing through that the old one would not."""
    if old == new or stricter is Direction.WORDS:
        return True
    if isinstance(stricter, tuple):
        return old in stricter and new in stricter and stricter.index(old) < stricter.index(new)
    match stricter:
        case Direction.LOWER:
            return new is not None and (old is None or new < old)
        case Direction.HIGHER:
            return new is not None and (old is None or new > old)
        case Direction.SOONER:
            return bool(new) and (not old or new < old)
        case Direction.MORE:
            return old is not None and new is not None and set(old) <= set(new)
        case Direction.WIDER:
            return new is None or (old is not None and set(old) <= set(new))
        case Direction.FEWER:
            return new is not None and (old is None or set(new) <= set(old))
        case Direction.SHORTER:
            return old is not None and new is not None and set(new) <= set(old)
        case Direction.ON:
            return new is True
        case Direction.OFF:
            return new is False
        case Direction.ACTION:
            return _all_severer(old, new)
        case Direction.GIVEN_ACTION:
            return old is not None and new is not None and _all_severer(old, new)
        case Direction.ONCE_SET:
            return old is None
        case Direction.ASKING:
            return _asks_no_less(old, new)
        case _:
            return False


def _asks_no_less(old: Any, new: Any) -> bool:
    """Whether a person is asked about every call that one was asked about before."""
    if not old or not new:
        return not old
    people, limit, number = (("by", ()), ("above", None), ("of", None))
    was, now = [[getattr(one, *part) for part in (people, limit, number)] for one in (old, new)]
    if was[0] != now[0]:
        return False
    return now[1] is None or (was[1] is not None and was[2] == now[2] and now[1] <= was[1])


def _all_severer(old: Any, new: Any) -> bool:
    """The same for names of actions, for none, and for several one by one."""
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(
            _all_severer(*pair) for pair in zip(old, new, strict=True)
        )
    return severer(*(Action.ALLOW if name is None else ACTIONS[name] for name in (old, new)))
