"""Scoping: guards get to know what a policy says of tasks, agents and tools, and, once it is put in
force, where the shield keeps what is its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from stanchion.kernel.contract.powers import having
from stanchion.policy.compiled import CompiledPolicy, GuardSeat, closest
from stanchion.policy.ladder import lesser_at
from stanchion.policy.prices.entry import PriceEntry
from stanchion.policy.schema import PolicyFile

if TYPE_CHECKING:
    from stanchion.kernel.contract.values import Places

T = TypeVar("T")
Where = Callable[..., str]


def scoped(guard: Any, file: PolicyFile, files: tuple[Path, ...]) -> Any:
    """A guard that knows what the policy says beside its own entry; others stay as they are."""
    wanting = having(guard, "scoped")
    return guard if wanting is None else wanting.scoped(PolicyTables(file, files))


class PolicyTables:
    """What a policy says beside a guard's own entry."""

    def __init__(self, file: PolicyFile, files: tuple[Path, ...]) -> None:
        self._file = file
        self.files = tuple(
            dict.fromkeys([str(path) for path in files] + [str(path.absolute()) for path in files])
        )
        self.lesser_at = lesser_at(file.degrade)
        self.timezone = file.timezone
        self.identity_fields = file.identity_fields
        self.me = file.me

    def found(self, table: str, key: str, /, only_given: bool = False) -> Callable[[str], Any]:
        """Gives what the closest entry of a name says under a key; roles have exact names."""
        said = {name: getattr(entry, key) for name, entry in getattr(self._file, table).items()}
        if table == "roles":
            return said.get
        return found_in(
            {name: value for name, value in said.items() if value is not None}
            if only_given
            else said
        )

    def names(self, table: str, /) -> tuple[str, ...]:
        """The names and globs of a table of which the policy says anything."""
        return tuple(getattr(self._file, table))

    def price(self, model: str, /) -> PriceEntry | None:
        """What the policy's own `prices` say that a model charges."""
        return found_in(self._file.prices)(model)

    def harm_in_file(self, path: str, text: str, takes: Callable[[str], bool], /) -> str:
        """What a file that is written would do once it runs."""
        from stanchion.guards.shell.in_files import harm_in_file

        return harm_in_file(path, text, takes)

    def quiet(self, logger: str, busy: Callable[[], Any], /) -> None:
        """Keep a library from logging what it reads for a guard: that has texts of calls in it.
        What the program itself has it read is logged as ever."""
        _keep_quiet(logger, busy)


@lru_cache
def _keep_quiet(logger: str, busy: Callable[[], Any]) -> None:
    import logging

    logging.getLogger(logger).addFilter(lambda _record: not busy())


def found_in(entries: Mapping[str, T | None]) -> Callable[[str], T | None]:
    """Gives what the closest entry of a name says; `None` where none says anything."""
    known = dict(entries)

    @lru_cache(4_096)
    def find(name: str) -> T | None:
        entry = closest(known, name)
        return None if entry is None else known[entry]

    return find


def beside(seat: GuardSeat) -> GuardSeat | None:
    """The seat of a guard that asks or counts on behalf of another; `None` where there is nothing
    to ask or count."""
    placed = seat.placed
    needing = having(placed.guard, "beside")
    made = None if needing is None else needing.beside(placed.stages)
    if made is None:
        return None
    asking = msgspec.structs.replace(
        placed,
        id=f"{placed.id}-{made.suffix}",
        guard=made.guard,
        stages=placed.stages if made.stages is None else made.stages,
        log_pass=placed.log_pass and made.logs_pass,
        part_of=placed.whole,
    )
    return msgspec.structs.replace(seat, placed=asking)


class Home:
    """A shield's own places."""

    def __init__(self, own: Places, prepares: bool = True) -> None:
        self._own = own
        self._prepares = prepares

    def policy(self, policy: CompiledPolicy) -> CompiledPolicy:
        """The same policy, hash included, whose guards keep agents off these places.

        The places are no part of the hash: it says what a policy means, and that is the same on
        every host.
        """
        seats = tuple([self._seat(seat) for seat in policy.seats])
        return CompiledPolicy(
            policy.file, seats, policy.calls, policy.undos, policy.files, policy.hash
        )

    def _seat(self, seat: GuardSeat) -> GuardSeat:
        guard = self.guard(seat.placed.guard)
        return seat if guard is seat.placed.guard else seat.with_guard(guard)

    def guard(self, guard: Any) -> Any:
        """A guard that is prepared, and knows these places, where it wants to; others stay as they
        are."""
        preparing = having(guard, "prepare") if self._prepares else None
        if preparing is not None:
            preparing.prepare()
        wanting = having(guard, "told")
        return guard if wanting is None else wanting.told(self._own)
