"""Inner calls: what a call hands on to another tool, or asks in a batch, is a call of its own."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.commands.words import ASKED_BY, CALLED, DEFINING, KEEPING
from stanchion.readings.names import letters, plain
from stanchion.readings.word_lists import listed

NAMED_BY: Final = listed("name tool toolname function functionname fn recipientname")
GIVEN_BY: Final = listed("arguments args params parameters input toolinput toolargs inputs kwargs")
"""Arguments that name the tool to which something is handed on, and what it is given."""
PROVIDERS: Final = listed("provider cloud cloudprovider vendor platform backend")
"""Arguments that name the program of a provider."""
ACTIONS: Final = ASKED_BY | listed("op operation action")
"""What a part of a batch says that is done."""
MOST: Final = 32
"""How many inner calls are judged."""
MANY: Final = 256
"""How many parts of arguments are looked through."""
LONGEST: Final = 65_536
_NAME: Final = regex(r"[A-Za-z][\w.:/-]{1,99}")

PARTS: Final = frozenset({dict, list, tuple})
"""What arguments are of that may hold a call, beside texts of JSON."""
Call = tuple[str, dict[str, Any]]
"""A tool's name, and what it is given."""


def inner_calls(reading: Any) -> tuple[Call, ...]:
    """The calls within the call of a reading."""
    event = reading.event
    args = getattr(event, "args", None)
    if type(args) is not dict:
        return ()
    keeps = not letters(event.tool).isdisjoint(KEEPING | DEFINING)
    around = {name: value for name, value in args.items() if type(value) is str}
    found: list[Call] = []
    waiting: list[Any] = [args]
    for one in waiting:
        if len(waiting) > MANY or len(found) >= MOST:
            break
        if type(one) is dict:
            found += _to_provider(one)
            if one is not args and any(plain(str(key)) in ACTIONS for key in one):
                found.append((event.tool, {**around, **one}))
            if not keeps and (handed := _handed_on(one)) is not None:
                found.append(handed)
                waiting.append(handed[1])
        waiting += [
            each for each in (one.values() if type(one) is dict else one) if type(each) in PARTS
        ]
    return tuple(found)


def _to_provider(level: dict[Any, Any]) -> list[Call]:
    """What is asked of the program of a provider that an argument names."""
    return [
        (value, {other: level[other] for other in level if other != key})
        for key, value in level.items()
        if type(value) is str and value.lower() in CALLED and plain(str(key)) in PROVIDERS
    ]


def _handed_on(level: dict[Any, Any]) -> Call | None:
    """The call of another tool that stands among some arguments."""
    name = given = None
    for key, value in level.items():
        known = plain(str(key))
        if known in NAMED_BY and type(value) is str and _NAME.fullmatch(value) is not None:
            name = value
        elif known in GIVEN_BY:
            given = parsed(value)
    return None if name is None or not given else (name, given)


def parsed(value: Any) -> dict[str, Any] | None:
    """What a value holds by name, as it is or as JSON; `None` where it is nothing of the kind."""
    if type(value) is str and value[:1] == "{" and len(value) <= LONGEST:
        try:
            value = msgspec.json.decode(value.encode())
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    return value if type(value) is dict else None
