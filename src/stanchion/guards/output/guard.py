"""Output: results and final answers say something, are no bare errors, and have the form that was
asked for."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from stanchion.guards._jsonschema.checker import Checker
from stanchion.guards._jsonschema.explain import UNEXPLAINED, explain
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards.output.says import bare, content_in, is_error, says_nothing
from stanchion.kernel.actions import Category
from stanchion.kernel.events import ModelReply, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import Names, glob, is_glob, names
from stanchion.kernel.option import ACTIONS, PlainActionName, Shorter, list_actions
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.act import act_of

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
    format: Annotated[Literal["json"] | None, (None, "json")] = None
    """The required format of final answers; if absent, any text."""
    schema: dict[str, Any] | bool | None = None
    """The JSON Schema of final answers, which must then be JSON; if absent, none."""
    results: dict[str, dict[str, Any] | bool] | None = None
    """The JSON Schemas of results that are JSON in a text, by tool name or glob: an exact name
    first, then the first glob that matches. `true` accepts any JSON; if absent, results are not
    checked."""
    mismatch: PlainActionName = "block"
    """The action for content that does not have the required form."""

    def __post_init__(self) -> None:
        if self.format is not None and self.schema is not None:
            raise ValueError("`schema` asks for JSON by itself: leave `format` out")
        if self.results == {}:
            raise ValueError(
                "`results` is empty, so no tool has a form: name some, or leave it out"
            )
        self._answer  # noqa: B018 - made now, so that a mistake is found at load
        self._forms  # noqa: B018 - the same

    @cached_property
    def _answer(self) -> Checker | None:
        if self.format is not None:
            return Checker(True)
        return None if self.schema is None else _made("schema", self.schema)

    @cached_property
    def _forms(self) -> dict[str, Checker]:
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

    def _form(self, tool: str) -> Checker | None:
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

    def _formed(self, checker: Checker, text: str, what: str) -> Finding | None:
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


def _made(option: str, schema: Any) -> Checker:
    try:
        return Checker(schema)
    except SchemaFault as fault:
        raise ValueError(f"`{option}` is not a schema to check by: {fault}") from None


def _unread(text: str, error: Exception) -> str:
    if says_nothing(text):
        return "it is empty"
    at = re.search(r"\(byte (\d+)\)", str(error))
    return "it cannot be read" if at is None else f"it cannot be read from byte {at[1]} on"
