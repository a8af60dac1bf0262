"""Commanding a shield: everybody may stop what agents do, and only operators let it go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import By, named
from stanchion.approvals.digest import Request
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.gates import GateStanding, standing_key, standing_of
from stanchion.kernel.state import ABSENT, FOREVER
from stanchion.kernel.states import HALTED, QUARANTINE, SAFE, Mark, Signal, Terms
from stanchion.policy.schema import id_of
from stanchion.runtime.driving.sync import drive, new_batch
from stanchion.runtime.errors import StateError
from stanchion.runtime.people.authority import told
from stanchion.runtime.standing.epoch_memory import changed
from stanchion.runtime.standing.states import TERMS, record_shift, scope_of, shift
from stanchion.telemetry.guardrails import states

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.shield import Shield
    from stanchion.telemetry.guardrails import GuardrailState


def safe_mode(
    shield: Shield,
    on: bool,
    why: str = "",
    tenant: str | None = None,
    scope: str = "",
    by: By = "an operator",
) -> None:
    """Switch safe mode on or off for every process on this store: tool calls and retries are
    refused.

    `scope` narrows it to `tool:NAME`, `agent:NAME` or `run:ID`, or widens it to the `fleet`. On is
    everybody's, off an operator's (`AnswerRefused` where `by` is none). Off also releases the brake
    that this shield was started with (by its argument or the environment), which is its own and
    never in the store: it does not outlive the process. `StateError` where a halt stands in the
    way.
    """
    if on:
        shield.signal(tenant, scope, (Signal.SAFE_ON,), SAFE, why, named(by))
        return
    shield.act(_request(shield, Purpose.SAFE_MODE_OFF, tenant, scope, why), by)
    if not scope:
        shield.release_brake()


def halt(
    shield: Shield,
    why: str = "",
    tenant: str | None = None,
    scope: str = "",
    by: str = "an operator",
) -> None:
    """Stop everything, or everything of a `scope`; only `resume` lets it go on."""
    shield.signal(tenant, scope, (Signal.HALT,), HALTED, why, by)


def quarantine(
    shield: Shield,
    scope: str,
    for_s: float = 300.0,
    why: str = "",
    tenant: str | None = None,
    by: str = "an operator",
) -> None:
    """Isolate a tool, an agent or a run for a time; others go on. `resume` ends it earlier."""
    if not 0 < for_s < 1e9:
        raise ValueError(f"for_s is `{for_s}`: give a positive number of seconds")
    terms = Terms(quarantine_ms=int(for_s * 1000), halt_after=FOREVER)
    shield.signal(tenant, scope, (Signal.FAILING, Signal.REPEATED), QUARANTINE, why, by, terms)


def resume(
    shield: Shield,
    tenant: str | None = None,
    scope: str = "",
    by: By = "an operator",
    why: str = "",
) -> None:
    """Back to normal after a halt, safe mode, a quarantine or a warning; other scopes stay as they
    are. An operator's: `AnswerRefused` where `by` is none."""
    shield.act(_request(shield, Purpose.RESUME, tenant, scope, why), by)


def reset_tool(
    shield: Shield, name: str, tenant: str | None = None, why: str = "", by: By = "an operator"
) -> bool:
    """Let a tool be called again at once: its breakers are closed, in every process. Says whether
    one was not. An operator's: `AnswerRefused` where `by` is none."""
    request = Request(
        purpose=Purpose.RESET, tenant=shield.tenancy.of(tenant), subject=name, said={"why": why}
    )
    return bool(shield.act(request, by))


def break_lock(
    shield: Shield, name: str, tenant: str | None = None, why: str = "", by: By = "an operator"
) -> bool:
    """Break the locks of the guard `locks` on something, by the name that `stanchion state locks`
    shows: whoever waits for it goes on, and its holder has to lock it again. Says whether there was
    one. An operator's: `AnswerRefused` where `by` is none."""
    request = Request(
        purpose=Purpose.BREAK_LOCK,
        tenant=shield.tenancy.of(tenant),
        subject=name,
        said={"why": why},
    )
    return bool(shield.act(request, by))


