"""Finding the trail that a command is about, and one record in it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from holdfast.audit.layout import chains, state_folder
from holdfast.audit.reading import Found, Reader
from holdfast.cli.progress import Told
from holdfast.cli.trouble import BadInput
from holdfast.runtime.places import AUDIT, MEMORY, trail_folder

CHECKS: Final = "checks"
"""The folder, in the state folder, of the trail that `holdfast check` keeps for `holdfast explain`."""

FEWEST: Final = 4

_PLACE: Final = re.compile(r"([0-9a-f]{1,16}):(\d{1,18})")


def checks_folder() -> Path:
    """Where `holdfast check` keeps what it decides; `OSError` where there is no such place."""
    return state_folder(os.environ) / CHECKS


def trail_at(given: str | None) -> Path:
    """The folder of the trail: the one that was named, or where shields write to."""
    try:
        folder = trail_folder(given, os.environ)
    except OSError as error:
        raise BadInput(str(error)) from None
    if folder is None:
        where = f"{AUDIT} is `{MEMORY}`" if given is None else f"`{MEMORY}` is no folder"
        raise BadInput(f"there is no trail to read, because {where}: name the folder of one")
    return folder


def reader_of(given: str | None) -> Reader:
    """A reader of the trail; one that is not there yet, or cannot be read, is bad input."""
    folder = trail_at(given)
    try:
        there = bool(chains(folder))
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else str(error)
        raise BadInput(f"the trail in `{folder}` cannot be read: {reason}; name the folder of a trail") from None
    if not there:
        raise BadInput(f"there is no trail in `{folder}` yet: name another folder, or let a shield write there first")
    return Reader(folder)


def digits_of(folder: Path) -> int:
    """How many digits tell the chains of a trail apart, and four at least."""
    names = chains(folder)
    return next((count for count in range(FEWEST, 16) if len({name[:count] for name in names}) == len(names)), 16)


def place_of(found: Found, digits: int) -> str:
    """A record's place, short enough to type: the first digits of its chain, and its number there."""
    return f"{found.chain[:digits]}:{found.stub.seq}"


def record(reader: Reader, name: str, told: Told | None = None) -> Found | None:
    """A record by the id of its decision, or by its place, `CHAIN:SEQ`; the newest where several have that id."""
    place = _PLACE.fullmatch(name)
    if place is not None:
        fitting = [chain for chain in chains(reader.folder) if chain.startswith(place[1])]
        if len(fitting) > 1:
            raise BadInput(f"`{place[1]}` is the beginning of {len(fitting)} chains: write more digits of it")
        if fitting:
            return reader.at(fitting[0], int(place[2]))
    return reader.find(name, told)
