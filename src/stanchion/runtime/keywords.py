"""Keywords: a mistyped one is answered with the parameter that was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, TypeVar

if TYPE_CHECKING:
    from stanchion.kernel.actions import Action, RiskName

INTO: Final = {"params": "the model's parameters", "args": "the tool's arguments"}
"""What has a parameter of its own that holds it, and no keywords: most often they are given as such
all the same."""

SLIP: Final = 2
"""How many letters more or less a word has at the most that is only mistyped."""

CO_VARKEYWORDS: Final = 0x08
CO_COROUTINE: Final = 0x80
"""What the flags of a function's code say, as in `inspect`, which takes long to load."""

C = TypeVar("C", bound=type)


def mistyped(
    fn: Callable[..., Any], given: Mapping[str, Any], more: Iterable[str] = (), called: str = ""
) -> TypeError | None:
    """What to raise for a call that names a parameter which the method, or `more` beside it, does
    not have; `None` where every name is known. The message says which was meant, or all that there
    are. `called` is what the caller knows the method by, where that is not its own name."""
    import inspect

    _, *rest = inspect.signature(fn).parameters.values()
    taken = [
        *[one.name for one in rest if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)],
        *more,
    ]
    unknown = next((name for name in given if name not in taken), None)
    if unknown is None:
        return None
    name = called if called else fn.__qualname__
    return TypeError(
        f"{name}() got an unexpected keyword argument '{unknown}': {_meant(unknown, taken)}"
    )


def _meant(unknown: str, taken: list[str]) -> str:
    """What to write in the place of a keyword that is not known."""
    from stanchion.policy.nearest import hint, nearest

    near, into = (
        nearest(unknown, tuple(taken)),
        next((name for name in INTO if name in taken), None),
    )
    if into is None or (near is not None and abs(len(near) - len(unknown)) <= SLIP):
        return hint(unknown, taken)
    put = f'put {INTO[into]} into `{into}`, as in `{into}={{"{unknown}": ...}}`'
    return f"{put}, or {hint(unknown, taken)}"


def misused(
    error: TypeError, flow: Callable[..., Any], called: str, given: Mapping[str, Any]
) -> TypeError:
    """What to raise where the function of a flow could not be called: the error says what the
    caller called, and which keyword was meant. One from inside it stays as it is."""
    wrong = mistyped(flow, given, called=called)
    if wrong is not None:
        return wrong
    own = f"{flow.__qualname__}()"
    return (
        TypeError(str(error).replace(own, f"{called}()")) if str(error).startswith(own) else error
    )


def spelled(cls: C) -> C:
    """A class whose public methods answer a mistyped keyword with the nearest; what is called most
    often is left as it is where it takes any keyword."""
    for name, made in list(vars(cls).items()):
        held = isinstance(made, classmethod)
        method: Any = made.__func__ if held else made
        if name.startswith("_") or not isinstance(method, FunctionType):
            continue
        made = answering(method)
        if made is not method:
            setattr(cls, name, classmethod(made) if held else made)
    return cls


def answering(method: Any) -> Any:
    """A method that answers a mistyped keyword with the nearest, where there is one to mistype."""
    code = method.__code__
    if (
        code.co_flags & CO_VARKEYWORDS
        or code.co_argcount - code.co_posonlyargcount + code.co_kwonlyargcount <= 1
    ):
        return method
    return _answering(method)


def _answering(method: Any) -> Any:
    """The same method, which catches only what is wrong with the call itself: an error from inside
    passes through."""
    if method.__code__.co_flags & CO_COROUTINE:

        @wraps(method)
        async def acalled(*args: Any, **kwargs: Any) -> Any:
            try:
                coming = method(*args, **kwargs)
            except TypeError:
                raise_for(method, kwargs)
                raise
            return await coming

        return acalled

    @wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TypeError:
            raise_for(method, kwargs)
            raise

    return called


def raise_for(fn: Callable[..., Any], given: Mapping[str, Any], more: Iterable[str] = ()) -> None:
    """Raise the `TypeError` of a mistyped keyword, where there is one."""
    wrong = mistyped(fn, given, more)
    if wrong is not None:
        raise wrong from None


class ModelOptions(NamedTuple):
    """What is said of a request to a model, beside its messages."""

    model: str = ""
    params: Mapping[str, Any] | None = None
    final: bool | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class RunOptions(TypedDict, total=False):
    """Options of `shield.run` and `run.spawn`."""

    id: str | None
    role: str | None
    tenant: str | None
    deadline_s: float | None
    tools: Iterable[str] | None
    """Additional ones for this run."""
    can: Iterable[Action | str] | None
    """The actions that the run's host can carry out: what it cannot becomes the next stricter thing
    that it can. Without it that is every action, or what its parent's host can."""
    risk: RiskName | None
    """The level of the run: the worst of it, its task's and its parent's counts."""
    may: Iterable[str] | None
    """The effects and tools that its task needs: a person is asked about any other. What its parent
    may not do, it may not, whatever this says."""


def check_run_options(fn: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise `TypeError` for an option of a run that there is not, with the one that was meant."""
    names = RunOptions.__annotations__
    if not options.keys() <= names.keys():
        raise_for(fn, options, names)


class Later:
    """A method that is a function of the module `home`, loaded when it is first asked for. From
    then on the class `owner` has the function itself, so that later calls cost nothing more."""

    def __init__(self, owner: type, home: str, name: str) -> None:
        self._owner, self._home, self._name = owner, home, name

    def __get__(self, held: Any, owner: type | None = None) -> Any:
        made = answering(getattr(import_module(self._home), self._name))
        setattr(self._owner, self._name, made)
        return made if held is None else made.__get__(held, owner)
