"""Where in a reply a move stands: objects first, then lines of fields, then words that name an action."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.loose import Cut, Loose, Steps, Unreadable, read_call, read_object
from stanchion.tutor.envelope.schema.meaning import Span, says_no_more, says_that_it_runs
from stanchion.tutor.envelope.schema.shape import PROSE, Shape, is_named

STARTS: Final = 400
"""At how many places of a reply an object is looked for."""
NESTED: Final = 4
"""How deep in other objects, or in texts of theirs, a move may stand."""
GIVEN: Final = ("arguments", "args", "parameters", "params", "input", "action_input", "tool_input", "kwargs")
"""Under which names they put its fields, where those stand apart."""
HOLDS: Final = frozenset(
    {
        "action", "actions", "move", "moves", "tool", "tools", "call", "calls", "function", "command", "response",
        "reply", "answer", "output", "content", "message", "proposal", "decision", "choice", "choices", "step", "json",
        "next",
    }
)  # fmt: skip
"""The last word of the names under which an object holds the move; under others it may be an example, or refused."""
NEAR: Final = 200
"""How far before something the words that belong to it are looked for."""

_FENCE: Final = regex(r"```[ \t]*([\w+-]*)[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT: Final = regex(r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_LINE: Final = regex(
    r"^[ \t>*_#-]*(?:\d+[.)][ \t*_]*)?(?:[A-Z][\w' ]{0,40}[:.][*_]*[ \t]+(?=[A-Z_]+:))?"
    r"([A-Za-z][\w ]{0,20}?)[*_`]*[ \t]*:[*_]*[ \t]*(.*?)[ \t]*$",
    re.MULTILINE,
)
_BEFORE: Final = regex(
    r"(?:^|[\s\"'`*_(\[|>])([A-Za-z_]+)[\"'`*_)\]]*\s*[:=]?\s*"
    r"(?:(?:action[ _]input|arguments|args|parameters|input)\s*[:=]\s*)?(?:```\w*\s*)?\Z",
    re.IGNORECASE,
)
_CALL: Final = regex(r"(?<![\w.])([A-Za-z_]+)\(\s*(?=[A-Za-z_]+\s*=)")
_TAG: Final = regex(
    r"<(?:function=|(?:invoke|function|tool)\s+name=)[\"']?(?P<function>[\w.]+)[\"']?>"
    r"|<(?P<name>\w{1,40})(?:=|\s+name=)?[\"']?(?P<attribute>\w{1,40})?[\"']?>(?P<value>[^<>]*)</\w{1,40}>"
)
_RUN: Final = regex(
    r"(?<![\w'])(?:run(?:ning)?|execut(?:e|ing)|propos(?:e|ing|al)|command)\b[^`\n.!?]{0,40}`([^`\n]+)`",
    re.IGNORECASE,
)
_SPAN: Final = regex(r"`[^`\n]+`")
_ALONE: Final = regex(r"(?:\$ |(?:PROPOSE|BASH) )([^\n]+)|`([^`\n]+)`|```\n([^`\n]+)\n```")
_BRACKETS: Final = regex(r"(\w+)\[(.*)\]")
_SENTENCE: Final = regex(r"[.!?\n]")
_SHELL: Final = frozenset({"bash", "sh", "shell", "console", "zsh", "terminal"})


class Found(msgspec.Struct, frozen=True):
    """An action and its fields, whether they stand in a fence, and which parts of the reply they are."""

    action: str
    fields: dict[str, Any]
    fenced: bool = False
    spans: list[Span] = []


def thoughts_removed(text: str) -> str:
    """A reply without what a model only thought; a thought that is not ended is all of the rest."""
    return _THOUGHT.sub("\n", text)


def objects(text: str, shape: Shape[Any], steps: Steps) -> list[Found]:
    """The moves that stand in a reply as objects; raises `Cut` where it ends inside of one."""
    fences = [found.span() for found in _FENCE.finditer(text)]
    made: list[Found] = []
    at, starts = text.find("{"), 0
    while at >= 0 and starts < STARTS:
        starts += 1
        end = at + 1
        try:
            read = read_object(text, at, steps)
        except Cut:
            if _named(text, at, shape) or '"' in text[at : at + 40] or "'" in text[at : at + 40]:
                raise
        except Unreadable:
            pass
        else:
            end = max(read.end, end)
            fenced = any(begin <= at < stop for begin, stop in fences)
            made += _within(read, text, at, fenced, shape, steps)
        at = text.find("{", end)
    return made


def _within(read: Loose, text: str, at: int, fenced: bool, shape: Shape[Any], steps: Steps) -> Iterator[Found]:
    """The moves of an object; an object that names no action can have it said right before."""
    found = list(moves_of(read.value, shape, steps, NESTED))
    said = _named(text, at, shape)
    if not found and said is not None and read.value:
        action, begin = said
        inner = _given(read.value, steps, shape.words.get(action))
        yield Found(action, read.value if inner is None else inner, fenced, [(begin, read.end)])
    yield from [Found(*one, fenced, [(at, read.end)]) for one in found]


def _named(text: str, at: int, shape: Shape[Any]) -> tuple[str, int] | None:
    """The action that is said right before a place, and where that begins."""
    near = max(0, at - NEAR)
    said = _BEFORE.search(text[near:at])
    action = None if said is None else shape.name_of(said.group(1))
    return None if said is None or action is None else (action, near + said.start(1))


def moves_of(value: Any, shape: Shape[Any], steps: Steps, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The moves that plain data is or has in it."""
    steps.take(1)
    if isinstance(value, list):
        for one in value:
            yield from moves_of(one, shape, steps, depth)
    if not isinstance(value, dict):
        return
    whole = _move_of(value, shape, steps)
    if whole is not None:
        yield whole
    elif depth:
        for name, one in value.items():
            if name.strip().lower().rpartition("_")[2] in HOLDS:
                inner = _parsed(one, steps) if isinstance(one, str) and len(value) == 1 else one
                yield from moves_of(inner, shape, steps, depth - 1)


