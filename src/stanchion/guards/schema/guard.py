"""The schema guard: calls and results are what the tool's definition says, or do not go ahead."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal, Protocol

import msgspec

from stanchion.guards._jsonschema.checker import SchemaChecker, canonical
from stanchion.guards._jsonschema.explain import Problem, explain, instead
from stanchion.guards._jsonschema.words import nearest, short, type_of
from stanchion.guards.schema.codes import CODES
from stanchion.guards.schema.tools import NO_TOOLS, CheckedDefinition, ToolDefinitions, coerce
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.declared import ELEMENT
from stanchion.kernel.events import ToolCall, ToolResult
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import (
    ACTIONS,
    AtLeastOne,
    AtLeastZero,
    Lower,
    Off,
    On,
    PlainActionName,
)
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading

LONGEST_KEY: Final = 1_024
"""Calls whose arguments are longer than this are checked every time: looking them up would cost as
much."""

__all__ = ["CODES", "Memo", "Schema"]


class Memo(Protocol):
    """Remembers what was found about calls, for a time. What it forgets is found again, the
    same."""

    def get(self, key: tuple[Any, ...], at_ms: int, /) -> tuple[bool, Any]: ...

    def put(self, key: tuple[Any, ...], value: Any, at_ms: int, /) -> None: ...


class Schema(msgspec.Struct, frozen=True, dict=True):
    """Refuses calls whose arguments do not fit the schema of their tool, and results that do not
    fit theirs.

    Definitions come from the policy's `tools`, from `shield.ingest`, and from the signatures of
    shielded functions.
    """

    name: ClassVar = "schema"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 6
    reads: ClassVar = frozenset(
        {("tools", "risk"), ("tools", "schema"), ("tools", "result_schema"), ("tools", "pin")}
    )

    unknown: Annotated[Literal["allow", "refuse"], ("allow", "refuse")] = "allow"
    """Whether to allow or refuse a tool without a known definition."""
    extra: Annotated[Literal["schema", "refuse", "drop"], ("schema", "refuse")] = "schema"
    """Arguments that the schema does not list: `schema` does what the schema says; `refuse` and
    `drop` apply where it says nothing, and `drop` also where it forbids them."""
    coerce: Off[bool] = False
    """If `true`, a value of the wrong type is converted when there is only one way to do it."""
    formats: On[bool] = False
    """If `true`, `format` is enforced; otherwise it is only a description."""
    results: On[bool] = True
    """If `true`, results are checked against their tool's result schema."""
    max_values: Lower[AtLeastOne] = 100_000
    """Calls and results with more values than this are refused unchecked."""
    hook_deadline_ms: AtLeastZero = 1_000
    """A call is refused if its hook gives no answer within this many milliseconds."""
    action: PlainActionName = "block"
    """The action for a call that does not fit its schema or cannot be checked."""
    result_action: PlainActionName = "block"
    """The action for a result that does not fit; `block` discards it and undoes the call if it can.
    """
    changed_action: PlainActionName = "escalate"
    """The action for calls of a tool whose definition differs from the pinned one."""
    suspect_action: PlainActionName = "warn"
    """The action for calls of a tool whose definition instructs the agent, hides something, speaks
    against other tools, asks for secrets or imitates, until a person accepts it."""

    @cached_property
    def tools(self) -> ToolDefinitions:
        """The tools whose definitions it knows."""
        return NO_TOOLS

    @cached_property
    def _memo(self) -> Memo | None:
        return None

    @cached_property
    def _terms(self) -> tuple[Any, ...]:
        return msgspec.structs.astuple(self)

    def with_tools(self, tools: ToolDefinitions, memo: Memo | None = None) -> Schema:
        """The same guard that knows these tools, and remembers what it found in `memo`."""
        made = msgspec.structs.replace(self)
        made.__dict__["tools"] = tools
        made.__dict__["_memo"] = memo
        return made

    def passes_all(self, event: ToolCall | ToolResult, /) -> bool:
        """Whether nobody has defined the tool, and that is allowed."""
        allowed = self.unknown == "allow" or type(event) is ToolResult
        return allowed and self.tools.find(event.run.tenant, event.tool) is None

    def judge(self, reading: Reading[ToolCall | ToolResult], /) -> Finding | None:
        """Hold a call or a result against the tool's definition."""
        event = reading.event
        known = self.tools.find(event.run.tenant, event.tool)
        if type(event) is ToolResult:
            return self._judge_result(known, event) if self.results and known is not None else None
        assert type(event) is ToolCall
        if known is None:
            return self._unknown(event) if self.unknown == "refuse" else None
        if known.bad:
            return Finding(ACTIONS[self.action], "schema.bad", (event.tool, known.bad))
        finding = self._looked_up(known, event)
        return self._doubted(known, event.tool) if finding is None else finding

    def _doubted(self, known: CheckedDefinition, tool: str) -> Finding | None:
        """What is to be said of a call that fits a definition which somebody should look at."""
        found: list[Finding] = []
        if known.changed:
            found.append(
                Finding(ACTIONS[self.changed_action], "schema.changed", (tool, known.changed))
            )
        if known.suspect:
            found.append(
                Finding(ACTIONS[self.suspect_action], "schema.suspect", (tool, known.suspect))
            )
        return max(found, key=lambda finding: finding.action, default=None)

    def _unknown(self, event: ToolCall) -> Finding:
        near = nearest(event.tool, self.tools.names(event.run.tenant))
        hint = f": did you mean `{short(near)}`?" if near is not None else ""
        return Finding(ACTIONS[self.action], "schema.unknown_tool", (short(event.tool), hint))

    def _looked_up(self, known: CheckedDefinition, event: ToolCall) -> Finding | None:
        """What was found about the same call by the same definition, or is found now."""
        checker, memo = known.input, self._memo
        if checker is None:
            return None
        if memo is None:
            return self._judge_args(checker, event)
        body = canonical(event.args)
        if len(body) > LONGEST_KEY:
            return self._judge_args(checker, event)
        key = (event.tool, checker.digest, self._terms, body)
        hit, finding = memo.get(key, event.at)
        if not hit:
            finding = self._judge_args(checker, event)
            memo.put(key, finding, event.at)
        found: Finding | None = finding
        return found

    def _judge_args(self, checker: SchemaChecker, event: ToolCall) -> Finding | None:
        args = event.args
        if ELEMENT in args:  # its host says that, and the tool does not get it
            args = {name: value for name, value in args.items() if name != ELEMENT}
        too_much = checker.too_much(args, self.max_values)
        if too_much:
            return Finding(
                ACTIONS[self.action],
                "schema.bad",
                (event.tool, f"{too_much}, too many for its schema"),
            )
        if checker.fits(args, self.formats):
            return self._beyond(checker, event.tool, args) if self.extra != "schema" else None
        if self.coerce or self.extra == "drop":
            made = coerce(checker, args, self.formats, self.coerce, self.extra == "drop")
            if made is not None:
                words = "; ".join(made.words[:4]) + ("; and more" if len(made.words) > 4 else "")
                return Finding(
                    Action.REDACT, "schema.coerced", (event.tool, words), patches=made.patches
                )
        return self._worded(event.tool, explain(checker, args, self.formats))

    def _beyond(self, checker: SchemaChecker, tool: str, args: dict[str, Any]) -> Finding | None:
        """Arguments that the schema tolerates and does not list, where the policy does not tolerate
        them."""
        schema = checker.schema
        listed = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(listed, dict) or not _OPEN.isdisjoint(schema):
            return None
        more = [name for name in args if name not in listed]
        if not more:
            return None
        if self.extra == "refuse":
            return self._worded(
                tool, [Problem("extra", (name,), instead(name, listed)) for name in more[:4]]
            )
        kept = {name: value for name, value in args.items() if name in listed}
        words = ", ".join([f"`{short(name)}`" for name in more[:4]]) + (
            " and more" if len(more) > 4 else ""
        )
        patch = Patch((), kept, kind="coerce")
        return Finding(
            Action.REDACT, "schema.coerced", (tool, f"left out {words}"), patches=(patch,)
        )

    def _worded(self, tool: str, problems: list[Problem]) -> Finding:
        """The first problem, and the others behind it."""
        first, *others = problems
        more = "".join(
            [f"; `{other.place}` {_WORDS.get(other.kind, '')}{other.words}" for other in others]
        )
        about = f"{tool} {first.place}"
        if first.kind == "type":
            got, _, expected = first.words.removeprefix("is ").partition(", expected ")
            return Finding(
                ACTIONS[self.action],
                "schema.type",
                (tool, first.place, got, expected, more),
                about=about,
            )
        return Finding(
            ACTIONS[self.action],
            f"schema.{first.kind}",
            (tool, first.place, first.words, more),
            about=about,
        )

    def _judge_result(self, known: CheckedDefinition, event: ToolResult) -> Finding | None:
        checker = known.output
        if checker is None or event.part or known.bad:
            return None
        result, failed = _structured(event.result, known.source)
        if failed:
            return None
        action = ACTIONS[self.result_action]
        if result is _NOTHING:
            return Finding(action, "schema.result", (event.tool, "it has no structured content"))
        too_much = checker.too_much(result, self.max_values)
        if too_much:
            return Finding(
                action, "schema.result", (event.tool, f"{too_much}, too many to be checked")
            )
        if checker.fits(result, self.formats):
            return None
        first = explain(checker, result, self.formats)[0]
        place = f"`{first.place}` " if first.path else "it "
        said = (
            first.words
            if first.path
            else f"{first.words.replace('do not fit the tool', 'does not fit the tool')}"
        )
        return Finding(
            action, "schema.result", (event.tool, f"{place}{_WORDS.get(first.kind, '')}{said}")
        )

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        patches = (Action.REDACT,) if self.coerce or self.extra == "drop" else ()
        doubts = (ACTIONS[self.changed_action], ACTIONS[self.suspect_action])
        return (ACTIONS[self.action], ACTIONS[self.result_action], *doubts, *patches)


_WORDS: Final = {"missing": "is missing: ", "extra": "is not known: "}
_OPEN: Final = frozenset(
    {
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
        "if",
    }
)
"""Keywords by which a schema itself says what else there may be."""
_NOTHING: Final = object()


def _structured(result: Any, source: str) -> tuple[Any, bool]:
    """The part of a result that a schema is about, and whether it reports a failure, which no
    schema is about."""
    if (
        source != "mcp"
        or type_of(result) != "object"
        or not isinstance(result.get("content"), list)
    ):
        return result, False
    return result.get("structuredContent", _NOTHING), result.get("isError") is True
