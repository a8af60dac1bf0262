"""Changing what stands before every chain: ending runs, and the states of a shield, its tools,
agents and runs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.gates import MAX_MARKED, standing_key, standing_of
from stanchion.kernel.state import FOREVER, Records
from stanchion.kernel.states import NORMAL, SAFE, Mark, Signal, Terms, moved, phase
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

TERMS: Final = Terms()
REMEMBERED_MS: Final = 86_400_000
"""How long it is remembered how often something was quarantined."""

SAFE_MODE_VARIABLES: Final = ("STANCHION_SAFE_MODE", "VERONICA_SAFE_MODE")


def asked_for_safe_mode(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for safe mode."""
    return any(
        environ.get(name, "").strip().lower() in ("1", "true", "yes", "on")
        for name in SAFE_MODE_VARIABLES
    )


class Shift(NamedTuple):
    """A state that has changed: whose (empty: the tenant's own), from what, to what, and why."""

    name: str
    before: str
    after: str
    why: str


def shift(
    records: Records,
    batch_id: str,
    tenant: str,
    name: str,
    signals: tuple[Signal, ...],
    why: str,
    terms: Terms = TERMS,
    run: str = "",
) -> Flow[tuple[Shift, ...]]:
    """Give signals to a tenant's state, or to that of something in it (`tool:NAME`, `agent:NAME`,
    `run:ID`), one after the other, as a `run` or as somebody else; says what has changed. What a
    signal does not move stays, and nothing is written for it."""
    shifts: list[Shift] = []

    def after(value: Any, now: int) -> Any:
        shifts.clear()
        standing = standing_of(value)
        mark = first = standing.marks.get(name, Mark()) if name else standing.own
        for signal in signals:
            was, new = mark, moved(mark, signal, now, why, terms, run)
            if new is not None:
                mark = new
                before = phase(was, now).state
                shifts.extend(
                    [Shift(name, before, mark.state, why)] if mark.state != before else []
                )
        if mark is first:
            return LEFT
        if not name:
            return msgspec.to_builtins(msgspec.structs.replace(standing, own=mark))
        live = {
            one: each for one, each in standing.marks.items() if one != name and _lasts(each, now)
        }
        if len(live) >= MAX_MARKED:
            del live[min(live, key=lambda one: live[one].until or FOREVER)]
        marks = {**live, name: mark} if _lasts(mark, now) else live
        return msgspec.to_builtins(msgspec.structs.replace(standing, marks=marks))

    yield from change(records, batch_id, tenant, standing_key(tenant), after)
    return tuple(shifts)


def scope_of(tenant: str, scope: str) -> tuple[str, str]:
    """The tenant and the name under which a scope's state is kept: empty for the tenant's own."""
    if scope == "fleet":
        return FLEET, ""
    kind, _, name = scope.partition(":")
    if scope and (kind not in ("tool", "agent", "run") or not name):
        raise ValueError(
            f"the scope is `{scope}`: give `tool:NAME`, `agent:NAME`, `run:ID` or `fleet`, or none "
            f"at all"
        )
    return tenant, scope


def _lasts(mark: Mark, now: int) -> bool:
    """Whether a mark still says something; one that was quarantined before is remembered for a
    day."""
    over = mark.until + mark.after_ms + (REMEMBERED_MS if mark.times else 0)
    return phase(mark, now).state != NORMAL or (mark.until > 0 and now < over)


def record_shift(
    shield: Shield,
    tenant: str,
    one: Shift,
    by: str = "",
    run: str = "",
    proof: Mapping[str, Any] | None = None,
) -> None:
    """Write down that a state has changed; where it cannot be, the state has changed all the
    same."""
    about = one.name if one.name else "fleet" if tenant == FLEET else f"tenant:{tenant}"
    data = {
        "before": shown(one.before),
        "after": shown(one.after),
        **({} if proof is None else proof),
    }
    with contextlib.suppress(AuditLost):
        tell(
            shield,
            Fact(
                shield.clock(), f"state.{shown(one.after)}", about, tenant, run, by, one.why, data
            ),
        )


def shown(state: str) -> str:
    """A state as people call it."""
    return {NORMAL: "normal", SAFE: "safe_mode"}.get(state, state)
