"""The table of adapters: which behaviour each has shown in its framework, as its tests have found
it."""

from __future__ import annotations

from typing import Final

from stanchion.testing.host_suite import BEHAVIOURS
from tests.hosts.results import HERE, Cell, Result, adapters, file_of, kept

PATH = "docs/reference/adapters.md"

INTRODUCTION: Final = """\
# Adapters

Each adapter puts one framework, client or protocol under a shield. Each was tested in an environment of its own, with
the framework itself and a scripted model, by the [behaviour
suite](../how-to/write-an-adapter.md#test-it-with-the-behaviour-suite). `make test-adapters` tests them and writes what
was found; a test holds this page to it, and to the source of the adapters as it is.

- **yes**: shown in sync and in async code; *sync* or *async* where the host has only one of them.
- **no reach**: the host cannot do this, whatever an adapter does. Below the table stands the test that shows it.
"""

PAUSES: Final = {"none": "the agent asks again", "resume": "goes on where it was"}
STREAMS: Final = {"none": "refused", "buffer": "whole", "chunk": "in pieces"}


def render() -> str:
    """The page."""
    found = [kept(name) for name in adapters() if file_of(name).exists()]
    parts = [INTRODUCTION, _table(found), "## Pauses and streams\n", _hosts(found)]
    probes = [
        (one.adapter, name, cell.probe)
        for one in found
        for name, cell in one.cells.items()
        if cell.probe
    ]
    if probes:
        lines = [
            f"- `{adapter}`, {name}: `{probe}` in `{HERE / adapter}`"
            for adapter, name, probe in probes
        ]
        parts += ["## Out of reach\n", "\n".join(lines) + "\n"]
    return "\n".join(parts).rstrip("\n") + "\n"


def _table(found: list[Result]) -> str:
    lines = [f"| adapter | {' | '.join(BEHAVIOURS)} |", f"|---|{'---|' * len(BEHAVIOURS)}"]
    for one in found:
        cells = [_cell(one.cells.get(name, Cell())) for name in BEHAVIOURS]
        lines.append(f"| `{one.adapter}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    if cell.probe:
        return "no reach"
    return "yes" if len(cell.ways) == 2 else "".join([f"*{way}*" for way in cell.ways])


def _hosts(found: list[Result]) -> str:
    lines = [
        "| adapter | tested with | a call that waits for a person | a streamed reply |",
        "|---|---|---|---|",
    ]
    for one in found:
        versions = ", ".join(
            [f"`{name}` {_since(one, name)}{version}" for name, version in one.versions.items()]
        )
        lines.append(
            f"| `{one.adapter}` | {versions} | {PAUSES[one.pause]} | {STREAMS[one.stream]} |"
        )
    return "\n".join(lines) + "\n"


def _since(one: Result, name: str) -> str:
    """The oldest version of a framework that was tested, where it is another one."""
    oldest = one.oldest.get(name, one.versions[name])
    return "" if oldest == one.versions[name] else f"{oldest} to "