def _move_of(value: dict[str, Any], shape: Shape[Any], steps: Steps) -> tuple[str, dict[str, Any]] | None:
    """The move that an object is.

    Cases, in this order: a field names the action, its own fields beside it or apart; the only field is the action.
    """
    for name in value:
        action = shape.name_of(value[name]) if is_named(name) else None
        if action is not None:
            rest = {one: value[one] for one in value if one != name}
            inner = _given(rest, steps, shape.words.get(action))
            return action, rest if inner is None else inner
    if len(value) == 1:
        [(name, inner)] = value.items()
        action = shape.name_of(name)
        if action is not None and isinstance(inner, dict):
            return action, inner
        if action is not None and isinstance(inner, str) and action in shape.words:
            return action, {shape.words[action]: inner}
    return None


def _given(value: dict[str, Any], steps: Steps, main: str | None) -> dict[str, Any] | None:
    """The fields of an action that stand apart from it, with those beside it; a text alone is its main field."""
    for name in value:
        if name.strip().lower() in GIVEN:
            inner = _parsed(value[name], steps) if isinstance(value[name], str) else value[name]
            if inner is None and main is not None and main not in value:
                inner = {main: value[name]}
            if isinstance(inner, dict):
                beside = {one: value[one] for one in value if one != name and not is_named(one)}
                return {**beside, **inner}
    return None


def _parsed(text: str, steps: Steps) -> dict[str, Any] | None:
    """The object that a text is."""
    said = text.strip()
    if not said.startswith("{"):
        return None
    try:
        read = read_object(said, 0, steps)
    except Unreadable:
        return None
    return read.value if not said[read.end :].strip() else None


def calls(text: str, shape: Shape[Any], steps: Steps) -> list[Found]:
    """The moves that are written as calls of functions with named arguments: of one that is the action, or of any that
    is given the action."""
    made = []
    for found in islice(_CALL.finditer(text), STARTS):
        try:
            read = read_call(text, text.index("(", found.start()), steps)
        except Unreadable:
            continue
        action = shape.name_of(found.group(1))
        if action is not None:
            made.append(Found(action, read.value, spans=[(found.start(), read.end)]))
        else:
            spans = [(found.start(), read.end)]
            made += [Found(*one, spans=spans) for one in moves_of(read.value, shape, steps, 0)]
    return made


def tags(text: str, shape: Shape[Any]) -> list[Found]:
    """The moves that are written as tags, each round one value: `<action>PROPOSE</action><command>ls</command>`,
    `<function=PROPOSE><parameter=command>ls</parameter>`, `<invoke name="PROPOSE">`, or `<bash>ls</bash>`."""
    made: list[Found] = []
    spans = [found.span() for found in _TAG.finditer(text)]
    for found in _TAG.finditer(text):
        function, attribute, name, value = found.group("function", "attribute", "name", "value")
        if function is not None:
            action = shape.name_of(function)
            made += [] if action is None else [Found(action, {}, spans=spans)]
            continue
        field = (name if attribute is None else attribute).lower()
        action = shape.name_of(value) if is_named(field) else None
        itself = shape.name_of(field)
        if action is not None:
            made.append(Found(action, {}, spans=spans))
        elif itself in shape.words and not made:
            made.append(Found(str(itself), {shape.words[str(itself)]: value.strip()}, spans=spans))
        elif made:
            made[-1].fields.setdefault(field, value.strip())
    return [one for one in made if one.fields]


