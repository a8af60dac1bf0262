"""What an adapter needs to know of its framework: what has to be proven of it, what is registered
there and passes no guard, and a model as a request is to be sent to it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal
from weakref import WeakSet

import msgspec

from stanchion.kernel.shown import visible
from stanchion.runtime.errors import Ungoverned

UNPROVEN: Final[dict[str, dict[str, Callable[[], None]]]] = {}
"""What has to be proven before anything is judged on a host, by its name and by what of it was not
tried: a version of its framework."""

TRYING: Final[WeakSet[Any]] = WeakSet()
"""The shields under which something is being proven."""


def prove(host: str, run: Any) -> None:
    """Prove what has to be proven of a host before the first run on it; what is not raises."""
    proofs = UNPROVEN.get(host.partition(" ")[0])
    if proofs and getattr(run.desk, "shield", None) not in TRYING:
        for proof in tuple(proofs.values()):
            proof()


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
