"""Scopes: which files a run may touch, as globs that are ready to be matched."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.guards.files.codes import shown
from stanchion.guards.files.protected.seat import seat_of
from stanchion.kernel.actions import Action
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.readings import Reading
from stanchion.readings.paths.place import (
    PathGlob,
    PathPlace,
    inside,
    is_device,
    joined,
    listed,
    place_of,
)
from stanchion.readings.word_lists import Strings


class FileScope(NamedTuple):
    """Globs of files that may be written, and of those that may not be touched; `None` does not
    restrict writing."""

    write: Strings | None = None
    deny: Strings = ()


class ReadyScope(NamedTuple):
    """A scope whose globs are ready to be matched."""

    write: tuple[PathGlob, ...] | None
    deny: tuple[PathGlob, ...]


class Folders(NamedTuple):
    """The folders of a run, the first being where relative paths begin; `folded` where case does
    not matter."""

    places: tuple[PathPlace, ...]
    folded: bool = False

    def seen(self, place: PathPlace) -> PathPlace:
        """A place from where the run stands."""
        first = self.places[0] if self.places else None
        seen = joined(first, place) if first is not None and first.root else place
        return seen.folded if self.folded else seen

    def outside(self, place: PathPlace) -> bool:
        """Whether a place is certainly in none of the folders. Where all of them are relative,
        nobody knows from the text alone where they are: only what climbs out of them is outside."""
        if not self.places or is_device(place):
            return False
        if any(inside(place, folder) for folder in self.places):
            return False
        return not place.root or any(folder.root for folder in self.places)

    def from_project(self, place: PathPlace, within: PathPlace) -> PathPlace:
        """A place as a project has it, where it is in a folder that can be one; else as it is."""
        for folder in self.places:
            if folder.root and inside(place, folder.folded):
                seat = seat_of(folder.folded)
                own = seat.area in ("near", "plain", "temporary") and bool(seat.inner)
                return within if own else place
        return place

    def within(self, place: PathPlace) -> PathPlace:
        """A place as globs see it: from the folder that it is in."""
        for folder in self.places:
            if inside(place, folder):
                return PathPlace("", place.parts[len(folder.parts) :])
        return place


def folders(roots: Strings, folded: bool) -> Folders:
    """The folders with these names."""
    places = [place_of(root, lenient=root[1:2] == ":") for root in roots]
    return Folders(tuple([place.folded if folded else place for place in places]), folded)


def ready_scope(scope: FileScope, folded: bool) -> ReadyScope:
    """A scope to match with. What is denied is so in upper and lower case alike."""
    return ReadyScope(
        None if scope.write is None else listed(scope.write, folded), listed(scope.deny, True)
    )


WHY: Final = "nobody can tell which files it changes, and only some may be changed"


def untold(reading: Reading[ToolCall], action: Action) -> Finding | None:
    """What is said, where only listed files may be written, against a command that writes a file
    which no text names: in a variable, or in code that works out its name."""
    for held in reading.commands:
        from stanchion.readings.shell.changed import changed_in

        for one in changed_in(held.text, reading.reader.limits):
            if not one.path:
                return Finding(action, "files.denied", (shown(one.by), "run", WHY))
    return None
