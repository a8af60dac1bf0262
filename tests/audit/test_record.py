"""Records: canonical bytes that carry everything, bounded, and the same wherever the same things
are put in."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from stanchion.audit.apart import encode, entry_from
from stanchion.audit.journal import Finish, Start, begun, ended
from stanchion.audit.notes import PRODUCED_BYTES, RunBegun, RunEnded, note_from
from stanchion.audit.record import GENESIS, LONGEST, RecordedFinding, RecordEntry, entry_of
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.events import Charge, Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding, Isolate, Patch
from stanchion.kernel.lookups import Answered, Expired, Failed
from stanchion.kernel.names import names
from stanchion.kernel.state import Reply, Stake, When
from stanchion.kernel.units import JUST_ONE, amounts
from tests.audit.written import AT, allowed, moment

CHAIN = "00000000000000aa"

FULL = RecordEntry(
    v=3,
    prev="1" * 64,
    seq=411,
    chain=CHAIN,
    kind="intent",
    at=AT,
    id="r1.00.1",
    run="r1",
    stage="tool_call",
    action="BLOCK",
    policy="2" * 64,
    tenant="acme",
    agent="ann",
    task="t1",
    call="r1.00.0",
    tool="read",
    risk="high",
    traits=("content",),
    content={"path": "a.txt", "n": [1, 2.5, None, True]},
    beside={"part": 2},
    findings=(RecordedFinding("g1", "BLOCK", "x.y", ("a", 1, 2.5, None, True), "no"),),
    skipped=("g2",),
    shadow=(RecordedFinding("g3", "WARN", "x.z"),),
    passed=("g0",),
    effects=("page",),
    notes=("it was warned",),
    with_=("charge",),
    amounts=(1, 2, 3, 4, 5),
    late=(
        Finding(
            Action.ESCALATE,
            "kernel.late_answer",
            ("g4", "no"),
            guard="g4",
            terms=Isolate("agent", 5),
        ),
    ),
    attempt=2,
    stakes=(Stake("{acme}ticket:x", 3, {"by": "ann"}, When.JUDGED),),
    granted="x",
    again=True,
    settles=(("r1.00.0", (1, 0, 0, 0, 0)), ("r1.00.9", None)),
    mode="safe",
    judged=AT + 1,
    stale=3,
    can=(0, 7),
    lost="it cannot be reached",
    taken="{acme}ticket:x",
    records=(("{acme}k", 4, {"a": [1]}),),
    answers=(("g5", Answered({"a": 1})), ("g5#1", Expired(50)), ("g6", Failed("KeyError"))),
    now=AT + 2,
    went=False,
    values=(1, 2),
    actions=(0, 7),
    settled=("settled", "unknown"),
    confirmed=(1_700_000_000_000, 1_700_000_000_001),
    refused=(("{acme}k", 5, "text"),),
    lifts=("g2",),
    bypasses=("g3",),
    crowd=(4_812, 30_000),
    left="0123456789abcdef",
)


def test_every_field_survives_its_bytes() -> None:
    """Each of them says something here, so one that is lost shows."""
    usual = {
        field.name: field.default
        for field in msgspec.structs.fields(RecordEntry)
        if not field.required
    }
    assert [name for name, value in usual.items() if getattr(FULL, name) == value] == []
    assert entry_from(*encode(FULL)[:2]) == FULL


def test_the_format_is_the_one_that_is_written_down() -> None:
    """Other programs read these names, in this order."""
    body, kept, _ = encode(FULL)
    assert list(json.loads(body)) == [
        "v", "prev", "seq", "chain", "kind", "at", "id", "run", "stage", "action", "policy",
        "tenant", "agent", "task", "call", "tool", "risk", "traits", "findings", "skipped",
        "shadow", "passed", "effects", "with", "amounts", "attempt", "granted", "again", "settles",
        "mode", "judged", "stale", "can", "lost", "taken", "confirmed", "now", "went", "values",
        "actions", "settled", "lifts", "bypasses", "crowd", "holds",
    ]  # fmt: skip
    assert list(json.loads(kept)) == [
        "salt", "content", "beside", "said", "notes", "late", "stakes", "records", "left",
        "answers", "refused",
    ]  # fmt: skip
    assert json.loads(body)["holds"] == sha256(kept).hexdigest()


def test_everything_of_a_decision_gets_into_its_record() -> None:
    """From a moment and a decision in which everything occurs."""
    run = RunInfo("r1", "ann", "lead", "t1", "acme")
    call = ToolCall(
        id="e1",
        at=AT,
        run=run,
        call="e0",
        tool="read",
        risk=Risk.HIGH,
        traits=("content",),
        args={"path": "a.txt"},
    )
    charge = Charge(id="e1.c", at=AT, run=run, call="e1", tokens=7)
    late = (Finding(Action.WARN, "kernel.late_answer", ("g", "w"), guard="g"),)
    settles = (("e0", None),)
    stakes = (Stake("{acme}ticket:x", 3, {"by": "ann"}),)
    about = Moment(
        (call, charge), (1, 7, 0, 0, 0), settles, late, 2, stakes, "x", True, ("g1",), ("g9",)
    )
    reply = Reply(AT + 5, False, True, (3,), (1,), ("settled",))
    records = (("{acme}there", 4, {"a": 1}), ("{acme}absent", 0, None))
    answers = (("asker", Answered([1])), ("slow", Expired(9)))
    inputs = Inputs(
        records, answers, reply, "", "safe", AT + 1, 2, (0, 7), "{acme}c", (AT - 9, AT - 8)
    )
    said, shadowed = (
        Finding(Action.WARN, "x.y", (1,), "w", guard="g1"),
        Finding(Action.BLOCK, "x.z", guard="g2"),
    )
    decision = Decision(
        "e1",
        Action.WARN,
        "p",
        (said,),
        ("g3",),
        (shadowed,),
        effects=("page",),
        inputs=inputs,
        passed=("g0",),
    )
    assert entry_of(about, decision, 9, "f" * 64, CHAIN, ("noted",)) == RecordEntry(
        3, "f" * 64, 9, CHAIN, "intent", AT, "e1", "r1", "tool_call", "WARN", "p", "acme", "ann",
        "t1", "e0", "read", "high", ("content",), {"path": "a.txt"}, {},
        (RecordedFinding("g1", "WARN", "x.y", (1,), "w"),), ("g3",),
        (RecordedFinding("g2", "BLOCK", "x.z"),), ("g0",),
        ("page",), ("noted",), ("charge",), (1, 7, 0, 0, 0), late, 2, stakes, "x", True, settles,
        "safe", AT + 1, 2, (0, 7), "", "{acme}c", (AT - 9, AT - 8), (("{acme}there", 4, {"a": 1}),),
        answers, AT + 5, True, (3,), (1,), ("settled",), (), ("g1",), ("g9",),
    )  # fmt: skip


def made_at_run_time(text: str) -> str:
    """A text equal to another, but made anew."""
    return "".join([*text])


def test_the_same_things_give_the_same_bytes() -> None:
    """Defaults are left out by what they say, not by which object says it."""
    usual = RunInfo("r1")
    anew = RunInfo(
        made_at_run_time("r1"),
        made_at_run_time(""),
        task=made_at_run_time(""),
        tenant=made_at_run_time("default"),
    )
    assert anew.tenant is not usual.tenant
    assert amounts() is not JUST_ONE
    bodies = set()
    for run in (usual, anew):
        for spent in ((1, 0, 0, 0, 0), amounts()):
            for risk in (Risk.MEDIUM, Risk(1)):
                event = ToolCall(
                    id="e1", at=AT, run=run, tool="read", risk=risk, args={"b": 1, "a": 2}
                )
                about = Moment((event,), spent, (), (), int("1"))
                inputs = Inputs(
                    (), (), None, made_at_run_time(""), made_at_run_time(""), int(str(AT))
                )
                decision = Decision("e1", Action(int("0")), "p", inputs=inputs, passed=())
                bodies.add(encode(entry_of(about, decision, 3, GENESIS, CHAIN)))
                backwards = msgspec.structs.replace(event, args={"a": 2, "b": 1})
                bodies.add(
                    encode(entry_of(Moment((backwards,), spent), decision, 3, GENESIS, CHAIN))
                )
    (parts,) = bodies
    body = parts.body
    assert encode(entry_from(body, parts.kept)) == parts
    assert b"tenant" not in body
    assert b"risk" not in body
    assert b"amounts" not in body


def test_content_that_is_too_long_is_kept_as_its_length_and_hash() -> None:
    """The record stays small, and still shows what it was about."""
    text = "x" * (LONGEST + 1)
    about = moment("e1", {"text": text})
    parts = encode(entry_of(about, allowed(about), 0, GENESIS, CHAIN))
    content = json.loads(parts.kept)["content"]
    assert not parts.whole
    assert len(parts.body + parts.kept) < 1_000
    assert content["$bytes"] == len(text) + len('{"text":""}')
    assert set(content) == {"$bytes", "$sha256"}


def test_what_a_decision_was_made_from_is_bounded_too() -> None:
    """A record guard may keep much; its record says that it is left out."""
    about = moment("e1")
    large = (("{default}k", 1, ["x" * 1_000] * 400),)
    parts = encode(entry_of(about, allowed(about, inputs=Inputs(large)), 0, GENESIS, CHAIN))
    entry = entry_from(parts.body, parts.kept)
    assert not parts.whole
    assert len(parts.body + parts.kept) < 2_000
    assert entry.records == ()
    assert entry.beside["$digest"]["$bytes"] > LONGEST
    assert entry.notes == ("the text it was made from is too long to be kept",)


class Text(str):
    """A text of a host's own type."""


