"""Are the faults noticed that a refactoring makes? Ten, each seeded into a copy of the package.

    python -m tools.decisions.faults          every fault; exit status 1 where one goes unnoticed
    python -m tools.decisions.faults hold     those with one of these words in their names

Of each it is said who names it: the net (`tools.decisions compare`, one part of sixty), the oracle
(the written sessions of `tests/decisions`, played by the copy and compared byte for byte), and the
test of the gate that stands beside it here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from model.mutations import Mutation
from model.rows import run
from model.seeding import ROOT, check_place, copied

PART: Final = "1/60"
"""What is played of the net: what is played before every commit."""

SAYS: Final = re.compile(r"^[1-9][\d,]* of ")
"""How a line begins that counts what is not as it was, on either level."""


class Fault(NamedTuple):
    """A text in a file of the package, what stands there instead, and a test that fails then."""

    name: str
    file: str
    old: str
    new: str
    test: str

    @property
    def mutation(self) -> Mutation:
        """The fault without its test."""
        return Mutation(*self[:4])


class Named(NamedTuple):
    """What each of the three says of a fault; empty where it says nothing."""

    net: str
    oracle: str
    gate: str


FAULTS: Final = (
    Fault(
        "a guard skipped on one stage",
        "guards/secrets/guard.py",
        "- {Stage.CHARGE}",
        "- {Stage.CHARGE, Stage.ERROR}",
        "tests/runtime/test_redaction_everywhere.py",
    ),
    Fault(
        "a redaction lost in a ticket",
        "runtime/deciding/escalation.py",
        "masked(patched(content_of(event), decision))",
        "masked(content_of(event))",
        "tests/runtime/test_redaction_everywhere.py",
    ),
    Fault(
        "a hold not given back",
        "runtime/deciding/unsettled.py",
        "tenant, settles=settles),) if settles",
        "tenant, settles=settles),) if permits",
        "tests/runtime/test_what_happened.py",
    ),
    Fault(
        "another order of findings",
        "kernel/judgement.py",
        "key=itemgetter(0))",
        "key=lambda entry: -entry[0])",
        "tests/properties/test_decisions.py",
    ),
    Fault(
        "another record field",
        "audit/record.py",
        "effects: tuple[str, ...] = ()",
        'effects: tuple[str, ...] = msgspec.field(default=(), name="effect")',
        "tests/audit/test_record.py",
    ),
    Fault(
        "an async twin that differs",
        "runtime/driving/on_loop.py",
        "flow.throw(as_lost(need, error))",
        "flow.throw(error)",
        "tests/decisions/test_two_ways.py",
    ),
    Fault(
        "a code renamed",
        "kernel/without_store.py",
        '"kernel.done_unsettled"',
        '"kernel.not_settled"',
        "tests/runtime/test_what_happened.py",
    ),
    Fault(
        "a default changed",
        "guards/loops.py",
        "stall_after: Count = 4",
        "stall_after: Count = 5",
        "tests/guards/test_loops.py",
    ),
    Fault(
        "a bound off by one",
        "readings/history.py",
        "same < near - 1",
        "same < near",
        "tests/guards/test_loops.py",
    ),
    Fault(
        "a lost flush",
        "runtime/deciding/record.py",
        "desk.shield.unwritten.flush()",
        "pass",
        "tests/runtime/test_what_happened.py",
    ),
)
"""The kinds of faults that a refactoring makes, one of each."""


def main(words: Sequence[str]) -> int:
    """Try the faults, say of each who names it, and how it went."""
    chosen = [one for one in FAULTS if not words or any(word in one.name for word in words)]
    for fault in chosen:
        check_place(fault.mutation)
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before.jsonl"
        sound = _play(None, before)
        verdicts = [_try(fault, before, sound) for fault in chosen]
    unnoticed = [fault.name for fault, by in zip(chosen, verdicts, strict=True) if not any(by)]
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} faults are named")
    return 1 if unnoticed or not chosen else 0


def _try(fault: Fault, before: Path, sound: list[str]) -> Named:
    with copied(fault.mutation) as (_folder, env):
        net = _run(env, "tools.decisions", "compare", str(before), "--jobs", "1")
        seen = _run(env, "tests.decisions.played").stdout.splitlines()
    status, failed = run([fault.test], fault.mutation)
    changed = [line for line in seen if line not in sound]
    by = Named(
        next(filter(SAYS.search, net.stdout.splitlines()), "") if net.returncode in (1, 3) else "",
        f"{len(changed)} parts, first {changed[0].rpartition(' | ')[0]}" if changed else "",
        failed[0] if status == 1 else "",
    )
    print(fault.name, *[f"  {who:7} {what or '-'}" for who, what in by._asdict().items()], sep="\n")
    return by


def _play(mutation: Mutation | None, before: Path) -> list[str]:
    """Play both on a copy: what the oracle prints, and what the net keeps in a file."""
    with copied(mutation) as (_folder, env):
        written = _run(env, "tools.decisions", "write", str(before), "--part", PART, "--jobs", "1")
        seen = _run(env, "tests.decisions.played")
    for done in (written, seen):
        if done.returncode:
            raise SystemExit(f"nothing can be played: {done.stderr.strip()[-500:]}")
    return seen.stdout.splitlines()


def _run(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
