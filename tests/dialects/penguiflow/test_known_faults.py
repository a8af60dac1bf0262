"""Faults of an earlier guardrail gateway, by number; each test fails where Stanchion has the
fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Action, Finding, Patch, PolicyError, Refused, Shield
from stanchion.guards.size_limits import SizeLimits
from stanchion.guards.tool_allowlist import ToolAllowlist
from stanchion.guards.tool_denylist import ToolDenylist
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Retry
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.readings import read
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedModel, ScriptedTool, shield_for
from tests.guards.steps import steps_of
from tests.runtime.guards import says

SECRET: Final = "sk-123"
FREE: dict[str, Any] = {"name": "free"}


class Redactor:
    """A guard that takes the secret out of texts, arguments and messages."""

    id = "redactor"
    kind = Kind.PURE
    priority = 10
    stages = ("prompt", "model_call", "model_reply", "tool_call", "tool_result", "error")

    def judge(self, reading: Any) -> Finding | None:
        event = reading.event
        content = _content(event)
        patches = tuple(
            Patch(path, "***", text.index(SECRET), text.index(SECRET) + 6)
            for path, text in _hits(content)
        )
        return Finding(Action.REDACT, "own.secret", patches=patches) if patches else None


def _content(event: Any) -> Any:
    for name in ("text", "messages", "args"):
        if event.stage == "tool_result":
            return event.result
        if hasattr(event, name):
            value = getattr(event, name)
            return {"messages": value} if name == "messages" else value
    return None


def _hits(
    content: Any, path: tuple[str | int, ...] = ()
) -> list[tuple[tuple[str | int, ...], str]]:
    """Paths of the texts that hold the secret."""
    if isinstance(content, str):
        return [(path, content)] if SECRET in content else []
    if isinstance(content, dict):
        return [hit for name, value in content.items() for hit in _hits(value, (*path, name))]
    if isinstance(content, list):
        return [hit for at, value in enumerate(content) for hit in _hits(value, (*path, at))]
    return []


class Says:
    """A guard that gives the same finding for every event, or only for the first few."""

    kind = Kind.PURE

    def __init__(self, action: Action, stage: str, *, times: int = 1_000, **more: Any) -> None:
        self.id = f"says-{action.name.lower()}"
        self.stages = (stage,)
        self.priority = 20
        self._finding = Finding(action, "own.said", guidance="try otherwise", **more)
        self._left = times

    def judge(self, _reading: Any) -> Finding | None:
        self._left -= 1
        return self._finding if self._left >= 0 else None


@pytest.mark.parametrize(
    ("guard", "name", "args"),
    [
        (ToolDenylist(("*a*a*a*a*a*a*a*b",)), "a", {}),
        (ToolAllowlist(("a*?a*?a*?a*?b", "*aab")), "a", {}),
        (ToolDenylist(("?" * 40 + "*" * 40 + "b",)), "a", {}),
        (SizeLimits(max_chars=10**9, max_depth=10**9, max_values=10**9), "", {"a": "(a+)+$"}),
    ],
    ids=["stars", "stars and marks", "runs of both", "size"],
)
def test_fault_04_no_pattern_and_no_text_makes_a_guard_superlinear(
    guard: Any, name: str, args: dict[str, Any]
) -> None:
    """Texts that make a backtracking matcher explode cost twice the steps at twice the size, and no
    more."""

    def steps(size: int) -> int:
        shown = {key: [value] * size for key, value in args.items()}
        event = ToolCall(id="e", at=0, run=RunInfo("r"), tool=name * size, args=shown)
        return steps_of(lambda: guard.judge(read(event)))

    assert steps(1_200) <= 2.1 * steps(600) + 20


@pytest.mark.parametrize(
    "action", [Action.ALLOW, Action.WARN, Action.REDACT, Action.DEGRADE], ids=lambda a: a.name
)
def test_fault_05_redactions_apply_under_every_outcome_that_proceeds(action: Action) -> None:
    """Whatever wins, a tool never gets the secret that another guard took out, and no record has
    it."""
    patches = (Patch(("other",), 1),) if action >= Action.REDACT else ()
    shield = shield_for(FREE, guards=[Redactor(), says(action, Stage.TOOL_CALL, patches=patches)])
    tool = ScriptedTool("done")
    shield.run("a").call(
        tool, body=f"key {SECRET} here", other=1 if action != Action.DEGRADE else 9
    )
    assert tool.calls == [{"body": "key *** here", "other": 1}]
    assert all(SECRET.encode() not in kept.text for kept in shield.journal.kept())


@pytest.mark.parametrize("stage", ["model_call", "model_reply"])
@pytest.mark.parametrize("driver", ["sync", "async"])
def test_fault_05_a_retry_does_not_bring_the_secret_back(stage: str, driver: str) -> None:
    """A step that is asked for again is asked with guidance, and still without the secret."""
    shield = shield_for(
        FREE, guards=[Redactor(), Says(Action.RETRY, stage, times=1, terms=Retry(3))]
    )
    model = ScriptedModel(f"the key is {SECRET}", f"the key is {SECRET}")
    asked = [{"role": "user", "content": f"use {SECRET}"}]
    run = shield.run("a")
    reply = (
        run.model(model, asked)
        if driver == "sync"
        else asyncio.run(run.amodel(model.as_async(), asked))
    )
    assert reply == "the key is ***"
    assert SECRET not in str(model.asked)
    assert model.asked[-1] == [
        {"role": "user", "content": "use ***"},
        {"role": "system", "content": "try otherwise"},
    ]
    assert all(SECRET.encode() not in kept.text for kept in shield.journal.kept())


@pytest.mark.parametrize(
    "action", [Action.RETRY, Action.ESCALATE, Action.BLOCK, Action.HALT], ids=lambda a: a.name
)
def test_fault_05_what_does_not_proceed_shows_the_secret_to_nobody(action: Action) -> None:
    """A refusal's words and its record are as clean as what would have gone ahead."""
    shield = shield_for(FREE, guards=[Redactor(), Says(action, "tool_call")])
    tool = ScriptedTool("done")
    with pytest.raises(Refused) as refused:
        shield.run("a").call(tool, body=f"key {SECRET}")
    assert tool.count == 0
    assert SECRET not in str(refused.value)
    assert shield.journal.kept()[0].read().content == {"body": "key ***"}


