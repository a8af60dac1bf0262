"""Autonomy modes: the less of a run's budgets is left, the stricter its policy judges."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import ABSENT, FOREVER, Expect, Records
from stanchion.kernel.states import NORMAL
from stanchion.kernel.tuples import NamedTuple

STRICT: Final = "strict"
LOCKDOWN: Final = "lockdown"
EXHAUSTED: Final = "exhausted"

MODES: Final = (NORMAL, STRICT, LOCKDOWN, EXHAUSTED)
"""From the freest to the strictest."""

TIGHTER: Final = 0.8
"""By what the marks of guards are multiplied in strict mode."""

USED_UP: Final = "kernel.exhausted"
"""The code of the refusal where nothing is left of a budget."""

STARTS: Final = frozenset(
    {Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF, Stage.CHARGE}
)
"""Stages at which something begins; where the budget is used up nothing does, and what runs may
still end."""


SUPERVISOR: Final = "supervisor"
OPERATOR: Final = "human_operator"

BYPASSERS: Final[dict[str, frozenset[str] | None]] = {
    NORMAL: None,
    STRICT: frozenset({SUPERVISOR, OPERATOR}),
    LOCKDOWN: frozenset({OPERATOR}),
    EXHAUSTED: frozenset(),
}
"""Whose yes lets something past a guard, by mode; `None`: whose the guard itself asks for. Where
nothing is left it is nobody's, and only an emergency override is there."""


class Share(NamedTuple):
    """One budget of a run: its counter and its limit."""

    key: str
    limit: int


class Autonomy(NamedTuple):
    """The mode that follows from what is known of the budgets, and what a batch has to expect for
    it to hold."""

    mode: str
    expects: tuple[Expect, ...]
    used: tuple[tuple[str, int, None], ...]


def bounds(limit: int) -> tuple[int, int, int]:
    """From which total on a budget is strict (half is left), in lockdown (less than a fifth is),
    and used up."""
    strict = -(-limit // 2)
    lockdown = limit * 4 // 5 + 1
    return strict, min(max(strict, lockdown), limit), limit


def level(total: int, limit: int) -> int:
    """Which of the modes a budget calls for, by its place in `MODES`."""
    return sum([total >= bound for bound in bounds(limit)])


def autonomy(shares: tuple[Share, ...], records: Records) -> Autonomy:
    """The mode of a run: that of the budget of which least is left. It holds as long as none is
    used up further, and the one that decides is not given back."""
    known = [(share, records.get(share.key, ABSENT)[0]) for share in shares]
    levels = [level(total, share.limit) for share, total in known]
    worst = max(levels)
    decides = levels.index(worst)
    expects = []
    for at, (share, _) in enumerate(known):
        ends = (0, *bounds(share.limit), FOREVER)
        expects.append((share.key, ends[worst] if at == decides else 0, ends[worst + 1]))
    return Autonomy(
        MODES[worst], tuple(expects), tuple([(share.key, total, None) for share, total in known])
    )


def exhausted(event: Event) -> Finding | None:
    """The refusal where nothing is left; what is under way may end."""
    if event.stage not in STARTS:
        return None
    return Finding(Action.BLOCK, USED_UP, guard="kernel")


def may_bypass(mode: str, role: str) -> bool:
    """Whether the yes of somebody with that role can let something past a guard in that mode.

    It only narrows: which role a guard asks for, and whether it can be bypassed at all, its own
    entry says. In a mode that is none of autonomy (safe mode, halted) nobody may.
    """
    roles = BYPASSERS.get(mode, frozenset())
    return roles is None or role in roles


def refusing(finding: Finding, cells: tuple[Action, ...]) -> Finding:
    """A warning that refuses, in words that say so. Nothing but lockdown makes a warning severer
    than a redaction; otherwise it refuses because its host can do nothing milder."""
    if cells[Action.WARN] <= cells[Action.REDACT]:
        return msgspec.structs.replace(finding, text=f"{finding.message}; warnings refuse here")
    text = f"{finding.message}; in lockdown, with so little left of a budget, warnings refuse"
    guidance = (
        finding.guidance
        if finding.guidance
        else "do what nothing warns about, or ask for a larger budget"
    )
    return msgspec.structs.replace(finding, text=text, guidance=guidance)
