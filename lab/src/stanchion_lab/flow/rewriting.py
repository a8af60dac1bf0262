"""Results as a host would hand them over, or as flat texts; and recorded attacks asked for in other
ways."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import msgspec
import yaml

from stanchion_lab.flow.declared import REAL, Declarations
from stanchion_lab.flow.phrasings import LINE, NAMED, REWORDED, Wish, phrased, sender, values_of
from stanchion_lab.flow.trace import Call, Step, Trace

FEW: Final = 3
"""A text of fewer words is a name or a number."""

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast reader of YAML, where there is one."""


class Replacement(msgspec.Struct, frozen=True):
    """What an attacker writes instead, and as whom; an empty sender stays as it was."""

    text: str
    sender: str = ""


def as_given(trace: Trace, declared: Declarations, flat: bool) -> Trace:
    """A recorded trace with its results as structured data where the set has them so, or where a
    host would; with `flat` as they were recorded."""
    return _with_results(trace, as_data) if declared.structured and not flat else trace


def as_flat(trace: Trace) -> Trace:
    """A trace with all its results as the texts that a model is shown."""
    return _with_results(trace, as_text)


def as_text(result: Any) -> Any:
    """A result as a model reads it: what is no text yet, as JSON."""
    if result is None or isinstance(result, str):
        return result
    return json.dumps(result, ensure_ascii=False, default=str)


def as_data(result: Any) -> Any:
    """A written-out mapping or list as what it was: a Python literal, or YAML."""
    if not isinstance(result, str):
        return result
    text = result.strip()
    read: Any = None
    if text.startswith(("{", "[")):
        read = _literal(text)
    elif text.startswith("- "):
        read = _yaml(text)
    return read if isinstance(read, dict | list) else result


def rephrased(trace: Trace, way: str, declared: Declarations) -> Trace | None:
    """A recorded attack that asks in another way; `None` where it cannot be told what of its texts
    an attacker wrote."""
    if way == REWORDED:
        return reworded(trace, declared)
    found = _injected(trace, declared)
    if not found:
        return None
    line = declared.record_line
    wish = Wish(
        " ".join(found.replace("\\n", " ").split()),
        values_of(wanted_args(trace, declared)),
        trace.prompt,
        trace.id,
        line if line else LINE,
    )
    text = phrased(way, wish)
    written = Replacement(text, sender(wish) if way == NAMED else "")
    rewritten = _with_results(trace, lambda result: _rewritten(result, trace, declared, written))
    return msgspec.structs.replace(rewritten, id=f"{trace.id}/{way}", phrasing=way)


def reworded(trace: Trace, declared: Declarations) -> Trace:
    """An attack by an agent that hands over no text as it found it: its words in another order."""
    steps: list[Step] = []
    for step in trace.steps:
        if isinstance(step, Call) and step.side == "attack":
            sinks = declared.sinks(step.tool)
            args = {
                name: value if name in sinks else _in_other_order(value)
                for name, value in step.args.items()
            }
            steps.append(msgspec.structs.replace(step, args=args))
        else:
            steps.append(step)
    return msgspec.structs.replace(
        trace, id=f"{trace.id}/{REWORDED}", phrasing=REWORDED, steps=tuple(steps)
    )


def _in_other_order(value: Any) -> Any:
    words = value.split() if isinstance(value, str) else []
    return " ".join([*words[1::2], *words[::2]]) if len(words) >= FEW else value


def wanted_args(trace: Trace, declared: Declarations) -> list[Mapping[str, Any]]:
    """The arguments of the calls that an attacker wants; without those that only look and say not
    where, if there are others."""
    calls = [step for step in trace.steps if isinstance(step, Call) and step.side == "attack"]
    aimed = [
        step for step in calls if declared.effect(step.tool) in REAL or declared.sinks(step.tool)
    ]
    return [step.args for step in (aimed if aimed else calls)]


def _injected(trace: Trace, declared: Declarations) -> str:
    """What an attacker wrote, as it stands in the results."""
    if trace.injected:
        return trace.injected
    texts: list[str] = []
    for step in trace.steps:
        if isinstance(step, Call) and step.side == "honest":
            _gathered(step.result, declared, texts)
    return texts[0] if texts else ""


def _gathered(result: Any, declared: Declarations, into: list[str]) -> None:
    match result:
        case str() if declared.injected:
            into += [match["text"] for match in _pattern(declared.injected).finditer(result)]
        case dict() if declared.of_attacker(result):
            into.append(result["body"])
        case dict():
            for value in result.values():
                _gathered(value, declared, into)
        case list():
            for value in result:
                _gathered(value, declared, into)


def _with_results(trace: Trace, change: Callable[[Any], Any]) -> Trace:
    steps: list[Step] = [
        msgspec.structs.replace(step, result=change(step.result))
        if isinstance(step, Call) and step.result is not msgspec.UNSET
        else step
        for step in trace.steps
    ]
    return msgspec.structs.replace(trace, steps=tuple(steps))


def _rewritten(data: Any, trace: Trace, declared: Declarations, new: Replacement) -> Any:
    """Data with what the attacker wrote replaced, wherever it stands."""
    match data:
        case str() if trace.injected:
            return data.replace(trace.injected, new.text)
        case str() if declared.injected:
            return _pattern(declared.injected).sub(lambda match: _replaced(match, new), data)
        case dict() if declared.of_attacker(data):
            fields = {"body": new.text} | ({"from": new.sender} if new.sender else {})
            return {key: fields.get(key, value) for key, value in data.items()}
        case dict():
            return {key: _rewritten(value, trace, declared, new) for key, value in data.items()}
        case list():
            return [_rewritten(value, trace, declared, new) for value in data]
        case _:
            return data


def _replaced(match: re.Match[str], new: Replacement) -> str:
    """A text with the group `text`, and where there is one `sender`, replaced."""
    whole, start = match[0], match.start()
    # A literal that is still written out is broken by a new line.
    text = new.text if "\n" in match["text"] else " ".join(new.text.split())
    begin, end = match.start("text") - start, match.end("text") - start
    whole = whole[:begin] + text + whole[end:]
    if new.sender and "sender" in match.re.groupindex:
        begin, end = match.start("sender") - start, match.end("sender") - start
        whole = whole[:begin] + new.sender + whole[end:]
    return whole


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _yaml(text: str) -> Any:
    try:
        return _plain(yaml.load(text, Loader=LOADER))  # noqa: S506 - either loader is a safe one
    except yaml.YAMLError:
        return None


def _plain(data: Any) -> Any:
    """Data with dates as texts: no host has others."""
    match data:
        case dict():
            return {str(key): _plain(value) for key, value in data.items()}
        case list():
            return [_plain(value) for value in data]
        case str() | int() | float() | bool() | None:
            return data
        case _:
            return str(data)


@cache
def _pattern(written: str) -> re.Pattern[str]:
    return re.compile(written, re.DOTALL)
