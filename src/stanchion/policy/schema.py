"""The structs that are the schema of a policy file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Final, Literal, Union, cast, get_type_hints

import msgspec

from stanchion.guards import SHIPPED
from stanchion.kernel.actions import RISK_NAMES, RiskName
from stanchion.kernel.contract.powers import having
from stanchion.kernel.declared import CONTENT, RESULTS, EffectName, ResultName
from stanchion.kernel.option import (
    AskingMore,
    Fewer,
    ForPeople,
    Lower,
    More,
    Narrower,
    Off,
    On,
    OnceSet,
    Shorter,
    Strictness,
    Wider,
    directions,
)
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.policy.faults.entry import FaultEntries
from stanchion.policy.prices.entry import PriceEntry
from stanchion.policy.sections import (
    Advice,
    ApprovedEntry,
    AskEntry,
    Bypass,
    Bypassing,
    CredentialEntry,
    Deep,
    Degrade,
    DoorRules,
    Escalation,
    Experience,
    FileSection,
    OperatorEntry,
    RiskLevels,
    Seconds,
    Strikes,
    TaskBudget,
    TaskFiles,
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

    agents: Wider[tuple[str, ...] | None] = None
    """Only these agents, by name or glob; if absent, all."""
    tasks: Wider[tuple[str, ...] | None] = None
    """Only these tasks, by name or glob; if absent, all."""
    tools: Wider[tuple[str, ...] | None] = None
    """Only these tools, by name or glob; if absent, all."""
    risks: Wider[tuple[LevelName, ...] | None] = None
    """Only runs at these risk levels, `none` for runs without a level; if absent, all."""


class RoleEntry(FileSection, frozen=True):
    """What all agents of a role have, unless an agent's own entry says otherwise."""

    allowed_tools: Fewer[tuple[str, ...] | None] = None
    """The only tools that agents of this role may use, by name or glob; an empty list allows none.
    """
    capabilities: Shorter[tuple[str, ...]] = ()
    """What agents of this role can do; conditions read it as `agent.capabilities`."""
    autonomy_level: Level | None = None
    """The highest authority that agents of this role may use without asking; see the guard
    `authority`."""


class AgentEntry(FileSection, frozen=True):
    """An agent, or all agents whose ids match a glob."""

    role: str = ""
    """The agent's role; conditions read it as `agent.role`."""
    allowed_tools: Fewer[tuple[str, ...] | None] = None
    """The only tools this agent may use, by name or glob, instead of its role's; an empty list
    allows none."""
    capabilities: Shorter[tuple[str, ...]] = ()
    """What this agent can do in addition to its role."""
    autonomy_level: Level | None = None
    """The highest authority that this agent may use without asking, instead of its role's level."""
    branches: tuple[str, ...] | None = None
    """The branches that this agent may commit and push to, as globs, unless its task says others;
    the guard `evidence` with `branch` enforces it."""


class TaskEntry(FileSection, frozen=True):
    """A task, or all tasks whose names match a glob."""

    additional_tools: Shorter[tuple[str, ...]] = ()
    """Tools that are allowed in addition to an agent's own while it works on this task."""
    related_tools: Fewer[tuple[str, ...] | None] = None
    """The tools that belong to the task; the guard `task_scope` warns about others. If absent, all
    tools belong."""
    files: TaskFiles | None = None
    """The files that belong to the task; the guard `files` enforces it."""
    budget: TaskBudget | None = None
    """What the task may use in all; the guards `budget` and `time_limit` with `of_task` enforce it.
    """
    branches: tuple[str, ...] | None = None
    """The branches that work on the task may be committed and pushed to, as globs; `!main` excludes
    one. The guard `evidence` with `branch` enforces it."""
    deadline_s: Lower[Seconds | None] = None
    """A run on this task ends this many seconds after its start; if absent, it has no deadline."""
    risk: Annotated[RiskName | None, RISK_NAMES] = None
    """The risk level of runs on this task; a run can have a higher one. If absent, the task has
    none."""
    may: Narrower[tuple[str | dict[str, Any], ...] | msgspec.UnsetType | None] = msgspec.UNSET
    """What the task may do, by effect or by tool; a mapping names a `tool` or an `effect`, and what
    its arguments may be. If absent, a mandate limits it only where its host gives one."""


