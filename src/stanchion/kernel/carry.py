"""What carrying a batch out means: one pure function, which the embedded stores run under their
lock."""

from __future__ import annotations

from typing import Final

from stanchion.kernel import actions
from stanchion.kernel.actions import Action
from stanchion.kernel.cells import (
    KEEP,
    UNBOUND,
    WIDTH,
    BoundLines,
    Cell,
    CellState,
    Step,
    add,
    counter,
    forget,
    idle_ms,
    keep,
    live,
    put,
    read,
    turn,
)
from stanchion.kernel.holds import Taken, done, expire, hold, seen, settle
from stanchion.kernel.registers import pushed
from stanchion.kernel.state import (
    ABSENT,
    BUCKETS,
    CLOCK,
    FOREVER,
    IDLE,
    SKIPPED,
    Batch,
    Fresh,
    Line,
    Reply,
    When,
)
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.undo import put_back
from stanchion.kernel.units import Amounts

WARN: Final = int(Action.WARN)
STOPS: Final = int(actions.STOPS)


def carry_out(state: CellState, batch: Batch, now: int) -> Reply:
    """Carry a batch out at store time `now`: identity, expectations, settles, lines, puts, in this
    order."""
    batch_id = batch.id
    if batch_id in state.recent or batch_id in state.holds or batch_id in state.older:
        return seen(state, batch_id)
    cells = state.cells
    cells[CLOCK][0] = now
    for queue in state.due.values():
        if queue and queue[0][0] <= now:
            expire(state, now)
            break
    if state.forget and state.forget[0][0] <= now:
        forget(state, now)
    for key, lo, hi in batch.expects:
        if not lo <= cells.get(key, ABSENT)[0] < hi:
            return _stale(state, batch, now)
    settled = settle(state, batch.settles) if batch.settles else ()
    said = _clear(state, batch, now, settled) if batch.go else None
    reply, taken, hold_ms = _judge(state, batch, now, settled) if said is None else said
    if taken:
        hold(state, batch_id, taken, reply, now, hold_ms)
    else:
        done(state, batch_id, reply)
    state.undo.clear()
    return reply


def take_back(state: CellState) -> None:
    """Take back what a batch wrote that was not carried out to its end."""
    put_back(state.undo)
    state.bound.clear()  # what was bound may have been noted as done


def _stale(state: CellState, batch: Batch, now: int) -> Reply:
    fresh = []
    for key, lo, hi in batch.expects:
        number, value = read(state, key)
        if not lo <= number < hi:
            fresh.append(Fresh(key, number, value))
    return Reply(now, True, fresh=tuple(fresh))


SHARED: Final[Step] = ([0, {}, 0, 0, 0, 0, 0], 0, -1, 0, False)
"""The step of lines that share a counter: no value is as low as its limit."""


def _bind(state: CellState, lines: tuple[Line, ...], now: int) -> BoundLines:
    """Bind lines to their cells, once for each tuple of lines: a plan's are always the same."""
    steps: list[Step] = []
    keys: list[tuple[str, int]] = []
    held: list[tuple[str, int, bool, int, int]] = []
    longer: list[tuple[str, Cell, int]] = []
    registers: list[tuple[Cell, Line]] = []
    for line in lines:
        if line.follows:
            steps.append(([0, {}, 0, 0, 0, 0, 0], line.unit, FOREVER, 0, False))
            continue
        idle = idle_ms(line)
        cell = counter(state, line.key, now, idle)
        limit = min([limit for limit, _ in line.bands], default=FOREVER)
        width = line.window_ms // BUCKETS
        takes = line.when != When.LOOK
        steps.append((cell, line.unit, limit, width, takes and not line.bits))
        if takes:
            if line.bits:
                registers.append((cell, line))
            if line.hold_ms:
                held.append((line.key, line.unit, line.keep, width, line.hold_ms))
            keys.append((line.key, line.unit))
            cell[WIDTH] = width if width else cell[WIDTH]
            if idle > cell[KEEP]:
                longer.append((line.key, cell, idle))
    if len({line.key for line in lines}) < len(lines):
        steps = [SHARED]
    bound = BoundLines(lines, steps, keys, held, longer, registers)
    if len(state.bound) >= 4_096:
        state.bound.clear()
    state.bound[id(lines)] = bound
    return bound


def _clear(
    state: CellState, batch: Batch, now: int, settled: tuple[str, ...]
) -> tuple[Reply, Taken, int] | None:
    """The common case, all goes ahead and no line has anything to say: look and write in one pass.

    `None` where some line does have something to say; what was written until then is taken back.
    """
    amounts = batch.amounts
    lines = batch.lines
    bound = state.bound.get(id(lines), UNBOUND)
    if bound.lines is not lines:
        bound = _bind(state, lines, now)
    _, steps, keys, held, longer, registers = bound
    values: list[int] = []
    bucket = -1
    remember = state.undo.append
    for cell, unit, limit, width, takes in steps:
        amount = amounts[unit]
        if width:
            bucket = now // width
            if cell[2] != bucket:
                turn(cell, bucket)
            value = cell[3]
        else:
            value = cell[0]
        if value + amount > limit:
            _take_back(state, lines, steps[: len(values)], amounts, now)
            return None
        values.append(value)
        if takes and amount:
            remember((cell, 0, cell[0]))
            cell[0] += amount
            cell[4] = now
            if width:
                ring, before = cell[1], cell[3]
                remember((cell, 3, before))
                remember((ring, bucket, ring.get(bucket)))
                ring[bucket] = ring.get(bucket, 0) + amount
                cell[3] = before + amount
    if registers:
        _push(state, registers, amounts, now)
    if longer:
        _keep(state, longer, now)
    taken, longest = _held(held, amounts, now) if held else ([], 0)
    for key, record, _when, _at, _shadow in batch.puts:
        put(state, key, record, now)
    if state.dirty is not None:
        state.dirty.keys.update([key for key, unit in keys if amounts[unit]])
    return Reply(now, False, True, tuple(values), (), settled), taken, longest


