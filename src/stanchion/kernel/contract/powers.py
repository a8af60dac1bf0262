"""What a guard can do besides judging: all of it on this page, and the powers by which others ask.

A guard speaks one of the four protocols of `stanchion.kernel.guard`. What else it can do it says by
having members of `Powers`: there is nothing to inherit and nothing to register, and what it does
not have is as good as not there. The engine, the policy and the runtime ask for powers, never for a
guard by its class, so that a foreign guard can do whatever a shipped one can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from stanchion.kernel.contract.values import Beside, Cure, GuardGate, Point, Standing, Switch
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from stanchion.kernel.actions import Action
    from stanchion.kernel.contract.values import AskedValues, Defined, PolicySaid
    from stanchion.kernel.declared import ToolKnown
    from stanchion.kernel.events import RunInfo
    from stanchion.kernel.findings import Finding


class Powers(Protocol):
    """Everything that a guard may have besides its judgement, and who asks for it. Guards are asked
    when a policy is put in force unless it says something else."""

    # What it says of its own entry. What an option means stands under the field, and which way it
    # becomes stricter in the field's type (`stanchion.kernel.option`).

    says_worst: bool
    """Whether it says the severest of all it finds, as its options are, so that to find more
    makes it no milder. Asked when two policies are compared."""

    does_more: bool
    """Whether it does more than refuse: it makes calls again, or runs code. Asked when two
    policies are compared: adding it may let something through."""

    def rises_with(self, table: str, key: str, old: Any, /) -> bool:
        """Whether it becomes stricter when a key of `roles`, `agents`, `tasks` or `tools` does that
        said `old` before. Asked when two policies are compared; others always do."""

    remedies: Mapping[str, tuple[str, ...]]
    """What would have made a finding of it not be there: the ways by the finding's code, those
    of all other codes under an empty one. Asked where a decision is explained.

    `{max_chars}` takes the guard's own member, `{0}` an argument of the finding, `{lockdown}`
    what helps where a warning has refused. A way is left out where there is nothing to put into
    a place; `{name:if}` and `{name:unless}` only say where it stands. `{at:span}` puts seconds
    into words, `{some:names}` a list.
    """

    cures: Mapping[str, tuple[Cure, ...]]
    """Lines of policy that may cure a finding of it, the narrowest first, by its code, those of all
    other codes under an empty one. Asked where a refusal is explained; each is tried before it is
    named."""

    def places(self, finding: Finding, event: Any, /) -> Mapping[str, object]:
        """What else stands in places of its remedies; the event is `None` where it is not known any
        more."""

    def idle(self, stages: frozenset[Stage], alone: bool, /) -> Iterable[tuple[str, str]]:
        """Options that nothing acts on at these stages, each with why and what to do instead: they
        are errors of the policy. `alone` says that the guard has its counters to itself: one that
        shares them may be there to look at what others have counted."""

    def points(self, standing: Standing, /) -> Iterable[Point]:
        """What is easily meant otherwise in its options. Asked when a policy is looked over."""

    def always_speaks(self) -> bool:
        """Whether it is written so that it speaks about every call it stands at. Asked when a
        policy is looked over, of a guard that concerns everybody: warnings that every call gets are
        no warnings."""

    def reaches(self) -> Mapping[str, tuple[str, ...]]:
        """The values of each name, as names or globs, outside of which it is silent; nothing where
        it speaks about everything. Asked when a policy is looked over: one that refuses silences
        what stands behind it."""

    degrades: str
    """A mark that asks for something lesser, as it is written, such as `degrade_at: 80`; empty
    where it has none. A mark that nothing answers is an error of the policy."""

    # Where it stands, and what it answers there.

    default_stages: frozenset[Stage]
    """Where it stands unless a policy says otherwise, if that is not wherever it can judge
    (`stages`)."""

    def actions(self) -> tuple[Action, ...]:
        """Every action that a finding of it can have: one that makes no sense at a stage is
        refused, and only guards that may redact are asked what has to be hidden. One that does not
        say it may answer anything, and what makes no sense becomes the next stricter."""

    def actions_at(self, stage: Stage, /) -> tuple[Action, ...]:
        """The same for one stage; asked instead where a stage is known."""

    answers_at: frozenset[Stage]
    """The stages where it may answer, if it only looks at others."""

    needs: Mapping[str, frozenset[Any]]
    """The values of names such as `action.tool_name` outside of which it is silent: a chain
    without them does not have it."""

    concerns: tuple[str, ...] | None
    """The tools that it is about, by name or glob, where the policy names none for it; `None`
    for all."""

    switches: tuple[Switch, ...]
    """Each a question to a reading, and the answers without which a pure guard is certain to
    pass; none where it always has to judge. Asked when a chain is planned: guards that ask the
    same are looked up by the answer together, each under the switch that tells most, so that
    ten thousand cost what ten do."""

    def passes_all(self, event: Any, /) -> bool:
        """Whether a pure guard has nothing to say about any event of the same kind, run and tool.
        Asked when a chain is planned for one."""

    def tightened(self, by: float, /) -> Self:
        """The same guard whose marks come earlier, at that part of where they were; its limit
        stays. Asked where a run works in strict mode."""

    for_safe_mode: bool
    """Whether it refuses what safe mode refuses: a chain that has it gets no other for it."""

    # How it treats texts.

    def settled(self, text: str, /) -> int:
        """How many characters at the beginning can be judged for good, whatever follows. Asked for
        every piece of a stream, which waits until then; and for texts that are handed on beside a
        reply, which such guards judge, too."""

    def cuts(self, text: str, /) -> Callable[[int], int]:
        """Gives, for each place of a text that goes on, the last one up to it where it may be cut;
        for its end that is what `settled` says. Asked in place of `settled`, so that guards agree
        on a place without reading the text again."""

    CONTEXT: int
    """How many characters before a piece of a stream matter for what is found in it: they stand
    in the event's `before`."""

    veils: bool
    """Whether it hides what its findings are about, whatever they lead to. Asked when something
    has to be hidden that is written down or shown: such a guard judges, though its `actions`
    have no `REDACT`."""

    stays: Mapping[str, str]
    """The codes of its redactions, each with the code that says that what it found stays. Asked
    of a redaction in a call whose arguments run or are written here: nothing is taken out of
    them, and only records and tickets do without it. Patches of guards that do not say this
    are made everywhere."""

    def in_name(self, name: str, /) -> Iterable[Sequence[Any]]:
        """What to hide in a name of a tool, an agent, a run, each as beginning, end and kind, such
        as `(0, 8, "badge")`; more behind them is ignored. Asked once for each name that is shown or
        written down; where it raises, all of the name is withheld. Its judgement of a prompt hides
        the same in people's words."""

    def fingerprints(self, reading: Any, /) -> Iterable[str]:
        """Twelve digits from 0 to f for each thing that it finds in an event, the same wherever it
        is found, so that a person can allow one finding and no other. Asked where it has found
        something; what is allowed stands in the event's `cleared`, and the guard must let that
        pass."""

    gate: GuardGate
    """What has to be in an event for a pure guard to have something to say: where nothing of it
    is there the guard is not asked, but for texts that are not ASCII and pieces of a stream.
    """

    # What it keeps in the store.

    def watch(self, event: Any, values: tuple[int, ...], /) -> Finding | None:
        """A finding of a meter that goes ahead, or nothing. Told the values of every event that was
        counted."""

    def span(self, at: int, /) -> tuple[int, int]:
        """From when until when a meter's lines of that time are right, in milliseconds: a batch
        expects the store's time to be within the span."""

    only_marks: bool
    """Whether its warnings are marks: it only watches, or speaks before its limit does. They
    count towards the third warning only where the policy counts marks."""

    def refused(self, reading: Any, value: Any, finding: Finding, /) -> Any:
        """A `Ruling` of a record guard with a new value, which is written, and a finding that
        stands behind all others; or nothing. Shown every event of its stages that was refused, by
        whichever guard and wherever that stands; it has judged the event before only if the chain
        came as far as it."""

    def vacate(self, value: Any, calls: frozenset[str], /) -> Any:
        """The record without the places that those calls have in it; `None` where they have none.
        Asked where the outcome of a call never gets to its judgement."""

    def run_key(self, run: RunInfo, /) -> str:
        """The key of the record in which something is kept for a run."""

    def ended(self, value: Any, runs: frozenset[str], /) -> Any:
        """The record without what those runs have in it; `None` where they have nothing. Asked when
        they end."""

    lease_ms: int
    """How long it keeps what it gives to an action: one that has not begun well before the end
    of the shortest is judged again."""

    measured: frozenset[Unit]
    """The measures that a meter bounds, whatever gives the limits: they have to be measured."""

    def limits(self) -> Mapping[Unit, int]:
        """What a meter bounds, in whole units."""

    def reserves(self) -> Mapping[Unit, int]:
        """What an action reserves that nobody has estimated and nothing else bounds."""

    def totals(self, run: RunInfo, /) -> Mapping[str, int]:
        """Counters of the run or its task that never start anew, by key, with their limits: a run's
        mode goes by them."""

    # What answers it, if it asks, and what it can show of an answer.

    call: str | Callable[..., Any]
    """Where the code that answers is imported from, as `module:name`; or, of a guard that is
    handed in, the code itself. It is given the payload of the lookup, in a thread beside the
    engine. Every asking guard has it that does not recall."""

    isolated: bool
    """Whether that code runs in a process of its own."""

    deep: bool
    """Whether it may be late: calls of low and medium risk go ahead then, and its answer enters
    the run's next event."""

    def routed(self, waits: Mapping[str, int], /) -> Any:
        """The same guard, which is waited for so many milliseconds by the risk of what it judges,
        where it does not say so itself."""

    rule_version: str | None
    """What the answers of a deep rule depend on besides what is asked: what another version
    answered is not taken for its own. The questions of a rule are bounded for each run, it is
    left alone where it fails again and again, and its answers are kept. `None`: it is none."""

    paid: bool
    """Whether the run pays for a rule's answers: it is not asked while the run has nothing left
    to pay with."""

    def content(self, payload: Any, /) -> Any:
        """What a rule's answer depends on, as plain data; `None` where it must not be kept."""

    def checked(self, value: Any, /) -> Any:
        """A rule's answer as it is recorded; raises where it is none."""

    def cost(self, value: Any, /) -> tuple[int, int]:
        """What a rule's answer has cost: tokens, and millionths of a dollar."""

    recalls: bool
    """Whether it asks the run's own memory of where values come from, with a `Recall` as the
    payload of its lookup. The memory is kept where a guard asks it, by the lights of the first
    that does."""

    share: bool
    """Whether what a run learns is kept in the store, for its other processes."""

    links: str
    """Whether a link that was read may be opened as it stands: `follow` or `ask`."""

    me: tuple[str, ...]
    """The user's own addresses and accounts."""

    def tool(self, tenant: str, name: str, known: ToolKnown, /) -> Any:
        """A tool as the memory understands it."""

    def shown(self, value: Any, /) -> Mapping[str, str]:
        """What a person has to know of an answer, under the names by which it is shown. Asked where
        a finding waits for one."""

    def asked_about(self, finding: Finding, value: Any, /) -> AskedValues | None:
        """What a finding asks a person about, by the answer that it rests on (`None` where nothing
        was looked up); nothing where it is the whole call. One yes to values is for all calls of
        the tool in this task that ask exactly about them, and so is one no. Asked where a finding
        waits for a person."""

    # What it gets to know when it is put in force.

    reads: frozenset[tuple[str, str]]
    """What it reads of tasks, agents, roles and tools, each as table and key, such as
    `("tools", "needs")`, or of the policy itself, such as `("policy", "me")`. Asked of its class
    when a policy is compiled, where what nobody reads is an error, and when two policies are
    compared."""

    def scoped(self, said: PolicySaid, /) -> Self:
        """The same guard that knows what the policy says beside its entry."""

    def told(self, own: Any, /) -> Self:
        """The same guard that knows the `Places` which are the shield's own, to keep agents off."""

    def prepare(self) -> None:
        """Compile what is to be compiled, so that no call has to wait for it."""

    def knowing(self, defined: Defined, /) -> Self:
        """The same guard, with what tells of a tenant's tool. Told again when other tools become
        known."""

    def with_tools(self, tools: Any, memo: Any = None, /) -> Self:
        """The same guard that holds calls against the definitions of these tools, and remembers
        what it found in `memo`. Told again when other tools become known."""

    tools: Any
    """The tools whose definitions it knows."""

    hook_deadline_ms: int
    """How long the hooks of tools may take."""

    def beside(self, stages: frozenset[Stage], /) -> Beside | None:
        """Another guard that asks or counts on behalf of one that stands at these stages; `None`
        where there is nothing to ask or count."""

    # What the runtime does in its name.

    def takes_proxy(self, proxy: str, /) -> bool:
        """Whether requests may go through a proxy, by its URL or by `host:port`. Asked by the HTTP
        clients: with such a guard at `egress` a request goes to no address but those that were
        judged, says one host and no other, and through no proxy that it does not take."""

    def plant(self, tenant: str, owner: str, label: str, /) -> str:
        """A token that it finds, with a label for a run (`owner`), or for the whole tenant where
        that is empty; always the same. Asked by `run.canary`."""


