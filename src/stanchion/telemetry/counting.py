"""Counting decisions: by stage, tool, action and guard, and by how long they took."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.kernel.actions import NAMES
from stanchion.kernel.decision import ERRORS, Decision
from stanchion.kernel.events import Event
from stanchion.telemetry.catalogue import DECISION_SECONDS, DECISIONS, FAILURES, OTHER, SHADOW
from stanchion.telemetry.registry import Registry

MOST_TOOLS: Final = 200
"""How many tools are told apart; an agent can invent names, and those that come later are
`other`."""
LONGEST: Final = 100
"""A tool with a longer name is `other`."""


class Counting:
    """Counts decisions in a registry. `name` gives a tool's name as it may be shown."""

    def __init__(self, registry: Registry, name: Callable[[str], str]) -> None:
        self._registry, self._name = registry, name
        self._cells = registry.remembered
        self._tools: dict[str, str] = {}

    def decided(self, event: Event, decision: Decision, took_ns: int) -> None:
        """Count one decision; `took_ns` is 0 where nobody knows. It is on the way of every one, so
        what is known is one look-up."""
        findings = decision.findings
        cell = self.cell_of(event, decision)
        next(cell[0])
        if took_ns:
            cell[1](took_ns)
        if findings or decision.shadow:
            self._findings(decision)

    def cell_of(self, event: Event, decision: Decision) -> tuple[Any, Callable[[int], None]]:
        """What counts decisions as this one, and what notes how long they took."""
        guard = _guard(decision) if decision.findings else ""
        key = (event.stage, event.tool, decision.action, guard)
        cell = self._cells.get(key)
        return self._cell(key) if cell is None else cell

    def _cell(self, key: tuple[Any, str, int, str]) -> tuple[Any, Callable[[int], None]]:
        stage, tool, action, guard = key
        shown = self._tool(tool)
        counter = self._registry.counter(DECISIONS, (str(stage), shown, NAMES[action], guard))
        cell = (counter, self._registry.histogram(DECISION_SECONDS, (str(stage),)).observe)
        if tool in self._tools:
            self._cells[key] = cell
        return cell

    def _tool(self, tool: str) -> str:
        known = self._tools.get(tool)
        if known is not None:
            return known
        if len(self._tools) >= MOST_TOOLS or len(tool) > LONGEST:
            return OTHER
        return self._tools.setdefault(tool, self._name(tool))

    def _findings(self, decision: Decision) -> None:
        for finding in decision.findings:
            if finding.code in ERRORS:
                self._registry.count(FAILURES, finding.code)
        for finding in decision.shadow:
            self._registry.count(SHADOW, finding.guard, NAMES[finding.action])


def _guard(decision: Decision) -> str:
    action = decision.action
    for finding in decision.findings:
        if finding.action == action:
            return finding.guard
    return ""
