"""Who may say yes to a bypass: role, mode, urgency and time, as the rules have it."""

from stanchion.approvals.bypass import NOBODY, Requested, Urgency, authorities, stand
from stanchion.kernel.autonomy import MODES, OPERATOR, SUPERVISOR
from stanchion.policy.sections import Bypassing, Escalation

PATH = "docs/reference/bypass.md"

INTRODUCTION = """\
# Who may say yes to a bypass

`requires_approval` of the guardrail, the [mode](../how-to/autonomy-modes.md) of the run, the urgency of the request and
the time since it was made say who may answer it. The times and roles are the defaults of a policy: 15 minutes for each
authority, 60 seconds for an emergency. [How to ask for a bypass](../how-to/bypass.md) explains the rest.

- `override`: nobody has to answer any more, if the tool is a safety response of the policy.
- `denied`: the time is over, and the request is denied.
- `nobody`: nobody may say yes. Such a request is refused at once, unless it is an emergency call of a safety response.

A guardrail that is always active has the rows of the mode `exhausted`, in every mode.
"""

MINUTE_MS = 60_000
TIMES = {"0 s": 0, "60 s": MINUTE_MS, "15 min": 15 * MINUTE_MS, "30 min": 30 * MINUTE_MS, "45 min": 45 * MINUTE_MS,
         "60 min": 60 * MINUTE_MS}  # fmt: skip


def render() -> str:
    """Render one table for each mode."""
    terms, roles = Bypassing(), Escalation().roles
    below = [role for role in roles if role not in (SUPERVISOR, OPERATOR)]
    lines = [INTRODUCTION]
    for mode in MODES:
        lines += [f"## Mode `{mode if mode else 'standard'}`", ""]
        lines += [
            f"| requires_approval | urgency | {' | '.join(TIMES)} |",
            "|---|---|" + "---|" * len(TIMES),
        ]
        for role in (*below, SUPERVISOR, OPERATOR):
            for urgency in Urgency:
                asked = _asked(urgency, authorities(role, roles, mode), terms)
                cells = " | ".join(_cell(asked, at) for at in TIMES.values())
                lines.append(f"| `{role}` | {urgency} | {cells} |")
        lines.append("")
    return "\n".join(lines)


def _asked(urgency: Urgency, asks: tuple[str, ...], terms: Bypassing) -> Requested:
    override = int(terms.emergency_s * 1000) if urgency is Urgency.EMERGENCY else 0
    each = int(terms.timeout_s * 1000)
    return Requested(
        id="", guardrail="", reason="", urgency=urgency, asks=asks, each_ms=each, override_ms=override
    )  # fmt: skip


def _cell(asked: Requested, at: int) -> str:
    now = stand(asked, 0, at)
    if now.over:
        return "denied"
    who = "nobody" if now.roles == NOBODY else ", ".join(f"`{role}`" for role in now.roles)
    return f"{who}; override" if now.overrides else who
