"""One record whole: what was decided about what, the findings in words, and its place in the
trail."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from msgspec import MsgspecError, Struct

from stanchion.audit.apart import is_erased
from stanchion.audit.layout import segment_file
from stanchion.audit.reader import TrailReader
from stanchion.audit.record import RecordEntry
from stanchion.audit.segment_scan import FoundRecord
from stanchion.audit.worded import worded
from stanchion.kernel.actions import Action
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import TABLE
from stanchion.kernel.units import Amounts, Unit
from stanchion.ops.views.amounts import MEASURES, amount, shown
from stanchion.ops.views.explain import case_of, moment_in, policy_of
from stanchion.ops.views.records import RecordView, decision_in, record_view
from stanchion.ops.views.verdicts import VerdictView, plan_of, verdicts

PLACE: Final = frozenset({"v", "prev", "seq", "chain", "kind", "at"})
HEADED: Final = frozenset(
    {"id", "run", "stage", "action", "policy", "agent", "task", "tool", "findings", "tenant"}
)
"""Fields of a decision that are told in words before the rest."""

ENGINES: Final = frozenset(
    {"actions", "can", "confirmed", "crowd", "left", "records", "refused", "stakes", "values"}
)
"""Fields of a decision that the engine judges it again by, in its own encoding; `stanchion explain`
words them."""


class FindingView(Struct, frozen=True):
    """A finding in words: who found what, why, what to do instead, and what the agent was not
    told."""

    guard: str
    action: str
    code: str
    message: str
    advice: str
    detail: str


class DecidedView(Struct, frozen=True):
    """What a decision's record says: who was at work on what in which run, under which policy, what
    was found, and what each guardrail said, where the policy can be loaded and is the same
    still."""

    kind: str
    run: str
    task: str
    tenant: str
    hash: str
    happens: str
    findings: tuple[FindingView, ...]
    verdicts: tuple[VerdictView, ...] = ()


class RecordDetail(Struct, frozen=True):
    """A record whole. `fields` is what else it holds, amounts and times in words; `engine` names
    the fields that only the engine reads. `fits`: its hash is that of its content. `offset` is
    negative in a database."""

    record: RecordView
    decided: DecidedView | None
    fields: dict[str, Any]
    engine: tuple[str, ...]
    hash: str
    prev: str
    fits: bool
    seal: str
    took_ns: int
    file: str
    offset: int


def record_detail(reader: object, found: FoundRecord) -> RecordDetail:
    """Everything of a record that was found in that trail."""
    entry = decision_in(found)
    data = found.data()
    told = PLACE if entry is None else PLACE | HEADED
    rest = {name: value for name, value in data.items() if name not in told}
    engine = () if entry is None else tuple([name for name in rest if name in ENGINES])
    line = found.line
    return RecordDetail(
        record=record_view(found),
        decided=None if entry is None else _decided(entry, reader, found),
        fields={
            name: _worded(name, value, entry) for name, value in rest.items() if name not in engine
        },
        engine=engine,
        hash=line.hash,
        prev=str(data.get("prev", "")),
        fits=line.fits,
        seal=line.seal,
        took_ns=line.took_ns,
        file=f"{found.chain}/{segment_file(Path(), found.segment)}",
        offset=found.offset,
    )


def _decided(entry: RecordEntry, reader: object, found: FoundRecord) -> DecidedView:
    """What was decided; where its run begins in the trail, the hash of its policy is whole."""
    begun = reader.begun(found) if isinstance(reader, TrailReader) else None
    erased = is_erased(found.line.body, found.line.kept)
    whole = begun is not None and begun.policy.startswith(entry.policy)
    happens = (
        TABLE[Stage(entry.stage)].get(Action[entry.action], "")
        if entry.stage in list(Stage)
        else ""
    )
    findings = tuple(
        [
            FindingView(each.guard, each.action, each.code, *worded(each, erased))
            for each in entry.findings
        ]
    )
    policy = begun.policy if begun is not None and whole else entry.policy
    said = _verdicts(reader, found)
    return DecidedView(
        entry.kind, entry.run, entry.task, entry.tenant, policy, happens, findings, said
    )


def _verdicts(reader: object, found: FoundRecord) -> tuple[VerdictView, ...]:
    """What each guardrail said; nothing where that cannot be known any more: the record is shown
    all the same."""
    if not isinstance(reader, TrailReader):
        return ()
    try:
        case = case_of(reader, found)
        policy = policy_of(case, imports=False)
        return verdicts(case.entry, plan_of(case.entry, moment_in(case), policy), case.erased)
    except (MsgspecError, ValueError, KeyError):
        return ()


def _worded(name: str, value: Any, entry: RecordEntry | None) -> Any:
    if entry is None:
        return value
    match name:
        case "amounts":
            return spent(entry.amounts)
        case "settles":
            said = (*entry.settled, *[""] * (len(entry.settles) - len(entry.settled)))
            return "\n".join(
                [_settled(*each, how) for each, how in zip(entry.settles, said, strict=False)]
            )
        case "now" | "judged":
            return shown(value)
        case "settled":
            return ", ".join(entry.settled)
    return value


def _settled(call: str, used: Amounts | None, how: str) -> str:
    return f"{call}: {'given back' if used is None else spent(used)}{f' ({how})' if how else ''}"


def spent(used: Amounts) -> str:
    """What an action uses, in words: `1 call, 1,200 tokens, $0.75`."""
    return (
        ", ".join([amount(MEASURES[unit], used[unit]) for unit in Unit if used[unit]]) or "nothing"
    )
