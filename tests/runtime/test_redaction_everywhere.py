"""Redaction everywhere: what a guard finds is in nothing that anybody gets, and in nothing that is
written down."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from pydantic import BaseModel

from stanchion import Action, Finding, Refused, Shield, Stage, ToolFailed
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.kernel.actions import Category
from stanchion.kernel.findings import Retry, Wait
from stanchion.kernel.guard import Kind
from stanchion.ops.views.explain import case_of, explain
from stanchion.runtime.run import Run
from stanchion.runtime.values import project
from tests.runtime.finders import KEY, Keys
from tests.runtime.guards import says

BARE: dict[str, Any] = {"name": "bare"}
GONE = "[redacted:key]"
TEXT = f"the key is {KEY}."


@pytest.fixture
def trail(tmp_path: Path) -> Iterator[Path]:
    """A folder for a trail; in the end nothing of the key is in any file of it."""
    yield tmp_path
    written = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file())
    assert written
    assert KEY.encode() not in written
    assert KEY[:9].encode() not in written


def shielded(folder: Path, *guards: Any, **options: Any) -> Shield:
    """A shield whose first guard hides keys, on a trail of its own."""
    return Shield.load(
        options.pop("policy", BARE), journal=Trail(folder), guards=[Keys(), *guards], **options
    )


@dataclass
class Row:
    """A result of a tool's own type."""

    name: str
    secret: str


class Record(msgspec.Struct):
    """Another one."""

    rows: list[Row]


class Model(BaseModel):
    """One of a library that validates."""

    secret: str


RESULTS: dict[str, tuple[Any, Any]] = {
    "text": (TEXT, f"the key is {GONE}."),
    "object": ({"a": 1, "b": TEXT}, {"a": 1, "b": f"the key is {GONE}."}),
    "list": (["x", TEXT], ["x", f"the key is {GONE}."]),
    "nested": (
        {"a": [{"b": [TEXT]}], "n": None},
        {"a": [{"b": [f"the key is {GONE}."]}], "n": None},
    ),
    "name": ({KEY: 1, "b": 2}, {GONE: 1, "b": 2}),
    "JSON in a text": (json.dumps({"k": KEY}), json.dumps({"k": GONE})),
    "twice": (f"{KEY} and {KEY}", f"{GONE} and {GONE}"),
    "tuple": ((1, TEXT), (1, f"the key is {GONE}.")),
    "set": ({KEY}, {GONE}),
    "dataclass": (Row("a", KEY), Row("a", GONE)),
    "struct": (Record([Row("a", KEY)]), Record([Row("a", GONE)])),
    "model": (Model(secret=TEXT), Model(secret=f"the key is {GONE}.")),
    "bytes": (TEXT.encode(), f"the key is {GONE}.".encode()),
    "half a character": (f"\udcff {KEY}", f"\udcff {GONE}"),
}


@pytest.mark.parametrize(("result", "expected"), RESULTS.values(), ids=RESULTS)
def test_a_result_keeps_its_shape_and_loses_the_key(
    trail: Path, result: Any, expected: Any
) -> None:
    """Called, called async and yielded it keeps its type; reported by a host it comes as plain
    data."""
    shield = shielded(trail)

    def gives() -> Any:
        return result

    async def gives_later() -> Any:
        return result

    def yields() -> Iterator[Any]:
        yield result

    async def yields_later() -> AsyncIterator[Any]:
        yield result

    async def collect(run: Run) -> list[Any]:
        return [await run.acall(gives_later), *[item async for item in run.acall(yields_later)]]

    with shield.run("ann") as run:
        assert [run.call(gives), *run.call(yields)] == [expected] * 2
        assert asyncio.run(collect(run)) == [expected] * 2
        assert run.partial == (project(expected),)
        assert run.result("gives", {}, result).patched(result) == project(expected)
    shield.close()


ARGUMENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "text": ({"a": TEXT, "b": 1}, {"a": f"the key is {GONE}.", "b": 1}),
    "nested": ({"a": {"b": [1, {"c": TEXT}]}}, {"a": {"b": [1, {"c": f"the key is {GONE}."}]}}),
    "name": ({"a": {KEY: 1}}, {"a": {GONE: 1}}),
}


