"""What a recorded decision had counted: the lines of its batch, beside the values that its record
has of them."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.audit.again import inputs_of, moment_of
from stanchion.audit.record import Entry
from stanchion.kernel.chain import Plans
from stanchion.kernel.engine import decide
from stanchion.kernel.events import RunInfo
from stanchion.kernel.lookups import Answered, Ask
from stanchion.kernel.replay import could
from stanchion.kernel.state import SKIPPED, Batch, Line
from stanchion.policy.compiled import CompiledPolicy


def counted(policy: CompiledPolicy, run: RunInfo, entry: Entry) -> Iterator[tuple[Line, int]]:
    """The lines that a decision reached, each with its value before, found by judging it again as
    far as its batch.

    Nothing where the policy is another one, or the record has too little of the event, or of what
    it was judged on, to be judged again.
    """
    if not entry.values or entry.left or not policy.hash.startswith(entry.policy):
        return
    lines = _lines(policy, run, entry)
    said = entry.actions if entry.actions else (0,) * len(lines)
    if len(lines) == len(entry.values) == len(said):
        each = zip(lines, entry.values, said, strict=True)
        yield from ((line, value) for line, value, action in each if action != SKIPPED)


def _lines(policy: CompiledPolicy, run: RunInfo, entry: Entry) -> tuple[Line, ...]:
    inputs = inputs_of(entry)
    answers = dict(inputs.answers)
    records = {name: (version, value) for name, version, value in inputs.records}
    try:
        deciding = decide(Plans(policy, run, could(inputs)), moment_of(entry, run), records)
        need = next(deciding)
        while isinstance(need, Ask):
            need = deciding.send(
                tuple(answers.get(lookup.name, Answered(None)) for lookup in need.lookups)
            )
    except (StopIteration, ValueError):
        return ()
    return need.lines if isinstance(need, Batch) else ()
