"""The front page of the guards: each with what its page says first, in the order in which they
judge."""

from pathlib import Path
from typing import Any

from stanchion.policy.schema import GUARDS

PATH = "docs/guards/index.md"
PAGES = Path(__file__).resolve().parents[2] / "docs/guards"

INTRODUCTION = """\
# Guards

A guard judges one kind of hazard. It is pure: it sees only the event and the data it has declared, and returns a
finding or nothing. Each page here has the same five parts: what it does, usage, options, codes, and when not to use it.

| guard | what it is for |
|---|---|
"""

REST = """\

They are listed in the order in which they run, unless a policy changes it.

## What every entry may say

List a guard in a policy under `guards`, with its name after `use`. In addition to its own options, every entry takes:

| key | default | meaning |
|---|---|---|
| `id` | the guard's name, with dashes | its name in findings and records; unique in a policy |
| `enabled` | `true` | `false` leaves it out |
| `priority` | the guard's own | lower judges earlier |
| `category` | the guard's own | breaks ties: safety, compliance, budget, scope, quality |
| `stages` | the guard's own | where it judges |
| `mode` | `enforce` | `shadow`: its findings are recorded and counted separately, and change nothing |
| `applies_to` | everybody | the `agents`, `tasks` and `tools` it judges; names match exactly, unless you write a glob |
| `fail_open` | `false` | `true`: an action that it cannot judge proceeds, except for tools of critical risk; \
without the store for a minute at most, and never past a halt |
| `log_pass` | `false` | `true`: records also name it when it found nothing; findings are always recorded |
| `part_of` | absent | the `id` of another entry: both give one verdict in `decision.chain_result()` |
| `ends_chain` | `true` | `false`: guards behind it are judged even when it refuses |
| `always` | `false` | `true`: no overlay changes or removes it, and it enforces in shadow mode, too |
| `bypass` | nobody | who may let an action past it, on request: see [bypass](../how-to/bypass.md) |
"""


def render() -> str:
    """Render one row for each guard that a policy can use."""
    ordered = sorted(GUARDS.items(), key=lambda pair: _order(*pair))
    return (
        INTRODUCTION
        + "".join([f"| [`{name}`]({name}.md) | {said_of(name)} |\n" for name, _ in ordered])
        + REST
    )


def said_of(name: str, pages: Path = PAGES) -> str:
    """What the page of a guard says first, as it stands in a row; what to write where it says
    nothing."""
    file = pages / f"{name}.md"
    lines = file.read_text(encoding="utf-8").split("\n\n") if file.is_file() else []
    said = " ".join(lines[1].split()) if len(lines) > 1 and not lines[1].startswith("#") else ""
    return said.removesuffix(".") if said else "…"


def _order(name: str, guard: type[Any]) -> tuple[int, int, str]:
    return (guard.priority, guard.category, name)
