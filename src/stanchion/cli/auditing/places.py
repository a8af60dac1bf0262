"""The places of witnesses that a command names, and what is written there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stanchion.cli.trouble import AsBadInput
from stanchion.runtime.standing.places import BROKER, WITNESS

if TYPE_CHECKING:
    from stanchion.audit.verify import Witness
    from stanchion.audit.witnessing.place import WitnessPlace


def place_at(name: str, trail: Path | None, certificates: str | None) -> WitnessPlace:
    """The place that a name says; one that no witness can be kept at is bad input."""
    from stanchion.audit.witnessing.names import place_named
    from stanchion.audit.witnessing.place import BadPlace

    if name.startswith(BROKER):
        from stanchion.runtime.remote.witness import NAME, BrokerPlace

        path, _, part = name.removeprefix(BROKER).partition("#")
        return BrokerPlace(path, part if part else NAME)
    with AsBadInput(BadPlace):
        return place_named(name, trail, None if certificates is None else Path(certificates))


def usual_place(trail: str | None) -> str:
    """The place that the environment names for the usual trail; empty for any other, whose heads it
    does not hold."""
    return os.environ.get(WITNESS, "") if trail is None else ""


def witnesses_at(
    given: Sequence[str], trail: Path | None, certificates: str | None
) -> list[Witness]:
    """What the witnesses say that were named; raises `CannotVerify`."""
    from stanchion.audit.verify import CannotVerify
    from stanchion.audit.witnessing.place import BadPlace, Unreachable

    found = []
    for name in given:
        try:
            found.append(place_at(name, trail, certificates).witness(owner(trail)))
        except (BadPlace, Unreachable) as error:
            raise CannotVerify(str(error)) from None
    return found


def owner(trail: Path | None) -> int | None:
    """The user whose a trail is: who could rewrite it, and must not be able to rewrite its
    witness."""
    from stanchion.audit.verifying.rewritable import owner_of

    return owner_of(trail)