def test_fault_05_notices_reach_the_next_prompt_and_the_secret_does_not() -> None:
    """A warning beside a redaction is told to the model at its next call; the content stays
    redacted."""
    run = shield_for(FREE, guards=[Redactor(), Says(Action.WARN, "tool_result")]).run("a")
    result = run.call(ScriptedTool(f"text {SECRET}"))
    model = ScriptedModel("fine")
    run.model(model, [{"role": "tool", "content": result}])
    assert model.asked == [
        [
            {"role": "tool", "content": "text ***"},
            {"role": "system", "content": "own.said; try otherwise"},
        ]
    ]


class Effects:
    """A guard with effects."""

    kind = Kind.PURE
    stages = ("tool_call",)

    def __init__(
        self, name: str, priority: int, *effects: str, action: Action = Action.WARN, mode: str = ""
    ) -> None:
        self.id = name
        self.priority = priority
        self.mode = mode
        self._finding = Finding(action, "own.effects", effects=effects)

    def judge(self, _reading: Any) -> Finding:
        return self._finding


def test_fault_09_effects_are_joined_once_each_in_chain_order() -> None:
    """Two guards that want the same effect get it once, at the place of the first; the order never
    varies."""
    guards = [
        Effects("c", 30, "alert", "strike", "page"),
        Effects("a", 10, "strike", "flag"),
        Effects("b", 20, "flag", "note", "flag"),
    ]
    for order in (guards, guards[::-1], [guards[1], guards[2], guards[0]]):
        shield = shield_for(FREE, guards=order)
        decision = shield.run("a").check("t", {})
        assert decision.effects == ("strike", "flag", "note", "alert", "page")
        assert shield.journal.kept()[0].read().effects == decision.effects


def test_fault_09_effects_behind_a_stop_do_not_happen() -> None:
    """What was not judged has no effects; what stopped it has."""
    guards = [
        Effects("a", 10, "x"),
        Effects("b", 20, "y", action=Action.BLOCK),
        Effects("c", 30, "z"),
    ]
    assert shield_for(FREE, guards=guards).run("a").check("t", {}).effects == ("x", "y")


