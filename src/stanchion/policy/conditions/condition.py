"""Conditions: text in, a tested and compiled judgement out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from types import CodeType, FunctionType
from typing import Any, Final, NoReturn

from stanchion.policy.conditions.emission import Emitter
from stanchion.policy.conditions.kinds import BOOL, NUMBERS, SCALARS, Type, a_kind, article, kind_of
from stanchion.policy.conditions.limits import (
    FAILURES,
    STEPS,
    ConditionError,
    EvaluationError,
    TooCostly,
)
from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.type_checker import TypeChecker
from stanchion.policy.conditions.typed_tree import (
    Const,
    Core,
    Do,
    Junction,
    MacroLoop,
    Needs,
    Required,
    Selection,
    needs_of,
    parts_of,
    path_of,
    reads_of,
)
from stanchion.policy.conditions.vocabulary import FUNCTIONS, Vocabulary

# Why a condition has no answer for an event: which part failed, of which type its value is, which
# was expected.
#
# Only names of the policy and of types are told, never a value: what is told is recorded, and an
# agent reads it.

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
    if isinstance(core, MacroLoop):
        return f"{error} (in `{core.op}` over {_shown(core.over)})"
    return (
        _of_two(core, [value_of(arg) for arg in core.args]) if isinstance(core, Do) else ""
    ) or str(error)


def _tried(core: Core, value_of: ValueOf) -> Iterator[tuple[Core, tuple[str, ...]]]:
    """The parts that are worked out before one is, outside a loop, each with the kinds that it may
    be of; with none where that depends on the others."""
    match core:
        case MacroLoop():
            yield core.over, _CONTAINERS
        case Selection():
            yield core.test, _TRUTH
            yield core.yes if value_of(core.test) else core.no, ()
        case Junction():
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


View = Any
"""Any object that has the attributes of the vocabulary."""


class Condition:
    """A compiled condition. `test` and `evaluate` take a view and raise nothing but
    `EvaluationError`."""

    __slots__ = ("evaluate", "needs", "reads", "source", "test", "type")

    def __init__(self, source: str, core: Core) -> None:
        self.source: Final = source
        self.type: Final[Type] = core.type
        self.reads: Final[frozenset[str]] = reads_of(core)
        """The dotted names that it reads."""
        self.needs: Final[Needs] = needs_of(core)
        """Names with the only values at which it can be true; at any other it is false, and not an
        error."""
        self.evaluate: Final[Callable[[View], Any]] = _compiled(core)
        self.test: Final[Callable[[View], bool]] = (
            self.evaluate if core.type == BOOL else _compiled(Do(BOOL, "true", (core,)))
        )

    def __repr__(self) -> str:
        return f"Condition({self.source!r})"


def compile_condition(source: str, names: Vocabulary) -> Condition:
    """A condition over these names; raises `ConditionError` with the place and what to write
    instead."""
    condition = compile_expression(source, names)
    if condition.type.kind not in ("bool", "dyn"):
        hint = "compare it with something, as in `x == y`"
        raise ConditionError(
            f"a condition is true or false, and this is {article(condition.type)}: {hint}",
            0,
            len(source),
        )
    return condition


def compile_expression(source: str, names: Vocabulary) -> Condition:
    """The same for an expression of any type, which is for `evaluate`."""
    try:
        return Condition(source, TypeChecker(names).check(parse(source)))
    except RecursionError:
        message = (
            "the condition is nested too deeply for the remaining stack: load policies "
            "earlier in the program"
        )
        raise ConditionError(message, 0, len(source)) from None


def _compiled(core: Core) -> Callable[[View], Any]:
    """The function of an expression. After an error it asks the careful code, made at the first
    one, and where that fails, too, says which part is to blame."""
    careful: list[Callable[[View], Any]] = []
    parts: dict[int, tuple[Core, Callable[[View], Any]]] = {}

    def again(view: View, error: Exception) -> Any:
        if isinstance(error, TooCostly) or not _absorbs(core):
            blame(view, error)
        if not careful:
            careful.append(_function(core, True, blame))
        return careful[0](view)

    def blame(view: View, error: Exception) -> NoReturn:
        if isinstance(error, TooCostly):
            raise error
        raise EvaluationError(blamed(core, partial(worked_out, view), _failed(error))) from error

    def worked_out(view: View, part: Core) -> Any:
        if id(part) not in parts:
            parts[id(part)] = part, _function(part, True, _fail)
        return parts[id(part)][1](view)

    return _function(core, False, again)


def _fail(_view: View, error: Exception) -> NoReturn:
    raise _failed(error)


def _failed(error: Exception) -> EvaluationError:
    """An error of the language; what Python says of a view may name a value, so that only its type
    is told."""
    if isinstance(error, EvaluationError):
        return error
    return EvaluationError(
        f"a name has a value that its type does not allow ({type(error).__name__})"
    )


def _absorbs(core: Core) -> bool:
    """Whether an error in one part may be of no matter, because another part decides."""
    if isinstance(core, Junction) or (isinstance(core, MacroLoop) and core.op in ("exists", "all")):
        return True
    return any(_absorbs(part) for part in parts_of(core))


def _function(
    core: Core, careful: bool, failed: Callable[[View, Exception], Any]
) -> Callable[[View], Any]:
    emitter = Emitter(careful)
    code = emitter.emit(core)
    purse = f"p = [{STEPS}]; " if emitter.purse else ""
    source = f"""
def condition(v):
    try:
        {purse}return {code}
    except FAILURES as e:
        return failed(v, e)
"""
    module = compile(source, "<condition>", "exec", dont_inherit=True)
    function = next(each for each in module.co_consts if isinstance(each, CodeType))
    known = {"__builtins__": {}, "FAILURES": FAILURES, "failed": failed, **emitter.bound}
    return FunctionType(function, known, "condition")
