"""The structs that are the schema of a policy file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Final, Literal, Union, cast, get_type_hints

import msgspec

from stanchion.guards import SHIPPED
from stanchion.kernel.actions import RISK_NAMES, RiskName
from stanchion.kernel.contract.powers import DECLARES, READS
from stanchion.kernel.declared import EffectName, ResultName
from stanchion.kernel.option import Option
from stanchion.kernel.sizes import LIMITS, Limits
from stanchion.policy.faults.entry import FaultEntries
from stanchion.policy.prices.entry import PriceEntry
from stanchion.policy.sections import (
    Advice,
    ApprovedEntry,
    Bypassing,
    Deep,
    Degrade,
    Escalation,
    Experience,
    FileSection,
    OperatorEntry,
    Seconds,
    Strikes,
)

Level = Annotated[int, msgspec.Meta(ge=0)]
Annotation = Literal["idempotent", "poll", "open_world", "once"]
FollowUpName = Literal[
    "flag_trajectory", "increment_strike", "emit_alert", "rollback", "ask_person"
]
LevelName = Literal["none", "low", "medium", "high", "critical"]
UnreadName = Literal["block", "media", "allow"]
StageName = Literal[
    "prompt",
    "model_call",
    "model_chunk",
    "model_reply",
    "tool_call",
    "tool_result",
    "egress",
    "error",
    "charge",
    "handoff",
    "handoff_done",
]


class AppliesTo(FileSection, frozen=True):
    """Whom a guard concerns; a name is exact unless a glob is written."""

    agents: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    risks: tuple[LevelName, ...] | None = None


class RoleEntry(FileSection, frozen=True):
    """What all agents of a role have, unless an agent's own entry says otherwise."""

    allowed_tools: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] = ()
    autonomy_level: Level | None = None


class AgentEntry(FileSection, frozen=True):
    """An agent, or all agents whose ids match a glob."""

    role: str = ""
    allowed_tools: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] = ()
    autonomy_level: Level | None = None
    branches: tuple[str, ...] | None = None


class TaskFiles(FileSection, frozen=True):
    """The files that a task is about, as globs."""

    write: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class TaskBudget(FileSection, frozen=True):
    """What a task may use in all, whoever works on it."""

    tokens: Annotated[int, msgspec.Meta(ge=0, lt=10**15)] | None = None
    time_s: Annotated[float, msgspec.Meta(ge=0.001, lt=10**9)] | None = None
    api_calls: Annotated[int, msgspec.Meta(ge=0, lt=10**15)] | None = None
    cost_usd: Annotated[float, msgspec.Meta(ge=0, lt=10**9)] | None = None


class TaskEntry(FileSection, frozen=True):
    """A task, or all tasks whose names match a glob."""

    additional_tools: tuple[str, ...] = ()
    related_tools: tuple[str, ...] | None = None
    files: TaskFiles | None = None
    budget: TaskBudget | None = None
    branches: tuple[str, ...] | None = None
    deadline_s: Seconds | None = None
    risk: RiskName | None = None


class RiskEntry(FileSection, frozen=True):
    """What a risk level of a run means: which guards are active, by id or glob, whether their marks
    come earlier, and whether a person has to say yes to every action."""

    active: tuple[str, ...] = ("*",)
    strict_marks: bool = False
    approval: bool = False


class RiskLevels(FileSection, frozen=True):
    """What the risk levels of runs mean; one that is absent changes nothing."""

    low: RiskEntry | None = None
    medium: RiskEntry | None = None
    high: RiskEntry | None = None
    critical: RiskEntry | None = None

    def given(self) -> dict[str, RiskEntry]:
        """The levels of which something is said."""
        return {name: said for name in RISK_NAMES if (said := getattr(self, name)) is not None}


class AskEntry(FileSection, frozen=True):
    """When a person is asked before a tool runs, and who; without a limit it is every time."""

    above: Annotated[int, msgspec.Meta(ge=0)] | Annotated[float, msgspec.Meta(ge=0)] | None = None
    of: str = "event.args.amount"
    by: tuple[str, ...] = ()
    prompt: str = ""


