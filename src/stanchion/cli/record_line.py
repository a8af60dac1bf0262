"""A record in one line: when, where, what, and why; what is no decision stands back."""

from __future__ import annotations

from typing import Final

from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.verdict import style_of
from stanchion.kernel.actions import Action
from stanchion.ops.views.records import DecisionView, RecordView
from stanchion.ops.views.times import clock, day, shown

NUMBER: Final = 7
ACTION: Final = 10
STAGE: Final = 11
ABOUT: Final = 16
ROOMY: Final = 110
"""From this width on what a decision was about stands in columns."""


class Lines:
    """Records as lines, one after the other. On a terminal a day is told once, and every line fits
    the width."""

    def __init__(self, terminal: Terminal, digits: int) -> None:
        self._terminal = terminal
        self._digits = digits
        self._roomy = terminal.width is None or terminal.width >= ROOMY
        self._day = ""

    def of(self, record: RecordView) -> list[str]:
        """The lines that show a record."""
        lines = []
        at = record.at_ms
        if self._terminal.width is None:
            time = shown(at)
        else:
            time = clock(at)
            if day(at) != self._day:
                self._day = day(at)
                lines.append(self._terminal.paint(self._day, "bold"))
        start = f"{time}  {record.place(self._digits):<{self._digits + NUMBER}}  "
        decision = record.decision
        if decision is not None:
            painted = self._terminal.paint(
                f"{decision.action:<{ACTION}}", style_of(Action[decision.action])
            )
            about = self._cut(f"  {told(decision, self._roomy)}", len(start) + ACTION)
            return [*lines, f"{start}{painted}{about}".rstrip()]
        rest = self._cut(f"{visible(record.kind):<{ACTION}}  {visible(record.says)}", len(start))
        return [*lines, self._terminal.paint(f"{start}{rest}".rstrip(), "dim")]

    def _cut(self, text: str, before: int) -> str:
        width = self._terminal.width
        if width is None or before + len(text) <= width:
            return text
        return f"{text[: max(0, width - before - 1)]}…"


def told(decision: DecisionView, roomy: bool, by: bool = True) -> str:
    """What a decision was about, which guard determined it, and who was at work; in columns where
    there is room."""
    about = decision.about
    if roomy:
        event = f"{decision.stage:<{STAGE}}  {about:<{ABOUT}}"
    else:
        event = f"{decision.stage} {about}" if about else decision.stage
    words = [event, decision.reason, f"by {decision.agent}" if by and decision.agent else ""]
    return visible("  ".join(word for word in words if word))