def test_fault_09_shadow_mode_changes_nothing() -> None:
    """A guard that only watches leaves no effect, no count, no patch, no notice and no end of the
    run."""
    clock = FakeClock()
    store = MemoryStore(clock)
    watched = {
        "name": "watched",
        "guards": [
            {"use": "step_limit", "id": "watch", "max_steps": 0, "mode": "shadow"},
            {"use": "step_limit", "id": "real", "max_steps": 3},
        ],
    }
    shadows = [
        Effects("halts", 1, "strike", action=Action.HALT, mode="shadow"),
        Effects("warns", 2, "flag", mode="shadow"),
    ]
    run = shield_for(watched, clock=clock, store=store, guards=shadows).run("a", "task", id="r")
    plain = shield_for({**watched, "guards": watched["guards"][1:]}).run("a", "task", id="r")
    for _ in range(5):
        seen, bare = run.check("t", {"a": 1}), plain.check("t", {"a": 1})
        assert (seen.action, seen.findings, seen.effects, seen.patches) == (
            bare.action,
            bare.findings,
            (),
            (),
        )
    assert run.notices() == ()
    codes = [finding.code for finding in run.check("t", {}).shadow]
    assert codes == ["own.effects", "own.effects", "kernel.third_warning"]
    run.close()


def test_fault_09_counting_in_shadow_mode_is_apart_from_real_counting() -> None:
    """Warnings that were only watched do not bring a real escalation nearer."""
    clock = FakeClock()
    store = MemoryStore(clock)
    entry = {"use": "tool_denylist", "tools": ["t"], "action": "warn"}
    watching, real = (
        shield_for(
            {"name": "p", "guards": [{**entry, "mode": mode}]}, clock=clock, store=store
        ).run("a", "task")
        for mode in ("shadow", "enforce")
    )
    assert [watching.check("t", {}).action for _ in range(4)] == [Action.ALLOW] * 4
    assert [real.check("t", {}).action for _ in range(3)] == [
        Action.WARN,
        Action.WARN,
        Action.ESCALATE,
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "name: p\nguards:\n  - use: step_limit\n  - use: no_such_guard\n",
            r"p\.yaml:4:\d+: .*`no_such_guard`",
        ),
        ("name: p\ntools:\n  pay: {risk: hihg}\n", r"p\.yaml:3:\d+: .*`hihg`.*`high`"),
        ("name: p\ntool_risks: {pay: high}\n", r"p\.yaml:2:1: the key `tool_risks` is not known"),
        (
            "name: p\nguards:\n  - {use: python, call: 'a:b', deadline_ms: true}\n",
            r"p\.yaml:3:\d+: `true` was found",
        ),
        ("name: p\nenvironments: {prod: {mode: shadw}}\n", r"p\.yaml:2:\d+: .*`shadw`.*`shadow`"),
    ],
)
def test_fault_10_a_policy_with_a_mistake_is_not_applied_at_all(
    text: str, says: str, tmp_path: Path
) -> None:
    """A guard that does not exist, a misspelt tier or key, a switch for a number: the place is
    named, the old policy stays as it was, and nothing of the new one is in force."""
    good = {"name": "good", "guards": [{"use": "tool_denylist", "tools": ["rm"]}]}
    shield = Shield.load(good)
    before = shield.policy
    file = tmp_path / "p.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(PolicyError, match=says):
        shield.reload(file)
    assert shield.policy is before
    assert not shield.run().check("rm", {}).proceeds


def test_fault_10_an_unknown_environment_is_an_error(tmp_path: Path) -> None:
    """It is not ignored, and the nearest name is offered."""
    file = tmp_path / "p.yaml"
    file.write_text("name: p\nenvironments: {production: {mode: shadow}}\n", "utf-8")
    with pytest.raises(
        PolicyError, match="there is no environment `prodution`: did you mean `production`"
    ):
        Shield.load(file, env="prodution")