@pytest.mark.parametrize(("args", "expected"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_patched_before_the_tool_runs(
    trail: Path, args: dict[str, Any], expected: Any
) -> None:
    """By name, by place, and for a host that runs the tool itself."""
    got: list[dict[str, Any]] = []

    def takes(a: Any, b: Any = 1) -> None:
        got.append({"a": a, "b": b})

    shield = shielded(trail)
    with shield.run("ann") as run:
        run.call(takes, **args)
        run.call(takes, args["a"])
        decision = run.check("takes", args)
        assert decision.patched(args) == expected
        run.result("takes", decision.patched(args), None)
    shield.close()
    assert got == [{"b": 1, **expected}] * 2


def test_places_in_what_guards_were_shown_are_not_places_in_what_the_host_has() -> None:
    """What is no proper text is spelled out for guards; a host gets all of it anew, and not cut in
    the wrong place."""
    run = Shield.load(BARE, guards=[Keys()]).run()
    text = f"\udcff\udcff {KEY}"
    spelled = f"\ufdd0\\xff\ufdd0\\xff {GONE}"
    assert run.check("t", {"a": text}).patched({"a": text}) == {"a": spelled}
    assert run.model_reply(text).patched(text) == spelled
    assert run.model_reply("fine \udcff").patched("fine \udcff") == "fine \udcff"


REPORTS: dict[str, tuple[Callable[[Run], Any], Any]] = {
    "prompt": (lambda run: run.prompt(TEXT), TEXT),
    "model_call": (
        lambda run: run.model_call([{"content": TEXT}], "m"),
        {"model": "m", "messages": [{"content": TEXT}], "params": {}},
    ),
    "model_chunk": (lambda run: run.model_chunk(TEXT), TEXT),
    "model_reply": (lambda run: run.model_reply(TEXT), TEXT),
    "final": (lambda run: run.model_reply(TEXT, final=True), TEXT),
    "egress": (
        lambda run: run.judge(
            "egress", url=f"https://a.example/?k={KEY}", headers={"X": KEY}, payload=[KEY]
        ),
        {"url": f"https://a.example/?k={KEY}", "headers": {"X": KEY}, "payload": [KEY]},
    ),
    "error": (lambda run: run.error("t", ValueError(TEXT)), TEXT),
    "handoff": (lambda run: run.handoff("bob", {"note": TEXT}), {"note": TEXT}),
}


@pytest.mark.parametrize(("reports", "content"), REPORTS.values(), ids=REPORTS)
def test_what_a_host_reports_is_redacted(
    trail: Path, reports: Callable[[Run], Any], content: Any
) -> None:
    """At every stage that has content; the host gets the patches."""
    shield = shielded(trail)
    with shield.run("ann") as run:
        decision = reports(run)
        assert decision.action == Action.REDACT
        assert KEY not in str(decision.patched(content))
        assert GONE in str(decision.patched(content))
        assert KEY not in str(decision.findings)
    shield.close()


@dataclass
class Reply:
    """A client's reply object."""

    content: str


REPLIES: dict[str, tuple[Any, Any]] = {
    "text": (TEXT, f"the key is {GONE}."),
    "mapping": (
        {"role": "assistant", "content": TEXT, "usage": {"total_tokens": 3}},
        {"role": "assistant", "content": f"the key is {GONE}.", "usage": {"total_tokens": 3}},
    ),
    "beside the text": (
        {"content": "fine", "reasoning": TEXT, "tool_calls": [{"args": {"k": KEY}}]},
        {
            "content": "fine",
            "reasoning": f"the key is {GONE}.",
            "tool_calls": [{"args": {"k": GONE}}],
        },
    ),
    "object": (Reply(TEXT), Reply(f"the key is {GONE}.")),
}


@pytest.mark.parametrize("final", [False, True], ids=["reply", "final answer"])
@pytest.mark.parametrize(("reply", "expected"), REPLIES.values(), ids=REPLIES)
def test_a_reply_is_redacted(trail: Path, reply: Any, expected: Any, final: bool) -> None:
    """Wherever in it the key is; and so is what the model was asked."""
    shield = shielded(trail)
    asked: list[Any] = []

    def model(messages: list[Any]) -> Any:
        asked.append(messages)
        return reply

    with shield.run("ann") as run:
        assert run.model(model, [{"role": "user", "content": TEXT}], final=final) == expected
    shield.close()
    assert asked == [[{"role": "user", "content": f"the key is {GONE}."}]]


def test_a_reply_without_the_key_is_handed_on_as_it_is() -> None:
    """The very object."""
    reply = {"content": "fine", "more": [{"a": "b"}]}
    run = Shield.load(BARE, guards=[Keys()]).run()
    assert run.model(lambda _messages: reply, []) is reply


def fails() -> None:
    """Says it."""
    raise ValueError(TEXT)


def fails_because() -> None:
    """Does not say it, but what it comes of does."""
    try:
        fails()
    except ValueError as error:
        raise RuntimeError("cannot log in") from error


def fails_while() -> None:
    """The same, with the error that came before in passing."""
    try:
        fails()
    except ValueError:
        raise RuntimeError("cannot log in")  # noqa: B904 - the error that it hangs on is what is tested


def fails_noted() -> None:
    """Says it in a note."""
    error = RuntimeError("cannot log in")
    error.add_note(TEXT)
    raise error


def fails_in_group() -> None:
    """Says it in one of many."""
    raise ExceptionGroup("two", [RuntimeError("a"), ExceptionGroup("more", [ValueError(TEXT)])])


ERRORS = [fails, fails_because, fails_while, fails_noted, fails_in_group]
ANSWERS: dict[str, list[Any]] = {
    "redact": [],
    "retry": [says(Action.RETRY, Stage.ERROR, terms=Retry(max_attempts=2))],
    "escalate": [says(Action.ESCALATE, Stage.ERROR)],
    "block": [says(Action.BLOCK, Stage.ERROR)],
    "halt": [says(Action.HALT, Stage.ERROR)],
}


def chain(error: BaseException | None) -> Iterator[str]:
    """What an error says, and each that it holds: as its cause, or as the one that was handled when
    it was raised."""
    if error is not None:
        yield repr(error)
        yield from chain(error.__cause__)
        yield from chain(error.__context__)


@pytest.mark.parametrize("guards", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("fn", ERRORS, ids=lambda fn: str(fn.__name__))
def test_an_error_that_shows_the_key_is_withheld(
    trail: Path, fn: Callable[[], Any], guards: list[Any]
) -> None:
    """Whatever is decided about it: neither its text nor its traceback has it, nor what the run
    knows of it."""
    shield = shielded(trail, *guards)

    def model(_messages: list[Any]) -> str:
        fn()
        return "fine"

    attempts: list[Callable[[Run], Any]] = [
        lambda run: run.call(fn),
        lambda run: run.model(model, []),
    ]
    for number, attempt in enumerate(attempts):
        with shield.run("ann", f"t{number}") as run:
            with pytest.raises((ToolFailed, Refused)) as raised:
                attempt(run)
            assert KEY not in "".join(traceback.format_exception(raised.value))
            assert KEY not in str(list(chain(raised.value)))
            assert KEY not in str(run.last_error)
            assert KEY not in str(run.partial)
    shield.close()


@pytest.mark.parametrize("fn", ERRORS, ids=lambda fn: str(fn.__name__))
def test_a_refusal_after_an_error_does_not_bring_the_error_along(
    trail: Path, fn: Callable[[], Any]
) -> None:
    """The call is tried again and refused: what it failed with before is as secret as it was."""
    policy = {"name": "p", "guards": [{"use": "step_limit", "max_steps": 1}]}
    shield = shielded(
        trail, says(Action.RETRY, Stage.ERROR, terms=Retry(max_attempts=3)), policy=policy
    )
    with shield.run("ann") as run, pytest.raises(Refused, match="step") as raised:
        run.call(fn)
    assert KEY not in "".join(traceback.format_exception(raised.value))
    shield.close()


def test_an_error_without_the_key_is_handed_on_as_it_is() -> None:
    """With all that hangs on it."""
    run = Shield.load(BARE, guards=[Keys()]).run()

    def breaks() -> None:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise RuntimeError("b") from error

    with pytest.raises(RuntimeError, match="b") as raised:
        run.call(breaks)
    assert isinstance(raised.value.__cause__, KeyError)


class Repeats(msgspec.Struct, frozen=True):
    """A guard that repeats in its words what it is about, whole or cut off, as one that reads
    commands does."""

    kind: ClassVar[Kind] = Kind.PURE
    category: ClassVar[Category] = Category.SAFETY
    action: Action
    stages: frozenset[Stage] = frozenset(
        {Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.MODEL_CHUNK}
    )
    id: str = "repeats"
    priority: int = 50
    longest: int = 1_000

    def judge(self, reading: Any, /) -> Finding | None:
        event = reading.event
        said = str(
            event.args
            if event.stage is Stage.TOOL_CALL
            else getattr(event, "result", getattr(event, "text", ""))
        )
        if "the key" not in said:
            return None
        said = said[: self.longest]
        terms = Wait(0, -1) if self.action == Action.QUEUE else None
        return Finding(
            self.action,
            "test.repeats",
            (said, 3),
            f"`{said}` is not fine",
            f"not `{said}`",
            terms=terms,
        )


@pytest.mark.parametrize("longest", [1_000, 30], ids=["whole", "cut off"])
@pytest.mark.parametrize("priority", [1, 50], ids=["before", "after"])
@pytest.mark.parametrize("action", list(Action), ids=lambda action: str(action.name))
def test_the_words_of_other_guards_do_not_repeat_the_key(
    trail: Path, action: Action, priority: int, longest: int
) -> None:
    """Refusals, advice, notices, guidance, tickets and records, also where the guard that hides was
    not asked."""
    guard = Repeats(action, priority=priority, longest=longest)
    shield = shielded(trail, guard, store="memory:")
    heard: list[Any] = []

    def takes(a: str) -> None:
        heard.append(a)

    def gives() -> str:
        return TEXT

    def model(messages: list[Any]) -> str:
        heard.append(messages)
        return TEXT

    steps: list[Callable[[Run], Any]] = [
        lambda run: run.call(takes, a=TEXT),
        lambda run: run.call(gives),
        lambda run: run.model(model, []),
        lambda run: list(run.stream([TEXT])),
    ]
    for number, step in enumerate(steps):
        run = shield.run("ann", f"t{number}")
        try:
            heard.append(step(run))
        except Refused as refused:
            heard += [
                str(refused),
                refused.partial,
                refused.decision.advice,
                refused.decision.findings,
            ]
        heard += [run.notices(), run.partial]
        with suppress(Refused):
            run.model(model, [])
        with suppress(Refused):
            heard.append(run.check("another", {}).message)
        run.close()
    heard += shield.tickets()
    shield.close()
    assert KEY[:9] not in str(heard)
    # What is cut off before the key, or refused before it is seen, has nothing to hide.
    assert GONE in str(heard) or action > Action.DEGRADE


def test_a_ticket_shows_neither_the_result_nor_the_arguments_that_a_host_names(trail: Path) -> None:
    """Also arguments that no guard has seen."""
    shield = shielded(trail, says(Action.ESCALATE, Stage.TOOL_RESULT), store="memory:")
    with shield.run("ann") as run:
        run.result("work", {"text": TEXT, "n": 1}, TEXT)
    (ticket,) = shield.tickets()
    assert ticket.content == f"the key is {GONE}."
    assert ticket.beside["args"] == {"text": f"the key is {GONE}.", "n": 1}
    shield.close()


def test_what_a_run_keeps_is_redacted_where_it_comes_out(trail: Path) -> None:
    """In partial results, in what a refusal brings along, and in the record of the run's end."""
    shield = shielded(trail, says(Action.HALT, Stage.PROMPT))
    run = shield.run("ann")
    run.check("a", {})
    run.keep(TEXT)
    run.keep({"rows": [Row("a", KEY)], KEY: 1, GONE: 2})
    assert run.prompt("stop").action == Action.HALT
    with pytest.raises(Refused) as refused:
        run.call(lambda: None)
    expected = (
        f"the key is {GONE}.",
        {"rows": [{"name": "a", "secret": GONE}], GONE: 1, f"{GONE}'": 2},
    )
    assert run.partial[:2] == expected
    assert refused.value.partial[:2] == expected
    run.close()
    shield.close()


def test_what_a_guard_in_shadow_mode_would_hide_is_kept_and_not_written_down(trail: Path) -> None:
    """Shadow mode changes nothing: the run has it, its end says that something was left out."""
    shield = Shield.load(
        BARE, journal=Trail(trail), guards=[Keys(mode="shadow"), Repeats(Action.WARN)]
    )
    with shield.run("ann") as run:
        run.check("a", {"a": TEXT})
        run.keep(TEXT)
        assert run.partial == (TEXT,)
        assert KEY in run.notices()[0]
    shield.close()


def test_an_explanation_is_redacted(trail: Path) -> None:
    """Of a refusal by a guard that repeats what it saw."""
    shield = shielded(trail, Repeats(Action.BLOCK, priority=1))
    with shield.run("ann") as run:
        decision = run.check("takes", {"a": TEXT})
    shield.close()
    reader = TrailReader(trail)
    found = reader.find(decision.id)
    assert found is not None
    told = str(explain(case_of(reader, found), None))
    assert KEY not in told
    assert GONE in told


def test_a_guard_that_cannot_say_what_to_hide_withholds_everything(trail: Path) -> None:
    """From records, from words, from what is kept, and from errors."""

    class Fails(Keys, frozen=True):
        id: str = "fails"

        def judge(self, event: Any, /) -> Finding | None:
            raise RuntimeError("broken")

    shield = Shield.load(
        BARE, journal=Trail(trail), guards=[Fails(), Repeats(Action.BLOCK, priority=1)]
    )
    run = shield.run("ann")
    with pytest.raises(Refused) as refused:
        run.call(lambda a: None, a=TEXT)
    assert KEY not in str(refused.value)
    with pytest.raises((ToolFailed, Refused)) as raised:
        run.call(fails_because)
    assert KEY not in "".join(traceback.format_exception(raised.value))
    run.keep(TEXT)
    assert run.partial == ("[withheld]",)
    run.close()
    shield.close()


def test_the_shipped_guard_hides_in_all_these_places(tmp_path: Path) -> None:
    """A key of a cloud, as a policy without further words has it."""
    key, gone = "AKIAWW7JOSQESZEK5VDL", "[redacted:aws-access-token]"
    policy = {"name": "p", "guards": [{"use": "secrets"}]}
    shield = Shield.load(
        policy, journal=Trail(tmp_path), guards=[says(Action.WARN, Stage.TOOL_CALL)]
    )
    got: list[Any] = []

    def takes(a: Any) -> Any:
        got.append(a)
        return {"rows": [Row("a", f"use {key}")]}

    def breaks() -> None:
        raise RuntimeError("no") from ValueError(f"use {key}")

    with shield.run("ann") as run:
        got.append(run.call(takes, {"b": [f"use {key}"]}))
        got.append(
            run.model(lambda messages: f"{messages[0]} use {key}", [f"use {key}"], final=True)
        )
        got.append("".join(run.stream([f"use {key[:7]}", f"{key[7:]} now"])))
        with pytest.raises(ToolFailed) as raised:
            run.call(breaks)
        got.append("".join(traceback.format_exception(raised.value)))
        run.keep(f"use {key}")
        got += [run.partial, run.notices(), run.last_error, run.check("takes", {"a": key}).findings]
    shield.close()
    assert key not in str(got)
    assert got[0] == {"b": [f"use {gone}"]}
    assert got[1] == {"rows": [Row("a", f"use {gone}")]}
    assert got[3] == f"use {gone} now"
    assert key.encode() not in b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )
