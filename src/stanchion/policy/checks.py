"""What makes no sense in a policy whose every part is right by itself, told when it loads: entries
that nothing acts on, names that are nobody's, and what contradicts what stands elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import pairwise
from typing import Any, Final

from stanchion.kernel.actions import RISK_NAMES
from stanchion.kernel.autonomy import OPERATOR, SUPERVISOR
from stanchion.kernel.declared import CONTENT, LASTING
from stanchion.kernel.mandate import layer_of_task
from stanchion.kernel.names import is_glob
from stanchion.policy.compiled import best
from stanchion.policy.faults import entry as failures
from stanchion.policy.ladder import wrong_models
from stanchion.policy.nearest import hint
from stanchion.policy.of_run import CRITICAL
from stanchion.policy.schema import (
    AppliesTo,
    PolicyFile,
    always_active,
    id_of,
    readers,
    use_of,
)
from stanchion.policy.seat import entry_at, lists_guard
from stanchion.policy.sections import ApprovedEntry, RiskLevels
from stanchion.readings.paths.place import fault
from stanchion.readings.record_line import record_line

UTC: Final = "UTC"
"""The time zone of a policy that names none."""
Wrong = tuple[tuple[str | int, ...], str]
"""A path in a policy, and what is wrong there."""

FOR_GUARDS: Final = (
    ("tasks", "files"),
    ("tasks", "related_tools"),
    ("tools", "needs"),
    ("tools", "authority"),
    ("tools", "schema"),
    ("tools", "result_schema"),
    ("tools", "pin"),
    ("tools", "records"),
    ("tools", "identity_fields"),
    ("agents", "autonomy_level"),
    ("roles", "autonomy_level"),
    ("tasks", "branches"),
    ("agents", "branches"),
)
"""What a policy says, by table and key, that nothing but guards reads."""
FOR_ALLOWLISTS: Final = (
    ("agents", "allowed_tools"),
    ("roles", "allowed_tools"),
    ("tasks", "additional_tools"),
)
"""The same, of which an empty list of tools says something as well: it allows none."""
FOR_GUARDS_OF_ALL: Final = ("identity_fields", "me")
"""What a policy says for all that nothing but guards reads: guards name it as `("policy", "me")`.
"""
OFF: Final = ("enabled", False), ("mode", "shadow"), ("fail_open", True)
"""What an entry may not say of a guard that is always active."""
GLOBS: Final = frozenset("*?[")


def wrong_in(file: PolicyFile, whole: bool) -> Iterator[Wrong]:
    """All of it; of a policy that is not `whole` it is not told what may only seem wrong because a
    part is missing."""
    for look in CHECKS:
        yield from look(file)
    for look in OF_WHOLE if whole else ():
        yield from look(file)


def _used(file: PolicyFile) -> set[str]:
    return {use_of(entry) for entry in file.guards if entry.enabled}


def _idle(*path: str, add: str) -> Wrong:
    return path, f"nothing acts on `{'.'.join(path)}`: add a guard with {add}"


def _unread(file: PolicyFile) -> Iterator[Wrong]:
    """What a policy says of tasks, agents, roles and tools that no guard reads."""
    used = _used(file)
    for table, key in (*FOR_ALLOWLISTS, *FOR_GUARDS):
        nothing = (None,) if key == "allowed_tools" else (None, ())
        entries = getattr(file, table)
        saying = [name for name, one in entries.items() if getattr(one, key) not in nothing]
        reading = readers(table, key) if saying else ()
        if not used & {*reading}:
            yield from [_idle(table, name, key, add=f"`use: {reading[0]}`") for name in saying]
    for key in FOR_GUARDS_OF_ALL:
        reading = readers("policy", key) if getattr(file, key) else ()
        if reading and not used & {*reading}:
            yield _idle(key, add=f"`use: {reading[0]}`")


def _unspent(file: PolicyFile) -> Iterator[Wrong]:
    """Budgets of tasks that no guard takes its limit from."""
    taken = {getattr(entry, "of_task", None) for entry in file.guards if entry.enabled}
    for name, task in file.tasks.items():
        for key in type(task.budget).__struct_fields__ if task.budget is not None else ():
            of_task = True if key == "time_s" else key
            if getattr(task.budget, key) is not None and of_task not in taken:
                use, said = ("time_limit", "true") if of_task is True else ("budget", key)
                add = f"`use: {use}` and `of_task: {said}`"
                yield _idle("tasks", name, "budget", key, add=add)


def _nobodys_roles(file: PolicyFile) -> Iterator[Wrong]:
    for name, agent in file.agents.items():
        if file.roles and agent.role and agent.role not in file.roles:
            said = f"role `{agent.role}` is not among `roles`: {', '.join(sorted(file.roles))}"
            yield ("agents", name, "role"), said


def _for_nobody(file: PolicyFile) -> Iterator[Wrong]:
    """Guards that are for nobody."""
    for at, entry in enumerate(file.guards):
        paths = [("stages",), *[("applies_to", name) for name in AppliesTo.__struct_fields__]]
        for path in paths:
            given = entry.stages if len(path) == 1 else getattr(entry.applies_to, path[1])
            if given == ():
                said = f"the guard applies to nothing: `{'.'.join(path)}` is empty; leave it out"
                yield ("guards", at, *path), f"{said}, or fill it"


def _failures(file: PolicyFile) -> Iterator[Wrong]:
    for path, said in failures.wrong_in(file.faults):
        yield ("faults", *path), said


def _mandates(file: PolicyFile) -> Iterator[Wrong]:
    """Entries in what tasks may do that are neither effect nor tool."""
    for name, task in file.tasks.items():
        try:
            layer_of_task(task.may)
        except ValueError as error:
            yield ("tasks", name, "may"), str(error)


def _records(file: PolicyFile) -> Iterator[Wrong]:
    """Lines of records that cannot be told."""
    for name, tool in file.tools.items():
        if tool.records is not None:
            try:
                record_line(tool.records)
            except ValueError as error:
                yield ("tools", name, "records"), str(error)
        for key in ("records", "identity_fields") if tool.result == CONTENT else ():
            if getattr(tool, key):
                said = "`content` names nothing: leave it out, or say `result: records`"
                yield ("tools", name, key), said


def _task_globs(file: PolicyFile) -> Iterator[Wrong]:
    """Globs of tasks that cannot be matched."""
    for name, task in file.tasks.items():
        for key in ("write", "deny") if task.files is not None else ():
            for at, text in enumerate(getattr(task.files, key) or ()):
                wrong = fault(text)
                if wrong is not None:
                    yield ("tasks", name, "files", key, at), wrong


def _responses(file: PolicyFile) -> Iterator[Wrong]:
    """What makes no sense about the tools that may stop harm in an emergency."""
    for at, name in enumerate(file.bypass.safety_responses):
        path, entry = ("bypass", "safety_responses", at), best(file.tools, name)
        if not name or set(name) & GLOBS:
            yield path, f"`{name}` is no tool's exact name: name each tool by itself"
        elif entry is not None and entry.effect in LASTING:
            said = f"the effect of `{name}` is `{entry.effect}`, and nobody may answer before it"
            yield path, f"{said} runs: leave it out, or declare another effect"


def _approved(file: PolicyFile) -> Iterator[Wrong]:
    """Calls that nobody is asked about any more."""
    for name, entry in file.approved.items():
        tool = best(file.tools, entry.tool)
        for path, said in _wrong_approval(entry, () if tool is None else tool.sinks):
            yield ("approved", name, *path), said
        for at, guard in enumerate(entry.guards):
            if always_active(file).get(guard):
                said = f"`{guard}` is always active: what it asks a person has to answer each time"
                yield ("approved", name, "guards", at), said


def _wrong_approval(said: ApprovedEntry, sinks: tuple[str, ...]) -> Iterator[Wrong]:
    for key in ("guards", "agents", "tasks"):
        if not getattr(said, key):
            yield (key,), f"`{key}` is empty, so nothing is approved: name them"
    try:
        date.fromisoformat(said.until)
    except ValueError:
        yield ("until",), f"`{said.until}` is not a day: write one such as `2027-01-31`"
    for argument, pattern in said.patterns.items():
        wrong = ""
        if argument in said.args:
            wrong = f"`{argument}` stands under `args` too: leave one of them out"
        elif argument in sinks:
            wrong = f"`{argument}` says what `{said.tool}` acts on: write it under `args`"
        elif not any(map(str.isalnum, pattern)):
            wrong = f"`{pattern}` would let any `{argument}` through: write what has to be there"
        if wrong:
            yield ("patterns", argument), wrong


def _approved_by_nobody(file: PolicyFile) -> Iterator[Wrong]:
    guards = always_active(file) if file.approved else {}
    for name, entry in file.approved.items():
        for at, guard in enumerate(entry.guards):
            if guard not in guards:
                said = f"there is no guard `{guard}` that could ask: {hint(guard, guards)}"
                yield ("approved", name, "guards", at), said


def _levels_of_nothing(file: PolicyFile) -> Iterator[Wrong]:
    """Ids under risk levels that no guard has."""
    given = file.risk.given()
    ids = {name for one in file.guards for name in (id_of(one), one.part_of) if name and given}
    for level, said in given.items():
        for at, pattern in enumerate(said.active):
            if not is_glob(pattern) and pattern not in ids:
                wrong = f"there is no guard `{pattern}` to be active: {hint(pattern, ids)}"
                yield ("risk", level, "active", at), wrong


def _credentials(file: PolicyFile) -> Iterator[Wrong]:
    """Secrets that come from nowhere, or from two places."""
    for name, entry in file.credentials.items():
        sources = [key for key in ("env", "file", "command") if getattr(entry, key)]
        if len(sources) != 1:
            said = f"`{name}` comes from {' and '.join(sources) if sources else 'nowhere'}"
            yield ("credentials", name), f"{said}: give one of `env`, `file` and `command`"


def _milder_levels(file: PolicyFile) -> Iterator[Wrong]:
    """What a risk level lets through that the one below it does not."""
    for lower, higher in pairwise(RISK_NAMES) if file.risk != RiskLevels() else ():
        low, high = entry_at(file, lower), entry_at(file, higher)
        keeps = "a higher level keeps what a lower one has"
        for entry in file.guards:
            name = entry.part_of if entry.part_of else id_of(entry)
            if not entry.always and lists_guard(low, name) and not lists_guard(high, name):
                said = f"`{name}` is active at `{lower}` and not at `{higher}`: {keeps}"
                yield ("risk", higher, "active"), said
                break
        for option in ("strict_marks", "approval"):
            if (option, higher) != ("approval", CRITICAL) and (
                getattr(low, option) and not getattr(high, option)
            ):
                said = f"`{lower}` has `{option}: true` and `{higher}` does not: {keeps}"
                yield ("risk", higher), said


def _timezone(file: PolicyFile) -> Iterator[Wrong]:
    if file.timezone != UTC:
        from stanchion.kernel import calendar  # it costs much to load, and few name another zone

        yield from [(("timezone",), said) for said in calendar.wrong_in(file.timezone)]


def _standing(file: PolicyFile) -> Iterator[Wrong]:
    """What makes no sense about how an entry stands in its policy."""
    for at, entry in enumerate(file.guards):
        for path, said in (*_always(entry), *_part_of(file, entry), *_bypass(file, entry)):
            yield ("guards", at, *path), said


def _always(entry: Any) -> Iterator[Wrong]:
    named = f"`{id_of(entry)}` is always active"
    for option, value in OFF if entry.always else ():
        if getattr(entry, option) == value:
            off = f"`{option}: {str(value).lower()}` would switch it off: leave it out"
            yield (option,), f"{named}, and {off}"
    if entry.always and entry.applies_to.risks is not None:
        yield ("applies_to", "risks"), f"{named}, at every risk level: leave it out"


def _part_of(file: PolicyFile, entry: Any) -> Iterator[Wrong]:
    if entry.part_of:
        wholes = [id_of(one) for one in file.guards if not one.part_of]
        if entry.part_of not in wholes:
            said = f"there is no guard `{entry.part_of}` to be a part of"
            yield ("part_of",), f"{said}: {hint(entry.part_of, wholes)}"


def _bypass(file: PolicyFile, entry: Any) -> Iterator[Wrong]:
    role = entry.bypass.requires_approval
    if not role and not entry.bypass.allowed:
        return
    of_operators = [one for operator in file.operators.values() for one in operator.roles]
    roles = list(dict.fromkeys([*file.escalation.roles, SUPERVISOR, OPERATOR, *of_operators]))
    if not role:
        known = ", ".join(f"`{name}`" for name in roles)
        said = "`requires_approval` is missing: name the role whose yes it takes, one of"
        yield ("bypass",), f"{said} {known}"
    elif role not in roles:
        said = f"there is no role `{role}` that answers: {hint(role, roles)}"
        yield ("bypass", "requires_approval"), said


Check = Callable[[PolicyFile], Iterator[Wrong]]

OF_WHOLE: Final[tuple[Check, ...]] = (
    _unread,
    _nobodys_roles,
    _unspent,
    _approved_by_nobody,
    _levels_of_nothing,
)
"""What is only known to be wrong where the policy is whole."""

CHECKS: Final[tuple[Check, ...]] = (
    _for_nobody,
    _failures,
    _mandates,
    wrong_models,
    _records,
    _task_globs,
    _responses,
    _approved,
    _credentials,
    _milder_levels,
    _timezone,
    _standing,
)
"""What is wrong wherever it stands."""
