"""What an adapter needs to know of its framework: the version that it was tried with, what is
registered there and passes no guard, and a model as a request is to be sent to it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.shown import StanchionError, visible
from stanchion.runtime.errors import Ungoverned


class UnknownVersion(StanchionError, ImportError):
    """A framework that is not there, or of a version whose seams nobody has tried: nothing would be
    guarded."""


def tried(distribution: str, at_least: str, below: str) -> str:
    """The version of an installed framework; raises `UnknownVersion` where the adapter was not
    tried with it.

    An adapter calls this where it is imported, before anything of the framework is: a seam that has
    moved would let everything pass, and nobody would notice.
    """
    from importlib.metadata import PackageNotFoundError, version

    wanted = f"`{distribution}>={at_least},<{below}`"
    try:
        found = version(distribution)
    except PackageNotFoundError:
        raise UnknownVersion(f"`{distribution}` is not installed: install {wanted}") from None
    if not _parts(at_least) <= _parts(found) < _parts(below):
        unknown = (
            f"`{distribution}` {found} was not tried with this adapter, and calls might pass it "
            f"unjudged"
        )
        raise UnknownVersion(f"{unknown}: install {wanted}")
    return found


def _parts(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with; none for one that begins with something else, which
    is never known."""
    numbers = [int(part) for part in takewhile(str.isdigit, version.split("."))]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def lesser(model: Any, decided: Mapping[str, Any]) -> Any:
    """A copy of a framework's model with these attributes, for hosts that keep what they ask for in
    an object.

    It is the model itself where it has them already. Raises `AttributeError` where it has no such
    attribute: what was decided could not be carried out.
    """
    changed = {name: value for name, value in decided.items() if _of(model, name) != value}
    if not changed:
        return model
    made = copy.copy(model)
    vars(made).update(changed)
    return made


def _of(model: Any, name: str) -> Any:
    try:
        return getattr(model, name)
    except AttributeError:
        kind = type(model).__name__
        raise AttributeError(
            f"a model of the type `{kind}` has no `{name}`: it cannot be asked for less"
        ) from None


LONGEST: Final = 200

ASKED_FOR: Final = ("input_schema", "parameters", "function")
"""What a definition has that asks the caller to run the tool."""
CALLERS: Final = ("function", "custom", "bash_", "text_editor_", "computer_", "memory_")
"""How the types of tools begin that providers define and the caller runs."""


class Part(msgspec.Struct, frozen=True):
    """A tool, a client or an agent that is registered in a framework: its name there, whether its
    calls are judged, and where it was found."""

    kind: Literal["tool", "client", "agent"]
    name: str
    guarded: bool
    where: str = ""


def survey(run: Any, parts: Iterable[Part]) -> tuple[Part, ...]:
    """Say what a run's framework has at hand; gives the parts that nothing guards.

    Where the shield watches, those are written down and named by `stanchion audit coverage`; where
    it is to refuse, `Ungoverned` is raised, so that the agent does not start with them.
    """
    open_ones = tuple([part for part in parts if not part.guarded])
    sightings = getattr(
        getattr(run, "desk", None), "sightings", None
    )  # a broker's run has its desk elsewhere
    if sightings is None or not open_ones:
        return open_ones
    for part in open_ones:
        sightings.found(part.kind, visible(part.name[:LONGEST]), visible(part.where[:LONGEST]))
    if sightings.mode == "refuse":
        named = ", ".join(
            [f"the {part.kind} `{visible(part.name[:LONGEST])}`" for part in open_ones]
        )
        raise Ungoverned(
            f"nothing guards {named}: put it under the adapter, or take it away from the agent"
        )
    return open_ones


def by_provider(tools: Iterable[Any], where: str = "") -> list[Part]:
    """Of what a framework sends as an agent's tools those that the provider runs, who asks nobody
    here: definitions in a vendor's own words, which have no arguments for the caller to take."""
    given = [
        one
        for one in tools
        if isinstance(one, Mapping) and not any(name in one for name in ASKED_FOR)
    ]
    named = [
        (str(one.get("type", "")), str(one.get("name", one.get("type", ", ".join(map(str, one))))))
        for one in given
    ]
    return [
        Part("tool", name, False, where) for kind, name in named if not kind.startswith(CALLERS)
    ]