def test_fault_10_a_version_may_be_a_number(tmp_path: Path) -> None:
    """`version: 1.0` needs no quotes and stays what was written."""
    file = tmp_path / "p.yaml"
    file.write_text("name: p\nversion: 1.0\n", "utf-8")
    assert Shield.load(file).policy.file.version == "1.0"


def test_fault_11_an_empty_allowlist_allows_nothing() -> None:
    """Empty is not absent: nobody gets everything because a list was forgotten."""
    policy = {
        "name": "p",
        "agents": {"a": {"allowed_tools": []}},
        "guards": [{"use": "tool_allowlist"}],
    }
    shield = Shield.load(policy)
    assert shield.run("a").check("read_file", {}).code == "tool.not_allowed"
    assert shield.run("nobody-said-anything").check("read_file", {}).proceeds
    closed = Shield.load({"name": "p", "guards": [{"use": "tool_allowlist", "tools": []}]})
    assert closed.run("a").check("read_file", {}).code == "tool.not_allowed"


def test_fault_06_a_final_answer_is_checked() -> None:
    """Redacted where a guard redacts, refused where one refuses, or where it is delivered already;
    recorded without."""
    answer = f"the key is {SECRET}"
    shield = shield_for(FREE, guards=[Redactor()])
    run = shield.run("a")
    assert run.model(ScriptedModel(answer), [], final=True) == "the key is ***"
    assert run.model_reply(answer, final=True).patched(answer) == "the key is ***"
    assert all(SECRET.encode() not in kept.text for kept in shield.journal.kept())
    with pytest.raises(Refused):
        list(run.stream([answer]))
    blocks = shield_for(FREE, guards=[Says(Action.BLOCK, "model_reply")]).run("a")
    with pytest.raises(Refused, match="try otherwise"):
        blocks.model(ScriptedModel(answer), [], final=True)


class Patches:
    """A guard that wants these edits of a tool's result."""

    id = "patches"
    kind = Kind.PURE
    stages = ("tool_result",)

    def __init__(self, *patches: Patch) -> None:
        self._patches = patches
        self._left = 1

    def judge(self, _reading: Any) -> Finding | None:
        self._left -= 1
        return (
            Finding(Action.REDACT, "own.patches", patches=self._patches)
            if self._left >= 0
            else None
        )


WORDS: Final = "my card and my code are here"


@pytest.mark.parametrize(
    ("patches", "result", "expected"),
    [
        ([Patch((), "#", 3, 7), Patch((), "#", 3, 7)], WORDS, "my # and my code are here"),
        ([Patch((), "#", 3, 19), Patch((), "~", 8, 11)], WORDS, "my # are here"),
        ([Patch((), "~", 8, 19), Patch((), "#", 3, 11)], WORDS, "my # are here"),
        ([Patch(("rows", 0), "#")], {"rows": [WORDS, 1]}, {"rows": ["#", 1]}),
        (
            [Patch(("a",), '"', 3, 7)],
            {"a": WORDS, "b": 1},
            {"a": 'my " and my code are here', "b": 1},
        ),
        ([Patch(("a", "b"), "}", 0, 28)], {"a": {"b": WORDS}}, {"a": {"b": "}"}}),
    ],
    ids=[
        "duplicate spans",
        "nested spans",
        "overlapping spans",
        "a path alone",
        "a quote",
        "a bracket",
    ],
)
def test_fault_07_redaction_is_on_the_structure(
    patches: list[Patch], result: Any, expected: Any
) -> None:
    """Nothing behind a span is eaten, no tail of one leaks, a path is enough, and no replacement
    breaks the shape."""
    run = shield_for(FREE, guards=[Patches(*patches)]).run("a")
    assert run.call(ScriptedTool(result)) == expected


def test_fault_07_a_redaction_that_does_not_fit_refuses_the_content() -> None:
    """It is not handed on unredacted, and not written down either."""
    shield = shield_for(FREE, guards=[Patches(Patch(("missing",), "#"))])
    with pytest.raises(Refused, match="does not fit"):
        shield.run("a").call(ScriptedTool({"a": WORDS}))
    assert all(WORDS.encode() not in kept.text for kept in shield.journal.kept())


