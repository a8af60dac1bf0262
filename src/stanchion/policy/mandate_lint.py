"""Mandates of tasks held against the tools that are known: entries that no call can fit."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.kernel.contract.values import Point
from stanchion.kernel.declared import EFFECTS
from stanchion.kernel.mandate import TOOL, CallTemplate, Entry, Layer, layer_of_task
from stanchion.kernel.names import glob
from stanchion.policy.argument_lint import Schemas
from stanchion.policy.schema import PolicyFile, TaskEntry
from stanchion.policy.spelling import Known


def about_mandates(file: PolicyFile, tools: Known, schemas: Schemas) -> Iterator[Point]:
    """What is odd about mandates: tools that are named nowhere else, and arguments that no tool
    of that name has. Where no tools are known, nobody can tell."""
    for task, entry in file.tasks.items() if tools.names else ():
        for at, one in enumerate(_entries(entry)):
            name = _tool_in(one)
            if name:
                path = ("tasks", task, "may", str(at))
                fitting = [tool for tool in tools.names if tool == name or glob(name, tool)]
                yield from _unfitting(name, task, tools, path) if not fitting else ()
                yield from _lacking(one, fitting, schemas, path)


def _entries(entry: TaskEntry) -> Layer:
    layer = layer_of_task(entry.may)
    return () if layer is None else layer


def _unfitting(name: str, task: str, tools: Known, path: tuple[str, ...]) -> Iterator[Point]:
    near = tools.meant(name)
    said = f"no tool that is known fits `{name}` in the mandate of task `{task}`"
    if near is None:
        yield Point("undeclared", "info", said, "name a tool that there is", path)
    else:
        yield Point("misspelt", "likely", said, f"did you mean `{near}`?", path)


def _lacking(
    entry: Entry, fitting: list[str], schemas: Schemas, path: tuple[str, ...]
) -> Iterator[Point]:
    shapes = [schemas[tool] for tool in fitting if tool in schemas]
    if not isinstance(entry, CallTemplate) or not shapes or len(shapes) < len(fitting):
        return
    for arg, _ in entry.args:
        if not any(_has(shape, arg) for shape in shapes):
            said = f"no call of `{entry.tool}` has the argument `{arg}`, so none fits the mandate"
            yield Point("arguments", "certain", said, "name one of its arguments", path)


def _tool_in(entry: Entry) -> str:
    if isinstance(entry, CallTemplate):
        return entry.tool
    return "" if entry in EFFECTS else entry.removeprefix(TOOL)


def _has(schema: object, arg: str) -> bool:
    """Whether calls by a schema can have an argument; one that lists none can have any."""
    if not isinstance(schema, dict) or "properties" not in schema:
        return True
    return arg.partition(".")[0] in schema["properties"]
