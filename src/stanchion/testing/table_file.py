"""What a table file says: a policy, cases of events, and what must come of each. The structs are
the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.actions import RiskName
from stanchion.kernel.events import OF_STAGE
from stanchion.kernel.option import ActionName
from stanchion.kernel.stages import Stage
from stanchion.policy.composed import read_text
from stanchion.policy.document import Document, read_data
from stanchion.policy.nearest import nearest
from stanchion.policy.sections import FileSection
from stanchion.policy.struct_check import check

PolicySource = dict[str, Any] | str


class RunSpec(FileSection, frozen=True):
    """A run of a case: the arguments of `shield.run`."""

    agent: str = ""
    task: str = ""
    id: str = ""
    role: str | None = None
    tenant: str | None = None
    deadline_s: float | None = None
    tools: tuple[str, ...] | None = None
    can: tuple[ActionName, ...] | None = None
    risk: RiskName | None = None


class Expect(FileSection, frozen=True):
    """What must come of an event; what is left out is not looked at.

    `message` and `advice` need only be contained, `findings` and `shadow` are codes in order,
    `content` is the content after patches, and `error` is contained in the complaint about an event
    that cannot be read.
    """

    action: ActionName | None = None
    code: str | None = None
    guard: str | None = None
    proceeds: bool | None = None
    message: str | None = None
    advice: str | None = None
    content: Any = msgspec.UNSET
    findings: tuple[str, ...] | None = None
    shadow: tuple[str, ...] | None = None
    skipped: tuple[str, ...] | None = None
    error: str | None = None

    def wanted(self) -> dict[str, Any]:
        """What was written, by name."""
        given = {name: getattr(self, name) for name in self.__struct_fields__ if name != "content"}
        wanted = {name: value for name, value in given.items() if value is not None}
        return wanted if self.content is msgspec.UNSET else {**wanted, "content": self.content}


GOES_AHEAD: Final = Expect(proceeds=True)


class Step(msgspec.Struct, frozen=True):
    """One event of a case: its stage and fields, whose it is, how long after the last, how often,
    and what comes."""

    stage: str
    fields: dict[str, Any]
    expect: Expect = GOES_AHEAD
    run: str = ""
    advance_ms: int = 0
    times: Annotated[int, msgspec.Meta(ge=1)] = 1


OWN: Final = tuple(name for name in Step.__struct_fields__ if name != "fields")
"""What a table says about an event, beside the event's own fields."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One story under one policy: runs and their events in order, or a policy that must be
    `refused`.

    `ingest` has definitions of tools that are taken in first. `lost` numbers the batches for which
    the store is out of reach; `addresses` is all that names resolve to.
    """

    name: str
    policy: PolicySource | None = None
    run: RunSpec | None = None
    runs: dict[str, RunSpec] = {}
    events: tuple[dict[str, Any], ...] = ()
    ingest: tuple[dict[str, Any], ...] = ()
    safe_mode: bool = False
    lost: tuple[int, ...] = ()
    addresses: dict[str, tuple[str, ...]] = {}
    refused: str | None = None

    def steps(self) -> tuple[Step, ...]:
        """The events, what the table says about each told apart from its own fields."""
        return tuple(
            _step(event, f"case `{self.name}`, event {at}")
            for at, event in enumerate(self.events, start=1)
        )

    def began(self) -> dict[str, RunSpec]:
        """The runs by the names that events use; a single one needs none."""
        return self.runs if self.runs else {"": RunSpec() if self.run is None else self.run}


class Table(FileSection, frozen=True):
    """Cases, and the policy of those which have none of their own."""

    cases: tuple[Case, ...]
    policy: PolicySource | None = None


def read_table(source: str | Path | dict[str, Any]) -> Table:
    """A table from a YAML file or from data already parsed; raises `ValueError` where it is not
    one.

    In the table that is returned every case has its policy.
    """
    if isinstance(source, dict):
        return _settled(_read(source, lambda: read_data(source, "table")), Path())
    import yaml

    text = Path(source).read_text("utf-8")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = yaml.load(text, Loader=loader)  # noqa: S506 - either loader is a safe one, and the one in C is far faster
    table = _read(data, lambda: read_text(text, str(source)))
    try:
        return _settled(table, Path(source).parent)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _read(data: Any, document: Callable[[], Document]) -> Table:
    """Data as a table; `ValueError` with every mistake at its place, and the nearest word for one
    that is misspelt."""
    try:
        return typed.convert(data, Table)
    except msgspec.ValidationError as error:
        found = document()
        faults = [*found.faults, *check(found, Table)]
        raise ValueError(
            "\n".join(str(fault) for fault in faults) if faults else str(error)
        ) from None


def _settled(table: Table, folder: Path) -> Table:
    return Table(
        tuple(_with_policy(case, table.policy, folder) for case in table.cases), table.policy
    )


def _with_policy(case: Case, shared: PolicySource | None, folder: Path) -> Case:
    policy = shared if case.policy is None else case.policy
    if policy is None:
        raise ValueError(f"case `{case.name}` has no policy: give one to the table or to the case")
    if (case.refused is None) == (not case.events):
        raise ValueError(f"case `{case.name}`: give either `events` or `refused`")
    if case.run is not None and case.runs:
        raise ValueError(f"case `{case.name}`: give either `run` or `runs`")
    for step in case.steps():
        if step.run not in case.began():
            known = ", ".join(f"`{name}`" for name in case.began())
            raise ValueError(
                f"case `{case.name}`: an event names the run `{step.run}`: give one of {known}"
            )
    if isinstance(policy, str) and (folder / policy).is_file():
        policy = str(folder / policy)
    return msgspec.structs.replace(case, policy=policy)


def _step(event: dict[str, Any], where: str) -> Step:
    own = {name: event[name] for name in OWN if name in event}
    rest = {name: value for name, value in event.items() if name not in own}
    for name in rest:
        meant = nearest(name, OWN)
        if meant is not None and meant not in own and name not in _fields_of(own.get("stage")):
            raise ValueError(f"{where}: the key `{name}` is not known: did you mean `{meant}`?")
    step = {**own, "fields": rest}
    try:
        return typed.convert(step, Step)
    except msgspec.ValidationError as error:
        faults = check(read_data(step, where), Step)
        raise ValueError(
            "\n".join(str(fault) for fault in faults) if faults else str(error)
        ) from None


def _fields_of(stage: object) -> tuple[str, ...]:
    """The fields that events of a stage have; none where there is no such stage."""
    return OF_STAGE[Stage(stage)].__struct_fields__ if stage in {one.value for one in Stage} else ()
