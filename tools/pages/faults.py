"""What comes of each fault at each stage under each pack, as the table of faults has found it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tests.faults.table.cells import PACKS, STAGES, Cell, Outcome
from tests.faults.table.found import groups, kept
from tests.faults.table.rules import EXCEPTED, RULES, Words

PATH = "docs/reference/faults.md"

INTRODUCTION: Final = """\
# Faults

What happens when something goes wrong: with a guard, the store, the trail, the process or a clock. Every row was found
by really doing it: a shield on SQLite and a trail on the disk, each fault at each stage under each pack, in a process
of its own that some faults end. A test holds this page to what really happens.

- **goes ahead**: `yes`, or what its caller meets. *Refused* is an action that did not happen. *Withheld* is one that
  did, but the agent does not get its result. *Interrupted* means that the caller gets the `KeyboardInterrupt`.
- **recorded**: whether the trail has it when the caller goes on; *later* is when the fault is over.
- **next call**: whether an ordinary call goes ahead once the fault is over.

At `tool_result`, `error`, `model_reply` and `model_chunk` the action has happened already: there, going ahead means
that the agent gets what came of it. A tool is of medium risk; where a record does not get to the disk it is of high
risk, because only such calls wait for the disk.

A backup that is younger than a minute is not told from the store as it was: what was counted since is lost. Say
`stanchion state accept --restored` after every restore.
"""

Shown = tuple[str, str, str]


def render() -> str:
    """The page."""
    found = kept()
    parts = [INTRODUCTION, _rules()]
    for heading, faults in groups().items():
        parts.append(f"## {heading}\n")
        for fault in faults:
            parts += [
                f"### {_sentence(fault)}\n",
                _table({c: o for c, o in found.items() if c.fault == fault}),
            ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _rules() -> str:
    lines = ["## What holds in every row\n"]
    for rule in RULES:
        lines.append(f"- {rule}")
        lines += [
            f"    - Except: {_where(words)}: {words.why}."
            for words in EXCEPTED
            if words.rule == rule
        ]
    return "\n".join(lines) + "\n"


def _where(words: Words) -> str:
    faults = []
    for group, names in groups().items():
        meant = [name for name in names if name in words.faults]
        faults += [f"everything under *{group}*"] if len(meant) == len(names) > 1 else meant
    stages = [f"`{stage}`" for stage in STAGES if stage in words.stages]
    packs = [f"`{pack}`" for pack in PACKS if pack in words.packs]
    said = "; ".join(faults)
    said += f", at {_listed(stages)}" if stages else ""
    return said + (f", under {_listed(packs)}" if packs else "")


def _table(found: Mapping[Cell, Outcome]) -> str:
    """Stages whose rows are alike share them, and so do packs."""
    by_stage: dict[str, dict[Shown, list[str]]] = {}
    for cell, outcome in found.items():
        by_stage.setdefault(cell.stage, {}).setdefault(_shown(outcome), []).append(cell.pack)
    alike: dict[tuple[tuple[Shown, tuple[str, ...]], ...], list[str]] = {}
    for stage in STAGES:
        if stage in by_stage:
            rows = tuple((shown, tuple(packs)) for shown, packs in by_stage[stage].items())
            alike.setdefault(rows, []).append(stage)
    lines = ["| stage | packs | goes ahead | recorded | next call |", "|---|---|---|---|---|"]
    for rows, stages in alike.items():
        for shown, packs in rows:
            cells = (_stages(stages), _packs(packs), *shown)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(outcome: Outcome) -> Shown:
    said = f"{outcome.proceeded}: `{outcome.code}`" if outcome.code else outcome.proceeded
    recorded: str = outcome.recorded
    if outcome.outcome is not None and outcome.outcome != outcome.recorded:
        recorded = "the start only" if outcome.outcome == "no" else "the outcome only"
    return said, recorded, outcome.recovered


def _stages(stages: list[str]) -> str:
    return "all" if len(stages) == len(STAGES) else ", ".join(f"`{stage}`" for stage in stages)


def _packs(packs: Iterable[str]) -> str:
    has = set(packs)
    missing = [pack for pack in PACKS if pack not in has]
    if not missing:
        return "all"
    if len(missing) < 3:
        return f"all but {_listed([f'`{pack}`' for pack in missing])}"
    return ", ".join(f"`{pack}`" for pack in PACKS if pack in has)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]
