"""Checking a guard against the contract: what is declared wrongly is found when it is put in force,
not when asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, ClassVar, Final, Union, get_args, get_origin, get_type_hints

from stanchion.kernel.contract.powers import TOGETHER, Powers
from stanchion.kernel.guard import AskingGuard, Kind, MeterGuard, PureGuard, RecordGuard

KINDS: Final[dict[Kind, Any]] = {
    Kind.PURE: PureGuard,
    Kind.ASKING: AskingGuard,
    Kind.RECORD: RecordGuard,
    Kind.METER: MeterGuard,
}
"""What a guard of each kind has to have."""

MISSING: Final = object()


def wrong_in(guard: Any) -> list[str]:
    """What a guard declares wrongly, each with what to write; nothing where it keeps the
    contract."""
    kind = guard.kind
    if not isinstance(kind, Kind):
        known = ", ".join([f"`Kind.{one.name}`" for one in Kind])
        return [f"`kind` is `{kind!r}`: write one of {known}"]
    found = [
        line for member in members(KINDS[kind]) for line in _wrong(guard, member, f"a {kind} guard")
    ]
    every = {member.name: member for member in members(Powers)}
    others = {name for some in TOGETHER.values() for name in some}
    for sign in every:
        value = MISSING if sign in others else _value(guard, sign)
        if value is MISSING or value is None or value is False:
            continue
        for name in (sign, *TOGETHER.get(sign, ())):
            found += _wrong(guard, every[name], f"`{sign}`")
    return list(dict.fromkeys(found))


class ProtocolMember:
    """One member of a protocol: a method with its parameters, or a value with its type."""

    def __init__(self, name: str, declared: Any, hint: Any) -> None:
        self.name = name
        self.hint = hint
        self.parameters = (
            None if declared is None else list(inspect.signature(declared).parameters.values())[1:]
        )

    @property
    def how(self) -> str:
        """How it is written."""
        if self.parameters is not None:
            return f"def {self.name}({', '.join(['self', *[one.name for one in self.parameters]])})"
        return f"{self.name}: {_shown(self.hint)}"

    @property
    def given(self) -> int:
        """How many values a method is called with at the least."""
        parameters = self.parameters if self.parameters is not None else []
        return len([one for one in parameters if one.default is one.empty])


def members(protocol: Any) -> list[ProtocolMember]:
    """The members of a protocol in their order."""
    values = [ProtocolMember(name, None, hint) for name, hint in get_type_hints(protocol).items()]
    for name, declared in vars(protocol).items():
        if inspect.isfunction(declared) and not name.startswith("_"):
            values.append(ProtocolMember(name, declared, None))
    return values


def _wrong(guard: Any, member: ProtocolMember, owner: str) -> Iterator[str]:
    value = _value(guard, member.name)
    if value is MISSING:
        yield f"{owner} needs `{member.name}` beside it: write `{member.how}`"
    elif member.parameters is None:
        if not _fits(value, member.hint):
            yield (
                f"`{member.name}` is `{value!r:.80}`, which is no {_shown(member.hint)}: write "
                f"`{member.how}`"
            )
    elif not callable(value):
        yield f"`{member.name}` is `{value!r:.80}`, which cannot be called: write `{member.how}`"
    elif inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value):
        yield f"`{member.name}` is async, and the engine awaits nothing: write `{member.how}`"
    elif not _takes(value, member.given):
        yield f"`{member.name}` cannot be called with {member.given} values: write `{member.how}`"


def _value(guard: Any, name: str) -> Any:
    """A member of a guard; what raises instead of giving a value is no value."""
    if name not in dir(guard):
        return MISSING
    try:
        return getattr(guard, name)
    except Exception as error:  # noqa: BLE001 - a guard may raise anything; what it raised is told
        return error


def _takes(method: Any, given: int) -> bool:
    try:
        inspect.signature(method).bind(*[None] * given)
    except TypeError:
        return False
    except ValueError:
        return True  # one that is not written in Python does not say what it takes
    return True


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, as far as containers tell by what is in them."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return not isinstance(value, Exception)
    if origin is ClassVar:
        return _fits(value, parts[0])
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in parts)
    if origin is None:
        return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    if inspect.isabstract(origin) or origin is Mapping:
        return isinstance(value, origin)
    if not isinstance(value, origin):
        return False
    inner = parts[0] if parts else Any
    return get_origin(inner) is not None or all(_fits(one, inner) for one in value)


def _shown(hint: Any) -> str:
    """A type as one writes it."""
    if get_origin(hint) is ClassVar:
        return _shown(get_args(hint)[0])
    return (
        hint.__name__
        if isinstance(hint, type) and not get_args(hint)
        else str(hint).replace("typing.", "")
    )
