"""The gateway: a planner's events are judged by Stanchion, and what it decides is said in
PenguiFlow's words. A policy pack is put in force by it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError, check_options, load_shield
from stanchion.dialects.penguiflow.events import (
    ContextSnapshotBuilder,
    GuardrailContext,
    GuardrailEvent,
)
from stanchion.dialects.penguiflow.findings import (
    CAN,
    FAILED,
    Seated,
    decision_of,
    failed,
    last_words,
    leave_words,
    left_words,
    passed,
)
from stanchion.dialects.penguiflow.guards import HEARD, PIECES, PlannerReport, guards_of, heard_of
from stanchion.dialects.penguiflow.packs import (
    Entries,
    GatewayConfig,
    GuardrailPolicyPack,
    Settled,
    configured,
    settled,
    written,
)
from stanchion.dialects.penguiflow.reports import content_of, flow_of
from stanchion.dialects.penguiflow.rules import (
    DefaultRiskRouter,
    RuleRegistry,
    checked_inbox,
    takes_both,
)
from stanchion.dialects.penguiflow.words import (
    GuardrailAction,
    GuardrailDecision,
    RetrySpec,
    StopSpec,
    one_text,
    shown,
)
from stanchion.kernel.actions import Action
from stanchion.kernel.context import Context
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.gates import PAUSED
from stanchion.locks import Reentrant
from stanchion.policy.load import load_policy
from stanchion.runtime.deciding.aftermath import end_run, recall_strikes
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.on_loop import adrive
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.options import ShieldOptions
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.telemetry.loggers import POLICY, WARNING, say

Whose = tuple[str | None, str]
"""A run, by its tenant and its id."""
MOST_RUNS: Final = 10_000
"""How many runs a gateway has open at a time."""
MOST_TOLD: Final = 100
"""How many faults of rules are told."""
ENDED: Final = "kernel.cancelled"
"""The code by which a run is over that was stopped without a HALT."""
STANDS: Final = frozenset({"kernel.ended", ENDED, PAUSED})
"""The codes by which a run is over, or waits, because of an earlier event."""
OPTIONS: Final = (*ShieldOptions.__annotations__, "env", "project", "clock", "notify")
"""What is passed on to `Shield.load`."""
SEALED: Final = "the gateway has judged events already: register rules before the first one"


class GuardrailGateway:
    """Judges the events of planners by the rules of a registry and by what a pack says.

    It has no engine and no state of its own: rules are guards of a shield, which is made with the
    first event. `store` and `journal` say where that keeps state and records, which are in memory
    otherwise; `guards` are guards of Stanchion's beside the rules, and other options those of
    `Shield.load`.
    """

    def __init__(
        self,
        registry: RuleRegistry,
        guard_inbox: Any = None,
        config: GatewayConfig | None = None,
        decision_policy: None = None,
        risk_router: DefaultRiskRouter | None = None,
        context_builder: Any = None,
        *,
        store: Any = MEMORY,
        journal: str | Path | Any = MEMORY,
        guards: Iterable[Any] = (),
        **options: Any,
    ) -> None:
        check_options(options, OPTIONS, "GuardrailGateway")
        if not isinstance(registry, RuleRegistry):
            raise DialectError(f"`registry` is a `{type(registry).__name__}`: give a RuleRegistry")
        if decision_policy is not None:
            raise DialectError(
                "`decision_policy` cannot be changed: STOP, PAUSE, RETRY, REDACT, ALLOW win in "
                "this order"
            )
        if risk_router is not None and type(risk_router) is not DefaultRiskRouter:
            raise DialectError(
                f"`risk_router` is a `{type(risk_router).__name__}`: give a DefaultRiskRouter with "
                f"the waits you want"
            )
        build = getattr(context_builder, "build", None)
        if context_builder is not None and not (callable(build) and takes_both(build)):
            raise DialectError("`context_builder` needs a method `def build(self, event, ctx)`")
        if config is not None and not isinstance(config, GatewayConfig):
            raise DialectError(f"`config` is a `{type(config).__name__}`: give a GatewayConfig")
        self.registry = registry
        self.guard_inbox = checked_inbox(guard_inbox, registry)
        self.config = GatewayConfig() if config is None else config
        self.risk_router = DefaultRiskRouter() if risk_router is None else risk_router
        self.context_builder = (
            ContextSnapshotBuilder() if context_builder is None else context_builder
        )
        self._places = {"store": store, "journal": journal}
        self._guards = tuple(guards)
        self._options = options
        self._pack = ("penguiflow", "1")
        self._entries: Entries = {}
        self._shield: Shield | None = None
        self._in_force: tuple[Any, ...] = ()
        self._seated: tuple[Any, Seated] = (None, {})
        self._runs: dict[Whose, Run] = {}
        self._unknown: set[Whose] = set()
        """Runs of which other processes may know strikes that are not known here yet."""
        self._standing: dict[Whose, GuardrailDecision] = {}
        self._retried: dict[Whose, dict[str, int]] = {}
        """How often each rule has had a run's next request tried again."""
        self._told: set[str] = set()
        self._opening = Reentrant()
        self._closed = False

    @property
    def shield(self) -> Shield:
        """The shield that judges, with everything in force that was said so far."""
        said = self._said()
        if self._closed:
            raise DialectError(
                "the gateway is closed and judges nothing any more: make another one"
            )
        if said != self._in_force:
            self.config.checked()
        if self._shield is None:
            policy = self.policy()
            self.registry.sealed = SEALED
            self._shield = load_shield(
                policy, guards=[*guards_of(self), *self._guards], **self._places, **self._options
            )
        elif said != self._in_force:
            self._shield.reload(self.policy(), by="GuardrailGateway")
        self._in_force = said
        return self._shield

    def _said(self) -> tuple[Any, ...]:
        """What tells what is said now from what is in force."""
        risks = getattr(self.context_builder, "changes", 0)
        return (
            *msgspec.structs.astuple(self.config), self.registry.changes, risks,
            self.risk_router.changes, self._pack,
        )  # fmt: skip

    def policy(self) -> dict[str, Any]:
        """The pack that the gateway judges by: what its parts say, with the rules that the registry
        and a pack name."""
        risks = getattr(self.context_builder, "tool_risks", {})
        return written(
            self._pack, self.config, self.risk_router, risks, self.registry.entries(), self._entries
        )

    def apply(self, pack: GuardrailPolicyPack, rest: Settled) -> None:
        """Put a pack in force; where it cannot be, everything is as it was before."""
        router, builder, registry = self.risk_router, self.context_builder, self.registry
        with ExitStack() as undo:
            for owner, name in (
                (self, "config"),
                (self, "_pack"),
                (self, "_entries"),
                (registry, "told"),
            ):
                undo.callback(setattr, owner, name, getattr(owner, name))
            self.config = configured(self.config, pack.data.get("gateway", {}))
            self._pack, self._entries, registry.told = (
                (pack.policy_id, pack.version),
                rest.entries,
                rest.told,
            )
            waits = {
                "high_risk_wait_ms": router.high_risk_wait_ms,
                "medium_risk_wait_ms": router.medium_risk_wait_ms,
            }
            said = pack.data.get("risk_router", {})
            undo.callback(router.set_waits, **waits)
            router.set_waits(**{name: said.get(name, wait) for name, wait in waits.items()})
            if "tool_risks" in pack.data:
                undo.callback(_risky(builder), builder.tool_risks)
                builder.set_tool_risks(pack.data["tool_risks"])
            load_policy(self.policy())
            for name, key, value in rest.settings():
                rule = registry.own[name]
                before = getattr(rule, key)
                try:
                    setattr(rule, key, value)
                except (AttributeError, TypeError):
                    raise DialectError(
                        f"the rule `{name}` does not let `{key}` be set: leave it out"
                    ) from None
                undo.callback(setattr, rule, key, before)
            registry.changes += 1
            if self._shield is not None:
                self._shield.reload(self.policy(), by="GuardrailGateway")
            undo.pop_all()

    async def evaluate(
        self, ctx: GuardrailContext | GuardrailEvent, event: GuardrailEvent | None = None
    ) -> GuardrailDecision:
        """Judge an event, of a context or of none: what the planner is to do. A STOP ends the run;
        what a PAUSE waits for is a ticket, and once a person has approved it the same event goes
        ahead."""
        heard = heard_of(ctx, event)
        run = self._run_of(heard)
        return await adrive(self._evaluated(run, heard), run.desk)

    def evaluate_sync(
        self, ctx: GuardrailContext | GuardrailEvent, event: GuardrailEvent | None = None
    ) -> GuardrailDecision:
        """`evaluate` for code that is not async."""
        heard = heard_of(ctx, event)
        run = self._run_of(heard)
        return drive(self._evaluated(run, heard), run.desk)

    def _evaluated(self, run: Run, heard: PlannerReport) -> Flow[GuardrailDecision]:
        """The flow of both."""
        if self._unknown:
            yield from self._recalled(run, None if heard.ctx is None else heard.ctx.tenant_id)
        flow, place = flow_of(run, heard.event)
        before = (
            HEARD.get()
        )  # by hand: `setting` takes twice as long, and this is the way of every event
        HEARD.set(heard)
        try:
            decision = yield from flow
        finally:
            HEARD.set(before)
        whose = (None if heard.ctx is None else heard.ctx.tenant_id, run.id)
        if self._retried and decision.proceeds and heard.event.event_type == "llm_before":
            self._retried.pop(whose, None)  # the next step is tried as often as the first
        if decision.action == Action.ALLOW and not decision.findings and not decision.shadow:
            return passed(decision.id)
        if decision.action == Action.RETRY:
            run.desk.take_back(decision.advice)  # the planner has it from here
        said = self._said_of(run, decision, place, heard)
        if said.retry is not None:
            said = self._bounded(whose, said, said.retry, heard)
        if said.stop is not None and decision.action != Action.HALT:
            self._is_last(run, whose, said)  # before the end: whoever is told of that has its words
            yield from end_run(run.desk, ENDED, decision.message)
        return (yield from self._in_its_words(run, decision, said, whose))

    def _bounded(
        self, whose: Whose, said: GuardrailDecision, retry: RetrySpec, heard: PlannerReport
    ) -> GuardrailDecision:
        """A RETRY before a request, or a STOP when all its attempts are used and the planner has
        not done what its message says."""
        if heard.event.event_type != "llm_before":
            return said
        used = self._retried.setdefault(whose, {})
        used[said.rule_id] = used.get(said.rule_id, 0) + 1
        if used[said.rule_id] <= retry.max_attempts:
            return said
        stop = StopSpec(
            "RETRIES_USED", internal_reason=f"all {retry.max_attempts} retries are used"
        )
        return msgspec.structs.replace(said, action=GuardrailAction.STOP, retry=None, stop=stop)

    def _recalled(self, run: Run, tenant_id: str | None) -> Flow[None]:
        if (tenant_id, run.id) in self._unknown:
            yield from recall_strikes(run.desk)
            self._unknown.discard((tenant_id, run.id))

    def _said_of(
        self, run: Run, decision: Decision, place: tuple[str | int, ...], heard: PlannerReport
    ) -> GuardrailDecision:
        if decision.code == PAUSED:
            run.desk.waits_for(
                decision, str(decision.determining.args[0]) if decision.determining else ""
            )
        policy = run.desk.shield.policy
        if self._seated[0] is not policy:
            seats = [seat.placed for seat in policy.seats]
            known = {
                one.id: (one.whole.removesuffix(PIECES), not getattr(one.guard, "deep", False))
                for one in seats
            }
            self._seated = (policy, known)
        said = decision_of(
            decision, place, content_of(heard.event), policy.file.escalation, self._seated[1]
        )
        if decision.code in FAILED and decision.determining is not None:
            said = failed(
                said,
                heard.faults.get(decision.determining.guard.removesuffix(PIECES), ""),
                decision.proceeds,
            )
        return said

    def _in_its_words(
        self, run: Run, decision: Decision, said: GuardrailDecision, whose: Whose
    ) -> Flow[GuardrailDecision]:
        """A decision about a run that has ended or waits already, in the words of the rule that
        ended it or has it wait, whichever process that was."""
        if decision.code in STANDS:
            first = last_words(run.desk, self._seated[1])
            first = self._standing.get(whose) if first is None else first
            if first is None or first.action is not said.action:
                first = yield from left_words(run.desk, decision.id)
            if first is not None and first.action is said.action:
                if first.stop is not None:
                    self._standing[whose] = first  # a run ends once; what it waits for may change
                return msgspec.structs.replace(
                    said, rule_id=first.rule_id, stop=first.stop, pause=first.pause
                )
        elif said.pause is not None and said.pause.scope != "tool_call":
            self._standing[whose] = said
            yield from leave_words(run.desk, said)
        elif said.stop is not None and self._is_last(run, whose, said):
            yield from leave_words(run.desk, said)
        return said

    def _is_last(self, run: Run, whose: Whose, said: GuardrailDecision) -> bool:
        """Whether a STOP has the last word in its run: no other has ended it before."""
        first = self._standing.get(whose)
        if first is None or first.stop is None:
            if last_words(run.desk, self._seated[1]) is not None:
                return False
            self._standing[whose] = first = said
        return first is said

    def run(self, ctx: GuardrailContext | str) -> Run:
        """The run of a context, or of an id: its methods judge and carry out (`model`, `call`,
        `stream`), where `evaluate` judges alone."""
        given = GuardrailContext(ctx) if isinstance(ctx, str) else ctx
        if not isinstance(given, GuardrailContext):
            raise DialectError(
                f"a run is known by its GuardrailContext or its id, not by `{type(given).__name__}`"
            )
        run = self._opened(given, None)
        if self._unknown:
            drive(self._recalled(run, given.tenant_id), run.desk)
        return run

    def _run_of(self, heard: PlannerReport) -> Run:
        """The run of an event, with everything in force that was said so far."""
        event, ctx, _ = heard
        run = self._runs.get((None if ctx is None else ctx.tenant_id, event.run_id))
        if run is not None and self._said() == self._in_force:
            return run
        ctx = GuardrailContext(event.run_id) if ctx is None else ctx
        return self._opened(ctx, event.payload.get("task_scope"))

    def _opened(self, ctx: GuardrailContext, scope: Any) -> Run:
        with self._opening:
            shield, place = self.shield, (ctx.tenant_id, ctx.run_id)
            known = self._runs.get(place)
            if known is not None:
                return known
            if len(self._runs) >= MOST_RUNS:
                raise DialectError(
                    f"{MOST_RUNS:,} runs are open: end those that are over with "
                    f"`gateway.end(run_id)`"
                )
            made = shield.run(
                "" if ctx.persona_id is None else ctx.persona_id,
                scope if isinstance(scope, str) else "",
                id=ctx.run_id,
                tenant=ctx.tenant_id,
                can=CAN,
            )
            if self._places["store"] != MEMORY:
                self._unknown.add(place)
            self._runs[place] = made
            return made

    def ticket(
        self, decision: GuardrailDecision, run_id: str, tenant_id: str | None = None
    ) -> str | None:
        """The ticket that a PAUSE waits for: `gateway.shield.approve(ticket, by=...)` answers
        it."""
        if not isinstance(decision, GuardrailDecision):
            raise DialectError(
                f"`ticket` takes the GuardrailDecision that says PAUSE, not {shown(decision)}"
            )
        one_text("`run_id`", run_id)
        run = self._runs.get((tenant_id, run_id))
        return (
            None
            if run is None
            else run.desk.ticket_of(Decision(decision.decision_id, Action.ESCALATE, ""))
        )

    def surroundings(self, event: Event) -> Context:
        """What the run of an event has come to."""
        run = self._run_at(event)
        return Context() if run is None else run.desk.surrounded().context(run.desk.plans, event)

    def strikes(self, event: Event) -> int:
        """How many strikes the run of an event was given."""
        run = self._run_at(event)
        return 0 if run is None else sum(run.desk.strikes.values())

    def tell(self, fault: str) -> None:
        """Tell operators what is wrong with a rule: each fault once, in the log."""
        if fault not in self._told and len(self._told) < MOST_TOLD and self._shield is not None:
            self._told.add(fault)
            say(POLICY, WARNING, self._shield.policy.veil.words(fault))

    def _run_at(self, event: Event) -> Run | None:
        info = event.run
        return self._runs.get((info.tenant, info.id), self._runs.get((None, info.id)))

    def end(self, run_id: str, tenant_id: str | None = None) -> None:
        """Close a run that is over: nothing of it proceeds any more."""
        run = self.run(GuardrailContext(run_id, tenant_id))
        drive(end_run(run.desk, ENDED, "its gateway has ended it"), run.desk)
        self._forget(tenant_id, run_id)

    def _forget(self, tenant_id: str | None, run_id: str) -> None:
        self._standing.pop((tenant_id, run_id), None)
        self._retried.pop((tenant_id, run_id), None)
        self._unknown.discard((tenant_id, run_id))
        self._runs.pop((tenant_id, run_id)).close()

    def close(self) -> None:
        """Close all runs, and the shield."""
        for tenant_id, run_id in list(self._runs):
            self._forget(tenant_id, run_id)
        self._closed = True
        if self._shield is not None:
            self._shield.close()


