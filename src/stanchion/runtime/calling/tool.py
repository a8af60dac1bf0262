"""Tools: a function, how its arguments look as data, and how patched data goes back into a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from copy import copy
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from weakref import WeakKeyDictionary

from stanchion.kernel.actions import RISK_NAMES, Risk
from stanchion.kernel.declared import EFFECTS, RESULTS, UNDECLARED, Declared, EffectName, ResultName
from stanchion.kernel.shown import StanchionError, one_line
from stanchion.kernel.units import JUST_ONE, Amounts, Unit, amounts
from stanchion.policy.nearest import hint
from stanchion.readings.record_line import record_line
from stanchion.runtime.calling.refusal_text import RAISE, TEXT, Refusal, refusal_of, widen
from stanchion.runtime.values import restored

if TYPE_CHECKING:
    import inspect

MARK: Final = "__stanchion_tool__"
"""The attribute under which a shielded function keeps its tool."""

LONGEST_NAME: Final = 256
"""How long a tool's name may be."""

W = TypeVar("W", bound=str | None)


MEASURES: Final = {
    "tokens": Unit.TOKENS,
    "cost_usd": Unit.COST_MICROUSD,
    "api_calls": Unit.API_CALLS,
}


def estimate(usage: Mapping[str, Any]) -> tuple[Amounts, frozenset[Unit]]:
    """What one call amounts to by an estimate, and which measures it speaks of; `ValueError` for
    what is none."""
    unknown = next((name for name in usage if name not in MEASURES), None)
    if unknown is not None:
        raise ValueError(f"the usage of a tool has no `{unknown}`: {hint(str(unknown), MEASURES)}")
    spent = amounts(**usage)
    return JUST_ONE if spent == JUST_ONE else spent, frozenset([MEASURES[name] for name in usage])


class NothingDone(StanchionError):
    """Raise it from a tool to say that nothing has happened: then it can be tried again."""


class ToolShape(Enum):
    """What calling a function gives."""

    PLAIN = "plain"
    ASYNC = "async"
    GENERATOR = "generator"
    ASYNC_GENERATOR = "async generator"


UNSAID: Final[tuple[Amounts, frozenset[Unit]]] = (JUST_ONE, frozenset())
"""What a call uses of which nobody says more: it is one call."""


