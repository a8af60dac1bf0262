"""Directions: which way a value of a policy becomes stricter, whether a change went that way, and a
loosening in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import msgspec

from stanchion.kernel.actions import Action, severer
from stanchion.kernel.option import ACTIONS, Stricter, Strictness, directions

LONGEST: Final = 80
"""How much of a value is shown."""


class Loosening(msgspec.Struct, frozen=True):
    """One thing by which a policy may let more through: of what (`guard budget`), and what about
    it, in words.

    `sure` is false where two values cannot be compared: the new one may be as strict, and nobody
    can tell.
    """

    what: str
    how: str
    sure: bool = True

    def __str__(self) -> str:
        kind, _, name = self.what.partition(" ")
        return f"{kind} `{name}`: {self.how}" if name else f"{kind}: {self.how}"


def changed(what: str, option: str, old: Any, new: Any, *, sure: bool = True) -> Loosening:
    """That a value is another one."""
    return Loosening(what, f"{option} {_shown(old)} → {_shown(new)}", sure)


def _shown(value: Any) -> str:
    plain = msgspec.to_builtins(value)
    if isinstance(plain, list | tuple) and all(isinstance(item, str) for item in plain):
        text = f"[{', '.join(plain)}]"
    elif plain is None:
        text = "none"
    else:
        text = plain if isinstance(plain, str) and plain else json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def keeps(stricter: Strictness, old: Any, new: Any) -> bool:
    """Whether a new value is known to let nothing through that the old one would not."""
    if old == new or stricter is Stricter.WORDS:
        return True
    if isinstance(stricter, tuple):
        return old in stricter and new in stricter and stricter.index(old) < stricter.index(new)
    match stricter:
        case Stricter.LOWER:
            return new is not None and (old is None or new < old)
        case Stricter.HIGHER:
            return new is not None and (old is None or new > old)
        case Stricter.SOONER:
            return bool(new) and (not old or new < old)
        case Stricter.MORE:
            return old is not None and new is not None and set(old) <= set(new)
        case Stricter.WIDER:
            return new is None or (old is not None and set(old) <= set(new))
        case Stricter.FEWER:
            return new is not None and (old is None or set(new) <= set(old))
        case Stricter.SHORTER:
            return old is not None and new is not None and set(new) <= set(old)
        case Stricter.NARROWER:
            return new is not None and all(map(_not_wider(old), new))
        case Stricter.ON:
            return new is True
        case Stricter.OFF:
            return new is False
        case Stricter.ACTION | Stricter.LAST_ACTION:
            return _all_severer(old, new)
        case Stricter.GIVEN_ACTION:
            return old is not None and new is not None and _all_severer(old, new)
        case Stricter.ONCE_SET:
            return old is None
        case Stricter.ASKING:
            return _asks_no_less(old, new)
        case _:
            return False


def directions_within(struct: type[Any]) -> dict[str, Strictness]:
    """Which way each key of a struct becomes stricter, and in place of a section that says it of
    keys of its own, those by their paths."""
    found: dict[str, Strictness] = {}
    for field, stricter in zip(
        msgspec.structs.fields(struct), directions(struct).values(), strict=True
    ):
        own = _section(field.type)
        inner = {} if own is None else directions(own)
        if all(way is Stricter.SAME for way in inner.values()):
            found[field.name] = stricter
        else:
            found |= {f"{field.name}.{name}": way for name, way in inner.items()}
    return found


def _section(kind: Any) -> type[msgspec.Struct] | None:
    """The struct that a value is, if it is there."""
    parts = get_args(kind) if isinstance(kind, UnionType) or get_origin(kind) is Union else (kind,)
    return next(
        (one for one in parts if isinstance(one, type) and issubclass(one, msgspec.Struct)), None
    )


def _not_wider(old: Any) -> Callable[[Any], bool]:
    """Whether an entry gives no leave that there was not; where there was no list, there was all
    but that of values."""
    return (lambda entry: isinstance(entry, str)) if old is None else old.__contains__


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