class Thing:
    """What no record can show."""

    def __repr__(self) -> str:
        return "hunter2"


ODD = [
    (
        {"half": "\udc00 of a character", "\ud800": 1},
        {"half": "\\udc00 of a character", "\\ud800": 1},
    ),
    ({1: "one", None: "none", 2.5: "x"}, {"1": "one", "None": "none", "2.5": "x"}),
    ({"own": Text("t")}, {"own": "t"}),
    ({"thing": Thing(), "set": frozenset({3})}, {"thing": "$type Thing", "set": [3]}),
    ({Thing(): 1, (1, 2): 2}, {"$type Thing": 1, "$type tuple": 2}),
    ({"large": 1 << 80}, {"large": 1 << 80}),
]


@pytest.mark.parametrize(("value", "shown"), ODD)
def test_no_value_keeps_a_record_from_being_written(value: Any, shown: Any) -> None:
    """A guard may keep or answer what JSON does not have; nothing of it is shown by a repr."""
    about = moment(Text("e1"), run=RunInfo(Text("r1"), agent=Text("ann")))
    inputs = Inputs((("k", 1, value),), (("g", Answered(value)),))
    said = Finding(Action.BLOCK, "x.y", tuple(value.values()), guard=Text("g"))
    decision = Decision("e1", Action.BLOCK, "p", (said,), inputs=inputs)
    entry = entry_from(*encode(entry_of(about, decision, 0, GENESIS, CHAIN))[:2])
    assert entry.records == (("k", 1, shown),)
    assert entry.answers == (("g", Answered(shown)),)
    assert entry.findings[0].args == tuple(shown.values())
    assert (entry.id, entry.agent) == ("e1", "ann")
    assert b"hunter2" not in b"".join(encode(entry)[:2])


