"""The shield: a policy, a store, a journal, and the runs they judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

from stanchion.audit.journal import Journal, MemoryJournal
from stanchion.kernel.actions import Action
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.events import RunInfo
from stanchion.kernel.gates import Standing, standing_key, standing_of
from stanchion.kernel.names import names
from stanchion.kernel.state import ABSENT, FOREVER, Records
from stanchion.kernel.states import HALTED, NORMAL, QUARANTINE, SAFE, Mark, Signal, Terms
from stanchion.runtime.accepting import accept_store
from stanchion.runtime.describing import described
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import drive
from stanchion.runtime.errors import NoRun, StateError
from stanchion.runtime.hosts import able
from stanchion.runtime.pool import SIZE, Pool
from stanchion.runtime.reloading import OnReload, Policies, Watcher
from stanchion.runtime.remarks import remark_on
from stanchion.runtime.remembering import changed, memory_of, remember
from stanchion.runtime.run import Run, open_runs
from stanchion.runtime.standing import TERMS, asked_for_safe_mode, record_shift, scope_of, shift
from stanchion.runtime.tool import Tool
from stanchion.runtime.toolbox import Toolbox
from stanchion.runtime.turns import Turns
from stanchion.runtime.waiting import Waiting
from stanchion.runtime.wrapping import wrapped
from stanchion.stores.memory import MemoryStore, wall_ms
from stanchion.stores.protocol import Store

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.approvals.ticket import Ticket
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.children import Carved
    from stanchion.runtime.resolving import Resolver
    from stanchion.runtime.tickets import Tickets

F = TypeVar("F", bound=Callable[..., Any])
RiskName = Literal["low", "medium", "high", "critical"]

BACK: Final = (Signal.RESTART, Signal.SAFE_OFF, Signal.LAPSED, Signal.RECOVERED)
"""What an operator signals to have something back to normal, whatever state it is in."""


class Shield:
    """Stands between agents and everything they touch. It wires; policy and engine decide."""

    def __init__(
        self,
        policy: CompiledPolicy,
        *,
        store: Store | None = None,
        journal: Journal | None = None,
        clock: Callable[[], int] = wall_ms,
        guards: Iterable[Any] = (),
        safe_mode: bool | None = None,
        nonces: Callable[[], str] = lambda: _random(4),
        chance: Callable[[], float] = lambda: int.from_bytes(os.urandom(6), "big") / (1 << 48),
        source: str | Path | dict[str, Any] | None = None,
        env: str | None = None,
        resolver: Resolver | None = None,
        answer_threads: int = SIZE,
    ) -> None:
        brake = asked_for_safe_mode(os.environ) if safe_mode is None else safe_mode
        from stanchion.runtime.ingesting import Ingesting

        self._ingesting = Ingesting(self)
        self.ingest, self.hook = self._ingesting.ingest, self._ingesting.hook
        self.validation_stats = self._ingesting.stats
        self._policies = Policies(tuple(guards), brake, self._ingesting, resolver)
        self._bare = policy
        self._source, self.env = source, env
        self._watcher: Watcher | None = None
        self._closed = False
        self.policy = self._policies.enter(policy)
        self.answerer = self._policies.answerer
        self.placed, self.heard_late = self._policies.placed, self._policies.heard_late
        self.answers = Pool(answer_threads)
        self.store: Any = MemoryStore(clock) if store is None else store
        self.journal: Any = MemoryJournal() if journal is None else journal
        self.clock = clock
        self.records: Records = {}
        self.memory = memory_of(self.store, self.records)
        self.turns = Turns()
        self.waiting = Waiting()
        self._nonces, self.chance = nonces, chance
        self._toolbox = Toolbox()
        self.tool_of, self.registered_risk = self._toolbox.tool_of, self._toolbox.risk

    @classmethod
    def load(
        cls,
        source: str | Path | dict[str, Any] = "default",
        *,
        env: str | None = None,
        store: Store | str | Path | None = None,
        journal: Journal | str | Path | None = None,
        clock: Callable[[], int] = wall_ms,
        **options: Any,
    ) -> Shield:
        """A shield for a policy: a pack's name, a file, or a mapping; `env` names one of its environments.

        State is kept in the store that `store` names (a file, a URL, `memory:`), records in the folder that `journal`
        names (or `memory:`). Without them the environment decides, and without that the user's state folder keeps
        both. Other options are those of `Shield` itself. `broker:/path/of/its.sock` as the source or the store has a
        broker judge, by its own policy.
        """
        from stanchion.policy.load import load_policy
        from stanchion.runtime.places import broker_for, journal_for, store_for

        broker = broker_for(source, store, os.environ)
        if broker:
            from stanchion.runtime.remote.loading import through_broker

            far: Shield = through_broker(broker, source, {"env": env, "journal": journal, **options})
            return far
        policy = load_policy(source, env)
        remark_on(policy)
        kept = store_for(store, os.environ, clock)
        try:
            records = journal_for(journal, os.environ, clock)
        except BaseException:
            if kept is not store:
                kept.close()
            raise
        shield = cls(policy, source=source, env=env, store=kept, journal=records, clock=clock, **options)
        remember(None if kept is store else shield.memory, os.environ)
        return shield

    @property
    def origin(self) -> str:
        """Where the policy in force came from: its file, or the name of a pack; empty for one that was handed in."""
        if self._source is None or isinstance(self._source, dict):
            return ""
        files = self.policy.files
        return str(files[0].absolute()) if files else str(self._source)

    def reload(self, source: str | Path | dict[str, Any] | None = None) -> CompiledPolicy:
        """Put a policy in force: the one it was loaded from, as it is now, or another. It is built and checked as a
        whole and swapped at once; where it is wrong `PolicyError` is raised and the old one stays in force.

        Decisions under way finish on the policy they began with.
        """
        from stanchion.policy.load import load_policy

        source = self._source if source is None else source
        if source is None:
            raise ValueError("this shield was not loaded from anywhere: name the policy to load")
        self._bare = load_policy(source, self.env)
        remark_on(self._bare)
        self.policy = self._policies.enter(self._bare)
        self._source = source
        return self.policy

    def renew(self) -> None:
        """Put the policy in force again, with what is known beside it by now."""
        self.policy = self._policies.enter(self._bare)

    def watch(self, every_s: float = 1.0, tell: OnReload | None = None) -> Watcher:
        """Reload whenever a file of the policy changes. `tell` hears of every reload, and of every one refused.

        A policy that is refused leaves the old one in force, and watching goes on.
        """
        if self._watcher is None:
            self._watcher = Watcher(lambda: self.policy.files, self.reload, tell)
            self._watcher.start(every_s)
        return self._watcher

    def run(
        self,
        agent: str = "",
        task: str = "",
        *,
        id: str | None = None,
        role: str | None = None,
        tenant: str | None = None,
        deadline_s: float | None = None,
        tools: Iterable[str] | None = None,
        can: Iterable[Action | str] | None = None,
        parent: Run | None = None,
        carved: Carved | None = None,
    ) -> Run:
        """Begin a run. `tools` are additional ones for this run; a parent hands its tenant and deadline down.

        `can` names the actions that the run's host can carry out: what it cannot becomes the next stricter thing that
        it can. Without it that is every action, or what its parent's host can.
        A child spends from its parent's budgets, unless something was `carved` out of them for it (`run.spawn`).
        """
        self._ingesting.begin()
        above = None if parent is None else parent.desk
        if deadline_s is not None and not 0 < deadline_s < 1e9:
            raise ValueError(f"deadline_s is `{deadline_s}`: give a positive number of seconds")
        info = RunInfo(
            id=f"run-{self._nonces()}{self._nonces()}" if id is None else id,
            agent=agent,
            role="" if role is None else role,
            task=task,
            tenant=tenant if tenant is not None else "default" if above is None else above.info.tenant,
            parents=() if above is None else (above.info.id, *above.info.parents),
            additional_tools=names(() if tools is None else tools),
            purse="" if above is None else above.info.purse if above.info.purse else above.info.id,
            grant=None if carved is None else carved.grant,
            granted_by="" if carved is None or above is None else above.info.agent,
            granted_for="" if carved is None or above is None else above.info.task,
        )
        limits = [deadline_s, self.policy.task(task).deadline_s]
        ends = [self.clock() + int(limit * 1000) for limit in limits if limit is not None]
        if above is not None and above.deadline_at_ms is not None:
            ends.append(above.deadline_at_ms)
        host = able(can) if can is not None else EVERY_ACTION if above is None else above.can
        desk = Desk(self, info, self._nonces(), min(ends, default=None), above, host)
        desk.carved = "" if carved is None else carved.hold
        return Run(desk)

    described = staticmethod(described)
    accept_store = accept_store

    @overload
    def tool(self, fn: F, /) -> F: ...

    @overload
    def tool(
        self,
        fn: None = None,
        /,
        *,
        name: str | None = None,
        risk: RiskName | None = None,
        undo: Callable[..., Any] | None = None,
        timeout_s: float | None = None,
        once: bool = False,
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        risk: RiskName | None = None,
        undo: Callable[..., Any] | None = None,
        timeout_s: float | None = None,
        once: bool = False,
    ) -> Any:
        """Put every call of a function under the shield: the same function to look at, judged whenever it is called.

        `undo` takes the call's own arguments and runs where its result is refused, or the run is rolled back; with
        `once` each call of a run happens once, also where it is retried or the run goes on after a crash.
        """

        def shielded(target: Callable[..., Any]) -> Callable[..., Any]:
            made = Tool(target, name, risk=risk, undo=undo, timeout_s=timeout_s, once=once)
            self._toolbox.register(made)
            self._ingesting.learn(made)
            return wrapped(made, self._run_for)

        return shielded if fn is None else shielded(fn)

    def _run_for(self, tool: Tool) -> Run:
        """The innermost run of this shield around the caller."""
        for run in reversed(open_runs()):
            if run.desk.shield is self:
                return run
        raise NoRun(f"`{tool.name}` is shielded: call it inside `with shield.run(...):`")

    def cost(self, model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """What a model's call costs in dollars, by the policy's prices and the shipped table; raises `UnknownModel`
        where neither knows it."""
        from stanchion.policy.prices.lookup import price

        return price(self.policy, model).cost_usd(input_tokens, output_tokens, cached_tokens)

    def safe_mode(
        self, on: bool, why: str = "", tenant: str = "default", scope: str = "", by: str = "an operator"
    ) -> None:
        """Switch safe mode on or off for every process on this store: tool calls and retries are refused.

        `scope` narrows it to `tool:NAME`, `agent:NAME` or `run:ID`, or widens it to the `fleet`. Off also releases the
        brake that this shield was started with (by its argument or the environment), which is its own and never in
        the store: it does not outlive the process. `StateError` where a halt stands in the way.
        """
        if not on and not scope and self._policies.brake:
            self._policies.brake = False
            self.renew()
        self._signal(tenant, scope, (Signal.SAFE_ON,) if on else (Signal.SAFE_OFF,), SAFE if on else NORMAL, why, by)

    def halt(self, why: str = "", tenant: str = "default", scope: str = "", by: str = "an operator") -> None:
        """Stop everything, or everything of a `scope`; only `resume` lets it go on."""
        self._signal(tenant, scope, (Signal.HALT,), HALTED, why, by)

    def quarantine(
        self, scope: str, for_s: float = 300.0, why: str = "", tenant: str = "default", by: str = "an operator"
    ) -> None:
        """Isolate a tool, an agent or a run for a time; others go on. `resume` ends it earlier."""
        if not 0 < for_s < 1e9:
            raise ValueError(f"for_s is `{for_s}`: give a positive number of seconds")
        terms = Terms(quarantine_ms=int(for_s * 1000), halt_after=FOREVER)
        self._signal(tenant, scope, (Signal.FAILING, Signal.REPEATED), QUARANTINE, why, by, terms)

    def resume(self, tenant: str = "default", scope: str = "", by: str = "an operator") -> None:
        """Back to normal after a halt, safe mode, a quarantine or a warning; other scopes stay as they are."""
        self._signal(tenant, scope, BACK, NORMAL, "", by)

    def standing(self, tenant: str = "default") -> Standing:
        """The states of a tenant and of what is in it, as the store has them; `*` is the fleet."""
        return standing_of(self.store.read(standing_key(tenant))[1])

    def reset_tool(self, name: str, tenant: str = "default", why: str = "", by: str = "an operator") -> bool:
        """Let a tool be called again at once: its breakers are closed, in every process. Says whether one was not."""
        from stanchion.runtime.breakers import reset

        return reset(self, name, tenant, why, by)

    def health(self, tool: str, tenant: str = "default") -> int | None:
        """How well a tool has worked lately, from 0 to 100; `None` where a `health` guard has seen no call of it."""
        from stanchion.guards.health import health_key, score

        return score(self.store.read(health_key(tenant, tool))[0])

    def _signal(
        self,
        tenant: str,
        scope: str,
        signals: tuple[Signal, ...],
        wanted: str,
        why: str,
        by: str,
        terms: Terms = TERMS,
    ) -> None:
        tenant, name = scope_of(tenant, scope)
        why, by = self.policy.veil.words(why), self.policy.veil.name(by)
        flow = shift(self.records, f"state-{_random(8)}", tenant, name, signals, why if why else f"by {by}", terms)
        for one in drive(flow, self):
            record_shift(self, tenant, one._replace(why=why), by)
        drive(changed(self.memory, self.clock()), self)
        standing = standing_of(self.records.get(standing_key(tenant), ABSENT)[1])
        state = (standing.marks.get(name, Mark()) if name else standing.own).state
        if state == HALTED != wanted:
            raise StateError(f"`{scope if scope else tenant}` is halted: only `resume` lets it go on")

    def tickets(self, tenant: str | None = None, state: str | None = None) -> list[Ticket]:
        """What people were asked, as it stands (`open`, `approved`, `used`, …); the most urgent comes first."""
        return self._tickets().listed(tenant, state)

    def ticket(self, id: str) -> Ticket:
        """One ticket, by its id or by as much of it as is unique; `UnknownTicket` where there is none."""
        return self._tickets().find(id)

    def approve(self, id: str, *, by: str, comment: str = "", for_s: float = 900.0, role: str = "") -> Ticket:
        """Say yes to a ticket: the very action it is about may start once, within `for_s` seconds. `TicketError` where
        it is not open any more, or `by` is the agent that asks."""
        return self._tickets().approve(id, by, comment, for_s, role)

    def deny(self, id: str, *, by: str, comment: str = "", role: str = "") -> Ticket:
        """Say no to a ticket, or take back an approval that is not used yet; the agent reads the comment."""
        return self._tickets().deny(id, by, comment, role)

    def _tickets(self) -> Tickets:
        from stanchion.runtime.tickets import Tickets

        return Tickets(self.store, self.journal, self.clock, self.waiting, self.policy.veil)

    @property
    def answering(self) -> Any:
        """Nothing here asks: only runs do."""
        raise NoRun("lookups belong to a run")

    def close(self) -> None:
        """Let go of files and connections."""
        if self._closed:
            return
        self._closed = True
        if self._watcher is not None:
            self._watcher.stop()
        self.answers.close()
        try:
            self.store.close()
        finally:
            self.journal.close()

    def __enter__(self) -> Shield:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _random(size: int) -> str:
    return os.urandom(size).hex()
