"""Where traces come from: files and folders of them, rows of other measurements, and AgentDojo
itself."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion_lab.flow.declared import ENDING, NOTHING, Declarations, declared_for
from stanchion_lab.flow.rows import NAMED, definitions_of, is_playable, of_row
from stanchion_lab.flow.trace import (
    Definitions,
    Trace,
    definitions_beside,
    read_definitions,
    read_traces,
    stands_beside,
)
from stanchion_lab.measuring.rows import NoRows, rows

DOJO: Final = "agentdojo:"
"""How a source begins that is a suite of AgentDojo."""
LEAKS: Final = "leaks:"
"""How one begins that has ways out of a suite's tasks which ask for no new call."""
EYES: Final = "eyes:"
"""How a source begins that fresh eyes wrote, who knew the format of traces and nothing of the
guard."""
FIELDS: Final = ("fields-1", "fields-2", "fields-3", "fields-4", "terminal", "clinic")


class Source(msgspec.Struct, frozen=True):
    """Traces under a name, made anew each time that they are asked for, the definitions of their
    tools, and how those of a trace are declared. Those that are `made` have results as they are
    wanted, and all ways of asking, already."""

    name: str
    traces: Callable[[], Iterator[Trace]]
    tools: Callable[[], dict[str, Definitions]]
    declared: Callable[[Trace], Declarations] = lambda _: NOTHING
    made: bool = False


def sources(names: list[str], flat: bool = False, phrasings: tuple[str, ...] = ()) -> list[Source]:
    """Everything that is named: a file, a folder, `agentdojo:SUITE`, `leaks:SUITE`, `eyes:SET`, or
    all of them by the word and its colon. Only those that are made ask whether results are to be
    flat, and in which ways attackers ask."""
    return [source for name in names for source in _named(name, flat, phrasings)]


def _named(name: str, flat: bool, phrasings: tuple[str, ...]) -> list[Source]:
    if name.startswith(DOJO):
        from stanchion_lab.flow.dojo import suite_sources

        return suite_sources(name.removeprefix(DOJO), flat, phrasings)
    if name.startswith(LEAKS):
        from stanchion_lab.flow.dojo import leak_sources

        return leak_sources(name.removeprefix(LEAKS), flat)
    if name.startswith(EYES):
        return _by_eyes(name.removeprefix(EYES))
    path = Path(name)
    if path.is_dir():
        found = [of_file(file) for file in sorted(path.glob("*.jsonl")) if _has_traces(file)]
        if not found:
            raise NoRows(
                f"there are no traces in `{path}`: a file of them ends in `.jsonl`, one JSON "
                f"object a line"
            )
        return found
    if not path.is_file():
        raise NoRows(
            f"there is no file or folder `{name}`: name traces, rows, `{DOJO}SUITE`, "
            f"`{LEAKS}SUITE` or `{EYES}SET`"
        )
    return [of_file(path)]


class Fields(msgspec.Struct, frozen=True):
    """A set that fresh eyes wrote: definitions of tools, traces, and how the tools are declared
    where they said so."""

    tools: dict[str, Definitions]
    traces: list[Trace]
    declared: Declarations = NOTHING


def _by_eyes(name: str) -> list[Source]:
    if name not in ("", *FIELDS):
        raise NoRows(
            f"there is no set `{EYES}{name}`: there are "
            f"{', '.join([EYES + each for each in FIELDS])}"
        )
    return [_fields(each) for each in FIELDS if name in ("", each)]


def _fields(name: str) -> Source:
    """A set, kept packed: no search through the repository shows it by accident."""
    packed = files("stanchion_lab.eyes").joinpath(f"{name}.bin").read_bytes()
    read = typed.decode(zlib.decompress(packed), Fields)
    return Source(name, lambda: iter(read.traces), lambda: read.tools, lambda _: read.declared)


def of_file(path: Path) -> Source:
    """The traces of one file; rows of other measurements are made into some."""
    if _is_row(_first(path)):
        return _of_rows(path)
    beside = definitions_beside(path)
    known = {} if beside is None else read_definitions(beside)

    def traces() -> Iterator[Trace]:
        for trace in read_traces(path):
            if trace.tools and trace.tools not in known:
                where = (
                    f"not in `{beside}`"
                    if beside is not None
                    else f"and no `{path.stem}_tools.json` is beside it"
                )
                raise NoRows(f"{path}: trace `{trace.id}` has the tools `{trace.tools}`, {where}")
            yield trace

    return Source(path.stem, traces, lambda: known, _declared(path))


def _of_rows(path: Path) -> Source:
    def traces() -> Iterator[Trace]:
        for row in rows(path.parent, path.name):
            yield of_row(row)

    def tools() -> dict[str, Definitions]:
        beside = definitions_beside(path)
        return (
            {NAMED: definitions_of(list(traces()))} if beside is None else read_definitions(beside)
        )

    return Source(path.stem, traces, tools, _declared(path))


def _declared(path: Path) -> Callable[[Trace], Declarations]:
    """How the tools of a file's traces are declared: beside it, or by what is shipped."""
    beside = stands_beside(path, ENDING)
    return lambda trace: declared_for([trace.tools, path.stem], beside)


def _has_traces(path: Path) -> bool:
    """Whether a file of a folder is meant: one of rows that have no calls is for other
    measurements."""
    return not _is_row(_first(path)) or is_playable(next(rows(path.parent, path.name)))


def _is_row(line: dict[str, object]) -> bool:
    return "payload" in line or "payload_b64" in line


def _first(path: Path) -> dict[str, object]:
    """The first line of a file; empty where that is nothing that can be read, which is told when
    all is read."""
    with path.open("rb") as lines:
        line = next((line for line in lines if line.strip()), b"{}")
    try:
        return msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
