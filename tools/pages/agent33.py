"""The AGENT-33 specification, paragraph by paragraph: what meets it, and what is not done yet."""

import re
from typing import Final

from tools.features import Done, Open, Ruled, read

PATH = "docs/features/agent33.md"

INTRODUCTION: Final = """\
# AGENT-33, paragraph by paragraph

Each numbered paragraph of the specification *Guardrails & Validation Hooks* with its requirements: the module that
meets one and the test that shows it, or that nothing does yet. [Guardrail files](../how-to/guardrail-files.md) says how
to use them, and [Move from AGENT-33](../how-to/from-agent33.md) has the hooks by their names. The pack `agent-33` has
all 24 guardrails of the specification.
"""

RULINGS: Final = (
    ("priority", "lower first here, higher first in other documents of AGENT-33", "lower first"),
    (
        "warnings of budgets",
        "at 90 % and 80 % (budget-001, budget-002), at 80 % and 70 % (builtin-001, builtin-002)",
        "each guardrail keeps its own",
    ),
    (
        "builtin-001, builtin-002",
        "`action_on_fail: escalate`, and `block` at 100 %",
        "the thresholds: warn, escalate and block at their own marks",
    ),
    (
        "post-execution",
        "synchronous in 1.2, may be asynchronous in 10",
        "synchronous; a guard that is `deep` may answer late",
    ),
    ("priority of custom guardrails", "more than 100 in 6.1, 100 and more in 10", "100 and more"),
    (
        "emergencies",
        "15 minutes in 7.2, 60 seconds in 7.3",
        "60 seconds, for tools that the policy lists as safety responses; otherwise as urgent",
    ),
    (
        "low risk",
        "the default is `warn`, and its built-in guardrails block",
        "the built-in guardrails keep their own action",
    ),
    (
        "conditions",
        "`AND` and `==` beside checks in prose",
        "one language of conditions; each sentence of the specification is a check with a name",
    ),
    (
        "who is asked",
        "two orders of roles in two documents",
        "the policy's own; by default reviewer, architect, human_operator",
    ),
    ("scope-002, builtin-003", "the same check twice", "one mechanism under both ids"),
)
"""Where the specification contradicts itself: about what, what it says, and what counts."""

PARAGRAPHS: Final = (
    (18, "Guardrail schema"),
    (43, "1.1 Pre-execution"),
    (60, "1.2 Post-execution"),
    (77, "1.3 Pre-handoff"),
    (94, "1.4 Post-handoff"),
    (111, "1.5 On error"),
    (136, "2.1 Safety"),
    (163, "2.2 Quality"),
    (190, "2.3 Compliance"),
    (217, "2.4 Budget"),
    (246, "2.5 Scope"),
    (279, "3.1 Execution order"),
    (293, "3.2 Chain configuration example"),
    (305, "3.3 Chain results aggregation"),
    (326, "4.1 Pass"),
    (337, "4.2 Warn"),
    (349, "4.3 Block"),
    (364, "4.4 Escalate"),
    (380, "5 Built-in guardrails"),
    (384, "5.1 Token budget enforcement"),
    (400, "5.2 Time budget enforcement"),
    (416, "5.3 Scope boundary enforcement"),
    (429, "5.4 Tool allowlist enforcement"),
    (448, "6.1 Custom guardrail template"),
    (475, "6.2 Custom guardrail example"),
    (508, "7.1 Bypass request schema"),
    (520, "7.2 Bypass approval flow"),
    (538, "7.3 Emergency override"),
    (561, "8.1 Risk trigger mapping"),
    (583, "8.2 Autonomy budget interaction"),
    (605, "9.1 Registration"),
    (615, "9.2 Runtime state"),
    (630, "9.3 Monitoring and alerting"),
    (653, "10 Implementation notes"),
)
"""Where each paragraph begins, and its title."""


def render() -> str:
    """Render a table for each paragraph, with the rows of the feature table that lie in it."""
    rows = read("agent33").rows
    lines = [INTRODUCTION, "## Where the specification contradicts itself", ""]
    lines += ["| about | it says | what counts |", "|---|---|---|"]
    lines += [f"| {about} | {says} | {counts} |" for about, says, counts in RULINGS]
    lines.append("")
    ends = [*[begins for begins, _ in PARAGRAPHS[1:]], 10**9]
    for (begins, title), end in zip(PARAGRAPHS, ends, strict=True):
        lines += [f"## {title}", "", "| requirement | module | test |", "|---|---|---|"]
        lines += [_line(row) for row in rows if any(begins <= at < end for at in _starts(row))]
        lines.append("")
    return "\n".join(lines)


def _starts(row: Open | Done | Ruled) -> list[int]:
    """Where the passages of a row begin."""
    return [int(found) for found in re.findall(r"(?:^|,)\s*(\d+)", row.lines)]


def _line(row: Open | Done | Ruled) -> str:
    says = row.says.replace("|", "\\|")
    match row:
        case Done():
            modules, tests = (
                "<br>".join(f"`{one}`" for one in each) for each in (row.modules, row.tests)
            )
            return f"| {says} | {modules} | {tests} |"
        case Ruled():
            return f"| {says} | ruled: {row.ruling} | |"
        case _:
            return f"| {says} | not done yet | |"
