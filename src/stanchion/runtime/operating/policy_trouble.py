"""A watched policy that does not load: told, and noted in the state folder for whoever looks, until
one loads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion import typed
from stanchion.audit.layout import state_folder
from stanchion.runtime.standing.processes import Process, process_at, this_process
from stanchion.telemetry.occurrences import Kind, Occurrence

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated

FOLDER: Final = "refused-policies"
LARGEST: Final = 64 * 1024
MOST_WORDS: Final = 4_000
"""How much is noted of what is wrong with a policy."""


class RefusedPolicy(msgspec.Struct, frozen=True):
    """A policy that a process could not put in force: where it comes from, since when (milliseconds
    since 1970), what was wrong with it last, and which process goes on with the one before it."""

    origin: str
    since: int
    error: str
    process: Process


class PolicyTrouble:
    """Keeps one shield's note: written while its policy is refused, and gone when one is in
    force."""

    def __init__(self, shield: Operated) -> None:
        self._shield = shield
        self._note: Path | None = None
        self.now: RefusedPolicy | None = None
        """What is refused now; `None` where the policy in force is the one that is there."""

    def refused(self, error: Exception) -> None:
        """A policy was refused; the one before it stays in force."""
        shield = self._shield
        at, said = shield.clock(), shield.policy.veil.words(str(error))[:MOST_WORDS]
        origin = shield.origin if shield.origin else "policy"
        since = at if self.now is None else self.now.since
        self.now = RefusedPolicy(origin, since, said, this_process())
        text = f"the policy `{origin}` did not load, and the previous one stays in force: {said}"
        self._write(self.now)
        self._tell(Kind.POLICY_REFUSED, at, text, origin)

    def loaded(self) -> None:
        """A policy is in force that was loaded just now."""
        refused, self.now = self.now, None
        if refused is None:
            return
        self.close()
        origin = refused.origin
        self._tell(
            Kind.POLICY_LOADED,
            self._shield.clock(),
            f"the policy `{origin}` is in force again",
            origin,
        )

    def close(self) -> None:
        """Remove the note: the process does not watch any more."""
        note, self._note = self._note, None
        if note is not None:
            with suppress(OSError):
                note.unlink(missing_ok=True)

    def _tell(self, kind: Kind, at: int, text: str, origin: str) -> None:
        self._shield.occurrences.tell(
            Occurrence(kind=kind, at=at, text=text, about=f"policy:{origin}")
        )

    def _write(self, refused: RefusedPolicy) -> None:
        """Note it. Where that cannot be written, it is told all the same."""
        with suppress(OSError):
            if self._note is None:
                folder = state_folder(os.environ) / FOLDER
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._note = folder / f"{refused.process.pid}-{os.urandom(8).hex()}.json"
            new = self._note.with_suffix(".new")
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(refused))
            os.replace(new, self._note)


def refused_policies(environ: Mapping[str, str]) -> Iterator[RefusedPolicy]:
    """The policies that processes of this host could not load, oldest first. The notes of processes
    that are gone are removed."""
    found = []
    try:
        files = sorted((state_folder(environ) / FOLDER).glob("*.json"))
    except OSError:
        return
    for file in files:
        try:
            with file.open("rb") as reading:
                one = typed.decode(reading.read(LARGEST), RefusedPolicy)
        except (OSError, msgspec.MsgspecError):
            continue
        if _is_gone(one.process):
            with suppress(OSError):
                file.unlink(missing_ok=True)
        else:
            found.append(one)
    yield from sorted(found, key=lambda one: one.since)


def _is_gone(process: Process) -> bool:
    """Whether a process has ended; one in another space of process ids, or on a system that does
    not tell, may be there."""
    me = this_process()
    if not me.started or process.space != me.space:
        return False
    there = process_at(process.pid)
    return there is None or there.started != process.started
