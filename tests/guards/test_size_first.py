"""What is too large is refused before anything reads it, at every stage, and is not read for its
record either."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from stanchion import Action, Decision, Refused, Run, Shield
from stanchion.kernel.content import content_of
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.sizes import CEILING
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading, read
from stanchion.readings.hostile.normal import mapped
from stanchion.readings.hostile.signs import signs
from stanchion.runtime.errors import ToolFailed

KEY: Final = "AKIAQ3EGRXYZ5ABCD7WQ"
HUGE: Final = KEY + "x" * CEILING
LONG: Final = KEY + " token=q1W2e3R4t5Y6u7I8o9P0 DE89 3704 \u202e" * 40
LIMIT: Final = 1_000


class Reader:
    """Counts the characters that a guard of content is shown, whatever for."""

    name: ClassVar[str] = "reader"
    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset(Stage) - {Stage.CHARGE}
    priority: ClassVar[int] = 7
    veils: ClassVar[bool] = True
    CONTEXT: ClassVar[int] = 8

    def __init__(self) -> None:
        self.seen = 0

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        event = reading.event
        self.seen += len(str(content_of(event)))
        return None

    def fingerprints(self, reading: Reading[Event], /) -> tuple[str, ...]:
        event = reading.event
        self.judge(read(event))
        return ()

    def settled(self, text: str) -> int:
        self.seen += len(text)
        return len(text)

    def actions(self) -> tuple[Action, ...]:
        return (Action.REDACT,)


def fails(text: str) -> None:
    """A tool whose error says much."""
    raise RuntimeError(text)


def parts(text: str) -> list[str]:
    """A text in short pieces."""
    return [text[at : at + 64] for at in range(0, len(text), 64)]


WAYS: Final[dict[str, Callable[[Run, str], Any]]] = {
    "prompt": lambda run, text: run.prompt(text),
    "an argument": lambda run, text: run.call(lambda note: note[:1], note=text),
    "a checked argument": lambda run, text: run.check("send", {"note": text}),
    "many arguments": lambda run, text: run.check("send", {"notes": parts(text)}),
    "a result": lambda run, text: run.call(lambda: text),
    "a reported result": lambda run, text: run.result("read", {}, text),
    "repeated arguments": lambda run,
    text: run.judge("tool_result", tool="t", result=1, args={"note": text}), "an error": lambda run,
    text: run.call(lambda: fails(text)),
    "a request to a model": lambda run,
    text: run.model(lambda _: "yes", [{"role": "user", "content": text}]), "a reply": lambda run,
    text: run.model(lambda _: text, []),
    "a reported reply": lambda run, text: run.model_reply(text),
    "a stream": lambda run, text: list(run.stream([text])),
    "a request to a host": lambda run, text: run.egress("https://example.com/", payload=text),
    "a handoff": lambda run, text: run.judge("handoff", to="b", payload={"note": text}),
}  # fmt: skip


UNMEASURED: Final = ("a stream", "repeated arguments")
"""What the limits of a policy do not measure."""


def refused(way: Callable[[Run, str], Any], run: Run, text: str) -> str:
    """The code by which something is refused."""
    try:
        answer = way(run, text)
    except Refused as refusal:
        return refusal.decision.code
    except ToolFailed as error:
        return "withheld" if len(str(error)) < LIMIT and KEY not in str(error) else "shown"
    assert isinstance(answer, Decision), "it went ahead"
    assert not answer.proceeds
    return answer.code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "policy", [{"name": "none"}, {"name": "more", "guards": [{"use": "secrets"}, {"use": "pii"}]}]
)
def test_no_stage_reads_what_is_larger_than_anything_may_be(
    way: str, policy: dict[str, Any]
) -> None:
    """Under policies that have no limit of their own."""
    reader = Reader()
    shield = Shield.load(policy, guards=[reader], store="memory:", journal="memory:")
    run = shield.run(agent="a", task="t")
    assert refused(WAYS[way], run, HUGE) in ("kernel.too_large", "withheld")
    assert reader.seen < LIMIT


@pytest.mark.parametrize("way", [way for way in WAYS if way not in UNMEASURED])
def test_no_stage_reads_what_is_larger_than_the_policy_says(way: str) -> None:
    """Neither for allowances nor for the record."""
    reader = Reader()
    policy = {
        "name": "p",
        "guards": [{"use": "size_limits", "max_chars": LIMIT}, {"use": "secrets"}],
    }
    shield = Shield.load(policy, guards=[reader], store="memory:", journal="memory:")
    run = shield.run(agent="a", task="t")
    assert refused(WAYS[way], run, LONG) in ("size.too_long", "withheld")
    assert reader.seen < LIMIT


def entered(call: Callable[[], Any]) -> set[str]:
    """The files of guards whose code a call runs."""
    seen: set[str] = set()

    def note(frame: Any, _kind: str, _arg: Any) -> None:
        seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    parts = [Path(file).parts for file in seen]
    rooms = [
        (one, one.index(room)) for one in parts for room in ("guards", "readings") if room in one
    ]
    return {one[at + 1].removesuffix(".py") for one, at in rooms}


@pytest.mark.parametrize("pack", ["default", "strict", "coding-agent"])
@pytest.mark.parametrize("way", ["a checked argument", "a reported result", "prompt"])
def test_no_shipped_guard_of_content_runs_for_what_is_too_long(pack: str, way: str) -> None:
    shield = Shield.load({"name": "p", "extends": pack}, store="memory:", journal="memory:")
    run = shield.run(agent="a", task="t")
    WAYS[way](run, "hello there")
    long = LONG * (1_000_000 // len(LONG) + 1)
    ran = entered(lambda: refused(WAYS[way], run, long))
    assert "size_limits" in ran
    assert not ran & {
        "texts",
        "strings",
        "scan",
        "hostile",
        "secrets",
        "pii",
        "injection",
        "files",
        "schema",
    }


@pytest.mark.parametrize("size", [LIMIT + 1, CEILING + 1])
def test_the_record_says_that_it_was_too_large_and_has_nothing_of_it(
    tmp_path: Path, size: int
) -> None:
    policy = {
        "name": "p",
        "guards": [{"use": "size_limits", "max_chars": LIMIT}, {"use": "secrets"}],
    }
    text = (KEY + " ") * (size // 21 + 1)
    with Shield.load(policy, store="memory:", journal=str(tmp_path)) as shield:
        run = shield.run(agent="a")
        for way in WAYS:
            if way not in UNMEASURED:
                refused(WAYS[way], run, text)
    kept = b"".join([file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()])
    assert kept.count(b"it is too large to be read") >= len(WAYS) - len(UNMEASURED)
    assert KEY.encode() not in kept
    assert len(kept) < 262_144


def test_what_an_error_was_made_from_is_not_read_either_where_it_is_too_large() -> None:
    reader = Reader()
    shield = Shield.load({"name": "p"}, guards=[reader], store="memory:", journal="memory:")

    def caused() -> None:
        try:
            fails(HUGE)
        except RuntimeError as error:
            raise ValueError("it did not work") from error

    with pytest.raises(ToolFailed):
        shield.run(agent="a").call(caused)
    assert reader.seen < LIMIT


def test_a_policy_that_only_watches_refuses_nothing_and_reads_nothing_of_it() -> None:
    reader = Reader()
    policy = {"name": "p", "mode": "shadow"}
    shield = Shield.load(policy, guards=[reader], store="memory:", journal="memory:")
    run = shield.run(agent="a")
    assert run.call(lambda: HUGE) is HUGE
    decision = run.check("send", {"note": HUGE})
    assert decision.proceeds
    assert [finding.code for finding in decision.shadow] == ["kernel.too_large"]
    assert reader.seen < LIMIT


def test_what_a_limit_only_remarks_on_is_read_and_written_down() -> None:
    policy = {
        "name": "p",
        "guards": [
            {"use": "size_limits", "max_chars": LIMIT, "action": "warn"},
            {"use": "secrets"},
        ],
    }
    shield = Shield.load(policy, store="memory:", journal="memory:")
    args = {"note": "y" * LIMIT + f" {KEY}"}
    decision = shield.run(agent="a").check("send", args)
    assert decision.patched(args)["note"].endswith("[redacted:aws-access-token]")
    (kept,) = shield.journal.kept()
    assert kept.read().content["note"].startswith("yyy")


def test_what_nobody_sees_is_read_in_runs_and_not_one_by_one() -> None:
    """Signs of one kind that stand close together are one, and so are characters that say
    nothing."""
    assert len(signs("\u202e" * 4_096)) == 1
    assert len(signs("\u202ea\u202d " * 1_024)) == 1
    assert [sign.start for sign in signs("\u202e" + "a" * 400 + "\u202e")] == [0, 401]
    assert mapped("a\u200b\u202e\u0301b\u200b\u200bc") == ("a\u0301bc", [0, 2, 4, 7, 8])
