"""Redaction before writing: of a secret there is nothing in any file of a trail."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion import Action, Refused, Shield, Stage, ToolFailed
from stanchion.audit.options import TrailOptions
from stanchion.audit.redaction import MASK, masked
from stanchion.audit.trail import Trail
from stanchion.kernel.actions import Category
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.secret_names import SECRET_NAMES
from stanchion.kernel.state import When
from stanchion.readings import Reading
from stanchion.runtime.run import Run
from tests.audit.written import allowed, moment, of_kind, one
from tests.runtime.guards import says

SECRET = "hunter2-7f3a"


@pytest.mark.parametrize(
    "name", ["password", "API_KEY", "Set-Cookie", "client secret", "x-api-key", "Secret.Key"]
)
def test_values_under_secret_names_are_masked_however_they_are_spelled(name: str) -> None:
    """Wherever they stand; what is beside them stays."""
    data = {"a": [{"b": {name: SECRET, "user": "ann"}}], name: {"nested": SECRET}}
    assert masked(data) == {"a": [{"b": {name: MASK, "user": "ann"}}], name: MASK}


def test_what_has_no_secret_is_given_back_as_it_is() -> None:
    """Not a copy: most of what is recorded has none. That a secret is missing, or switched off, is
    no secret."""
    data = {"a": [1, {"b": ("x", None)}], "password": None, "token": False, "passwords_changed": 3}
    assert masked(data) is data
    assert masked("password") == "password"


def test_every_listed_name_is_one() -> None:
    """As written in the list."""
    assert [name for name in SECRET_NAMES if masked({name: 1}) != {name: MASK}] == []


def test_a_long_name_does_not_make_a_secret_one_harmless() -> None:
    """Names are remembered, but not by their beginning."""
    long = "password" + "_" * 57
    masked({long: SECRET})
    assert masked({long[:64]: SECRET}) == {long[:64]: MASK}


PIECES = st.sampled_from(
    [
        "my",
        " is ",
        "api",
        "_",
        "-",
        "Key",
        "\u212aey ",
        "PASS",
        "word",
        "pin",
        "Hunter2x",
        "a\ud800",
    ]
)
TEXTS = st.lists(PIECES, max_size=6).map("".join)
VALUES = st.recursive(
    TEXTS | st.none() | st.integers() | st.booleans() | st.binary() | st.frozensets(TEXTS),
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner) | st.tuples(inner, inner),
    max_leaves=6,
)


@pytest.mark.parametrize("between", ["", "-", "_", ". "])
def test_every_listed_name_is_one_in_a_list(between: str) -> None:
    """However it is spelled."""
    names = [between.join(name).upper()[:64] for name in SECRET_NAMES]
    assert [name for name in names if masked([[{name: 1}]]) != [[masked({name: 1})]]] == []
    assert masked([[{between.join("password"): 1}]]) == [[{between.join("password"): MASK}]]


TOLD = (
    "password Passphrase PASSCODE passwd Passwort pwd PIN pin-code token client_secret api_key "
    "Kennwort mot_de_passe contrasena contraseña senha api_\u212aey"
)


@pytest.mark.parametrize("name", TOLD.split())
def test_what_a_text_tells_is_found_in_a_list(name: str) -> None:
    """By whatever name."""
    text = f"my {name.replace('_', ' ')} is '8Hunter2'"
    assert masked([[1, [text]]]) == [[1, [masked(text)]]]
    assert MASK in masked(text)


@given(VALUES)
def test_lists_are_masked_as_what_is_in_them(value: Any) -> None:
    """One look at a list tells that nothing in it has to be looked at by itself."""
    assert masked([[value]]) == [[masked({"x": value})["x"]]]
    assert (masked([[value]])[0][0] is value) == (masked({"x": value})["x"] is value)


class Keeps(msgspec.Struct, frozen=True):
    """A guard that keeps what it sees in its record."""

    kind: ClassVar[Kind] = Kind.RECORD
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    writes: ClassVar[When] = When.JUDGED
    category: ClassVar[Category] = Category.SAFETY
    priority: ClassVar[int] = 10
    id: str = "keeps"

    def key(self, _event: ToolCall, /) -> str:
        return "{default}kept"

    def judge(self, reading: Reading[ToolCall], _value: Any, _now: int, /) -> Ruling:
        event = reading.event
        return Ruling(None, {"api_key": event.args.get("password", ""), "n": [{"token": SECRET}]})


class Answer(msgspec.Struct):
    """What a user's own guard gives, which is not an answer at all; it has a secret."""

    secret: str


