"""What a table file says: a policy, cases of events, and what must come of each. The structs are the format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from stanchion.kernel.option import ActionName

PolicySource = dict[str, Any] | str


class RunSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of a case: the arguments of `shield.run`."""

    agent: str = ""
    task: str = ""
    id: str = ""
    role: str | None = None
    tenant: str | None = None
    deadline_s: float | None = None
    tools: tuple[str, ...] | None = None
    can: tuple[ActionName, ...] | None = None


class Expect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must come of an event; what is left out is not looked at.

    `message` and `advice` need only be contained, `findings` and `shadow` are codes in order, `content` is the
    content after patches, and `error` is contained in the complaint about an event that cannot be read.
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
    """One event of a case: its stage and fields, whose it is, how long after the last, how often, and what comes."""

    stage: str
    fields: dict[str, Any]
    expect: Expect = GOES_AHEAD
    run: str = ""
    advance_ms: int = 0
    times: Annotated[int, msgspec.Meta(ge=1)] = 1


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One story under one policy: runs and their events in order, or a policy that must be `refused`.

    `lost` numbers the batches for which the store is out of reach; `addresses` is all that names resolve to.
    """

    name: str
    policy: PolicySource | None = None
    run: RunSpec | None = None
    runs: dict[str, RunSpec] = {}
    events: tuple[dict[str, Any], ...] = ()
    safe_mode: bool = False
    lost: tuple[int, ...] = ()
    addresses: dict[str, tuple[str, ...]] = {}
    refused: str | None = None

    def steps(self) -> tuple[Step, ...]:
        """The events, what the table says about each told apart from its own fields."""
        return tuple(_step(event) for event in self.events)

    def began(self) -> dict[str, RunSpec]:
        """The runs by the names that events use; a single one needs none."""
        return self.runs if self.runs else {"": RunSpec() if self.run is None else self.run}


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cases, and the policy of those which have none of their own."""

    cases: tuple[Case, ...]
    policy: PolicySource | None = None


def read_table(source: str | Path | dict[str, Any]) -> Table:
    """A table from a YAML file or from data already parsed; raises `ValueError` where it is not one.

    In the table that is returned every case has its policy.
    """
    if isinstance(source, dict):
        return _settled(msgspec.convert(source, Table), Path())
    import yaml

    data = yaml.safe_load(Path(source).read_text("utf-8"))
    try:
        return _settled(msgspec.convert(data, Table), Path(source).parent)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _settled(table: Table, folder: Path) -> Table:
    return Table(tuple(_with_policy(case, table.policy, folder) for case in table.cases), table.policy)


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
            raise ValueError(f"case `{case.name}`: an event names the run `{step.run}`: give one of {known}")
    if isinstance(policy, str) and (folder / policy).is_file():
        policy = str(folder / policy)
    return msgspec.structs.replace(case, policy=policy)


def _step(event: dict[str, Any]) -> Step:
    own = {name: event[name] for name in Step.__struct_fields__ if name in event and name != "fields"}
    rest = {name: value for name, value in event.items() if name not in own}
    return msgspec.convert({**own, "fields": rest}, Step)
