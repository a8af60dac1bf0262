"""Mandates: what a task may do, fixed before it reads what others wrote, and able only to shrink.

A mandate is a pile of layers, and a call has to fit every one of them: whoever narrows a mandate
puts a layer on top, and nobody can take one away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.declared import EFFECTS, READ, sink_values
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.regex import regex

MANDATE: Final = "mandate"
"""The id of the guard that asks about what is outside of one."""
OUTSIDE: Final = "mandate.outside"
"""The code with which it asks."""
TOOL: Final = "tool:"
"""What stands before the name of a tool that is called like an effect."""
ME: Final = "me"
"""What stands in a template for the user's own addresses and accounts."""
NAME: Final = regex(r"[\w.*?/:@+-]{1,256}")
"""What can be the name of a tool, or a glob of names."""
MOST: Final = 256
"""How many entries a layer has at the most, how many layers and further tools a mandate has, and
how many values an argument may have."""

Plain = str | int | float | bool


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Numbers from `min` to `max`. Without a `min` nothing below zero is among them, unless `max`
    is."""

    min: int | float | None = None
    max: int | float | None = None

    def holds(self, value: Any) -> bool:
        """Whether a value is a number between them."""
        return (
            not isinstance(value, bool)
            and isinstance(value, int | float)
            and isfinite(value)
            and value >= (self.min if self.min is not None else min(0, self.max or 0))
            and (self.max is None or value <= self.max)
        )


class CallTemplate(msgspec.Struct, frozen=True, omit_defaults=True):
    """Calls of a tool, or of an effect, whose arguments have these values: one of a list, texts as
    globs, or a number in a range."""

    tool: str = ""
    effect: str = ""
    args: tuple[tuple[str, tuple[Plain, ...] | Range], ...] = ()


Entry = str | CallTemplate
Layer = tuple[Entry, ...]


class Mandate(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a task may do: its layers, the tools to which a person has said yes though they are
    outside of a layer, and whether a planner has had its say."""

    layers: tuple[Layer, ...] = ()
    also: tuple[tuple[str, Layer], ...] = ()
    planned: bool = False

    @property
    def words(self) -> str:
        """What it names, for people and agents; of values it says only that there are some."""
        said = [", ".join(map(_named, layer)) if layer else READ for layer in self.layers]
        return "; and of that only ".join([*said[:1], *[one for one in said[1:] if one]])


UNLIMITED: Final = Mandate()


def layer_of(name: str, given: object) -> Layer:
    """A layer as a host or a policy writes it; `ValueError` for what is no entry of one."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f'`{name}` is no list: give effects and tools, as in `{name}=["read"]`')
    listed = [*given]
    if len(listed) > MOST:
        raise ValueError(f"`{name}` has {len(listed)} entries: give {MOST} at the most, or globs")
    return tuple(dict.fromkeys([_entry(name, one) for one in listed]))


def layer_of_task(may: object) -> Layer | None:
    """The layer of a task's template; nothing where it has none, `ValueError` where an entry makes
    no sense."""
    return layer_of("may", may) if isinstance(may, tuple) else None


def _entry(name: str, given: object) -> Entry:
    if isinstance(given, CallTemplate):
        return given
    if isinstance(given, Mapping):
        return _template(name, given)
    if not isinstance(given, str) or NAME.fullmatch(given.removeprefix(TOOL)) is None:
        raise ValueError(
            f"`{given}` in `{name}` is neither an effect ({', '.join(EFFECTS)}) nor the name of a "
            f"tool: give one of them, or a glob"
        )
    return given


def _template(name: str, given: Mapping[Any, Any]) -> CallTemplate:
    said = dict(given)
    tool, effect = said.pop("tool", ""), said.pop("effect", "")
    if bool(tool) == bool(effect) or (effect and effect not in EFFECTS):
        raise ValueError(
            f"a mapping in `{name}` names a `tool`, or an `effect` ({', '.join(EFFECTS)}), and "
            f"then what its arguments may be"
        )
    if tool and (not isinstance(tool, str) or NAME.fullmatch(tool) is None):
        raise ValueError(f"`{tool}` in `{name}` is not the name of a tool: give one, or a glob")
    return CallTemplate(tool, effect, tuple([(str(arg), _allowed(arg, said[arg])) for arg in said]))


def _allowed(arg: Any, given: Any) -> tuple[Plain, ...] | Range:
    if isinstance(given, Mapping):
        try:
            found = typed.convert(dict(given), Range)
        except msgspec.ValidationError:
            found = Range()
        if found == Range():
            raise ValueError(f"`{arg}` is no range: give numbers as `min`, `max` or both")
        return found
    values = tuple(given) if isinstance(given, list | tuple) else (given,)
    if len(values) > MOST or not all(isinstance(one, str | int | float) for one in values):
        raise ValueError(
            f"`{arg}` is no list of values: give up to {MOST} texts and numbers, or a range"
        )
    return values


def join(*mandates: Mandate) -> Mandate:
    """A mandate with the layers of all of them; the first one itself where nothing is added. More
    layers than anybody needs leave nothing but looking, and a yes too many is forgotten."""
    layers = tuple(dict.fromkeys([layer for one in mandates for layer in one.layers]))
    layers = layers if len(layers) <= MOST else ((),)
    also = tuple(dict.fromkeys([yes for one in mandates for yes in one.also]))[:MOST]
    whole = Mandate(layers, also, any(one.planned for one in mandates))
    return mandates[0] if whole == mandates[0] else whole


def is_inside(
    mandate: Mandate, tool: str, effect: str, args: Any, me: tuple[str, ...] = ()
) -> bool:
    """Whether a call fits every layer of a mandate. What only looks always does."""
    if effect == READ:
        return True
    for layer in mandate.layers:
        if not (
            _is_named(layer, tool, effect)
            or (tool, layer) in mandate.also
            or any(_fits(one, tool, effect, args, me) for one in _templates(layer))
        ):
            return False
    return True


def with_tool(mandate: Mandate, tool: str) -> Mandate:
    """A mandate with a person's yes to a tool, for the layers that it has now and no later one."""
    return join(mandate, Mandate(also=tuple([(tool, layer) for layer in mandate.layers])))


