"""Scoping: guards get to know what a policy says of tasks, agents and tools, and nothing of that is
left unread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from stanchion.kernel.contract.powers import having
from stanchion.kernel.declared import CONTENT
from stanchion.policy.compiled import Seat, closest
from stanchion.policy.errors import Fault
from stanchion.policy.ladder import lesser_at
from stanchion.policy.prices.entry import PriceEntry
from stanchion.policy.schema import PolicyFile, readers, use_of
from stanchion.readings.record_line import record_line

T = TypeVar("T")
Where = Callable[..., str]

FOR_GUARDS: Final = (
    ("tasks", "files"),
    ("tasks", "related_tools"),
    ("tools", "needs"),
    ("tools", "authority"),
    ("tools", "records"),
    ("tools", "identity_fields"),
    ("agents", "autonomy_level"),
    ("roles", "autonomy_level"),
    ("tasks", "branches"),
    ("agents", "branches"),
)
"""What a policy says, by table and key, that nothing but guards reads."""
FOR_GUARDS_OF_ALL: Final = ("identity_fields", "me")
"""What a policy says for all that nothing but guards reads: guards name it as `("policy", "me")`.
"""


def scoped(guard: Any, file: PolicyFile, files: tuple[Path, ...]) -> Any:
    """A guard that knows what the policy says beside its own entry; others stay as they are."""
    wanting = having(guard, "scoped")
    return guard if wanting is None else wanting.scoped(Tables(file, files))


class Tables:
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
        """Keep a library from logging what it reads for a guard."""
        from stanchion.policy.quiet import keep_quiet

        keep_quiet(logger, busy)


def found_in(entries: Mapping[str, T | None]) -> Callable[[str], T | None]:
    """Gives what the closest entry of a name says; `None` where none says anything."""
    known = dict(entries)

    @lru_cache(4_096)
    def find(name: str) -> T | None:
        entry = closest(known, name)
        return None if entry is None else known[entry]

    return find


def beside(seat: Seat) -> Seat | None:
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


def unread(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """What a policy says of tasks, agents and tools that no guard reads."""
    used = {use_of(entry) for entry in file.guards if entry.enabled}
    for table, key in FOR_GUARDS:
        saying = [
            name
            for name, entry in getattr(file, table).items()
            if getattr(entry, key) not in (None, ())
        ]
        reading = readers(table, key) if saying else ()
        if used & set(reading):
            continue
        for name in saying:
            message = (
                f"nothing acts on `{table}.{name}.{key}`: add a guard with `use: {reading[0]}`"
            )
            yield Fault(where(table, name, key), message)
    for key in FOR_GUARDS_OF_ALL:
        reading = readers("policy", key) if getattr(file, key) else ()
        if reading and not used & {*reading}:
            message = f"nothing acts on `{key}`: add a guard with `use: {reading[0]}`"
            yield Fault(where(key), message)


def unspent(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """Budgets of tasks that no guard takes its limit from."""
    taken = {getattr(entry, "of_task", None) for entry in file.guards if entry.enabled}
    for name, task in file.tasks.items():
        for key in type(task.budget).__struct_fields__ if task.budget is not None else ():
            of_task = True if key == "time_s" else key
            if getattr(task.budget, key) is not None and of_task not in taken:
                use = (
                    "`use: time_limit` and `of_task: true`"
                    if of_task is True
                    else f"`use: budget` and `of_task: {key}`"
                )
                message = f"nothing acts on `tasks.{name}.budget.{key}`: add a guard with {use}"
                yield Fault(where("tasks", name, "budget", key), message)


def wrong_in(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """Globs of tasks that cannot be matched, and lines of records that cannot be told."""
    for name, tool in file.tools.items():
        if tool.records is not None:
            try:
                record_line(tool.records)
            except ValueError as error:
                yield Fault(where("tools", name, "records"), str(error))
        for key in ("records", "identity_fields") if tool.result == CONTENT else ():
            if getattr(tool, key):
                said = "`content` names nothing: leave it out, or say `result: records`"
                yield Fault(where("tools", name, key), said)
    for name, task in file.tasks.items():
        for key in ("write", "deny") if task.files is not None else ():
            from stanchion.readings.paths.place import fault

            globs = getattr(task.files, key)
            for at, text in enumerate(globs if globs is not None else ()):
                wrong = fault(text)
                if wrong is not None:
                    yield Fault(where("tasks", name, "files", key, at), wrong)