def lines(text: str, shape: Shape[Any]) -> list[Found]:
    """The moves that are written as lines of a name and a value: `ACTION: PROPOSE`, then `COMMAND: ls`; or as one line
    whose name is the action: `PROPOSE: ls`."""
    made: list[Found] = []
    open_fields: dict[str, Any] | None = None
    for found in _LINE.finditer(text):
        name, value = found.group(1).strip().lower().replace(" ", "_"), _unquoted(found.group(2))
        bracket = _BRACKETS.fullmatch(value) if is_named(name) else None
        action = shape.name_of(value if bracket is None else bracket.group(1)) if is_named(name) else None
        said = shape.name_of(name.removeprefix("i_")) if _is_tag(found.group(1).strip()) else None
        if action is not None:
            main = shape.words.get(action)
            open_fields = {} if bracket is None or main is None else {main: bracket.group(2)}
            made.append(Found(action, open_fields, spans=[(found.start(1), found.end())]))
        elif said is not None and said in shape.words and value:
            open_fields = {shape.words[said]: value}
            made.append(Found(said, open_fields, spans=[(found.start(1), found.end())]))
        elif open_fields is not None and value and name not in open_fields:
            main = shape.words.get(made[-1].action)
            given = main if main is not None and name in GIVEN else name
            open_fields[given] = value
            if given == main or says_no_more(f"{name}: {value}"):
                made[-1].spans.append(found.span())
    return [one for one in made if one.fields and not _is_unread(one)]


def _is_tag(name: str) -> bool:
    """Whether a word before a colon names an action, and is not just a word: `PROPOSE`, `I propose`."""
    return name.isupper() or name.startswith("I ")


def _unquoted(text: str) -> str:
    said = text.strip()
    for sign in ("**", "`", '"', "'"):
        if len(said) > 2 * len(sign) and said.startswith(sign) and said.endswith(sign):
            inner = said[len(sign) : -len(sign)]
            said = inner.strip() if sign not in inner else said
    return said


def _is_unread(one: Found) -> bool:
    """Whether a field is an object that could not be read, or what should be a command is a sentence."""
    if any(str(value).startswith("{") for value in one.fields.values()):
        return True
    said = str(one.fields.get("command", "")) if one.action == "PROPOSE" else ""
    words = said.split()
    if len(words) >= PROSE and all(word.isalpha() for word in words):
        return True
    return " " in said and (said[0].isupper() or said.endswith((".", "?", "!", ":")))


def shell_words(text: str, shape: Shape[Any]) -> list[Found]:
    """The commands that a reply has instead of a move: each fence of a shell, what it says that it runs, or a command
    that is marked as one and all that there is."""
    if "PROPOSE" not in shape.words:
        return []
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        told = next(one for one in alone.groups() if one)
        made = [Found("PROPOSE", {"command": told.strip()}, text.startswith("```"), [alone.span()])]
        return [one for one in made if not _is_unread(one)]
    outside = _FENCE.sub(lambda fence: "\n" * len(fence.group()), text)
    return [*_fenced(text), *(_said(outside) if len({*_SPAN.findall(outside)}) == 1 else ())]


def _fenced(text: str) -> Iterator[Found]:
    for fence in _FENCE.finditer(text):
        if fence.group(1).lower() in _SHELL and fence.group().endswith("```"):
            for line in fence.group(2).split("\n"):
                if line.strip() and not line.strip().startswith("#"):
                    yield Found("PROPOSE", {"command": line.strip()}, True, [fence.span()])


def _said(text: str) -> Iterator[Found]:
    for said in islice(_RUN.finditer(text), STARTS):
        near = max(0, said.start() - NEAR)
        begin = said.start() - len(_SENTENCE.split(text[near : said.start()])[-1])
        far = min(len(text), said.end() + NEAR)
        stop = _SENTENCE.search(text, said.end(), far)
        end, ended = (far, far) if stop is None else stop.span()
        if says_that_it_runs(text[begin : said.start(1)], text[said.end(1) : ended]):
            yield Found("PROPOSE", {"command": said.group(1).strip()}, spans=[(begin, end)])
