"""The shield: a policy, a store, a journal, and the runs they judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Unpack
from weakref import ref

from stanchion.locks import Reentrant
from stanchion.runtime.answers.pool import SIZE, LanePool
from stanchion.runtime.by_people import ByPeople
from stanchion.runtime.calling.tool_options import Shielding
from stanchion.runtime.deciding.start import awake_ns
from stanchion.runtime.driving.turns import Turns
from stanchion.runtime.errors import NoRun, no_run
from stanchion.runtime.keywords import check_run_options, spelled
from stanchion.stores.memory import MemoryStore, wall_ms

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Timer

    from stanchion.approvals.operators import Operator
    from stanchion.audit.journal import Journal
    from stanchion.kernel.events import RunInfo
    from stanchion.kernel.state import Records
    from stanchion.policy.bind_guards import Home
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.answers.resolver import Resolver
    from stanchion.runtime.calling.children import Carved
    from stanchion.runtime.calling.tool import Tool
    from stanchion.runtime.coverage.coverage import Coverage, Mode
    from stanchion.runtime.keywords import RunOptions
    from stanchion.runtime.operating.reload import OnReload, Watcher
    from stanchion.runtime.options import ShieldOptions
    from stanchion.runtime.people.authority import Trust
    from stanchion.runtime.run import Run
    from stanchion.stores.protocol import Store
    from stanchion.telemetry.notices.post import Post


@spelled
class Shield(Shielding, ByPeople):
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
        metrics: bool | None = None,
        post: Post | None = None,
        prepare: bool = True,
        coverage: Mode | None = None,
        host_secret: str | None = None,
        folder: str | Path | None = None,
        planner: Callable[[Any], Any] | None = None,
    ) -> None:
        from stanchion.audit.journal import MemoryJournal
        from stanchion.runtime.calling.ingest import Ingesting
        from stanchion.runtime.calling.tool import Toolbox
        from stanchion.runtime.deciding.left import close_calls
        from stanchion.runtime.deciding.record import Unwritten
        from stanchion.runtime.deciding.unsettled import Unsettled
        from stanchion.runtime.operating.reload import Policies, PolicyTrouble
        from stanchion.runtime.people.authority import OperatorAuthority, OperatorsTrust
        from stanchion.runtime.people.waiting import AnswerWaiters
        from stanchion.runtime.run import open_runs
        from stanchion.runtime.standing.epoch_memory import memory_of
        from stanchion.runtime.standing.listeners import listen_to_trail, listened_to
        from stanchion.runtime.standing.occurring import trail_lost
        from stanchion.runtime.standing.presence import presence_of
        from stanchion.runtime.standing.states import asked_for_safe_mode
        from stanchion.runtime.standing.store_door import anchor_last, door_to
        from stanchion.runtime.standing.telling import telemetry_of
        from stanchion.runtime.standing.tenancy import tenancy_of
        from stanchion.runtime.standing.veil import veil_store

        # Bound here, where they are loaded: a call must not look for a module, and at the end there
        # are none any more.
        self._open_runs, self._anchor_last = open_runs, anchor_last
        self._close_calls = close_calls
        self.occurrences, self._post = listened_to(post), post
        """What operators have to hear of, handed to whoever listens."""
        self.tenancy = tenancy_of(tenant, os.environ)
        brake = asked_for_safe_mode(os.environ) if safe_mode is None else safe_mode
        self._ingesting = Ingesting(self)
        self.ingest, self.hook = self._ingesting.ingest, self._ingesting.hook
        self.validation_stats, self.remember_with = (
            self._ingesting.stats,
            self._ingesting.remember_with,
        )
        given = MemoryStore(clock) if store is None else store
        self.records: Records = {}
        self.store: Any = veil_store(given, self)
        self.meet = getattr(self.store, "meet", _pass_by)
        self.journal: Any = MemoryJournal() if journal is None else journal
        self.telemetry = telemetry_of(self, metrics, os.environ)
        self.anchored: Any = door_to(
            self.store, self.journal, self.telemetry, self.occurrences, clock
        )
        if planner is not None:
            from stanchion.guards.planner import Planner

            guards = (*guards, Planner(planner))
        self._folder = None if folder is None else os.path.abspath(folder)
        self._policies = Policies(
            tuple(guards), brake, self._ingesting, resolver, settle=self._at_home
        )
        self._bare, self._source, self.env = policy, source, env
        self._watcher: Watcher | None = None
        self._reloading, self._prepares, self._closed = Reentrant(), prepare, False
        self.policy = self._policies.enter(policy)
        self.answerer = self._policies.answerer
        self.placed, self.heard_late = self._policies.placed, self._policies.heard_late
        self.answers = LanePool(answer_threads, self._policies.deep_rules)
        self.clock, self.awake_ns = clock, awake_ns
        self.memory = memory_of(self.store, self.records)
        self.authority = OperatorAuthority(self, operators)
        self.trust: Trust = (
            OperatorsTrust(self.store, self.authority.known) if trust is None else trust
        )
        self.presence = presence_of(self.store, os.environ)
        self.turns = Turns()
        self.alarms: dict[str, tuple[int, Timer]] = {}
        """When the next review of a tenant is due, and what looks then."""
        self.doors: Any = None  # made where there is an event loop
        self.desks: set[ref[Any]] = set()
        """The runs that somebody has."""
        self.unwritten, self.unsettled = Unwritten(lambda lost: trail_lost(self, lost)), Unsettled()
        """What has happened, and has yet to be written down and to be told to the store."""
        self.waiting, self._nonces, self.chance = AnswerWaiters(), nonces, chance
        self.policy_trouble, self.host_secret = PolicyTrouble(self), host_secret
        listen_to_trail(self)
        self._toolbox = Toolbox()
        self.tool_of, self.registered = self._toolbox.tool_of, self._toolbox.declared
        self.coverage: Coverage | None = None
        if coverage is not None:
            from stanchion.runtime.coverage.coverage import coverage_of

            self.coverage = coverage_of(self, coverage, open_runs)

    def __repr__(self) -> str:
        from stanchion.runtime.standing.places import in_words

        return (
            f"<Shield {in_words(self.policy.file, self.store)}{', closed' if self._closed else ''}>"
        )

    @property
    def is_closed(self) -> bool:
        """Whether it was closed: nothing goes ahead in it any more."""
        return self._closed

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
        notify: str | Path | None = None,
        **options: Unpack[ShieldOptions],
    ) -> Shield:
        """A shield for a policy: a pack's name, a file, or a mapping; `env` names one of its
        environments.

        `found` is the user's own policy with those of the project around the working directory laid
        over it.

        State is kept in the store that `store` names (a file, a URL, `memory:`), records in the
        folder that `journal` names (or `memory:`). Without them the environment decides, and
        without that each project has its own: the one that `project`, the policy's file or else the
        current folder is in. `user:` names the state that all projects share. Other options are
        those of `Shield` itself; on a server a fleet names its `tenant`. `notify` is the file that
        says where notices go, in place of `STANCHION_NOTIFY`, or `none` for the log alone.
        `broker:/path/of/its.sock` as the source or the store has a broker judge, by its own policy.
        """
        from stanchion.runtime.standing.places import broker_for

        broker = broker_for(source, store, os.environ)
        if broker:
            from stanchion.runtime.remote.shield import through_broker

            named = {
                "env": env,
                "journal": journal,
                "project": project,
                "notify": notify,
                **options,
            }
            far: Shield = through_broker(broker, source, named)
            return far
        from stanchion.runtime.operating.load import opened

        policy, kept = opened(source, env, store, journal, project, clock, options, notify)
        made: Any = {
            "store": kept.store,
            "journal": kept.journal,
            "clock": clock,
            "post": kept.post,
        }
        shield = cls(policy, source=source, env=env, **made, **options)
        shield.tenancy = shield.tenancy._replace(shared=kept.shared)
        kept.remember(shield.memory, shield.telemetry)
        return shield

    def _at_home(self, policy: CompiledPolicy) -> Home:
        from stanchion.policy.bind_guards import Home
        from stanchion.runtime.standing.places import own_places

        own = own_places(
            self.store, self.journal, policy.files, os.environ, self._post, self._folder
        )
        return Home(own, self._prepares)

    @property
    def tenant(self) -> str:
        """The tenant of its runs and of operators' calls, unless another is named; `NoTenant` where
        one has to be."""
        return self.tenancy.tenant

    @property
    def origin(self) -> str:
        """Where the policy in force came from: its file, or the name of a pack; empty for one that
        was handed in."""
        if self._source is None or isinstance(self._source, dict):
            return ""
        files = self.policy.files
        return str(files[0].absolute()) if files else str(self._source)

    def reload(
        self, source: str | Path | dict[str, Any] | None = None, *, by: str | None = None
    ) -> CompiledPolicy:
        """Put a policy in force: the one it was loaded from, as it is now, or another. It is built
        and checked as a whole and swapped at once; where it is wrong `PolicyError` is raised and
        the old one stays in force.

        So it does where a policy from a file would let more through than the one in force and no
        operator has trusted
        it: `PolicyLoosens` says by what. A mapping or a pack is the program's own word and needs no
        trust. `by` is whoever asks for it, for the trail. Decisions under way finish on the policy
        they began with.
        """
        from stanchion.runtime.operating.admission import admitted

        source = self._source if source is None else source
        if source is None:
            raise ValueError(
                "this shield was not loaded from a file or a pack: give the policy to load"
            )
        with (
            self._reloading,
            self.telemetry.loading("" if isinstance(source, dict) else str(source)),
        ):
            new = admitted(self, self._bare, source, "" if by is None else by, self._policies)
            from stanchion.runtime.standing.occurring import remark_on

            remark_on(new.bare)
            self._bare, self.policy, self._source = new.bare, new.whole, source
            self.policy_trouble.loaded()
            return self.policy

    def renew(self) -> None:
        """Put the policy in force again, with what is known beside it by now."""
        self.policy = self._policies.enter(self._bare)

    def watch(self, every_s: float = 1.0, tell: OnReload | None = None) -> Watcher:
        """Reload whenever a file of the policy changes. `tell` is called with the policy that is
        then in force, or with the `PolicyError` of one that was refused.

        A policy that is refused leaves the old one in force, and watching goes on. It is said in
        the log, to whoever gets notices, by `stanchion state` and as the watcher's `trouble`. One
        that was refused because it loosens comes into force once an operator trusts it. A mapping
        or a pack has no file, and is a `ValueError`.
        """
        from stanchion.runtime.operating.reload import Watcher, watchable

        if self._watcher is None or not self._watcher.goes_on(tell):
            files = watchable(self._source, lambda: self.policy)
            self._watcher = Watcher(files, self.reload, tell, self.trust, self.policy_trouble)
            self._watcher.start(every_s)
        return self._watcher

    def run(
        self,
        agent: str = "",
        task: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        parent: Run | None = None,
        carved: Carved | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Begin a run. `tools` are additional ones for this run; a parent hands its tenant and
        deadline down.

        `can` names the actions that the run's host can carry out: what it cannot becomes the next
        stricter thing that it can. Without it that is every action, or what its parent's host can.
        `risk` is the level of the run: the worst of it, its task's and its parent's counts.
        `labels` are names of the host's own that budgets can be counted by (`per: customer`). `may`
        names the effects and tools that its task needs: a person is asked about any other. A child
        spends from its parent's budgets, unless something was `carved` out of them for it
        (`run.spawn`).
        """
        from stanchion.runtime.deciding.described import new_desk
        from stanchion.runtime.run import Run

        check_run_options(Shield.run, options)
        self._ingesting.begin()
        self.authority.begin()
        self._policies.ready(self.policy.hash)
        parent = parent if self.coverage is None else self.coverage.parent(parent)
        above = None if parent is None else parent.desk
        allotment = None if carved is None else carved.allotment
        desk = new_desk(self, self._nonces, agent, task, options, labels, above, allotment)
        desk.carved = "" if carved is None else carved.hold
        return Run(desk)

    @staticmethod
    def described(info: RunInfo, policy: CompiledPolicy) -> RunInfo:
        """A run as a policy describes it: its agent's role and tools, its task's additional
        tools."""
        from stanchion.runtime.deciding.described import described

        return described(info, policy)

    def _meet_tool(self, tool: Tool) -> None:
        self._toolbox.register(tool)
        self._ingesting.learn(tool)

    def _run_for(self, tool: Tool) -> Run:
        """The innermost run of this shield around the caller."""
        for run in reversed(self._open_runs()):
            if run.desk.shield is self:
                return run
        raise no_run(tool.name, beside=bool(self._open_runs()))

    def cost(
        self, model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0
    ) -> float:
        """What a model's call costs in dollars, by the policy's prices and the shipped table;
        raises `UnknownModel` where neither knows it."""
        from stanchion.policy.prices.lookup import price

        return price(self.policy, model).cost_usd(input_tokens, output_tokens, cached_tokens)

    def release_brake(self) -> None:
        """Let go of the brake that this shield was started with."""
        if self._policies.brake:
            self._policies.brake = False
            self.renew()

    @property
    def answering(self) -> Any:
        """Nothing here asks: only runs do."""
        raise NoRun("lookups belong to a run")

    def close(self) -> None:
        """Let go of files and connections."""
        if self._closed:
            return
        self._closed = True
        for _, alarm in self.alarms.values():
            alarm.cancel()
        if self._watcher is not None:
            self._watcher.stop()
        self.answers.close()
        self._policies.close()
        if self.presence is not None:
            self.presence.close()
        with ExitStack() as last_first:
            last_first.callback(self.telemetry.close)
            last_first.callback(self.occurrences.close)
            last_first.callback(self.policy_trouble.close)
            last_first.callback(self.store.close)
            last_first.callback(self._close_experience)
            last_first.callback(self._anchor_last, self.store, self.journal, f"anchor-{_random(8)}")
            last_first.callback(self.journal.close)
            last_first.callback(self.unwritten.close)
            last_first.callback(self.unsettled.close, self.store)
            last_first.callback(self._close_calls, self.desks)

    def __enter__(self) -> Shield:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pass_by(_names: Iterable[str]) -> None:
    """Names that nobody else will read need no second look."""


def _random(size: int) -> str:
    return os.urandom(size).hex()
