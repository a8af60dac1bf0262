"""Insertion: what a policy shall say besides is written into its text, which stays as it is with
its comments. Whoever inserts reads the result, and compares it with what was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from stanchion.policy.schema import usual_id

Edit = tuple[int, int, str]
"""What comes into the place of the text from here to there."""
EMPTY: Final = yaml.MappingNode("", [])


def inserted(text: str, said: Mapping[str, Any]) -> str:
    """The text of a policy that says something besides. Lists are added to, what a mapping has is
    kept or replaced. Raises `yaml.YAMLError` for what is no mapping."""
    text += "" if text.endswith("\n") or not text else "\n"
    root = yaml.compose(text, yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode | None):
        raise yaml.YAMLError("it is not a mapping")
    edits = _said(EMPTY if root is None else root, said, text, top=True)
    for begin, end, new in sorted(edits, key=lambda one: one[0])[::-1]:
        text = f"{text[:begin]}{new}{text[end:]}"
    return text


def _said(node: Any, said: Mapping[str, Any], text: str, top: bool = False) -> Iterator[Edit]:
    fields = {key.value.removesuffix("+"): child for key, child in node.value}
    # What is added inside of the last field stands before a new field behind it.
    for key in sorted(said, key=lambda key: key.removesuffix("+") not in fields):
        value, child = said[key], fields.get(key.removesuffix("+"))
        match child, value:
            case None, _ if top and not node.flow_style:
                yield len(text), len(text), f"\n{_block({key: value}, 0)}"
            case None, _:
                yield _behind(node, {key: value}, text)
            case yaml.MappingNode(), dict():
                yield from _said(child, value, text)
            case yaml.SequenceNode(), list():
                yield from _added(child, value, text)
            case _:
                begin, end = child.start_mark.index, child.end_mark.index
                yield begin, end, f"{'' if begin < end else ' '}{_flow(value)}"


def _added(node: Any, said: list[Any], text: str) -> Iterator[Edit]:
    """What entries that are there say besides, and new items of a list."""
    there = {
        _name({key.value: one.value for key, one in entry.value}): entry
        for entry in node.value
        if isinstance(entry, yaml.MappingNode)
    }
    new = []
    for value in said:
        entry = there.get(_name(value)) if isinstance(value, dict) else None
        if entry is None:
            new.append(value)
        else:
            rest = {key: one for key, one in value.items() if key not in ("id", "use")}
            yield from _said(entry, rest, text)
    if new:
        yield _behind(node, new, text)


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("id", usual_id(str(entry.get("use", "")))))


def _behind(node: Any, said: Any, text: str) -> Edit:
    """New fields or items at the end of those that a mapping or a list has: inside of its brackets,
    or in lines of their own."""
    if node.flow_style:
        at = _last(node).end_mark.index if node.value else node.start_mark.index + 1
        return at, at, f"{', ' if node.value else ''}{_flow(said)[1:-1]}"
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style:
        last = _last(last)
    at = text.index("\n", last.end_mark.index - 1) + 1
    return at, at, _block(said, node.start_mark.column)


def _last(node: Any) -> Any:
    last = node.value[-1]
    return last[1] if isinstance(last, tuple) else last


def _block(said: Any, column: int) -> str:
    """YAML in lines that begin at a column; only what is inside may be in one."""
    text = yaml_of(said)
    if text[0] == "{":
        text = "".join([f"{_flow(key)}: {_flow(one)}\n" for key, one in said.items()])
    elif text[0] == "[":
        text = "".join([f"- {_flow(each)}\n" for each in said])
    return "".join([f"{' ' * column}{line}" for line in text.splitlines(keepends=True)])


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