class Hides(msgspec.Struct, frozen=True):
    """A guard that finds a secret in a text and wants it gone, and says so as it is told."""

    kind: ClassVar[Kind] = Kind.PURE
    action: Action
    id: str
    mode: str = "enforce"
    stages: frozenset[Stage] = frozenset(Stage)
    category: Category = Category.SAFETY
    priority: int = 20

    def judge(self, reading: Any, /) -> Finding | None:
        event = reading.event
        found = find(getattr(event, "args", None), ()) if event.stage is Stage.TOOL_CALL else None
        if event.stage in (Stage.PROMPT, Stage.MODEL_REPLY, Stage.MODEL_CHUNK, Stage.ERROR):
            found = () if SECRET in event.text else None
        if event.stage is Stage.TOOL_RESULT:
            found = find(event.result, ())
        return (
            None
            if found is None
            else Finding(self.action, "test.secret", patches=(Patch(found, "[gone]"),))
        )


def find(value: Any, path: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    """Where in some data the secret is, outside of what is masked by its name."""
    if isinstance(value, str):
        return path if SECRET in value else None
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = [find(item, (*path, step)) for step, item in items if step != "password"]
    return next((one for one in found if one is not None), None)


def everywhere(folder: Path) -> bytes:
    """Every byte of every file of a trail."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_nothing_of_a_secret_is_in_any_file(tmp_path: Path) -> None:
    """Arguments, results, what stands beside them, answers, records, errors, kept results, and what
    is refused."""

    def own(_event: Event) -> Answer:
        return Answer(SECRET)

    def login(user: str, password: str) -> dict[str, Any]:
        return {"user": user, "session": {"Access-Token": password}}

    def fails(password: str) -> None:
        raise ValueError("no such user")

    own.fail_open = True  # type: ignore[attr-defined] # how a guard says it
    shield = Shield.load({"name": "x"}, journal=Trail(tmp_path), guards=[own, Keeps()])
    with shield.run("ann") as run:
        for _ in range(2):
            assert run.call(login, "ann", password=SECRET)["session"]["Access-Token"] == SECRET
        with pytest.raises(ValueError, match="no such user"):
            run.call(fails, password=SECRET)
        run.keep({"cookie": SECRET})
        run.result("elsewhere", {"password": SECRET}, {"token": SECRET})
        run.error("elsewhere", "KeyError", args={"nested": [{"pwd": SECRET}]})
        run.model_call([{"content": "hi", "authorization": SECRET}], params={"api_key": SECRET})
        run.egress(
            "https://example.org", headers={"Authorization": SECRET}, payload={"secret": SECRET}
        )
        run.handoff("bob", {"credentials": {"all": SECRET}})
    shield.close()
    found = one(tmp_path)
    kinds = {record["stage"] for record in of_kind(found, "intent", "outcome", "event")}
    assert kinds == {"tool_call", "tool_result", "error", "model_call", "egress", "handoff"}
    calls = [record for record in found if record.get("stage") == "tool_call"]
    assert calls[1]["records"] == [["{default}kept", 1, {"api_key": MASK, "n": [{"token": MASK}]}]]
    assert calls[0]["answers"] == [["own", {"type": "answered", "value": {"secret": MASK}}]]
    assert of_kind(found, "end")[0]["produced"][0] == {"cookie": MASK}
    assert SECRET.encode() not in everywhere(tmp_path)


@pytest.mark.parametrize(
    "hides",
    [
        Hides(Action.REDACT, "redacts"),
        Hides(Action.BLOCK, "blocks"),
        Hides(Action.HALT, "halts"),
        Hides(Action.REDACT, "watches", "shadow"),
    ],
    ids=lambda hides: str(hides.id),
)
def test_what_a_guard_redacts_is_in_no_file_whatever_becomes_of_it(
    tmp_path: Path, hides: Hides
) -> None:
    """Let through, refused, or only watched: the record has it as the guard would have it."""
    shield = Shield.load({"name": "x"}, journal=Trail(tmp_path), guards=[hides])

    def work(text: str) -> dict[str, Any]:
        return {"lines": ["a", f"my {SECRET}"]}

    def fails() -> None:
        raise ValueError(f"cannot use {SECRET}")

    actions: list[Callable[[Run], Any]] = [
        lambda run: run.prompt(f"it is {SECRET}"),
        lambda run: run.call(work, text=f"it is {SECRET}"),
        lambda run: run.call(work, text="harmless"),
        lambda run: run.call(fails),
        lambda run: run.model(lambda _messages: f"it is {SECRET}", [{"content": "hi"}]),
        lambda run: run.error("work", ValueError(SECRET)),
        lambda run: list(run.stream(["it is", SECRET])),
    ]
    for number, action in enumerate(actions):
        with shield.run("ann", f"t{number}") as run, suppress(Refused, ValueError, ToolFailed):
            action(run)
    shield.close()
    written = everywhere(tmp_path)
    assert b"[gone]" in written
    assert SECRET.encode() not in written


def test_what_a_crash_cuts_off_was_redacted_too(tmp_path: Path) -> None:
    """What was never a whole record is kept aside, and is as safe to read."""
    live, crashed = tmp_path / "live", tmp_path / "crashed"
    trail = Trail(live, TrailOptions(head_ms=60_000))
    about = moment("e1", {"password": SECRET, "path": "a.txt"})
    trail.write(about, allowed(about), 0)
    shutil.copytree(live, crashed)
    trail.close()
    (segment,) = crashed.rglob("*.jsonl")
    segment.write_bytes(segment.read_bytes().rstrip(b"\0")[:-5])
    again = Trail(crashed)
    again.close()
    (cut,) = crashed.rglob("cut.*")
    assert MASK.encode() in cut.read_bytes()
    assert SECRET.encode() not in everywhere(crashed)


def test_a_trail_can_be_given_another_redaction(tmp_path: Path) -> None:
    """For hosts that know more about their data."""
    trail = Trail(tmp_path, TrailOptions(redact=lambda value: "withheld" if value else value))
    about = moment("e1")
    trail.write(about, allowed(about), 0)
    trail.close()
    assert of_kind(one(tmp_path), "intent")[0]["content"] == "withheld"


def test_a_refusal_before_the_redacting_guard(tmp_path: Path) -> None:
    """Guards that were no longer asked still say what is not to be written down."""
    deny = says(Action.BLOCK, Stage.TOOL_CALL, id="deny", priority=1)
    shield = Shield.load(
        {"name": "x"}, journal=Trail(tmp_path), guards=[deny, Hides(Action.REDACT, "redacts")]
    )
    with shield.run("ann") as run:
        run.check("work", {"text": f"it is {SECRET}"})
    shield.close()
    assert SECRET.encode() not in everywhere(tmp_path)


def test_a_run_that_has_ended(tmp_path: Path) -> None:
    """What is refused before any guard is asked is redacted all the same."""
    shield = Shield.load(
        {"name": "x"}, journal=Trail(tmp_path), guards=[Hides(Action.REDACT, "redacts")]
    )
    run = shield.run("ann")
    run.check("work", {})
    run.cancel()
    run.check("work", {"text": f"it is {SECRET}"})
    shield.close()
    assert SECRET.encode() not in everywhere(tmp_path)


def test_a_reported_result_whose_call_is_not_known(tmp_path: Path) -> None:
    """The host names its own, unpatched arguments: of those only a digest is kept."""
    shield = Shield.load(
        {"name": "x"}, journal=Trail(tmp_path), guards=[Hides(Action.REDACT, "redacts")]
    )
    with shield.run("ann") as run:
        run.check("work", {"text": f"it is {SECRET}"})
        run.result("work", {"text": f"it is {SECRET}"}, "done")
    shield.close()
    assert SECRET.encode() not in everywhere(tmp_path)


def test_a_redacting_guard_that_fails_withholds_everything(tmp_path: Path) -> None:
    """Who knows what it would have hidden."""

    class Fails(Hides, frozen=True):
        def judge(self, event: Any, /) -> Finding | None:
            raise RuntimeError("broken")

    deny = says(Action.BLOCK, Stage.TOOL_CALL, id="deny", priority=1)
    shield = Shield.load(
        {"name": "x"}, journal=Trail(tmp_path), guards=[deny, Fails(Action.REDACT, "redacts")]
    )
    with shield.run("ann") as run:
        assert run.check("work", {"text": f"it is {SECRET}"}).code != "kernel.guard_error"
    shield.close()
    assert SECRET.encode() not in everywhere(tmp_path)
    assert b"$withheld" in everywhere(tmp_path)
