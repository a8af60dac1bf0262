"""The model of a store: what a batch does and what the reply is, from full history."""

from __future__ import annotations

from model.history import History, Take
from stanchion.kernel.actions import Action
from stanchion.kernel.state import IDLE, SKIPPED, Batch, Fresh, Reply, When


class StoreModel:
    """Carries batches out one after the other."""

    def __init__(self) -> None:
        self.history = History()
        self.replies: dict[str, Reply] = {}

    def carry(self, batch: Batch, now: int) -> Reply:
        """Carry a batch out at that time of the store's clock."""
        if batch.id in self.replies:
            return self.replies[batch.id]
        history = self.history
        history.at(now)
        expected = [(name, history.number(name), lo, hi) for name, lo, hi in batch.expects]
        moved = [name for name, number, lo, hi in expected if number < lo or number >= hi]
        if moved:
            fresh = tuple(
                Fresh(name, history.number(name), history.record(name)[1]) for name in moved
            )
            return Reply(history.now, True, fresh=fresh)
        settled = tuple(history.settle(hold, actual) for hold, actual in batch.settles)
        values, actions = self._outcomes(batch)
        reply = self.replies[batch.id] = self._write(batch, values, actions, settled)
        history.batches.add(batch.id)
        return reply

    def _outcomes(self, batch: Batch) -> tuple[list[int], list[int]]:
        """Each line in turn: skipped behind a stop, idle without the warning it follows, else by
        its bands."""
        values: list[int] = []
        actions: list[int] = []
        for at, line in enumerate(batch.lines):
            value = 0
            if any(
                a >= Action.BLOCK and batch.lines[i].shadow in (0, line.shadow)
                for i, a in enumerate(actions)
            ):
                action = SKIPPED
            elif line.follows and max(actions[max(0, at - line.follows) :]) != Action.WARN:
                action = IDLE
            else:
                value = self.history.value(line)
                after = value + batch.amounts[line.unit]
                action = max([int(band) for limit, band in line.bands if after > limit], default=0)
            values.append(value)
            actions.append(action)
        return values, actions

    def _write(
        self, batch: Batch, values: list[int], actions: list[int], settled: tuple[str, ...]
    ) -> Reply:
        history = self.history
        refused = {
            line.shadow
            for line, action in zip(batch.lines, actions, strict=True)
            if action > batch.ceiling
        }
        go = batch.go and 0 not in refused
        for line, action in zip(batch.lines, actions, strict=True):
            goes = go and line.shadow not in refused
            if action >= 0 and (line.when == When.JUDGED or (line.when == When.PROCEED and goes)):
                amount = batch.amounts[line.unit]
                history.takes += [Take(batch.id, history.now, line, amount)] if amount else []
        stops = [
            i
            for i, action in enumerate(actions)
            if action >= Action.BLOCK and not batch.lines[i].shadow
        ]
        for name, value, when, lines_before, shadow in batch.puts:
            goes = go and shadow not in refused
            if (when == When.JUDGED or goes) and not any(stop < lines_before for stop in stops):
                history.puts.append((name, value))
        said = tuple(actions) if any(action > 0 for action in actions) else ()
        return Reply(history.now, False, go, tuple(values), said, settled)