HOUSE_KEY: Final = {"kind": "house-key", "pattern": r"\b(AKIA[0-9A-Z]{16})\b", "keywords": ["akia"]}


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [("AKIA12345678", "90ABCDEF", "house-key"), ("AKIA2345ABCD", "67CDEFGH", "aws-access-token")],
)
@pytest.mark.parametrize("driver", ["sync", "async"])
def test_fault_08_a_secret_in_two_chunks_is_redacted(
    first: str, second: str, kind: str, driver: str
) -> None:
    """Neither half reaches the agent or a record."""
    own = {"patterns": [HOUSE_KEY]} if kind == "house-key" else {}
    shield = shield_for({"name": "p", "guards": [{"use": "secrets", **own}]})
    run = shield.run("a")

    async def source() -> AsyncIterator[str]:
        for chunk in ("key ", first, second, " here"):
            yield chunk

    async def collect() -> list[str]:
        return [piece async for piece in run.astream(source())]

    out = (
        asyncio.run(collect())
        if driver == "async"
        else list(run.stream(["key ", first, second, " here"]))
    )
    assert "".join(out) == f"key [redacted:{kind}] here"
    assert all(
        first.encode() not in kept.text and second.encode() not in kept.text
        for kept in shield.journal.kept()
    )


MISSED: Final = {
    "openai": "sk-proj-" + "Zt9kQ2mVx7LpRw4nYb8c" * 2 + "T3BlbkFJ" + "Hd5sGf1aJq6eUi0oPzXm" * 2,
    "github fine-grained": "github_pat_"
    + "11ABCDE7Y0q8Zt9kQ2mVx7"
    + "_"
    + "LpRw4nYb8cHd5sGf1aJq6eUi0oPzXmKt3vBn9rWy2sDf5gHj7kLz1xCv4Qs",
    "github oauth": "gho_" + "q8Zt9kQ2mVx7LpRw4nYb8cHd5sGf1aJq6eUi",
    "aws session": "ASIA" + "Q3EGRXYZ5ABCD7WQ",
    "slack": "xoxb-" + "263594206564-2343594206574-" + "FGqddMF8t08v8N7Oq4i57vs1",
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkphbmUifQ."
    + "dQw4w9WgXcQ8Zt9kQ2mVx7LpRw4nYb8cHd5sGf1aJq6",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEpAIBAAKCAQEA7Gk2xZ9Qw3vT5yHn8bLrUcD1sFe4q8Zt9kQ2mVx7LpRw4nYb\n" * 4
    + "-----END RSA PRIVATE KEY-----",
}
"""Credentials in the right shape, none of them real."""


@pytest.mark.parametrize("kind", MISSED)
def test_fault_11_the_kinds_of_secrets_that_were_missed_are_found(kind: str) -> None:
    """In arguments, in results, and in a stream that comes character by character."""
    secret = MISSED[kind]
    shield = shield_for({"name": "p", "guards": [{"use": "secrets"}]})
    run = shield.run("a")
    tool = ScriptedTool({"log": f"got {secret} there"})
    result = run.call(tool, body=f"use {secret} here")
    body = str(tool.calls[0]["body"])
    for said in (body, str(result["log"]), "".join(run.stream(f"I use {secret} now"))):
        assert "[redacted:" in said
        assert secret[8:40] not in said
    assert body.startswith("use ")
    assert body.endswith(" here")
    assert all(secret[8:40].encode() not in kept.text for kept in shield.journal.kept())


def test_fault_07_secrets_that_overlap_are_one_and_eat_nothing_behind_them() -> None:
    """A token inside a URL inside JSON is found by several rules: each part of it goes, and nothing
    else does."""
    run = shield_for({"name": "p", "guards": [{"use": "secrets"}]}).run("a")
    secret = MISSED["aws session"]
    text = f'{{"db": "postgres://ann:{secret}@db.example.com/x", "n": 1, "key": "{secret}"}} tail'
    tool = ScriptedTool("ok")
    run.call(tool, text=text, twice=[secret, secret])
    said = tool.calls[0]
    assert secret[4:] not in str(said)
    assert str(said["text"]).endswith('"} tail')
    assert '"n": 1' in str(said["text"])
    assert said["twice"] == [said["twice"][0]] * 2
