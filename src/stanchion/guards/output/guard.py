"""Output: what an agent hands over has the form that was asked for, and says something."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, ClassVar, Final

import msgspec

from stanchion.guards._jsonschema.checker import SchemaChecker
from stanchion.guards._jsonschema.explain import UNEXPLAINED, explain
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.kernel.actions import Category
from stanchion.kernel.events import ModelReply, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import Names, glob, is_glob, names
from stanchion.kernel.option import ACTIONS, PlainActionName, Shorter, list_actions
from stanchion.kernel.regex import regex
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.act import act_of
from stanchion.readings.word_lists import listed

MAX_ERROR: Final = 2_000
"""A longer text says more than an error."""

NOTHINGS: Final = frozenset(
    {"", "null", "none", "nil", "undefined", "n/a", "nan", "{}", "[]", '""', "''", "()"}
)
"""Texts, in small letters, that say nothing."""

_ERROR: Final = regex(
    r"(?:(?-i:(?:[A-Za-z]\w{0,60}\.){0,8}[A-Za-z]\w{0,60}(?:Error|Exception))|error|exception|"
    r"fatal|err!?)(?:\s*\[?\d{1,5}\]?)?\s*:"
    r"|(?:http(?:/\d(?:\.\d)?)?\s+)?(?:error\s+)?(?:[45]\d\d\s+)?(?:bad "
    r"request|unauthori[sz]ed|forbidden|not found"
    r"|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out"
    r"|rate limit exceeded)\.?\Z"
    r"|error\Z",
    re.IGNORECASE,
)
_TRACE: Final = "Traceback (most recent call last):"
_ERRING: Final = listed("error errors exception traceback")
_BESIDE: Final = _ERRING | frozenset(
    {
        "message",
        "code",
        "status",
        "statusCode",
        "status_code",
        "detail",
        "details",
        "type",
        "ok",
        "success",
        "isError",
    }
)
"""Names of an object that is nothing but an error."""
NAME: Final = regex(r"[\w-]{0,20}")
"""What may stand behind the opening of a fence."""


def bare(text: str) -> str:
    """A text without the white space and the one fence that may stand round all of it."""
    text = text.strip()
    if not (text.startswith("```") and text.endswith("```")):
        return text
    name, line_end, body = text[3:-3].partition("\n")
    return body.strip() if line_end and NAME.fullmatch(name.strip()) is not None else text


def content_in(result: Any) -> Any:
    """What a result says: the data or the texts of one that an MCP server gave, and all of
    another."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    if "structuredContent" in result:
        return result["structuredContent"]
    items = result["content"]
    if not all(isinstance(item, dict) and item.get("type") == "text" for item in items):
        return result if items else None
    texts = [text for item in items if isinstance(text := item.get("text"), str)]
    return "\n".join(texts)


