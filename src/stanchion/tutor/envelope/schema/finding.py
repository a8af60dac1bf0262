"""Where in a reply a move stands: objects first, then lines of fields, then words that name an
action."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice, pairwise
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema.forms import CORRECTS, TAKES_BACK
from stanchion.tutor.envelope.schema.loose import (
    Cut,
    Loose,
    ReadingSteps,
    UnreadableObject,
    read_call,
    read_object,
)
from stanchion.tutor.envelope.schema.meaning import (
    ANALYSIS,
    BEFORE,
    ESCAPE,
    ESCAPES,
    MARKUP,
    OVER,
    Span,
    says_no_more,
    says_that_it_runs,
)
from stanchion.tutor.envelope.schema.shape import PROSE, MoveShape, is_named, is_remark, last_word

STARTS: Final = 400
"""At how many places of a reply an object is looked for."""
NESTED: Final = 4
"""How deep in other objects, or in texts of theirs, a move may stand."""
GIVEN: Final = (
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "action_input",
    "tool_input",
    "kwargs",
)
"""Under which names they put its fields, where those stand apart."""
HOLDS: Final = frozenset(
    {
        "action", "actions", "move", "moves", "tool", "tools", "call", "calls", "function",
        "command", "response", "reply", "answer", "output", "content", "message", "proposal",
        "decision", "choice", "choices", "step", "json", "next",
    }
)  # fmt: skip
"""The last word of the names under which an object holds the move; under others it may be an
example, or refused."""
MISSPELT: Final = 0.85
"""How alike a word is to the one that was meant."""
NEAR: Final = 200
"""How far before something the words that belong to it are looked for."""

_BRACE: Final = regex("[{\uff5b]")
_FENCE: Final = regex(r"```[ \t]*([\w+-]*)[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT: Final = regex(
    r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_ACTS: Final = regex(r"^[ \t*]*Action(?: \d{1,3})?[*]*:|\{", re.MULTILINE | re.IGNORECASE)
"""Where a move may begin."""
_STRUCK: Final = regex(r"~~(?=\S)[^~]{1,2000}(?<=\S)~~")
"""What is struck through: it was taken back."""
_THOUGHT_ENDS: Final = regex(
    r"\A(?:(?!<(?:think|thinking|reasoning|scratchpad)>).)*</(?:think|thinking|reasoning|"
    r"scratchpad)>",
    re.DOTALL | re.IGNORECASE,
)
"""A thought whose beginning was in the prompt."""
_LINE: Final = regex(
    r"^[ \t>*_#-]*(?:\d+[.)][ \t*_]*)?(?:[A-Z][\w' ]{0,40}[:.][*_]*[ \t]+(?=[A-Z_]+:))?"
    r"(?:([A-Za-z][\w ]{0,20}?)[*_`]*[ \t]*:[*_]*|([A-Z]{3,20})[ \t]+[-\u2013\u2014](?=[ \t]))[ "
    r"\t]*(.*?)[ \t]*$",
    re.MULTILINE,
)
_CALL: Final = regex(r"(?<![\w.-])([A-Za-z_][\w.-]*)\(\s*(?=[A-Za-z_]\w*\s*=)")
_POSITIONAL: Final = regex(
    r"(?<![\w.-])([A-Za-z_]{2,40})\(\s*((?:\"(?:[^\"\\\n]|\\.)*\")|(?:'(?:[^'\\\n]|\\.)*'))\s*\)"
)
_RUN: Final = regex(
    r"(?<![\w'])(?:run(?:ning)?|execut(?:e|ing)|propos(?:e|ing|al)|command)\b[^`\n.!?]{0,"
    r"40}`([^`\n]+)`",
    re.IGNORECASE,
)
_SPAN: Final = regex(r"`[^`\n]+`")
_ALONE: Final = regex(r"(?:\$ |(?:PROPOSE|BASH) )([^\n]+)|`([^`\n]+)`|```\n([^`\n]+)\n```")
_SCALAR: Final = regex(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?|true|false|null")
_NUMBERED: Final = regex(r"_\d{1,3}\Z")
_BRACKETS: Final = regex(r"(\w+)\[(.*)\]")
_SENTENCE: Final = regex(r"[.!?\n]")
_SHELL: Final = frozenset({"bash", "sh", "shell", "console", "zsh", "terminal"})


class FoundMove(msgspec.Struct, frozen=True):
    """An action and its fields, whether they stand in a fence, and which parts of the reply they
    are."""

    action: str
    fields: dict[str, Any]
    fenced: bool = False
    spans: list[Span] = []


def thoughts_removed(text: str) -> str:
    """A reply without what a model only thought; a thought that is not ended is all of the rest."""
    said = ANALYSIS.sub("\n", _THOUGHT.sub("\n", _THOUGHT_ENDS.sub("\n", text)))
    said = said.replace(ESCAPE, '"') if ESCAPES in said else said
    said = _STRUCK.sub(
        lambda found: found.group() if _in_object(said, found.start()) else "\n", said
    )
    over = OVER.search(said)
    return said if over is None or not _ACTS.search(said, 0, over.start()) else said[: over.start()]


def _in_object(text: str, at: int) -> bool:
    """Whether a place is inside of an object, where signs are part of what it says."""
    return text.count("{", 0, at) > text.count("}", 0, at)


def objects(text: str, shape: MoveShape[Any], steps: ReadingSteps) -> list[FoundMove]:
    """The moves that stand in a reply as objects; raises `Cut` where it ends inside of one."""
    fences = [found.span() for found in _FENCE.finditer(text)]
    made: list[FoundMove] = []
    end, starts = 0, 0
    while (begin := _BRACE.search(text, end)) and starts < STARTS:
        starts += 1
        at, end = begin.start(), begin.end()
        try:
            read = read_object(text, at, steps)
        except Cut:
            if _named(text, at, shape) or '"' in text[at : at + 40] or "'" in text[at : at + 40]:
                raise
        except UnreadableObject:
            pass
        else:
            end = max(read.end, end)
            fenced = any(first <= at < last for first, last in fences)
            made += _within(read, text, at, fenced, shape, steps)
    return made


def corrected(text: str, found: list[FoundMove]) -> tuple[str, list[FoundMove]]:
    """The rest of a text and the moves in it, behind one that somebody takes back for another of
    the same action."""
    for last, one in reversed([*pairwise(found)]):
        begin, end = one.spans[0][0], last.spans[-1][1]
        between = MARKUP.sub("", text[end:begin])
        if (
            last.action == one.action
            and begin >= end
            and (CORRECTS.fullmatch(between) or TAKES_BACK.fullmatch(between))
        ):
            rest = [
                msgspec.structs.replace(each, spans=[(a - begin, b - begin) for a, b in each.spans])
                for each in found
            ]
            return text[begin:], rest[found.index(one) :]
    return text, found


def _within(
    read: Loose, text: str, at: int, fenced: bool, shape: MoveShape[Any], steps: ReadingSteps
) -> Iterator[FoundMove]:
    """The moves of an object; an object that names no action can have it said right before."""
    found = list(moves_of(read.value, shape, steps, NESTED))
    said = _named(text, at, shape)
    if not found and said is not None and read.value:
        action, begin = said
        inner = _given(read.value, steps, shape.words.get(action))
        yield FoundMove(action, read.value if inner is None else inner, fenced, [(begin, read.end)])
    yield from [FoundMove(*one, fenced, [(at, read.end)]) for one in found]
    if said is not None and any(action != said[0] for action, _ in found):
        yield FoundMove(said[0], read.value, fenced, [(said[1], read.end)])


def _named(text: str, at: int, shape: MoveShape[Any]) -> tuple[str, int] | None:
    """The action that is said right before a place, and where that begins."""
    near = max(0, at - NEAR)
    said = BEFORE.search(text[near:at])
    action = None if said is None else shape.name_of(said.group(2))
    return None if said is None or action is None else (action, near + said.start(1))


def moves_of(
    value: Any, shape: MoveShape[Any], steps: ReadingSteps, depth: int
) -> Iterator[tuple[str, dict[str, Any]]]:
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
            if last_word(name) in HOLDS or (
                name == "params" and value.get("method") == "tools/call"
            ):
                inner = parsed(one, steps) if isinstance(one, str) and len(value) == 1 else one
                yield from moves_of(inner, shape, steps, depth - 1)


def _move_of(
    value: dict[str, Any], shape: MoveShape[Any], steps: ReadingSteps
) -> tuple[str, dict[str, Any]] | None:
    """The move that an object is.

    Cases, in this order: a field names the action, its own fields beside it or apart; the only
    field is the action.
    """
    for name in value:
        action = shape.name_of(value[name]) if is_named(name) else None
        if action is not None and not _is_definition(value):
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


def _is_definition(value: dict[str, Any]) -> bool:
    """Whether an object says which parameters a tool has, rather than calling it."""
    schemas = [value[name] for name in value if last_word(name) in {"parameters", "schema"}]
    return any(
        isinstance(one, dict) and isinstance(one.get("properties"), dict) and "type" in one
        for one in schemas
    )


def _given(value: dict[str, Any], steps: ReadingSteps, main: str | None) -> dict[str, Any] | None:
    """The fields of an action that stand apart from it, with those beside it; a text alone is its
    main field."""
    for name in value:
        if _is_given(name, value[name]):
            inner = parsed(value[name], steps) if isinstance(value[name], str) else value[name]
            if inner is None and main is not None and main not in value:
                inner = {main: value[name]}
            if isinstance(inner, dict):
                beside = {
                    one: value[one]
                    for one in value
                    if one != name and not _is_about(one, value[one])
                }
                return {**beside, **inner}
    return None


def _is_given(name: str, value: Any) -> bool:
    """Whether the fields of an action stand under a name; one that holds an object may be
    misspelt."""
    said = name.strip().lower()
    return said in GIVEN or (
        isinstance(value, dict) and bool(get_close_matches(said, GIVEN, 1, MISSPELT))
    )


def _is_about(name: str, value: Any) -> bool:
    """Whether what stands beside the fields of an action is about the call, and is no field."""
    return is_named(name) or last_word(name) in {"id", "index", "role"} or is_remark(name, value)


def parsed(text: str, steps: ReadingSteps) -> dict[str, Any] | None:
    """The object that a text is."""
    said = text.strip()
    if not said.startswith("{"):
        return None
    try:
        read = read_object(said, 0, steps)
    except UnreadableObject:
        return None
    return read.value if not said[read.end :].strip() else None


def calls(text: str, shape: MoveShape[Any], steps: ReadingSteps) -> list[FoundMove]:
    """The moves that are written as calls of functions with named arguments: of one that is the
    action, or of any that is given the action."""
    made = []
    for found in islice(_CALL.finditer(text), STARTS):
        try:
            read = read_call(text, text.index("(", found.start()), steps)
        except UnreadableObject:
            continue
        action = shape.name_of(found.group(1).removesuffix(".call"))
        spans = [_sentence(text, found.start(), read.end)]
        if action is not None:
            made.append(FoundMove(action, read.value, spans=spans))
        else:
            made += [FoundMove(*one, spans=spans) for one in moves_of(read.value, shape, steps, 0)]
    return made if made else _positional(text, shape)


def _positional(text: str, shape: MoveShape[Any]) -> list[FoundMove]:
    """Calls with a text that has no name: `ASK("which one?")`, where that can be one field only."""
    made = []
    for found in islice(_POSITIONAL.finditer(text), STARTS):
        action, said = shape.name_of(found.group(1)), found.group(2)[1:-1]
        if action is not None and action in shape.words and "\\" not in said:
            made.append(FoundMove(action, {shape.words[action]: said}, spans=[found.span()]))
    return made


def lines(text: str, shape: MoveShape[Any], steps: ReadingSteps) -> list[FoundMove]:
    """The moves that are written as lines of a name and a value: `ACTION: PROPOSE`, then `COMMAND:
    ls`; or as one line whose name is the action: `PROPOSE: ls`."""
    made: list[FoundMove] = []
    open_fields: dict[str, Any] | None = None
    for found in _LINE.finditer(text):
        label, dashed, value = found.group(1), found.group(2), _unquoted(found.group(3))
        begin, written = (
            (found.start(2), dashed) if label is None else (found.start(1), label.strip())
        )
        name = _NUMBERED.sub("", written.lower().replace(" ", "_"))
        bracket = _BRACKETS.fullmatch(value) if is_named(name) else None
        action = (
            shape.name_of(value if bracket is None else bracket.group(1))
            if is_named(name)
            else None
        )
        said = shape.name_of(name.removeprefix("i_")) if _is_tag(written) else None
        if action is not None:
            main = shape.words.get(action)
            open_fields = {} if bracket is None else _bracketed(bracket.group(2), main, steps)
            made.append(FoundMove(action, open_fields, spans=[(begin, found.end())]))
        elif said is not None and said in shape.words and value:
            open_fields = {shape.words[said]: value}
            made.append(FoundMove(said, open_fields, spans=[(begin, found.end())]))
        elif open_fields is not None and value and name not in open_fields:
            main = shape.words.get(made[-1].action)
            own = name if shape.words or " " in written else written
            given = main if main is not None and name in GIVEN else own
            open_fields[given] = _plain(found.group(3), bool(shape.words))
            if given == main or says_no_more(f"{name}: {value}"):
                made[-1].spans.append(found.span())
        elif open_fields is not None and not value and name in GIVEN:
            made[-1].spans.append(found.span())
    return [one for one in made if one.fields and not _is_unread(one)]


def _bracketed(inner: str, main: str | None, steps: ReadingSteps) -> dict[str, Any]:
    """What stands in brackets behind an action: its main field, or named arguments."""
    if main is not None:
        return {main: inner}
    try:
        return read_call(f"({inner})", 0, steps).value
    except UnreadableObject:
        return {}


def _is_tag(name: str) -> bool:
    """Whether a word before a colon names an action, and is not just a word: `PROPOSE`, `I
    propose`."""
    return name.isupper() or name.startswith("I ")


def _unquoted(text: str) -> str:
    said = text.strip()
    for sign in ("**", "`", '"', "'"):
        if len(said) > 2 * len(sign) and said.startswith(sign) and said.endswith(sign):
            inner = said[len(sign) : -len(sign)]
            said = inner.strip() if sign not in inner else said
    return said


def _plain(text: str, worded: bool) -> Any:
    """What a value without quotes is: a list of JSON, a number or a constant where nothing says
    that it is a text."""
    if text.startswith("[") and text.endswith("]"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return json.loads(text) if not worded and _SCALAR.fullmatch(text) else _unquoted(text)


def _is_unread(one: FoundMove) -> bool:
    """Whether a field is an object that could not be read, or what should be a command is a
    sentence."""
    if any(str(value).startswith("{") for value in one.fields.values()):
        return True
    said = str(one.fields.get("command", "")) if one.action == "PROPOSE" else ""
    words = said.split()
    if len(words) >= PROSE and all(word.isalpha() for word in words):
        return True
    return " " in said and (said[0].isupper() or said.endswith((".", "?", "!", ":")))


def shell_words(text: str, shape: MoveShape[Any]) -> list[FoundMove]:
    """The commands that a reply has instead of a move: each fence of a shell, what it says that it
    runs, or a command that is marked as one and all that there is."""
    if "PROPOSE" not in shape.words:
        return []
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        told = next(one for one in alone.groups() if one)
        made = [
            FoundMove("PROPOSE", {"command": told.strip()}, text.startswith("```"), [alone.span()])
        ]
        return [one for one in made if not _is_unread(one)]
    outside = _FENCE.sub(lambda fence: "\n" * len(fence.group()), text)
    return [*_fenced(text), *(_said(outside) if len({*_SPAN.findall(outside)}) == 1 else ())]


def _fenced(text: str) -> Iterator[FoundMove]:
    for fence in _FENCE.finditer(text):
        if fence.group(1).lower() in _SHELL and fence.group().endswith("```"):
            for line in fence.group(2).split("\n"):
                if line.strip() and not line.strip().startswith("#"):
                    yield FoundMove("PROPOSE", {"command": line.strip()}, True, [fence.span()])


def _said(text: str) -> Iterator[FoundMove]:
    for said in islice(_RUN.finditer(text), STARTS):
        begin, end = _bounds(text, said.start(), said.end())
        if says_that_it_runs(text[begin : said.start(1)], text[said.end(1) : end]):
            yield FoundMove("PROPOSE", {"command": said.group(1).strip()}, spans=[(begin, end)])


def _bounds(text: str, start: int, stop: int) -> tuple[int, int]:
    """Where the sentence begins and ends that a part of a text stands in."""
    near, far = max(0, start - NEAR), min(len(text), stop + NEAR)
    begin = start - len(_SENTENCE.split(text[near:start])[-1])
    found = _SENTENCE.search(text, stop, far)
    return begin, far if found is None else found.end()


def _sentence(text: str, start: int, stop: int) -> Span:
    """The part of a text that a call is: the sentence round it, where that says that it is made."""
    begin, end = _bounds(text, start, stop)
    head, tail = text[begin:start], text[stop:end]
    return (begin, end) if head.strip(" `") and says_that_it_runs(head, tail) else (start, stop)