class ToolEntry(FileSection, frozen=True):
    """A tool, or all tools whose names match a glob."""

    risk: Annotated[RiskName, RISK_NAMES] = "medium"
    """How much harm the tool can do."""
    ask: AskingMore[bool | AskEntry] = False
    """Whether a person is asked before each call: `true`, or a mapping that says above what number,
    and who."""
    timeout_s: Lower[Seconds | None] = None
    """The longest time one call may take, in seconds; if absent, it is not limited."""
    effect: EffectName | None = None
    """What a call does: `read` only looks, `local` changes something here, `outward` reaches
    others, `privilege` changes who may do what, `irreversible` cannot be taken back. If absent, it
    is read from the tool's name."""
    sinks: More[tuple[str, ...]] = ()
    """The arguments that say whom or what a call acts on, such as a recipient; a dot leads into a
    mapping. A person is shown them, and a yes never leaves them open."""
    result: Annotated[ResultName | None, (*RESULTS[:-1], None, CONTENT)] = None
    """What the tool's results count as: the `user`'s own words, `trusted` words, `records` whose
    fields name things, or `content` that anyone may have written. If absent, structured results
    are records, and all other text is content."""
    records: str | None = None
    """The line that begins a record in a plain text, such as `[{id}] From: {from}`: each `{name}`
    stands for a field. Anyone who writes into the text can forge such a line."""
    identity_fields: tuple[str, ...] = ()
    """The fields of the tool's records that name things, such as `id` or `*_email`; if empty, those
    of the policy's own `identity_fields`."""
    annotations: tuple[Annotation, ...] = ()
    """How often a call may happen, and whether it counts as a call of an external API."""
    undo: str | None = None
    """Code that undoes a call, as `module:name`; it takes the call's own arguments."""
    harmless: tuple[str, ...] = ()
    """Errors of the tool after which nothing has happened, by type or base class."""
    needs: More[tuple[str, ...]] = ()
    """The capabilities that an agent needs to use the tool; the guard `capabilities` enforces it.
    """
    authority: Level | None = None
    """The autonomy level that the tool requires; the guard `authority` escalates calls of agents
    below it."""
    schema: dict[str, Any] | bool | None = None
    """The JSON Schema (2020-12) of the tool's arguments; the guard `schema` enforces it."""
    result_schema: dict[str, Any] | bool | None = None
    """The JSON Schema of the tool's results; the guard `schema` enforces it."""
    hook: str | None = None
    """Code that checks every call, as `module:name`; a text that it returns refuses the call."""
    pin: OnceSet[str | None] = None
    """The digest that the tool's definition must have; the guard `schema` escalates any other."""
    unread: Annotated[UnreadName | None, ("allow", "media", "block")] = None
    """What happens to unreadable content in this tool's calls and results; if absent, the policy's
    own `unread`."""
    media: Annotated[Literal["withhold", "allow"], ("allow", "withhold")] = "withhold"
    """`allow` lets images and sound in this tool's results through; otherwise each is withheld."""
    alternatives: ForPeople[tuple[str, ...]] = ()
    """Tools that do something similar, by their exact names. A refusal of this tool names them to
    the agent; calls of them are judged like any other."""


class Placement(FileSection, frozen=True, kw_only=True):
    """What every guard entry may say besides its guard's own options."""

    id: str = ""
    """The entry's own name in findings and overlays; if absent, `use` with hyphens instead of
    underscores."""
    enabled: bool = True
    """`false` switches the guard off but keeps the entry in the file."""
    priority: int | None = None
    """The guard's place in the chain: smaller numbers judge first; if absent, the guard's usual
    place."""
    category: Literal["safety", "compliance", "budget", "scope", "quality"] | None = None
    """Breaks ties between guards of the same priority, from `safety` (first) to `quality` (last).
    """
    stages: More[tuple[StageName, ...] | None] = None
    """The stages at which the guard judges; if absent, all stages that it supports."""
    mode: Literal["enforce", "shadow"] = "enforce"
    """`shadow` judges and records but changes nothing; `enforce` acts on what the guard finds."""
    applies_to: AppliesTo = AppliesTo()
    """The agents, tasks, tools and risk levels that the guard judges; if absent, all of them."""
    fail_open: Off[bool] = False
    """If `true`, a call goes ahead when the guard itself fails, unless the tool's risk is critical.
    """
    log_pass: ForPeople[bool] = False
    """If `true`, records also name the guard when it was asked and found nothing."""
    part_of: str = ""
    """The id of the guard that it is a part of: both give one verdict. If absent, it is its own."""
    always: On[bool] = False
    """If `true`, no overlay can change or remove the guard, and it enforces in shadow mode, too."""
    bypass: Shorter[Bypass] = Bypass()
    """Who may let an action past the guard; if absent, nobody."""
    effects: tuple[FollowUpName, ...] = ()
    """What a finding does besides its action: mark the run, count a strike, tell operators."""
    ends_chain: bool = True
    """If `false`, guards behind it are judged even when it refuses. For guards without state."""


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
            if (reading := having(guard, "reads")) is not None
            and any(
                where == table and key in (what, what.partition(".")[0])
                for where, what in reading.reads
            )
        ]
    )