TOGETHER: Final = {
    "settled": ("CONTEXT",),
    "ended": ("run_key",),
    "limits": ("reserves", "totals"),
    "rule_version": ("paid", "content", "checked", "cost"),
    "recalls": ("share", "tool", "links", "me"),
    "with_tools": ("tools", "hook_deadline_ms"),
}
"""Who has one of these has to have the others, too; nobody asks for those alone."""


def having(guard: Any, member: str) -> Powers | None:
    """The guard as one that has a member; `None` where it has not. A flag that is off, and what is
    `None`, is as good as not there."""
    found = getattr(guard, member, None)
    if found is None or found is False:
        return None
    declared: Powers = guard
    return declared


def all_having(guards: Iterable[Any], member: str) -> list[Powers]:
    """Those of some guards that have a member, in their order."""
    return [found for guard in guards if (found := having(guard, member)) is not None]


def answers_at(guard: Any, stage: Stage) -> tuple[Action, ...]:
    """What a guard can answer at a stage, as far as it says it."""
    by_stage = having(guard, "actions_at")
    if by_stage is not None:
        return tuple(by_stage.actions_at(stage))
    always = having(guard, "actions")
    return () if always is None else tuple(always.actions())


def stages_of(guard: Any) -> frozenset[Stage]:
    """Where a guard stands unless a policy says otherwise."""
    usual = having(guard, "default_stages")
    stages: frozenset[Stage] = guard.stages if usual is None else usual.default_stages
    return stages