class ToolEntry(FileSection, frozen=True):
    """A tool, or all tools whose names match a glob."""

    risk: RiskName = "medium"
    ask: bool | AskEntry = False
    timeout_s: Seconds | None = None
    effect: EffectName | None = None
    sinks: tuple[str, ...] = ()
    result: ResultName = "content"
    annotations: tuple[Annotation, ...] = ()
    undo: str | None = None
    harmless: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    authority: Level | None = None
    schema: dict[str, Any] | bool | None = None
    result_schema: dict[str, Any] | bool | None = None
    hook: str | None = None
    pin: str | None = None
    unread: UnreadName | None = None
    alternatives: tuple[str, ...] = ()


class Bypass(FileSection, frozen=True):
    """Whether somebody may let an action past a guard, and in which role; it is always recorded."""

    allowed: bool = False
    requires_approval: str = ""
    audit_required: Literal[True] = True


class Placement(FileSection, frozen=True, kw_only=True):
    """What every guard entry may say besides its guard's own options."""

    id: str = ""
    enabled: bool = True
    priority: int | None = None
    category: Literal["safety", "compliance", "budget", "scope", "quality"] | None = None
    stages: tuple[StageName, ...] | None = None
    mode: Literal["enforce", "shadow"] = "enforce"
    applies_to: AppliesTo = AppliesTo()
    fail_open: bool = False
    log_pass: bool = False
    part_of: str = ""
    always: bool = False
    bypass: Bypass = Bypass()
    effects: tuple[FollowUpName, ...] = ()


# Every entry has these fields: their types are looked up here, and not again for each guard.
Placement.__annotations__ = get_type_hints(Placement, include_extras=True)


def _entry(name: str, guard: type[Any]) -> type[msgspec.Struct]:
    """The struct of one guard's entry: its placement and its options in one mapping, told apart by
    `use`."""
    taken = set(guard.__struct_fields__) & {*Placement.__struct_fields__, "use"}
    if taken:
        raise TypeError(
            f"guard `{name}` has an option `{min(taken)}`, which every entry has already: rename it"
        )
    options = [
        (field.name, field.type) if field.required else (field.name, field.type, field.default)
        for field in msgspec.structs.fields(guard)
    ]
    return msgspec.defstruct(
        f"{guard.__name__}Entry",
        options,
        bases=(Placement,),
        tag_field="use",
        tag=name,
        frozen=True,
        forbid_unknown_fields=True,
        kw_only=True,
        namespace={"__doc__": guard.__doc__},
    )


class Guards(Mapping[str, type[Any]]):
    """The shipped guards and the two that a policy writes out; each is loaded when somebody asks
    for it."""

    def __getitem__(self, name: str) -> type[Any]:
        """The class of a guard; `KeyError` where there is none of that name."""
        if name == RULE:
            from stanchion.policy.rules import Rule

            return Rule
        if name == SEQUENCE:
            from stanchion.policy.sequences import Sequence

            return Sequence
        return SHIPPED[name]

    def __contains__(self, name: object) -> bool:
        return name in WRITTEN_OUT or name in SHIPPED

    def __iter__(self) -> Iterator[str]:
        return iter((*SHIPPED.names(), *WRITTEN_OUT))

    def __len__(self) -> int:
        return len(SHIPPED) + len(WRITTEN_OUT)


class Entries(Mapping[str, type[msgspec.Struct]]):
    """The struct of each guard's entry, made when somebody asks for it."""

    def __init__(self) -> None:
        self._made: dict[str, type[msgspec.Struct]] = {}

    def __getitem__(self, name: str) -> type[msgspec.Struct]:
        """The struct of a guard's entry; `KeyError` where there is no such guard."""
        made = self._made.get(name)
        return self._made.setdefault(name, _entry(name, GUARDS[name])) if made is None else made

    def __iter__(self) -> Iterator[str]:
        return iter(GUARDS)

    def __len__(self) -> int:
        return len(GUARDS)


RULE: Final = "rule"
SEQUENCE: Final = "sequence"
WRITTEN_OUT: Final = (RULE, SEQUENCE)
"""The guards whose judgement a policy writes out itself."""

GUARDS: Final = Guards()
"""Every guard a policy can use, by name."""