class Tool:
    """One function that an agent can call, with what is known of it: `run.call(Tool(fn, "pay",
    risk="high"), 20)`.

    Its name is its function's unless one is given. `risk` says how much harm a call can do,
    `effect` what it does, `result` what its result counts as, and `sinks` which arguments say whom
    or what it acts on; a policy may say the same, and the strictest word holds. `records` is the
    line that begins a record in a text that it returns, and `identity_fields` are the fields of its
    records that name things, unless a policy says others. `undo` takes the
    call's own arguments, `timeout_s` bounds one call, and with `once` each call of a run happens
    once. `usage` estimates what one call uses (`tokens`, `cost_usd`, `api_calls`): budgets
    reserve it. `description` and `schema` (the JSON Schema of its arguments) belong to tools that
    are defined elsewhere: `shield.ingest` reads them in place of the function's own signature. With
    `refusal="text"` a refused call gives the words of the refusal in place of a result, for
    frameworks that hand results to a model; only what ends the run is raised then. Raises
    `TypeError` or `ValueError` where something of it is of no use.
    """

    __slots__ = (
        "_defaults",
        "_hidden",
        "_simple",
        "declared",
        "description",
        "fn",
        "name",
        "once",
        "refusal",
        "schema",
        "shape",
        "signature",
        "spends",
        "timeout_s",
        "undo",
        "usage",
    )

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        *,
        risk: Risk | str | None = None,
        effect: EffectName | None = None,
        result: ResultName | None = None,
        sinks: Iterable[str] = (),
        records: str | None = None,
        identity_fields: Iterable[str] = (),
        undo: Callable[..., Any] | None = None,
        timeout_s: float | None = None,
        once: bool = False,
        description: str = "",
        schema: Mapping[str, Any] | None = None,
        refusal: Refusal = RAISE,
        usage: Mapping[str, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name: str = name if name is not None else getattr(fn, "__name__", type(fn).__name__)
        self.undo = undo
        self.timeout_s = timeout_s
        self.once = once
        self.description = description
        self.schema = schema
        self.usage = usage
        self.spends: tuple[Amounts, frozenset[Unit]] = UNSAID if usage is None else estimate(usage)
        self._check()
        self.refusal = refusal_of(refusal, self.name)
        self._look()
        if once and self.shape not in (ToolShape.PLAIN, ToolShape.ASYNC):
            raise ValueError(
                f"`{self.name}` gives many items, and only a call with one result can be made once"
            )
        if records is not None:
            record_line(records)
        said = Declared(
            None if risk is None else risk_of(risk),
            word_of("effect", effect, EFFECTS),
            word_of("result", result, RESULTS),
            self._sinks(sinks),
            records,
            (identity_fields,) if isinstance(identity_fields, str) else tuple(identity_fields),
        )
        self.declared = UNDECLARED if said == UNDECLARED else said

    def _sinks(self, given: Iterable[str]) -> tuple[str, ...]:
        """Arguments that say whom or what a call acts on; `ValueError` for one that it has not."""
        sinks = (given,) if isinstance(given, str) else tuple(given)
        if self.signature is not None and self._simple:
            for sink in sinks:
                word_of("sinks", sink.partition(".")[0], (*self.signature.parameters,))
        return sinks

    def _look(self) -> None:
        """See what calling the function gives, and how it is called."""
        import inspect

        self.shape = shape_of(self.fn)
        try:
            self.signature: inspect.Signature | None = inspect.signature(self.fn)
        except (TypeError, ValueError):
            self.signature = None
        parameters = [] if self.signature is None else list(self.signature.parameters.values())
        first = parameters[0].name if parameters else ""
        self._hidden = first if first in ("self", "cls") else ""
        self._simple = self.signature is not None and not any(
            p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
        )
        self._defaults = {p.name: p.default for p in parameters if p.default is not p.empty}

    def _take(self, fn: Callable[..., Any]) -> None:
        """Stand for one call with its arguments by name, of which nothing else is known; refuses
        what would only be noticed in its middle."""
        self.fn, self.shape, self.refusal = fn, ToolShape.PLAIN, RAISE
        self.description, self.schema, self.signature = "", None, None
        self._hidden, self._simple, self._defaults = "", False, {}
        self._check()

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def _check(self) -> None:
        """Refuse what would only be noticed in the middle of a call."""
        for given, what in ((self.fn, "the tool"), (self.undo, "`undo`")):
            if not callable(given) and not (given is None and what == "`undo`"):
                raise TypeError(
                    f"{what} is `{given!r}`, which cannot be called: give the function itself"
                )
        if not isinstance(self.name, str) or not 0 < len(self.name) <= LONGEST_NAME:
            said = (
                f"a tool has the name `{self.name}`: give it a name of 1 to {LONGEST_NAME} "
                f"characters"
            )
            raise ValueError(one_line(said))
        limit = self.timeout_s
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < 1e9
        ):
            raise ValueError(
                f"timeout_s of `{self.name}` is `{limit}`: give a positive number of seconds"
            )
        if not isinstance(self.description, str):
            raise TypeError(
                f"the description of `{self.name}` is not text: give the words that a model reads"
            )
        if self.schema is not None and not isinstance(self.schema, Mapping):
            raise TypeError(
                f"the schema of `{self.name}` is not a mapping: give the JSON Schema of its "
                f"arguments"
            )

    def values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The call's arguments by name, defaults included, the object of a method left out."""
        if not args and self._simple:
            return {**self._defaults, **kwargs} if self._defaults else kwargs
        bound = self._bound(args, kwargs)
        if bound is None:
            return {**kwargs, **({"*": list(args)} if args else {})}
        bound.apply_defaults()
        values: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            parameter = bound.signature.parameters[name]
            if parameter.kind is parameter.VAR_KEYWORD:
                twice = next((one for one in value if one in values), "")
                if twice:
                    raise TypeError(
                        f"`{self.name}` is given `{twice}` twice, by position and by name: give it "
                        f"once"
                    )
                values.update(value)
            elif name != self._hidden:
                values[name] = value
        return values

    def own(self, values: dict[str, Any]) -> tuple[str, ...]:
        """Which of a call's values are the defaults of the function itself."""
        return tuple([name for name, value in self._defaults.items() if values.get(name) is value])

    def given(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: dict[str, Any],
        handed: dict[str, Any],
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call with the values that go on in place of those that came."""
        changed = {name: value for name, value in handed.items() if value is not values[name]}
        return self._with(args, kwargs, changed) if changed else (args, kwargs)

    def fits(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the function can be called like that; what cannot be called has done nothing."""
        return self.signature is None or self._bound(args, kwargs) is not None

    def of(self, owner: Any) -> Tool:
        """The same tool as a method of an object."""
        made = copy(self)
        made.fn = self.fn.__get__(owner)
        made._look()
        return made

    def patched(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        was: dict[str, Any],
        now: dict[str, Any],
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call with those arguments replaced that a patch has changed, and without those that
        it took out; the others stay the objects they are, and what was changed keeps its type where
        it can."""
        values = self.values(args, kwargs)
        kwargs = {name: value for name, value in kwargs.items() if name in now or name not in was}
        changed = {
            name: value for name, value in now.items() if name not in was or was[name] is not value
        }
        changed = {
            name: restored(values[name], was[name], value)
            if name in was and name in values
            else value
            for name, value in changed.items()
        }
        return self._with(args, kwargs, changed)

    def _with(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], changed: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call with other values for some of its arguments."""
        bound = self._bound(args, kwargs)
        if bound is None:
            return (tuple(changed.pop("*", args)), {**kwargs, **changed})
        for name, value in changed.items():
            parameter = bound.signature.parameters.get(name)
            if parameter is None or parameter.kind is parameter.VAR_KEYWORD:
                spread = next(
                    p.name for p in bound.signature.parameters.values() if p.kind is p.VAR_KEYWORD
                )
                bound.arguments[spread] = {**bound.arguments.get(spread, {}), name: value}
            else:
                bound.arguments[name] = (
                    tuple(value) if parameter.kind is parameter.VAR_POSITIONAL else value
                )
        return bound.args, bound.kwargs

    def _bound(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> inspect.BoundArguments | None:
        if self.signature is None:
            return None
        try:
            return self.signature.bind(*args, **kwargs)
        except TypeError:
            return None


def risk_of(given: Risk | str) -> Risk:
    """A risk, given by itself or by name; raises `ValueError` for what is none."""
    if isinstance(given, Risk):
        return given
    return Risk[word_of("risk", str(given).lower(), RISK_NAMES).upper()]


def word_of(what: str, given: W, words: tuple[str, ...]) -> W:
    """A word of a declaration, if one is given; raises `ValueError` for what is none of its
    words."""
    if given is not None and given not in words:
        raise ValueError(f"`{given}` is not a value of `{what}`: {hint(str(given), words)}")
    return given


def shape_of(fn: Callable[..., Any]) -> ToolShape:
    """What calling a function gives, seen through callable objects."""
    import inspect

    target = fn if inspect.isroutine(fn) else getattr(fn, "__call__", fn)  # noqa: B004 - the method itself is wanted
    if inspect.isasyncgenfunction(target):
        return ToolShape.ASYNC_GENERATOR
    if inspect.iscoroutinefunction(target):
        return ToolShape.ASYNC
    if inspect.isgeneratorfunction(target):
        return ToolShape.GENERATOR
    return ToolShape.PLAIN


class Toolbox:
    """Knows the tool that a function is; what it learns of a function goes with the function."""

    def __init__(self) -> None:
        self._met: WeakKeyDictionary[Any, Tool] = WeakKeyDictionary()
        self._registered: dict[str, dict[Declared, None]] = {}

    def register(self, tool: Tool) -> None:
        """Remember what is declared of a tool, for whoever names it."""
        self._registered.setdefault(tool.name, {})[tool.declared] = None

    def declared(self, tool: str) -> Iterable[Declared]:
        """What was declared of a tool whenever one of that name was registered."""
        return self._registered.get(tool, ())

    def tool_of(self, fn: Callable[..., Any] | Tool) -> Tool:
        """The tool that a function is: as it was registered, or as it looks."""
        if isinstance(fn, Tool):
            return fn
        made = getattr(fn, MARK, None)
        if isinstance(made, Tool):
            bound = getattr(fn, "__self__", None)
            return made if bound is None else made.of(bound)
        if not callable(fn):
            raise TypeError(
                f"`{fn!r}` cannot be called: give the function itself, `run.check` takes names"
            )
        try:
            known = self._met.get(fn)
            if known is None:
                known = self._met[fn] = Tool(fn)
            return known
        except TypeError:
            return Tool(fn)


class Calls(Protocol):
    """A run, as far as it calls tools."""

    def call(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a tool."""

    def acall(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The same for async code."""


RunFor = Callable[[Tool], Calls]
"""Gives the run in which a tool is being called, or raises `NoRun`."""


def wrapped(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    """The shielded form of a tool's function: plain, async, generator or async generator as it
    was."""
    wrapper = _MAKERS[tool.shape](tool, run_for)
    if tool.refusal == TEXT and tool.shape in (ToolShape.PLAIN, ToolShape.ASYNC):
        widen(wrapper)
    setattr(wrapper, MARK, tool)
    return wrapper


def _plain(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        return run_for(tool).call(tool, *args, **kwargs)

    return called


def _async(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    async def called(*args: Any, **kwargs: Any) -> Any:
        return await run_for(tool).acall(tool, *args, **kwargs)

    return called


def _generator(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    def called(*args: Any, **kwargs: Any) -> Iterator[Any]:
        yield from run_for(tool).call(tool, *args, **kwargs)

    return called


def _async_generator(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    async def called(*args: Any, **kwargs: Any) -> Any:
        async with aclosing(run_for(tool).acall(tool, *args, **kwargs)) as items:
            async for item in items:
                yield item

    return called


_MAKERS: dict[ToolShape, Callable[[Tool, RunFor], Callable[..., Any]]] = {
    ToolShape.PLAIN: _plain,
    ToolShape.ASYNC: _async,
    ToolShape.GENERATOR: _generator,
    ToolShape.ASYNC_GENERATOR: _async_generator,
}