def says_nothing(content: Any) -> bool:
    """Whether there is nothing in some content: no text but words for nothing, no number, no truth
    value."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if len(value) > 64 and not value.isspace():
                return False
            if value.strip().lower() not in NOTHINGS:
                return False
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
        elif value is not None:
            return False
    return True


def is_error(content: Any) -> bool:
    """Whether some content is nothing but an error: one line that begins as errors do, a traceback,
    or an object with an error and what belongs to one."""
    if isinstance(content, dict):
        return any(content.get(name) for name in _ERRING) and content.keys() <= _BESIDE
    if not isinstance(content, str) or len(content) > MAX_ERROR:
        return False
    text = content.strip()
    if text.startswith(_TRACE):
        return True
    return "\n" not in text and _ERROR.match(text) is not None


CODES: Final = declare(
    {
        "output.empty": Words(
            "{} is empty",
            "do not continue as if it had content: ask for it in another way, or say that there is "
            "nothing",
        ),
        "output.error": Words(
            "{} is nothing but an error",
            "say what was done, what failed and what you suggest, in words of your own",
        ),
        "output.format": Words(
            "{} is not JSON: {}",
            "give JSON and nothing else; only a fence of three backticks may surround it",
        ),
        "output.schema": Words(
            "{} does not have the required form: {}", "give it again in that form"
        ),
    }
)

MAX_VALUES: Final = 100_000
"""How many values a JSON text may have that is held against a schema."""


class Output(msgspec.Struct, frozen=True, dict=True):
    """Warns of results and final answers that say nothing, and refuses those that have not the form
    asked for.

    Results that come as data are held against the schemas of their tools by `schema`; here stand
    texts: final answers, and results that are JSON in a text.
    """

    name: ClassVar = "output"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_RESULT, Stage.MODEL_REPLY})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 50
    only_marks: ClassVar = True

    empty: PlainActionName = "warn"
    """The action for results and final answers that say nothing."""
    tools: tuple[str, ...] | None = None
    """The tools whose results must not be empty, by name or glob; if absent, tools with the effect
    `read` that do not search."""
    exempt: Shorter[tuple[str, ...]] = ()
    """Tools whose results may be empty, by name or glob."""
    errors: PlainActionName | None = "warn"
    """The action for a final answer that is only an error message; `null` switches the check off.
    """
    result_errors: PlainActionName | None = None
    """The action for a result that is only an error message; if absent, results are not checked for
    it."""
    schema: dict[str, Any] | bool | None = None
    """The JSON Schema of final answers, which must then be JSON, `true` for any JSON; if absent,
    any text."""
    results: dict[str, dict[str, Any] | bool] | None = None
    """The JSON Schemas of results that are JSON in a text, by tool name or glob: an exact name
    first, then the first glob that matches. `true` accepts any JSON; if absent, results are not
    checked."""
    mismatch: PlainActionName = "block"
    """The action for content that does not have the required form."""

    def __post_init__(self) -> None:
        if self.results == {}:
            raise ValueError(
                "`results` is empty, so no tool has a form: name some, or leave it out"
            )
        self._answer  # noqa: B018 - made now, so that a mistake is found at load
        self._forms  # noqa: B018 - the same

    @cached_property
    def _answer(self) -> SchemaChecker | None:
        return None if self.schema is None else _made("schema", self.schema)

    @cached_property
    def _forms(self) -> dict[str, SchemaChecker]:
        given = {} if self.results is None else self.results
        return {tool: _made(f"results.{tool}", schema) for tool, schema in given.items()}

    @cached_property
    def _telling(self) -> Names | None:
        return None if self.tools is None else names(self.tools)

    @cached_property
    def _exempt(self) -> Names:
        return names(self.exempt)

    def judge(self, reading: Reading[ToolResult | ModelReply], /) -> Finding | None:
        """Look at a result or at a final answer; replies on the way to one are let be."""
        event = reading.event
        if type(event) is ModelReply:
            return self._judge_answer(event.text) if event.final else None
        assert type(event) is ToolResult
        return self._judge_result(event) if not event.part else None

    def _judge_answer(self, text: str) -> Finding | None:
        if self._answer is not None:
            return self._formed(self._answer, text, ANSWER)
        if says_nothing(text):
            return Finding(ACTIONS[self.empty], "output.empty", (ANSWER,))
        if self.errors is not None and is_error(text):
            return Finding(ACTIONS[self.errors], "output.error", (ANSWER,))
        return None

    def _judge_result(self, event: ToolResult) -> Finding | None:
        what = f"the result of `{event.tool}`"
        result = content_in(event.result)
        form = self._form(event.tool) if self._forms else None
        if form is not None and type(result) is str:
            return self._formed(form, result, what)
        if self._has_to_tell(event) and says_nothing(result):
            return Finding(ACTIONS[self.empty], "output.empty", (what,))
        if self.result_errors is not None and is_error(result):
            return Finding(ACTIONS[self.result_errors], "output.error", (what,))
        return None

    def _form(self, tool: str) -> SchemaChecker | None:
        found = self._forms.get(tool)
        if found is not None:
            return found
        return next(
            (each for name, each in self._forms.items() if is_glob(name) and glob(name, tool)), None
        )

    def _has_to_tell(self, event: ToolResult) -> bool:
        """Whether it is known of a tool that its results say something: what writes may well have
        nothing to say."""
        if event.tool in self._exempt:
            return False
        if self._telling is not None:
            return event.tool in self._telling
        act = act_of(event.tool, event.traits)
        return act.reads_only and not act.seeks

    def _formed(self, checker: SchemaChecker, text: str, what: str) -> Finding | None:
        """Hold a JSON text against a schema."""
        action = ACTIONS[self.mismatch]
        try:
            value = msgspec.json.decode(bare(text))
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            return Finding(action, "output.format", (what, _unread(text, error)))
        too_much = checker.too_much(value, MAX_VALUES)
        if too_much:
            return Finding(action, "output.schema", (what, f"{too_much}, too many to be checked"))
        if checker.fits(value):
            return None
        first = explain(checker, value)[0]
        words = (
            "it does not fit the schema"
            if first == UNEXPLAINED
            else f"{_KINDS.get(first.kind, '')}{first.words}"
        )
        return Finding(
            action, "output.schema", (what, f"`{first.place}` {words}" if first.path else words)
        )

    actions = list_actions


ANSWER: Final = "the final answer"
_KINDS: Final = {"missing": "is missing: ", "extra": "is not known: "}


def _made(option: str, schema: Any) -> SchemaChecker:
    try:
        return SchemaChecker(schema)
    except SchemaFault as fault:
        raise ValueError(f"`{option}` is not a schema to check by: {fault}") from None


def _unread(text: str, error: Exception) -> str:
    if says_nothing(text):
        return "it is empty"
    at = re.search(r"\(byte (\d+)\)", str(error))
    return "it cannot be read" if at is None else f"it cannot be read from byte {at[1]} on"
