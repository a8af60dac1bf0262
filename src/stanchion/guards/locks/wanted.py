"""What a call has to lock: the files that it changes, those that it reads where that counts, and
named resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stanchion.guards.locks.names import BELOW, kept, whole
from stanchion.guards.locks.table import Want
from stanchion.kernel.events import Handoff, ToolCall
from stanchion.readings import Reading
from stanchion.readings.act import Use, act_of
from stanchion.readings.paths.place import Place, is_device, is_url, joined, place_of
from stanchion.readings.paths.spelling import spelling
from stanchion.readings.paths.targets import Seeing, Target, targets, targets_in

LOCK: Final = "lock_file"
UNLOCK: Final = "unlock_file"
"""The tools by which an agent locks and releases something itself."""

HANDED: Final = Seeing(lambda _tool: "write", {"artifacts": "write", "artifact": "write"})
"""How a handoff is read: its artifacts are files, and the other agent is going to work on what it
names."""


class Seen(NamedTuple):
    """How paths are seen: from a folder, by which tools use them how, and whether case matters."""

    root: Place
    folded: bool
    reads: bool
    resources: frozenset[str]

    def names(self, text: str, start: str = "") -> Iterator[str]:
        """The names under which a path is locked: one for every way in which it may be read."""
        spelled = spelling(text)
        for at, one in enumerate((spelled.text, *spelled.lenient)):
            place = place_of(one, at > 0)
            if start and not place.root:
                place = joined(place_of(start, at > 0), place)
            place = joined(self.root, place) if self.root.root else place
            if not is_device(place):
                yield (place.folded if self.folded else place).text

    def wanted(self, reading: Reading[ToolCall]) -> tuple[Want, ...]:
        """What a call has to lock, once each."""
        event = reading.event
        if event.tool == LOCK:
            return tuple(self._asked(event.args, event.args.get("lock_type") != "shared"))
        found = list(self._files(self.targets(reading)))
        found += self._resources(event.args, act_of(event.tool, event.traits).use)
        return tuple(dict.fromkeys(found))

    def released(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        """What a call of `unlock_file` releases."""
        return tuple([want.name for want in self._asked(args, True)])

    def handed(self, event: Handoff) -> tuple[Want, ...]:
        """The files that a handoff names."""
        return tuple(dict.fromkeys(self._files(targets("", (), event.payload, HANDED, ()))))

    def targets(self, reading: Reading[ToolCall]) -> list[Target]:
        """The paths of a call that have to be locked."""
        found = reading.of(targets_in)
        return [
            one
            for one in found
            if one.sure and not is_url(one.text) and (self.reads or one.use != "read")
        ]

    def _files(self, found: Iterator[Target] | list[Target]) -> Iterator[Want]:
        for target in found:
            exclusive = target.use != "read"
            # What is deleted or unpacked into is changed with everything below it.
            deep = target.use == "delete" or (exclusive and target.how == "deep")
            for name in self.names(target.text, target.base) if not is_url(target.text) else ():
                yield Want(kept(whole(name) if deep else name), exclusive)

    def _resources(self, args: Mapping[str, Any], use: Use) -> Iterator[Want]:
        for name in self.resources & args.keys() if use != "read" or self.reads else ():
            yield Want(kept(f"{name}:{args[name]}"), use != "read")

    def _asked(self, args: Mapping[str, Any], exclusive: bool) -> Iterator[Want]:
        path, resource = args.get("path"), args.get("resource")
        if type(path) is str and path:
            below = path.endswith(BELOW) or path == BELOW[1:]
            for name in self.names(path.removesuffix(BELOW[1:]) or "."):
                yield Want(kept(whole(name) if below else name), exclusive)
        if type(resource) is str and resource:
            yield Want(kept(resource), exclusive)