def test_a_runs_beginning_has_all_that_is_known_of_it() -> None:
    """What decisions leave out stands here."""
    info = RunInfo(
        "r1",
        "ann",
        "lead",
        "t1",
        "acme",
        ("r0",),
        names(["read_*", "write"]),
        names(["x"]),
        ("net",),
    )
    start = Start(info, AT, "p" * 64, "policy.yaml", "prod", AT + 5)
    note = msgspec.json.decode(begun(start, GENESIS, 4, CHAIN).body, type=RunBegun)
    assert note == RunBegun(
        prev=GENESIS, seq=4, chain=CHAIN, kind="run", at=AT, run=info, policy="p" * 64,
        source="policy.yaml", env="prod", deadline_ms=AT + 5,
    )  # fmt: skip


def test_a_runs_end_has_how_often_what_was_decided_and_the_newest_of_what_it_produced() -> None:
    """Bounded: what does not fit is counted, with what had found no room before."""
    info = RunInfo("r1", "ann", "", "t1", "acme")
    large = "x" * (PRODUCED_BYTES // 2)
    finish = Finish(
        info,
        AT,
        "kernel.ended",
        "halted",
        {"ALLOW": 3, "HALT": 1},
        (large, "a", large, {"n": 1}),
        5,
    )
    note = note_from(*ended(finish, GENESIS, 4, CHAIN, masked)[:2], RunEnded)
    assert note == RunEnded(
        prev=GENESIS, seq=4, chain=CHAIN, kind="end", at=AT, run="r1", tenant="acme", agent="ann",
        task="t1", code="kernel.ended", why="halted", decided={"ALLOW": 3, "HALT": 1},
        produced=("a", large, {"n": 1}), left_out=6,
    )  # fmt: skip


def test_what_a_guard_would_patch_is_patched_whether_or_not_it_goes_ahead() -> None:
    """And where the patches do not fit, nothing is written at all."""
    about = moment("e1", {"text": "a secret here"})
    fits = Finding(Action.BLOCK, "x", patches=(Patch(("text",), "[gone]", 2, 8),), guard="g")
    unfit = Finding(Action.REDACT, "x", patches=(Patch(("missing",), "[gone]"),), guard="g")
    for decision, content in (
        (Decision("e1", Action.BLOCK, "p", (fits,)), {"text": "a [gone] here"}),
        (Decision("e1", Action.ALLOW, "p", shadow=(fits,)), {"text": "a [gone] here"}),
        (Decision("e1", Action.REDACT, "p", (unfit,)), {"$withheld": "its redaction does not fit"}),
        (
            Decision("e1", Action.BLOCK, "p", (fits,), shadow=(unfit,)),
            {"$withheld": "its redaction does not fit"},
        ),
    ):
        assert entry_of(about, decision, 0, GENESIS, CHAIN).content == content


def test_an_allotment_is_recorded_under_the_names_that_trails_have() -> None:
    run = RunInfo("c", "b", allotment=(-1, 4, -1, -1, -1), allotted_by="a", allotted_for="t")
    said = json.loads(msgspec.json.encode(run))
    assert list(said)[-3:] == ["grant", "granted_by", "granted_for"]
    assert [said["grant"], said["granted_by"], said["granted_for"]] == [
        [-1, 4, -1, -1, -1],
        "a",
        "t",
    ]
    assert msgspec.convert(said, RunInfo) == run
