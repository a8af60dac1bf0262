"""Why a condition has no answer for an event: which part failed, of which type its value is, which
was expected.

Only names of the policy and of types are told, never a value: what is told is recorded, and an
agent reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, Final

from stanchion.policy.conditions.core import Chosen, Const, Core, Do, Each, Joined, Required
from stanchion.policy.conditions.errors import EvaluationError, TooCostly
from stanchion.policy.conditions.kinds import NUMBERS, SCALARS, kind_of
from stanchion.policy.conditions.messages import a_kind
from stanchion.policy.conditions.needs import parts_of, path_of
from stanchion.policy.conditions.signatures import FUNCTIONS

ValueOf = Callable[[Core], Any]
"""What a part comes to on the event; raises `EvaluationError` as the whole condition does."""

_CONTAINERS: Final = ("list", "map")
_TRUTH: Final = ("bool",)
_ORDERS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SIGNS: Final = {**_ORDERS, "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}
_TAKES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "get": (("map",),),
    "has": (("map",),),
    "at": (_CONTAINERS,),
    "in": ((), (*_CONTAINERS, "names")),
    "neg": (("int", "double"),),
    "not": (_TRUTH,),
    "true": (_TRUTH,),
}
"""Which kinds an operation takes, where no function of the language says it."""


def blamed(core: Core, value_of: ValueOf, error: EvaluationError) -> str:
    """Why a condition failed with that error, in one clause."""
    for part, kinds in _tried(core, value_of):
        try:
            value = value_of(part)
        except TooCostly:
            return str(error)
        except EvaluationError as inner:
            return blamed(part, value_of, inner)
        if kinds and kind_of(value) not in (*kinds, "null"):
            return _unfit(part, value, kinds)
    if isinstance(core, Required):
        return f"{_shown(core.of)} is missing or null, and a value is expected there"
    if isinstance(core, Each):
        return f"{error} (in `{core.op}` over {_shown(core.over)})"
    return (
        _of_two(core, [value_of(arg) for arg in core.args]) if isinstance(core, Do) else ""
    ) or str(error)


def _tried(core: Core, value_of: ValueOf) -> Iterator[tuple[Core, tuple[str, ...]]]:
    """The parts that are worked out before one is, outside a loop, each with the kinds that it may
    be of; with none where that depends on the others."""
    match core:
        case Each():
            yield core.over, _CONTAINERS
        case Chosen():
            yield core.test, _TRUTH
            yield core.yes if value_of(core.test) else core.no, ()
        case Joined():
            yield from [(part, _TRUTH) for part in core.parts]
        case Do():
            function = FUNCTIONS.get(core.op)
            takes = _TAKES.get(core.op, () if function is None else function.takes)
            yield from zip_longest(core.args, takes, fillvalue=())
        case _:
            yield from [(part, ()) for part in parts_of(core)]


def _of_two(core: Do, values: list[Any]) -> str:
    """What is wrong with the types on both sides of a sign; empty where it takes them. What is read
    from the event is to blame before what the policy says itself."""
    sign = _SIGNS.get(core.op)
    if sign is None:
        return ""
    kinds = [kind_of(value) for value in values]
    orders = core.op in _ORDERS
    if kinds[0] == kinds[1] or (orders and NUMBERS.issuperset(kinds)):
        return (
            ""
            if kinds[0] in SCALARS
            else f"{_shown(core.args[0])} is {a_kind(kinds[0])}, which `{sign}` does not take"
        )
    at = 1 if isinstance(core.args[0], Const) else 0
    wanted = "a number" if orders and kinds[1 - at] in NUMBERS else a_kind(kinds[1 - at])
    beside = (
        "" if isinstance(core.args[1 - at], Const) else f", which {_shown(core.args[1 - at])} is"
    )
    return f"{_shown(core.args[at])} is {a_kind(kinds[at])}, and `{sign}` expects {wanted}{beside}"


def _unfit(arg: Core, value: Any, kinds: tuple[str, ...]) -> str:
    wanted = " or ".join([a_kind(kind) for kind in kinds])
    return f"{_shown(arg)} is {a_kind(kind_of(value))}, and {wanted} is expected there"


def _shown(core: Core) -> str:
    """A part as a reader of the policy finds it there."""
    path = path_of(core)
    if path is not None:
        return f"`{path}`"
    match core:
        case Const():
            return "a literal"
        case Do(op=op) if op in FUNCTIONS:
            return f"what `{op}` gives"
        case _:
            read = next((found for found in _names(core)), None)
            return "a part of it" if read is None else f"what is made of `{read}`"


def _names(core: Core) -> Iterator[str]:
    path = path_of(core)
    if path is not None:
        yield path
        return
    for part in parts_of(core):
        yield from _names(part)
