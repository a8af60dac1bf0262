"""Insertion: what a policy shall say besides is written into its text, which stays as it is with
its comments. Whoever inserts reads the result, and compares it with what was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.composed import read_text
from stanchion.policy.document import DocumentNode
from stanchion.policy.merge import identity_of
from stanchion.policy.schema import usual_id


class _Edit(NamedTuple):
    """Lines or a piece of text to put at a place, in the stead of so many characters."""

    line: int
    column: int
    text: str
    gone: int = 0


def inserted(text: str, said: Mapping[str, Any]) -> str:
    """The text of a policy that says something besides. Lists are added to, what a mapping has is
    kept or replaced."""
    root = read_text(text, "policy").root
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    edits = sorted(_said(root, dict(said), lines, top=True), key=lambda one: (one.line, one.column))
    for edit in reversed(edits):
        if edit.line > len(lines):
            lines.append(edit.text)
            continue
        old, at = lines[edit.line - 1], edit.column - 1
        lines[edit.line - 1] = f"{old[:at]}{edit.text}{old[at + edit.gone :]}"
    return "".join(lines)


def _said(
    node: DocumentNode, said: dict[str, Any], lines: list[str], top: bool = False
) -> Iterator[_Edit]:
    for key, value in said.items():
        plain = key.removesuffix("+")
        there = next((name for name in (key, plain, f"{plain}+") if name in node.fields), None)
        child = None if there is None else node.fields[there]
        match None if child is None else child.value, value:
            case dict(), dict() if child is not None:
                yield from _said(child, value, lines)
            case list(), list() if child is not None:
                yield from _added(child, value, lines)
            case None, _ if child is None:
                yield _keyed(node, {key: value}, lines, top)
            case _, _ if child is not None:
                new = _flow(value)
                yield _Edit(child.at.line, child.at.column, new, len(child.text))


def _keyed(node: DocumentNode, said: dict[str, Any], lines: list[str], top: bool) -> _Edit:
    """A new key of a mapping: at the end of the policy, behind the first key that has one line, or
    inside of braces."""
    if top or not node.fields:
        return _Edit(len(lines) + 1, 1, f"\n{_block(said, 1)}")
    at = node.at
    if lines[at.line - 1][at.column - 1] == "{":
        return _Edit(at.line, at.column + 1, f"{_flow(said)[1:-1]}, ")
    first = next(iter(node.fields.values()))
    if isinstance(first.value, dict | list) or first.at.line != at.line or not first.text:
        return _Edit(at.line, at.column, _block(said, at.column).lstrip() + " " * (at.column - 1))
    return _Edit(at.line + 1, 1, _block(said, at.column))


def _added(node: DocumentNode, said: list[Any], lines: list[str]) -> Iterator[_Edit]:
    """New items of a list, and what entries that are there say besides."""
    for value in said:
        own = value if isinstance(value, dict) else {}
        named = own.get("id", usual_id(str(own.get("use", ""))))
        entry = next((one for one in node.items if named and identity_of(one) == named), None)
        if entry is not None:
            rest = {key: one for key, one in value.items() if key not in ("id", "use")}
            yield from _said(entry, rest, lines)
        elif not any(one.data() == value for one in node.items):
            yield _item(node, value, lines)


def _item(node: DocumentNode, value: Any, lines: list[str]) -> _Edit:
    at = node.at
    if lines[at.line - 1][at.column - 1] == "[" and not node.items:
        return _Edit(at.line, at.column + 1, _flow(value))
    if lines[at.line - 1][at.column - 1] == "[":
        last = node.items[-1]
        line, begin = lines[last.at.line - 1], last.at.column - 1
        quoted = line[begin] in "'\""
        end = line.find(line[begin], begin + 1) + 1 if quoted else begin + len(last.text)
        return _Edit(last.at.line, end + 1, f", {_flow(value)}")
    return _Edit(_last_line(node) + 1, 1, _block([value], at.column))


def _last_line(node: DocumentNode) -> int:
    return max([node.at.line, *map(_last_line, (*node.fields.values(), *node.items))])


def _block(said: Any, column: int) -> str:
    """YAML in lines that begin at a column; only what is inside may be in one."""
    text = yaml_of(said)
    if text[0] == "{":
        text = "".join([f"{_flow(key)}: {_flow(one)}\n" for key, one in said.items()])
    elif text[0] == "[":
        text = "".join([f"- {_flow(each)}\n" for each in said])
    return "".join([f"{' ' * (column - 1)}{line}" for line in text.splitlines(keepends=True)])


def _flow(said: Any) -> str:
    """YAML in one line."""
    return yaml_of(said, True, 1_000_000).removesuffix("\n").removesuffix("\n...")


class _PlainDumper(yaml.SafeDumper):
    """Writes a value as often as it is said."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Nothing is written as a reference."""
        return True


def yaml_of(said: Any, in_one: bool | None = None, width: int = 96) -> str:
    """Data as YAML; what is innermost stands in one line, or all of it (`in_one`)."""
    text: str = yaml.dump(
        said,
        Dumper=_PlainDumper,
        default_flow_style=in_one,
        sort_keys=False,
        allow_unicode=True,
        width=width,
    )
    return text