ENTRIES: Final = Entries()
"""What the entry of each guard may say, by the guard's name."""


@cache
def entry_of(uses: tuple[str, ...]) -> Any:
    """The type of an entry of one of these guards."""
    return Union[tuple([ENTRIES[name] for name in uses])]  # noqa: UP007 - made from data


def readers(table: str, key: str) -> tuple[str, ...]:
    """The guards, by name, that read a key of a table, or a part of it."""
    return tuple(
        [
            name
            for name, guard in GUARDS.items()
            if (reading := READS.of(guard)) is not None
            and any(
                where == table and key in (what, what.partition(".")[0])
                for where, what in reading.reads
            )
        ]
    )


def options_of(use: str) -> Mapping[str, Option]:
    """What a guard declares of its options; nothing where it declares none, or is none."""
    declaring = DECLARES.of(GUARDS.get(use))
    return {} if declaring is None else declaring.options


def use_of(entry: Any) -> str:
    """Which guard an entry is."""
    return str(entry.__struct_config__.tag)


def id_of(entry: Any) -> str:
    """What an entry is called in decisions: its own id, or the one its guard gives it."""
    return str(entry.id) if entry.id else usual_id(use_of(entry))


def usual_id(use: str) -> str:
    """The id of an entry that has none of its own."""
    return use.replace("_", "-")


def ask_id(tool: str) -> str:
    """What the guard is called that asks about a tool: where the policy says it."""
    return f"tools.{tool}.ask"


UTC: Final = "UTC"
"""The time zone of a policy that names none."""


class PolicyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One policy document."""

    name: str
    version: str | int | float = "1"
    mode: Literal["enforce", "shadow"] = "enforce"
    autonomy: bool = False
    unread: UnreadName = "block"
    durations: bool = False
    roles: dict[str, RoleEntry] = {}
    agents: dict[str, AgentEntry] = {}
    tasks: dict[str, TaskEntry] = {}
    tools: dict[str, ToolEntry] = {}
    risk: RiskLevels = RiskLevels()
    prices: dict[str, PriceEntry] = {}
    faults: FaultEntries = FaultEntries()
    guards: tuple[Any, ...] = ()
    limits: Limits = LIMITS
    escalation: Escalation = Escalation()
    bypass: Bypassing = Bypassing()
    approved: dict[str, ApprovedEntry] = {}
    operators: dict[str, OperatorEntry] = {}
    degrade: Degrade = Degrade()
    deep: Deep = Deep()
    experience: Experience = Experience()
    advice: Advice = Advice()
    strikes: Strikes = Strikes()
    timezone: str = UTC


def always_active(file: PolicyFile) -> dict[str, bool]:
    """Every guard that can ask a person, by its id, and whether it is always active."""
    asking = {ask_id(name): False for name, tool in file.tools.items() if tool.ask}
    return asking | {id_of(entry): entry.always for entry in file.guards}


def table_of(file: PolicyFile, name: str) -> dict[str, Any]:
    """A table of a policy, such as its tools: the entries by their names."""
    table: Any = getattr(file, name)
    return table.given() if isinstance(table, RiskLevels) else table


@cache
def file_with(uses: tuple[str, ...]) -> type[PolicyFile]:
    """A policy document whose guards are some of these: what it is read by, so that no other guard
    is loaded."""
    listed = GenericAlias(tuple, (entry_of(uses), ...) if uses else ())
    fields: list[Any] = [
        (field.name, listed if field.name == "guards" else field.type, *_default(field))
        for field in msgspec.structs.fields(PolicyFile)
    ]
    made = msgspec.defstruct(
        PolicyFile.__name__,
        fields,
        bases=(PolicyFile,),
        module=__name__,
        frozen=True,
        forbid_unknown_fields=True,
    )
    made.__doc__ = PolicyFile.__doc__
    return cast("type[PolicyFile]", made)


def any_file() -> type[PolicyFile]:
    """A policy document with any guards: the whole schema, for which every guard is loaded."""
    return file_with(tuple(GUARDS))


def _default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.required:
        return ()
    made = field.default_factory
    return (field.default,) if made is msgspec.NODEFAULT else (msgspec.field(default_factory=made),)