def _risky(builder: Any) -> Any:
    if not isinstance(builder, ContextSnapshotBuilder):
        raise DialectError(
            "the pack has `tool_risks`, and `context_builder` is no ContextSnapshotBuilder to take "
            "them"
        )
    return builder.set_tool_risks


OWN: Final = {"registry": "registry", "builder": "context_builder", "router": "risk_router"}
"""Where a gateway has what it is given beside a pack."""


def apply_policy_config(
    registry: RuleRegistry,
    gateway: GuardrailGateway,
    builder: Any,
    router: DefaultRiskRouter,
    policy: GuardrailPolicyPack,
) -> None:
    """Put a pack in force, as a whole: where something is wrong with it everything stays as it was.

    What the pack does not say stays as the gateway, its builder and its router have it.
    """
    if not isinstance(gateway, GuardrailGateway):
        raise DialectError(f"`gateway` is {shown(gateway)}: give the GuardrailGateway")
    for (name, part), one in zip(OWN.items(), (registry, builder, router), strict=True):
        if one is not getattr(gateway, part):
            raise DialectError(f"`{name}` is not the one of this gateway: give `gateway.{part}`")
    if not isinstance(policy, GuardrailPolicyPack):
        raise DialectError(
            f"a pack is a GuardrailPolicyPack, not `{type(policy).__name__}`: use "
            f"`load_policy_pack`"
        )
    gateway.apply(policy, settled(registry, policy))
