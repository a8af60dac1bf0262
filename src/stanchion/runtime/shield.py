"""The shield: a policy, a store, a journal, and the runs they judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.operators import Operator
from stanchion.audit.journal import Journal, MemoryJournal
from stanchion.kernel.actions import Action
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.events import RunInfo
from stanchion.kernel.gates import Standing, standing_key, standing_of
from stanchion.kernel.names import names
from stanchion.kernel.state import Records
from stanchion.locks import Reentrant
from stanchion.runtime import commanding, people
from stanchion.runtime.accepting import accept_store
from stanchion.runtime.acts import carry_out, wish_for
from stanchion.runtime.anchoring import anchor_last, anchored
from stanchion.runtime.authority import Authority
from stanchion.runtime.describing import described
from stanchion.runtime.desk import Desk
from stanchion.runtime.enrolling import enrol
from stanchion.runtime.errors import NoRun
from stanchion.runtime.hosts import able
from stanchion.runtime.pool import SIZE, Pool
from stanchion.runtime.presence import presence_of
from stanchion.runtime.reloading import OnReload, Policies, Watcher, watched
from stanchion.runtime.remarks import remark_on
from stanchion.runtime.remembering import memory_of
from stanchion.runtime.run import Run, open_runs
from stanchion.runtime.standing import asked_for_safe_mode
from stanchion.runtime.starting import awake_ns
from stanchion.runtime.tenancy import tenancy_of
from stanchion.runtime.tool import Tool
from stanchion.runtime.toolbox import Toolbox
from stanchion.runtime.trust import OperatorsTrust, Trust
from stanchion.runtime.turns import Turns
from stanchion.runtime.unsettled import Unsettled
from stanchion.runtime.unwritten import Unwritten
from stanchion.runtime.waiting import Waiting
from stanchion.runtime.wrapping import wrapped
from stanchion.stores.memory import MemoryStore, wall_ms
from stanchion.stores.protocol import Store

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.policy.owning import Home
    from stanchion.runtime.children import Carved
    from stanchion.runtime.resolving import Resolver

F = TypeVar("F", bound=Callable[..., Any])
RiskName = Literal["low", "medium", "high", "critical"]


class Shield:
    """Stands between agents and everything they touch. It wires; policy and engine decide."""

    def __init__(
        self,
        policy: CompiledPolicy,
        *,
        store: Store | None = None,
        journal: Journal | None = None,
        clock: Callable[[], int] = wall_ms,
        awake_ns: Callable[[], int] = awake_ns,
        guards: Iterable[Any] = (),
        safe_mode: bool | None = None,
        nonces: Callable[[], str] = lambda: _random(4),
        chance: Callable[[], float] = lambda: int.from_bytes(os.urandom(6), "big") / (1 << 48),
        source: str | Path | dict[str, Any] | None = None,
        env: str | None = None,
        resolver: Resolver | None = None,
        answer_threads: int = SIZE,
        operators: Iterable[Operator] = (),
        tenant: str | None = None,
        trust: Trust | None = None,
    ) -> None:
        self.tenancy = tenancy_of(tenant, os.environ)
        brake = asked_for_safe_mode(os.environ) if safe_mode is None else safe_mode
        from stanchion.runtime.ingesting import Ingesting

        self._ingesting = Ingesting(self)
        self.ingest, self.hook = self._ingesting.ingest, self._ingesting.hook
        self.validation_stats = self._ingesting.stats
        self.store: Any = MemoryStore(clock) if store is None else store
        self.journal: Any = MemoryJournal() if journal is None else journal
        self.anchored: Any = anchored(self.store, self.journal)
        self._policies = Policies(tuple(guards), brake, self._ingesting, resolver, settle=self._at_home)
        self._bare = policy
        self._source, self.env = source, env
        self._watcher: Watcher | None = None
        self._reloading = Reentrant()
        self._closed = False
        self.policy = self._policies.enter(policy)
        self.answerer = self._policies.answerer
        self.placed, self.heard_late = self._policies.placed, self._policies.heard_late
        self.answers = Pool(answer_threads)
        self.clock = clock
        self.awake_ns = awake_ns
        self.records: Records = {}
        self.memory = memory_of(self.store, self.records)
        self.authority = Authority(self, operators)
        self.trust: Trust = OperatorsTrust(self.store, self.authority.known) if trust is None else trust
        self.presence = presence_of(self.store, os.environ)
        self.turns = Turns()
        self.doors: Any = None  # made where there is an event loop
        self.unwritten, self.unsettled = Unwritten(), Unsettled()
        """What has happened, and has yet to be written down and to be told to the store."""
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
        project: str | Path | None = None,
        clock: Callable[[], int] = wall_ms,
        **options: Any,
    ) -> Shield:
        """A shield for a policy: a pack's name, a file, or a mapping; `env` names one of its environments.

        `found` is the user's own policy with those of the project around the working directory laid over it.

        State is kept in the store that `store` names (a file, a URL, `memory:`), records in the folder that `journal`
        names (or `memory:`). Without them the environment decides, and without that each project has its own: the one
        that `project`, the policy's file or else the current folder is in. `user:` names the state that all projects
        share. Other options are those of `Shield` itself; on a server a fleet names its `tenant`.
        `broker:/path/of/its.sock` as the source or the store has a broker judge, by its own policy.
        """
        from stanchion.runtime.places import broker_for

        broker = broker_for(source, store, os.environ)
        if broker:
            from stanchion.runtime.remote.loading import through_broker

            far: Shield = through_broker(
                broker, source, {"env": env, "journal": journal, "project": project, **options}
            )
            return far
        from stanchion.runtime.loading import opened

        policy, kept = opened(source, env, store, journal, project, clock, options)
        shield = cls(policy, source=source, env=env, store=kept.store, journal=kept.journal, clock=clock, **options)
        shield.tenancy = shield.tenancy._replace(shared=kept.shared)
        kept.remember(shield.memory)
        return shield

    def _at_home(self, policy: CompiledPolicy) -> Home:
        from stanchion.policy.owning import Home
        from stanchion.policy.scan_cache import ScanCache
        from stanchion.runtime.own_places import own_places, state_or_none

        own = own_places(self.store, self.journal, policy.files, os.environ)
        return Home(own, ScanCache(state_or_none(os.environ)))

    @property
    def tenant(self) -> str:
        """The tenant of its runs and of operators' calls, unless another is named; `NoTenant` where one has to be."""
        return self.tenancy.tenant

    @property
    def origin(self) -> str:
        """Where the policy in force came from: its file, or the name of a pack; empty for one that was handed in."""
        if self._source is None or isinstance(self._source, dict):
            return ""
        files = self.policy.files
        return str(files[0].absolute()) if files else str(self._source)

    def reload(self, source: str | Path | dict[str, Any] | None = None, *, by: str | None = None) -> CompiledPolicy:
        """Put a policy in force: the one it was loaded from, as it is now, or another. It is built and checked as a
        whole and swapped at once; where it is wrong `PolicyError` is raised and the old one stays in force.

        So it does where a policy from a file would let more through than the one in force and no operator has trusted
        it: `PolicyLoosens` says by what. A mapping or a pack is the program's own word and needs no trust. `by` is
        whoever asks for it, for the trail. Decisions under way finish on the policy they began with.
        """
        from stanchion.runtime.admitting import admitted

        source = self._source if source is None else source
        if source is None:
            raise ValueError("this shield was not loaded from anywhere: name the policy to load")
        with self._reloading:
            new = admitted(self, self._bare, source, "" if by is None else by, self._policies.enter)
            remark_on(new.bare)
            self._bare, self.policy, self._source = new.bare, new.whole, source
            return self.policy

    def renew(self) -> None:
        """Put the policy in force again, with what is known beside it by now."""
        self.policy = self._policies.enter(self._bare)

    def watch(self, every_s: float = 1.0, tell: OnReload | None = None) -> Watcher:
        """Reload whenever a file of the policy changes. `tell` hears of every reload, and of every one refused.

        A policy that is refused leaves the old one in force, and watching goes on. One that was refused because it
        loosens comes into force once an operator trusts it.
        """
        if self._watcher is None:
            self._watcher = Watcher(lambda: watched(self._source, self.policy), self.reload, tell, self.trust)
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
        self.authority.begin()
        self._policies.ready(self.policy.hash)
        above = None if parent is None else parent.desk
        if deadline_s is not None and not 0 < deadline_s < 1e9:
            raise ValueError(f"deadline_s is `{deadline_s}`: give a positive number of seconds")
        info = RunInfo(
            id=f"run-{self._nonces()}{self._nonces()}" if id is None else id,
            agent=agent,
            role="" if role is None else role,
            task=task,
            tenant=self.tenancy.of(tenant) if above is None or tenant is not None else above.info.tenant,
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

    safe_mode, halt, quarantine, resume = (
        commanding.safe_mode,
        commanding.halt,
        commanding.quarantine,
        commanding.resume,
    )
    reset_tool, signal = commanding.reset_tool, commanding.signal
    release_call, top_up = commanding.release_call, commanding.top_up
    tickets, ticket, grants, ticketing = people.tickets, people.ticket, people.grants, people.ticketing
    approve, deny, answer, revoke = people.approve, people.deny, people.answer, people.revoke
    act, wish, enrol = carry_out, wish_for, enrol

    def standing(self, tenant: str | None = None) -> Standing:
        """The states of a tenant and of what is in it, as the store has them; `*` is the fleet."""
        return standing_of(self.store.read(standing_key(self.tenancy.of(tenant)))[1])

    def health(self, tool: str, tenant: str | None = None) -> int | None:
        """How well a tool has worked lately, from 0 to 100; `None` where a `health` guard has seen no call of it."""
        from stanchion.guards.health import health_key, score

        return score(self.store.read(health_key(self.tenancy.of(tenant), tool))[0])

    def release_brake(self) -> None:
        """Let go of the brake that this shield was started with."""
        if self._policies.brake:
            self._policies.brake = False
            self.renew()

    def nobody_beside(self) -> None:
        """Raise `AnswerRefused` where an answer without a key would be given beside an open run: in its process, below
        it, or at its terminal."""
        if self.presence is None:
            return
        from stanchion.runtime.live import beside, live_runs
        from stanchion.runtime.processes import asker

        try:
            found = beside(live_runs(self.presence.state), asker())
        except OSError as error:
            raise AnswerRefused(f"it is not known which runs are open: {error}; use a key") from None
        if found is not None:
            raise AnswerRefused(
                f"process {found.pid} has a run open, and this is part of it: answer at another terminal, or use a key"
            )

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
        self._policies.close()
        if self.presence is not None:
            self.presence.close()
        with ExitStack() as last_first:
            last_first.callback(self.store.close)
            last_first.callback(anchor_last, self.store, self.journal, f"anchor-{_random(8)}")
            last_first.callback(self.journal.close)
            last_first.callback(self.unwritten.close)
            last_first.callback(self.unsettled.close, self.store)

    def __enter__(self) -> Shield:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _random(size: int) -> str:
    return os.urandom(size).hex()
