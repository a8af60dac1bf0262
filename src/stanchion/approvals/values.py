"""Questions about values: may a tool use these in this task? One ticket answers for every call that
asks exactly about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.approvals.digest import Deed, hashed
from stanchion.approvals.ticket import id_of, key_of

FORM: Final = "stanchion-ticket-3"
"""The form of what is hashed here: an answer about values is none about a call."""

MOST: Final = 32
"""How many values of one question are also looked up one by one, for a no to each."""

DANGERS: Final = {
    "irreversible": "it cannot be taken back",
    "privilege": "somebody else gains control",
    "outward": "others see it at once",
    "local": "it changes something here",
    "read": "it may carry out what was read",
    "": "nobody has declared what it does",
}
"""What can come of a wrong yes, by the declared effect of the tool."""

CALL: Final = "the call"
CHOICES: Final = "choices"
"""Under which names a ticket has the call that asks first, and values to pick from."""

NO_ANSWER: Final = "it is refused"
"""What happens where nobody answers."""


class AskedPiece(NamedTuple):
    """One thing that a guard asks about: the guard, its code, the argument and the hash of a value
    in it. Both are empty where the question is about the tool."""

    guard: str
    code: str
    name: str = ""
    value: str = ""


def values_deed(deed: Deed, tenant: str, asked: Iterable[AskedPiece]) -> Deed:
    """What a yes to values is bound to: tool, task, first run and the tool's own declaration, and
    not the rest of the call, the agent or the policy. `deed` is that of the call, with both."""
    pieces = sorted(set(asked))
    same = [FORM, tenant, deed.root, deed.stage, deed.tool, deed.risk, deed.declared]
    return msgspec.structs.replace(
        deed,
        guards=tuple(sorted({one.guard for one in pieces})),
        policy="",
        what=hashed([*same, pieces]),
        parts={},
    )


def alone(deed: Deed, tenant: str, asked: Iterable[AskedPiece]) -> tuple[str, ...]:
    """Where the tickets are kept about each of several values alone: a no to one of them is a no to
    all."""
    pieces = set(asked)
    several = pieces if 1 < len(pieces) <= MOST else ()
    return tuple([key_of(tenant, id_of(values_deed(deed, tenant, [one]))) for one in several])


def in_words(deed: Deed, values: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    """A question about values in one sentence: the danger first, and last what happens without an
    answer."""
    stands = [f"{name}: {words}" for name, words in evidence.items() if isinstance(words, str)]
    named = ", ".join(
        f"{name}={msgspec.json.encode(value).decode()}" for name, value in values.items()
    )
    may = f"may `{deed.tool}` use {named}" if named else f"may `{deed.tool}` be called"
    words = "; ".join([*stands, f"without an answer {NO_ANSWER}"])
    return f"{DANGERS[deed.effect]}: {may} in this task? {words}"