def release_call(
    shield: Shield,
    call: str,
    used: Mapping[str, Any] | None = None,
    *,
    why: str = "",
    by: By = "an operator",
    tenant: str | None = None,
) -> None:
    """Give back what a call has reserved whose process is gone. `used` says what it used (`tokens`,
    `cost_usd`, `api_calls`, `duration_s`): a measure that it does not name stays charged at its
    estimate. Without it nothing was.

    `call` is an id as `stanchion budget holds` shows it; that of a slice gives back what a process
    held of a counter of the whole fleet. `HoldError` where there is nothing to release yet,
    `AnswerRefused` where `by` is no operator.
    """
    from stanchion.runtime.operating.budgets import release_request

    shield.act(release_request(shield.tenancy.of, call, used, why, tenant), by)


def top_up(
    shield: Shield,
    budget: str,
    amount: Mapping[str, Any],
    *,
    why: str = "",
    by: By = "an operator",
    tenant: str | None = None,
) -> None:
    """Let more be spent of a budget: `amount` (`calls`, `tokens`, `cost_usd`, `api_calls`,
    `duration_s`) is taken off what is used of it, for every process. Of a budget with a window it
    counts for as long as the window.

    `budget` is its id and whose it is: `spend/run:ID`, `spend/tenant`, `spend/fleet`. `BudgetError`
    where there is no such budget in the store, `AnswerRefused` where `by` is no operator.
    """
    from stanchion.runtime.operating.budgets import top_up_request

    shield.act(top_up_request(shield.tenancy.of(tenant), budget, amount, why), by)


def signal(
    shield: Shield,
    tenant: str | None,
    scope: str,
    signals: tuple[Signal, ...],
    wanted: str,
    why: str,
    by: str | Answer,
    terms: Terms = TERMS,
) -> None:
    """Give signals to a state, and write down what has changed; `StateError` where a halt stands in
    the way."""
    whose, name = scope_of(FLEET if scope == "fleet" else shield.tenancy.of(tenant), scope)
    veil = shield.policy.veil
    why, who = veil.words(why), veil.name(named(by))
    flow = shift(
        shield.records, new_batch("state"), whose, name, signals, why if why else f"by {who}", terms
    )
    for one in drive(flow, shield):
        proof = told(by) if isinstance(by, Answer) else None
        record_shift(shield, whose, one._replace(why=why), who, proof=proof)
    drive(changed(shield.memory, shield.clock()), shield)
    standing = standing_of(shield.records.get(standing_key(whose), ABSENT)[1])
    state = (standing.marks.get(name, Mark()) if name else standing.own).state
    if state == HALTED != wanted:
        raise StateError(f"`{scope if scope else whose}` is halted: only `resume` lets it continue")


def _request(shield: Shield, purpose: Purpose, tenant: str | None, scope: str, why: str) -> Request:
    whose, name = scope_of(FLEET if scope == "fleet" else shield.tenancy.of(tenant), scope)
    return Request(
        purpose=purpose,
        tenant=whose,
        subject="fleet" if scope == "fleet" else name,
        said={"why": why},
    )


def standing(shield: Shield, tenant: str | None = None) -> GateStanding:
    """The states of a tenant and of what is in it, as the store has them; `*` is the fleet."""
    return standing_of(shield.store.read(standing_key(shield.tenancy.of(tenant)))[1])


def health(shield: Shield, tool: str, tenant: str | None = None) -> int | None:
    """How well a tool has worked lately, from 0 to 100; `None` where a `health` guard has seen no
    call of it."""
    from stanchion.guards.health import health_key, score

    return score(shield.store.read(health_key(shield.tenancy.of(tenant), tool))[0])


def guardrails(shield: Shield) -> tuple[GuardrailState, ...]:
    """The state of each guardrail of the policy in force, in the policy's order: how often it was
    reached by all processes that publish their figures in the same folder, and what it said. Guards
    that are parts of one are one. Nothing is counted where `metrics` is off."""
    return states(shield.telemetry.collect(), switched_on(shield.policy))


def switched_on(policy: CompiledPolicy) -> dict[str, bool]:
    """Every guardrail of a policy, and whether it is on: one of which a part is on is."""
    found = {
        entry.part_of if entry.part_of else id_of(entry): False for entry in policy.file.guards
    }
    return found | {seat.placed.whole: True for seat in policy.seats}
