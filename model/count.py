"""Counting: the chain walked with everything that is known, line by line on full history, and what
is written."""

from __future__ import annotations

import msgspec

from model.history import History, Take
from model.known import Found, Sitting
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, failure_of
from stanchion.kernel.state import Line, When, key


class Count:
    """The chain walked once more, now with everything that counts."""

    def __init__(self, sitting: Sitting, history: History) -> None:
        self.sitting = sitting
        self.history = history
        self.found: Found = []
        self.said: list[tuple[Line, int, int]] = []
        self.refused: set[int] = set()
        self.go = all(f.shadow or f.action <= sitting.ceiling for _, f in sitting.found)

    @property
    def held(self) -> bool:
        """Whether it went ahead with a line that holds."""
        return self.go and any(line.hold_ms for line, _, _ in self.said)

    def walk(self) -> None:
        """Place by place: what is known there, or what the meter's lines say, and the tally of each
        warning."""
        for pos in range(-1, len(self.sitting.chain)):
            known = [finding for place, finding in self.sitting.found if place == pos]
            self.found += [(pos, finding) for finding in known]
            counted = self.sitting.tallied(pos)
            if pos >= 0 and not known and self.sitting.chain[pos][0].kind == Kind.METER:
                known = self._meter(pos)
                counted = (
                    counted
                    and bool(known)
                    and (self.sitting.policy.count_marks or self.sitting.warns_at_limit(pos))
                )
            for finding in known:
                told = "tell" in finding.effects and not (
                    pos >= 0 and self.sitting.chain[pos][0].kind == Kind.METER
                )
                if finding.action == Action.WARN and not told and counted and not self._stopped():
                    self._tally(pos, finding)
            if any(self.sitting.ends(pos, one) for place, one in self.found if place == pos):
                break

    def write(self) -> None:
        """Judged parts that were reached; parts that wait for the decision if it, and their own
        guard, go ahead."""
        sitting, history = self.sitting, self.history
        batch = sitting.moment.id
        for line, _, action in self.said:
            goes = self.go and line.shadow not in self.refused
            amount = sitting.moment.amounts[line.unit]
            if (
                action >= 0
                and amount
                and (line.when == When.JUDGED or (line.when == When.PROCEED and goes))
            ):
                history.takes.append(Take(batch, history.now, line, amount))
        reached = min(
            [pos for pos, finding in self.found if sitting.ends(pos, finding)],
            default=len(sitting.chain),
        )
        for wish in sitting.wishes:
            group = wish.pos + 1 if sitting.chain[wish.pos][0].shadow else 0
            refused = any(
                f.shadow and f.action > sitting.ceiling for pos, f in self.found if pos == wish.pos
            )
            goes = self.go and not (group and refused)
            if wish.pos <= reached and (wish.when == When.JUDGED or goes):
                history.puts.append((wish.key, wish.value))
        history.batches.add(batch)

    def _stopped(self) -> bool:
        """Whether a counter, not something known before, has stopped the chain already."""
        return any(action >= Action.BLOCK and not line.shadow for line, _, action in self.said)

    def _say(self, line: Line, pos: int, skipped: bool) -> tuple[int, int]:
        """One line: the value before, and the action of the highest band it exceeds; -1 where it is
        skipped."""
        if skipped:
            self.said.append((line, pos, -1))
            return 0, -1
        value = self.history.value(line)
        after = value + self.sitting.moment.amounts[line.unit]
        action = max([int(band) for limit, band in line.bands if after > limit], default=0)
        self.said.append((line, pos, action))
        if action > self.sitting.ceiling:
            self.refused.add(line.shadow)
            self.go = self.go and line.shadow != 0
        return value, action

    def _meter(self, pos: int) -> list[Finding]:
        placed, event = self.sitting.chain[pos]
        group = pos + 1 if placed.shadow else 0
        values: list[int] = []
        said: list[int] = []
        top = 0
        taken = self.sitting.taken_before(pos)
        for line in self.sitting.own_lines(pos):
            name = self.sitting.counter(pos, line)
            when = When.LOOK if name in taken else line.when
            taken.add(name)
            bands = tuple(
                (limit, self.sitting.carried(pos, action)) for limit, action in line.bands
            )
            value, action = self._say(
                line._replace(key=name, bands=bands, shadow=group, when=when),
                pos,
                top >= Action.BLOCK,
            )
            values.append(value)
            said.append(action)
            top = max(top, action)
        if top == Action.ALLOW:
            return []
        action = Action(top)
        meant = self._meant(pos, said.index(top), action, values[said.index(top)])
        try:
            words = placed.guard.word(event, meant, tuple(values), tuple(said))
            if isinstance(words, Finding) and self.sitting.carried(pos, words.action) != action:
                words = msgspec.structs.replace(words, action=meant)
            worded = self.sitting.entered(pos, words)
        except Exception as error:  # noqa: BLE001 - a guard may raise anything
            name = failure_of(error)
            worded = self.sitting.entered(
                pos, Finding(action, "kernel.guard_error", (placed.id, name))
            )
        self.found.append((pos, worded))
        return [worded]

    def _meant(self, pos: int, at: int, action: Action, value: int) -> Action:
        """What the guard's own bands say where that was found: the lowest that comes to it, or a
        severer one that was exceeded before anything was added."""
        bands = sorted(self.sitting.own_lines(pos)[at].bands)
        coming = [(limit, own) for limit, own in bands if self.sitting.carried(pos, own) == action]
        return max([own for limit, own in coming if limit < value or limit == coming[0][0]])

    def _tally(self, pos: int, finding: Finding) -> None:
        """Count a warning of a guard in its task; the last one that is allowed escalates."""
        sitting = self.sitting
        run = sitting.first.run
        scope = ("task", run.task) if run.task else ("run", run.id)
        name = ("~" if finding.shadow else "") + key(run.tenant, "warn", *scope, finding.guard)
        group = 0
        if finding.shadow:
            group = pos + 1 if pos >= 0 else -1 - len(self.said)
        band = (sitting.policy.warnings - 1, sitting.carried(pos, Action.ESCALATE))
        value, action = self._say(Line(name, (band,), when=When.JUDGED, shadow=group), pos, False)
        if action > 0:
            args = (finding.guard, value + 1)
            third = Finding(
                Action(action),
                "kernel.third_warning",
                args,
                guard=finding.guard,
                shadow=finding.shadow,
            )
            self.found.append((pos, third))
