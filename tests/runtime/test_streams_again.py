"""A streamed piece is judged again from its record, and from the records of the pieces before
it."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion import Action, Finding, Piece, Shield, Stage
from stanchion.audit.rebuilt import before_of, inputs_of, moment_of
from stanchion.audit.record import RecordEntry
from stanchion.kernel.actions import Category
from stanchion.kernel.guard import Kind
from stanchion.kernel.replay import replay
from tests.runtime.finders import PIN, Keys


class Follows(msgspec.Struct, frozen=True):
    """Warns of a number behind the word `pin`, wherever a stream was cut between them."""

    kind: ClassVar[Kind] = Kind.PURE
    CONTEXT: ClassVar[int] = 4
    id: str = "follows"
    stages: frozenset[Stage] = frozenset({Stage.MODEL_CHUNK})
    priority: int = 10
    category: Category = Category.SAFETY

    def judge(self, reading: Any, /) -> Finding | None:
        event = reading.event
        if event.before.endswith("pin ") and event.text[0].isdigit():
            return Finding(Action.WARN, "test.pin", (len(event.text),))
        return None

    def settled(self, text: str) -> int:
        return text.rfind(" ") + 1


def recorded(guard: Any, chunks: list[Any]) -> tuple[Shield, Any, list[RecordEntry]]:
    """What is recorded of the pieces of a stream."""
    shield = Shield.load({"name": "again"}, guards=[guard], store="memory:", journal="memory:")
    run = shield.run("ann")
    list(run.stream(["first ", "pin "]))
    list(run.stream(chunks))
    entries = [kept.read() for kept in shield.journal.kept()]
    return shield, run.desk.info, [entry for entry in entries if entry.stage == Stage.MODEL_CHUNK]


def test_a_piece_judged_again_gives_the_same_decision() -> None:
    """With what stood before it on its own channel of its own stream, and not without."""
    chunks = ["77 ", Piece("reasoning", "88 "), "pin ", Piece("reasoning", "99 "), "11 ", "22"]
    shield, run, entries = recorded(Follows(), chunks)
    said: dict[str, tuple[str, str]] = {}
    for at, entry in enumerate(entries):
        alone = replay(shield.policy, run, moment_of(entry, run), inputs_of(entry))
        before = before_of(entry, entries[:at])
        again = replay(shield.policy, run, moment_of(entry, run, before=before), inputs_of(entry))
        assert again.action.name == entry.action
        assert [(found.code, found.args) for found in again.findings] == [
            (f.code, f.args) for f in entry.findings
        ]
        said[entry.content] = (alone.action.name, entry.action)
    assert said.pop("11 ") == ("ALLOW", "WARN")
    assert set(said.values()) == {("ALLOW", "ALLOW")}


def test_what_stands_before_a_piece_is_found_in_any_order_and_only_before_it() -> None:
    """Records of several chains come as they come."""
    _, _, entries = recorded(Follows(), ["a ", "b ", Piece("reasoning", "x "), "c "])
    third = next(entry for entry in entries if entry.content == "c ")
    assert before_of(third, reversed(entries)) == "a b "
    assert before_of(entries[0], entries) == ""


def test_what_was_redacted_before_a_piece_is_before_it_as_its_record_has_it() -> None:
    """No record has the secret, so none can be judged with it again."""
    _, _, entries = recorded(Keys(), ["my pin ", f"{PIN} ", "is it"])
    assert [entry.content for entry in entries[-3:]] == ["[redacted:key] ", "is ", "it"]
    assert before_of(entries[-1], entries[:-1]) == "my pin [redacted:key] is "
