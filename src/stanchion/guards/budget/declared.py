"""What a budget says of itself: what its options mean, which way each becomes stricter, and what
would have made a finding of it not be there."""

from __future__ import annotations

from typing import Final

from stanchion.guards._marks import REACH
from stanchion.kernel.option import Stricter

_WINDOW: Final = "{limit} per {per} in any {window_s:span}"
_WHOLE: Final = "{window_s:unless}{limit} per {per}"
_FITS: Final = ", used and reserved together (`{option}`)"
_LESS: Final = " (`{mark}` of `{option}`)"
_TASK: Final = "a larger budget of the task (`tasks.<name>.budget.{measure}`)"

REMEDIES: Final = {
    "budget.nearly": (
        _TASK,
        "less than {0} % of " + _WINDOW + _LESS,
        "less than {0} % of " + _WHOLE + _LESS,
        "{option:if}{lockdown}",
    ),
    "": (
        _TASK,
        "no more than " + _WINDOW + _FITS,
        "no more than " + _WHOLE + _FITS,
        "{option:if}{window_s:if}the same call later, when earlier spending has left the window",
        "{option:if}another {apart}: its spending is counted apart",
    ),
}

OPTIONS: Final = {
    "tokens": Stricter.LOWER("The limit in tokens; if absent, tokens are not limited."),
    "cost_usd": Stricter.LOWER("The limit in US dollars; if absent, cost is not limited."),
    "calls": Stricter.LOWER(
        "The limit on tool calls, model calls and handoffs together; if absent, they are not "
        "limited."
    ),
    "api_calls": Stricter.LOWER(
        "The limit on calls to external APIs: model calls, calls of `open_world` tools, requests "
        "through the run's transports; if absent, they are not limited."
    ),
    "duration_s": Stricter.LOWER(
        "The limit in seconds of work, adding up all actions, parallel ones too; if absent, work "
        "time is not limited."
    ),
    # Another span or another owner is another counter, and that begins at nothing.
    "per": Stricter.SAME(
        "Whose spending is counted together: that of a `run`, a `task`, an `agent`, a `tenant`, "
        "the whole `fleet`, or of a name that the host gives its runs as a label, such as "
        "`customer`."
    ),
    "window_s": Stricter.SAME(
        "Counts only what was spent in the last this many seconds; if absent, everything counts."
    ),
    "warn_at": Stricter.LOWER(
        "Warns from this percentage of a limit on, estimates included; if absent, it does not warn."
    ),
    "degrade_at": Stricter.SAME(
        "Asks for a lesser request from this percentage of a limit on, if the policy defines one; "
        "if absent, never."
    ),
    "escalate_at": Stricter.LOWER(
        "Asks a person from this percentage of a limit on; if absent, never."
    ),
    "action": Stricter.ACTION(
        "The action for what exceeds a limit; it must be more severe than all marks before the "
        "limit."
    ),
    "reach": REACH,
    "counter": Stricter.SAME(
        "Budgets with the same counter, `per` and window count together; if absent, each entry "
        "counts separately."
    ),
    "reserve_tokens": Stricter.HIGHER(
        "The tokens reserved for an action without an estimate or another bound; if absent, none."
    ),
    "reserve_cost_usd": Stricter.HIGHER(
        "The dollars reserved for an action without an estimate or another bound; if absent, none."
    ),
    "reserve_duration_s": Stricter.HIGHER(
        "The seconds reserved for an action without an estimate or a time limit; if absent, none."
    ),
    "of_task": Stricter.SAME(
        "The measure whose limit is that of the run's task, `tasks.<name>.budget`; if absent, the "
        "limits are those given here."
    ),
    "turns": Stricter.SAME(
        "Lets one action at a time begin on the budget, until its outcome is known: others `wait` "
        "for it, or are refused (`refuse`); if absent, actions run side by side."
    ),
    "window": Stricter.SAME(
        "Counts what was spent in the present hour, day or month of the policy's `timezone`; if "
        "absent, everything counts."
    ),
}
