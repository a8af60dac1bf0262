"""The action × stage table: what each action does at each stage."""

from stanchion.kernel.actions import Action
from stanchion.kernel.stages import CAUGHT, Stage
from stanchion.kernel.table import TABLE, carried

PATH = "docs/reference/actions.md"

INTRODUCTION = """\
# Actions and stages

Ten actions, mildest first: {actions}. Up to `DEGRADE` the event goes ahead; from `BLOCK` on the rest of the chain
is skipped. Each cell says what happens. Where a stage has no row for an action, it makes no sense there: a policy
that asks for it is refused when it loads, and a user's own guard that answers it at run time gets the next stricter
action that does make sense, as the last column says.

`REDACT` is for what leaves or arrives, never for what runs or is written on this machine: there a credential or personal
data stays, and the action becomes `WARN`, or `ESCALATE` if what runs also reaches another machine. So it is for guards
that only hide (`secrets`, `pii`, `presidio`); what other guards patch in a call, such as a limit, is patched everywhere.
"""


def render() -> str:
    """Render one table for each stage."""
    lines = [INTRODUCTION.format(actions=", ".join(f"`{action.name}`" for action in Action))]
    for stage in Stage:
        lines += [
            f"## {stage}",
            "",
            f"Caught: {CAUGHT[stage]}.",
            "",
            "| action | what happens |",
            "|---|---|",
        ]
        happens = carried(stage)
        for action in Action:
            words = TABLE[stage].get(action)
            if words is None:
                words = f"makes no sense here; becomes `{happens[action].name}`"
            lines.append(f"| `{action.name}` | {words} |")
        lines.append("")
    return "\n".join(lines)