@cache
def ways_of(use: str) -> dict[str, Strictness]:
    """Which way each option of a guard becomes stricter."""
    return directions(GUARDS[use])


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


class PolicyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One policy document."""

    name: ForPeople[str]
    """The policy's name in answers and records."""
    version: ForPeople[str | int | float] = "1"
    """The policy's version, for people."""
    mode: Annotated[Literal["enforce", "shadow"], ("shadow", "enforce")] = "enforce"
    """`enforce` acts on decisions; `shadow` judges and records but changes nothing."""
    autonomy: On[bool] = False
    """If `true`, a run is judged more strictly as its budgets run out."""
    unread: Annotated[UnreadName, ("allow", "media", "block")] = "block"
    """What happens to content that cannot be read: `block` refuses it, `media` lets images, audio
    and documents in, `allow` lets everything pass. What passes is marked as unread."""
    durations: ForPeople[bool] = False
    """If `true`, the time that each guard takes is measured; `chain_result()` gives it."""
    roles: dict[str, RoleEntry] = {}
    """Roles by name: what all agents of the role have in common."""
    agents: dict[str, AgentEntry] = {}
    """Agents by id; `*` and `?` make a pattern. The most specific entry counts."""
    tasks: dict[str, TaskEntry] = {}
    """Tasks by name; `*` and `?` make a pattern. The most specific entry counts."""
    tools: dict[str, ToolEntry] = {}
    """Tools by name; `*` and `?` make a pattern. The most specific entry counts."""
    risk: RiskLevels = RiskLevels()
    """What the risk levels of runs mean. A level that is not here changes nothing, except that
    `critical` always asks a person."""
    prices: dict[str, PriceEntry] = {}
    """Model prices by model name; `*` and `?` make a pattern. They override the shipped table."""
    faults: FaultEntries = FaultEntries()
    """Which kind of fault a failure is; these entries override the shipped table."""
    guards: tuple[Any, ...] = ()
    """The guards that judge events; each entry names its guard with `use`."""
    limits: ReadLimits = LIMITS
    """Limits of the engine itself."""
    escalation: Escalation = Escalation()
    """Who answers escalated actions, and how long an action waits."""
    bypass: Bypassing = Bypassing()
    """How long a request for a bypass waits, and what an emergency may do without an answer."""
    approved: Shorter[dict[str, ApprovedEntry]] = {}
    """Calls that nobody is asked about any more, by name, because people have approved them often.
    They answer guards that escalate; a guard that refuses still refuses."""
    door: DoorRules = DoorRules()
    """What may go through the door to the network of what runs inside walls."""
    credentials: Shorter[dict[str, CredentialEntry]] = {}
    """Secrets, by name, that programs inside walls use and never have."""
    operators: dict[str, OperatorEntry] = {}
    """The people who may approve what an agent may not do, by name, each with a key."""
    degrade: Degrade = Degrade()
    """What a lesser request is when a guard answers `degrade`."""
    deep: Deep = Deep()
    """How deep rules are asked: how long by the risk of a call, how many at once, and when not."""
    experience: Experience = Experience()
    """What is kept of the outcomes of calls, and for how long."""
    advice: ForPeople[Advice] = Advice()
    """How agents are told what is known of their tools."""
    strikes: Strikes = Strikes()
    """What findings with the effect `increment_strike` lead to."""
    identity_fields: tuple[str, ...] = ()
    """The fields of records that name things, such as `id`; if empty, those that usually do."""
    me: Shorter[tuple[str, ...]] = ()
    """The user's own addresses and accounts: a call may always act on them."""
    envelope: dict[str, Any] | None = None
    """The settings of the envelope round games that are played in runs of this policy."""
    timezone: str = "UTC"
    """The time zone whose hours, days and months budgets with a `window` count in, such as
    `Europe/Berlin`."""


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