def _take_back(
    state: CellState, lines: tuple[Line, ...], steps: list[Step], amounts: Amounts, now: int
) -> None:
    """Take back what the first lines have written, by their steps. They may have turned: so what is
    kept of their counters changed all the same."""
    if state.dirty is not None:
        state.dirty.keys.update(
            [line.key for line in lines[: len(steps)] if line.when != When.LOOK]
        )
    for cell, unit, _limit, width, takes in steps:
        if takes and amounts[unit]:
            cell[0] -= amounts[unit]
            if width:
                cell[1][now // width] -= amounts[unit]
                cell[3] -= amounts[unit]


def _push(state: CellState, registers: list[tuple[Cell, Line]], amounts: Amounts, now: int) -> None:
    for cell, line in registers:
        if amounts[line.unit]:
            state.undo.append((cell, 0, cell[0]))
            cell[0], cell[4] = pushed(cell[0], line.push, line.bits), now


def _held(
    held: list[tuple[str, int, bool, int, int]], amounts: Amounts, now: int
) -> tuple[Taken, int]:
    """What a batch takes that somebody has to settle, and for how long at most."""
    taken: Taken = []
    longest = 0
    for key, unit, keeps, width, hold_ms in held:
        if amounts[unit]:
            longest = max(longest, hold_ms)
            taken.append((key, amounts[unit], keeps, now // width if width else -1, unit))
    return taken, longest


def _keep(state: CellState, longer: list[tuple[str, Cell, int]], now: int) -> None:
    for key, cell, idle in longer:
        keep(state, key, cell, idle, now)
    longer.clear()


def _judge(
    state: CellState, batch: Batch, now: int, settled: tuple[str, ...]
) -> tuple[Reply, Taken, int]:
    """The general case: outcomes in chain order, then what may be written by them."""
    said = _outcomes(state, batch, now)
    taken, longest = _write(state, batch, said, now)
    for key, record, when, at, shadow in batch.puts:
        goes = (said.go and shadow not in said.refused) or when == When.JUDGED
        if goes and (said.stop < 0 or at <= said.stop):
            put(state, key, record, now)
    actions_said = tuple(said.actions) if max(said.actions, default=0) > 0 else ()
    return Reply(now, False, said.go, tuple(said.values), actions_said, settled), taken, longest


class LineOutcomes(NamedTuple):
    """What lines say: whether all goes ahead, the line that stops the rest, which guards in shadow
    mode refuse, and for each line the value before and its outcome."""

    go: bool
    stop: int
    refused: dict[int, bool]
    values: list[int]
    actions: list[int]


def _outcomes(state: CellState, batch: Batch, now: int) -> LineOutcomes:
    """Look at every line, and write nothing. What is behind a stop is skipped; a guard in shadow
    mode stops itself."""
    go, stop = batch.go, -1
    values: list[int] = []
    said: list[int] = []
    refused: dict[int, bool] = {}
    for line in batch.lines:
        value = outcome = 0
        if stop >= 0 or refused.get(line.shadow):
            outcome = SKIPPED
        elif line.follows and max(said[-line.follows :]) != WARN:
            outcome = IDLE
        else:
            value, outcome = _outcome(state, line, batch.amounts, now)
        values.append(value)
        said.append(outcome)
        if outcome > batch.ceiling and line.shadow:
            refused[line.shadow] = refused.get(line.shadow, False) or outcome >= STOPS
        elif outcome > batch.ceiling:
            go = False
            stop = len(said) - 1 if outcome >= STOPS else stop
    return LineOutcomes(go, stop, refused, values, said)


def _outcome(state: CellState, line: Line, amounts: Amounts, now: int) -> tuple[int, int]:
    """The value before, and the action of the highest band that it exceeds with the amount."""
    value = outcome = 0
    cell = state.cells.get(line.key)
    if cell is not None:
        value = live(cell, line.window_ms // BUCKETS, now) if line.window_ms else cell[0]
    for limit, action in line.bands:
        if value + amounts[line.unit] > limit:
            outcome = max(outcome, int(action))
    return value, outcome


def _write(state: CellState, batch: Batch, said: LineOutcomes, now: int) -> tuple[Taken, int]:
    """Write the lines that are written by what was said; gives what has to be settled, and for how
    long at most."""
    amounts, go, refused = batch.amounts, said.go, said.refused
    taken: Taken = []
    longest = 0
    for line, outcome in zip(batch.lines, said.actions, strict=True):
        amount = amounts[line.unit]
        if not amount or outcome < 0 or line.when == When.LOOK:
            continue
        if line.when == When.PROCEED and not (go and line.shadow not in refused):
            continue
        width = line.window_ms // BUCKETS
        if line.bits:
            register = read(state, line.key)[0]
            amount = pushed(register, line.push, line.bits) - register
        add(state, line.key, amount, width, now, idle_ms(line))
        if line.hold_ms:
            taken.append((line.key, amount, line.keep, now // width if width else -1, line.unit))
            longest = max(longest, line.hold_ms)
    return taken, longest
