"""Scoping: guards get to know what a policy says of tasks, agents and tools, and nothing of that is left unread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from stanchion.guards._own import OwnPlaces
from stanchion.guards.authority import Authority
from stanchion.guards.budget import Budget, Requests
from stanchion.guards.capabilities import Capabilities
from stanchion.guards.egress import EgressGuard
from stanchion.guards.egress.resolved import Resolved
from stanchion.guards.files import Files
from stanchion.guards.files.globs import fault
from stanchion.guards.files.real import RealFiles
from stanchion.guards.files.scope import FileScope
from stanchion.guards.sql import Sql
from stanchion.guards.task_scope import TaskScope
from stanchion.kernel.names import names
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import Seat, closest
from stanchion.policy.errors import Fault
from stanchion.policy.ladder import lesser_at
from stanchion.policy.schema import PolicyFile, use_of

T = TypeVar("T")
Where = Callable[..., str]

READERS: Final = (
    ("tasks", "files", Files.name),
    ("tasks", "related_tools", TaskScope.name),
    ("tools", "needs", Capabilities.name),
    ("tools", "authority", Authority.name),
    ("agents", "autonomy_level", Authority.name),
    ("roles", "autonomy_level", Authority.name),
)
"""Which guard reads which key of which table."""


def scoped(guard: Any, file: PolicyFile, files: tuple[Path, ...]) -> Any:
    """A guard that knows what the policy says beside its own entry; others stay as they are."""
    match guard:
        case Files():
            scopes = {n: FileScope(t.files.write, t.files.deny) for n, t in file.tasks.items() if t.files is not None}
            own = [str(path) for path in files] + [str(path.absolute()) for path in files]
            return guard.within(found_in(scopes), tuple(dict.fromkeys(own)), reach_in_file)
        case Budget():
            return guard.within(lesser_at(file.degrade))
        case Capabilities():
            return guard.within(found_in({name: tool.needs for name, tool in file.tools.items()}))
        case Authority():
            agents = {name: agent.autonomy_level for name, agent in file.agents.items()}
            roles = {name: role.autonomy_level for name, role in file.roles.items()}
            tools = {name: tool.authority for name, tool in file.tools.items()}
            return guard.within(found_in(agents), roles.get, found_in(tools))
        case TaskScope():
            related = {n: None if t.related_tools is None else names(t.related_tools) for n, t in file.tasks.items()}
            return guard.within(found_in(related))
        case Sql():
            from stanchion.policy.quiet import keep_quiet

            keep_quiet()
            return guard
        case _:
            return guard


def found_in(entries: Mapping[str, T | None]) -> Callable[[str], T | None]:
    """Gives what the closest entry of a name says; `None` where none says anything."""
    known = dict(entries)

    @lru_cache(4_096)
    def find(name: str) -> T | None:
        entry = closest(known, name)
        return None if entry is None else known[entry]

    return find


def beside(seat: Seat) -> Seat | None:
    """The seat of a guard that asks or counts on behalf of another; `None` where there is nothing to ask or count."""
    placed = seat.placed
    match placed.guard:
        case Files(real_paths=True):
            asking = msgspec.structs.replace(placed, id=f"{placed.id}-real", guard=RealFiles(placed.guard))
        case EgressGuard(resolve=True) if Stage.EGRESS in placed.stages:
            asking = msgspec.structs.replace(
                placed, id=f"{placed.id}-resolved", guard=Resolved(placed.guard), stages=Resolved.stages
            )
        case Budget(api_calls=calls) if calls is not None and placed.stages == placed.guard.default_stages:
            counting = Requests(placed.guard)
            asking = msgspec.structs.replace(
                placed, id=f"{placed.id}-requests", guard=counting, stages=Requests.stages, log_pass=False
            )
        case _:
            return None
    return msgspec.structs.replace(seat, placed=asking)


def unread(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """What a policy says of tasks, agents and tools that no guard reads."""
    used = {use_of(entry) for entry in file.guards if entry.enabled}
    for table, key, guard in READERS:
        if guard in used:
            continue
        for name, entry in getattr(file, table).items():
            if getattr(entry, key) not in (None, ()):
                message = f"nothing acts on `{table}.{name}.{key}`: add a guard with `use: {guard}`"
                yield Fault(where(table, name, key), message)


def wrong_in(file: PolicyFile, where: Where) -> Iterator[Fault]:
    """Globs of tasks that cannot be matched."""
    for name, task in file.tasks.items():
        for key in ("write", "deny") if task.files is not None else ():
            globs = getattr(task.files, key)
            for at, text in enumerate(globs if globs is not None else ()):
                wrong = fault(text)
                if wrong is not None:
                    yield Fault(where("tasks", name, "files", key, at), wrong)


def reach_in_file(path: str, text: str, own: OwnPlaces) -> str:
    """How surely a file that is written would do what only a person may do: `danger`, `doubt`, or not at all."""
    from stanchion.guards.shell.writing import written

    return written(path, text, own)
