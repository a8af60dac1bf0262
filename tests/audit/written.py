"""A trail as it lies on the disk, taken apart in a few lines; and decisions to write into one."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from stanchion.audit.verify import verify
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment, RunInfo, ToolCall, ToolResult

RUN = RunInfo("r1", agent="ann", task="t1")
AT = 1_700_000_000_000

Record = dict[str, Any]


def lines(chain: Path) -> list[bytes]:
    """All whole lines of a chain, of all its segments; room that is prepared, and what a kill tore,
    is no line."""
    data = b"".join(segment.read_bytes().rstrip(b"\0") for segment in sorted(chain.glob("*.jsonl")))
    return data.split(b"\n")[:-1]


def records(chain: Path) -> list[Record]:
    """A chain's records, each bound to the one before: hashes, numbers and names fit."""
    found: list[Record] = []
    before = None
    for line in lines(chain):
        outer = json.loads(line)
        body, _, kept = line[line.index(b',"body":') + 8 : -1].partition(b',"kept":')
        record: Record = outer["body"]
        assert sha256(body).hexdigest() == outer["hash"]
        holds, apart = record.pop("holds", None), outer.get("kept")
        if apart is not None:
            assert sha256(kept).hexdigest() == holds
            record |= {name: value for name, value in apart.items() if name != "salt"}
        assert record["chain"] == chain.name
        if before is not None:
            assert (record["prev"], record["seq"]) == (before, found[-1]["seq"] + 1)
        before = outer["hash"]
        found.append(record)
    return found


def chains(trail: Path) -> dict[str, list[Record]]:
    """All chains of a trail, by name; each begins at number 0 and has no gap."""
    folders = sorted(
        folder for folder in trail.iterdir() if folder.is_dir() and len(folder.name) == 16
    )
    found = {folder.name: records(folder) for folder in folders}
    for each in found.values():
        assert each[0]["seq"] == 0
        assert each[0]["prev"] == "0" * 64
    return found


def whole(trail: Path, key: Path | None = None) -> dict[str, list[Record]]:
    """All chains of a trail with which the verifier finds no fault either."""
    report = verify(trail, key)
    assert report.faults == ()
    return chains(trail)


def one(trail: Path, key: Path | None = None) -> list[Record]:
    """The records of a trail's only chain."""
    (found,) = whole(trail, key).values()
    return found


def of_kind(found: list[Record], *kinds: str) -> list[Record]:
    """The records of these kinds."""
    return [record for record in found if record["kind"] in kinds]


def ids(trail: Path) -> list[str]:
    """The ids of all decisions in a trail."""
    return [
        record["id"]
        for found in whole(trail).values()
        for record in of_kind(found, "intent", "outcome", "event")
    ]


def moment(name: str, content: Any = None, risk: Risk = Risk.LOW, run: RunInfo = RUN) -> Moment:
    """A moment in which a tool is about to be called."""
    args = {"path": "a.txt"} if content is None else content
    return Moment((ToolCall(id=name, at=AT, run=run, tool="read", risk=risk, args=args),))


def outcome(name: str, call: str, result: Any = "done") -> Moment:
    """A moment in which a tool has given its result."""
    event: Event = ToolResult(id=name, at=AT, run=RUN, tool="read", call=call, result=result)
    return Moment((event,))


def allowed(about: Moment, **fields: Any) -> Decision:
    """The decision that a moment goes ahead."""
    return Decision(about.id, Action.ALLOW, "policy", **fields)