def named_values(
    mandate: Mandate, tool: str, effect: str, args: Any, me: tuple[str, ...] = ()
) -> frozenset[str]:
    """The arguments of a call whose values a mandate names, where the call fits it."""
    if not is_inside(mandate, tool, effect, args, me):
        return frozenset()
    return frozenset(
        [
            name
            for layer in mandate.layers
            for entry in _templates(layer)
            if _fits(entry, tool, effect, args, me)
            for name, _ in entry.args
        ]
    )


def names_values(mandate: Mandate, tool: str, effect: str) -> bool:
    """Whether a mandate says with which values a tool may be called."""
    return any(
        entry.args and _is_about(entry, tool, effect)
        for layer in mandate.layers
        for entry in _templates(layer)
    )


@lru_cache(4_096)
def _is_named(layer: Layer, tool: str, effect: str) -> bool:
    """Whether a layer names a tool or its effect, whatever the values are."""
    names = [one for one in layer if isinstance(one, str)]
    tools = [name.removeprefix(TOOL) for name in names if name not in EFFECTS]
    return effect in names or any(_is_called(tool, name) for name in tools)


def _templates(layer: Layer) -> list[CallTemplate]:
    return [one for one in layer if isinstance(one, CallTemplate)]


def _fits(entry: CallTemplate, tool: str, effect: str, args: Any, me: tuple[str, ...]) -> bool:
    return _is_about(entry, tool, effect) and all(
        _has(sink_values((name,), args)[name], allowed, me) for name, allowed in entry.args
    )


def _is_about(entry: CallTemplate, tool: str, effect: str) -> bool:
    return _is_called(tool, entry.tool) if entry.tool else effect == entry.effect


def _is_called(tool: str, name: str) -> bool:
    return tool == name or (is_glob(name) and bool(tool) and glob(name, tool))


def _has(value: Any, allowed: tuple[Plain, ...] | Range, me: tuple[str, ...]) -> bool:
    """Whether a value, or each of several, is one of those that are allowed."""
    if isinstance(value, list):
        return bool(value) and all(_has(one, allowed, me) for one in value)
    if isinstance(allowed, Range):
        return allowed.holds(value)
    return any(value in me if one == ME else _is_one(value, one) for one in allowed)


def _is_one(value: Any, allowed: Plain) -> bool:
    if isinstance(value, str) and isinstance(allowed, str):
        return value == allowed or ("*" in allowed and _star(allowed).fullmatch(value) is not None)
    return isinstance(value, bool) == isinstance(allowed, bool) and bool(value == allowed)


@lru_cache(1_024)
def _star(allowed: str) -> Any:
    """A text whose stars stand for a part of one word: nothing that parts addresses, leads to
    another folder or makes another host of a host."""
    parts = [
        "".join([f"\\{each}" if not each.isalnum() else each for each in part])
        for part in allowed.split("*")
    ]
    made = parts[0]
    for before, part in pairwise(parts):
        made += (r"(?:[\w+-][\w.+-]*)?" if before[-1:].isalnum() else r"[\w+-][\w.+-]*") + part
    return regex(made)


def _named(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    name = entry.tool if entry.tool else entry.effect
    return f"{name} with the values that are named for it" if entry.args else name
