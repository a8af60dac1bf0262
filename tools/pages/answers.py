"""Whose yes counts: by way of answering, risk, scope, role and mode of autonomy."""

from typing import Final

from msgspec.structs import replace

from stanchion.approvals.act import Way
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.rules import AnswererRole, Asked, refusal
from stanchion.kernel.autonomy import MODES, OPERATOR, SUPERVISOR, may_bypass
from stanchion.kernel.states import NORMAL

PATH = "docs/reference/answers.md"

INTRODUCTION = """\
# Whose yes counts

A call that waits for a person starts when somebody says yes who may. This is asked when they answer, and again when
the call starts. Anybody may say no: it lets nothing through.

## By risk, and how somebody answers

Each cell says how far a yes can reach; a dash means that it does not count. A program's yes counts only where the state
is in its own memory. Somebody without a key answers as `{operator}`.
`escalation.at_least` in the policy is the weakest answer that counts at all: by a `link`, in a
`chat` that says who it is, or with a `key`.

"""

RISKS: Final = {
    "low, medium": Asked(),
    "high": Asked(high=True),
    "cannot be undone": Asked(lasting=True),
    "critical": Asked(critical=True),
}
WAYS: Final = {
    "an operator's key, in a file or an ssh-agent": (Way.KEY, True),
    "a code typed at a terminal, while nobody is enrolled": (Way.TERMINAL, False),
    "the program itself, while nobody is enrolled": (Way.PROGRAM, False),
    "a code typed at a terminal, where operators have keys": (Way.TERMINAL, True),
    "a link or a chat, while nobody is enrolled": (Way.LINK, False),
    "a link or a chat, where operators have keys": (Way.LINK, True),
    "the same, where the policy names it under `escalation.relayed`": (Way.CHAT, True),
    "the program itself, where operators have keys": (Way.PROGRAM, True),
}

BY_MODE = """
## By role and mode of autonomy

The ticket names the roles whose answer it asks for (`escalation.roles` in the policy). Where the policy sets
`autonomy`, the less is left of a budget, the fewer of them count.

"""

SEVERAL = """
## How many

One yes is enough, but for what is critical: that takes `escalation.quorum` people with different keys. Where the policy
does not say how many, it is two if at least two operators hold one of the ticket's roles, and one otherwise.
"""

NEVER = """
## What never counts

- a yes of somebody to what they asked for themselves, or an agent that works for them, or one below it. Names are the
  same however they are spelled: case, width, accents, spaces and characters that cannot be seen make no difference
- a yes of the same person under another name: whoever has the same key is the same
- a yes by a key that is not enrolled, or was revoked or replaced, also where it was given before
- a yes to a ticket that changed since, or was asked for again
- a yes whose time is over, that was used up, or that was taken back
- a yes without a signature that is handed in from a file
- a name, on a store that outlives the process
"""


def render() -> str:
    """Render the tables from the rules themselves."""
    lines = [f"| how | {' | '.join(RISKS)} |", f"|---|{'---|' * len(RISKS)}"]
    for words, (way, enrolled) in WAYS.items():
        answering = AnswererRole(way, "ann", OPERATOR, (), enrolled)
        named = ("chat",) if way is Way.CHAT else ()
        cells = [_reach(replace(asked, relayed=named), answering) for asked in RISKS.values()]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    roles = ("any other role", SUPERVISOR, OPERATOR)
    modes = [
        f"| mode | {' | '.join(_code(role) for role in roles)} |",
        f"|---|{'---|' * len(roles)}",
    ]
    for mode in MODES:
        said = " | ".join("yes" if may_bypass(mode, role) else "–" for role in roles)
        modes.append(f"| `{mode if mode != NORMAL else 'normal'}` | {said} |")
    parts = [
        INTRODUCTION.format(operator=OPERATOR),
        "\n".join(lines),
        "\n",
        BY_MODE,
        "\n".join(modes),
        "\n",
        SEVERAL,
        NEVER,
    ]
    return "".join(parts)


def _reach(asked: Asked, answering: AnswererRole) -> str:
    scopes = [f"`{scope}`" for scope in Scope if not refusal(asked, answering, scope)]
    return ", ".join(scopes) if scopes else "–"


def _code(role: str) -> str:
    return role if " " in role else f"`{role}`"
