"""A case: a decision's record with what explaining it needs besides, gathered from its trail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from stanchion.audit.apart import is_erased
from stanchion.audit.journal import Start
from stanchion.audit.reader import FoundRecord, TrailReader
from stanchion.audit.rebuilt import Forgotten, Rebuilding, args_of, run_of
from stanchion.audit.record import OUTCOME, RecordEntry
from stanchion.kernel.events import OF_STAGE, RunInfo
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.custom import BRAKE, with_guards
from stanchion.policy.definitions import hash_beside
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import compile_document, read_policy


class Case(msgspec.Struct, frozen=True):
    """A decision's record, who was at work, where the policy came from, and the arguments of an
    outcome's call.

    `source` is empty where the policy was handed in as data, and `None` where nothing is known of
    it. `tools` is the digest of the tools' definitions that were known besides it. `place` is where
    the record stands, for what else its trail has to say.
    """

    entry: RecordEntry
    run: RunInfo
    source: str | None = None
    env: str | None = None
    args: dict[str, Any] | None = None
    tools: str = ""
    place: tuple[TrailReader, FoundRecord] | None = None

    @property
    def erased(self) -> bool:
        """Whether what was said in the record is erased."""
        return self.place is not None and is_erased(
            self.place[1].line.body, self.place[1].line.kept
        )

    @property
    def missing(self) -> str:
        """What of the event is not there any more, in words; empty where all of it is."""
        if self.erased:
            return "it cannot be judged again: the content of its record was erased"
        entry = self.entry
        if self.args is not None or self.place is None or entry.kind != OUTCOME or not entry.call:
            return ""
        if "args" in entry.beside or "args" not in OF_STAGE[Stage(entry.stage)].__struct_fields__:
            return ""
        intent = self.place[0].find(entry.call)
        if intent is None:
            return (
                "its conditions are not tested again: the record of its call is not in the trail, "
                "or was removed from it"
            )
        gone = is_erased(intent.line.body, intent.line.kept)
        return (
            "its conditions are not tested again: the arguments of its call were erased"
            if gone
            else ""
        )

    def judged(self, policy: CompiledPolicy) -> RecordEntry:
        """The record with everything that the decision was judged on; raises `Forgotten` where that
        is not there."""
        if self.place is None:
            if self.entry.left:
                raise Forgotten("the records of its run are not available")
            return self.entry
        reader, found = self.place
        return Rebuilding(reader, policy, self.run).entry(found)


def case_of(reader: TrailReader, found: FoundRecord) -> Case:
    """The case of a decision in a trail; what is no longer there is left out."""
    entry = found.entry()
    args = args_of(reader, entry)
    begun = reader.begun(found)
    if begun is None:
        return Case(entry, run_of(entry), args=args, place=(reader, found))
    if begun.policy.startswith(entry.policy):
        entry = msgspec.structs.replace(entry, policy=begun.policy)
    return Case(entry, begun.run, begun.source, begun.env, args, begun.tools, (reader, found))


def case_just_made(entry: RecordEntry, start: Start, folder: Path | None) -> Case:
    """The case of a decision that was just made; `folder` is its trail, where the arguments of a
    call may stand."""
    args = None if folder is None else args_of(TrailReader(folder), entry)
    return Case(entry, start.info, start.source, start.env, args, start.tools)


def policy_of(case: Case, imports: bool = True) -> CompiledPolicy | None:
    """The policy that a decision was made under, as it is now; `None` where it cannot be loaded, or
    was handed in. Without `imports` none of the code that it names is run."""
    if not case.source:
        return None
    try:
        read = read_policy(case.source)
        policy = compile_document(read.variant(case.env), read.files, imports)
    except PolicyError:
        return None
    if case.tools and hash_beside(policy.hash, case.tools) == case.entry.policy:
        # The file is as it was, and only definitions of tools came from the program: all that it
        # says still holds.
        return CompiledPolicy(
            policy.file,
            policy.seats,
            policy.calls,
            policy.undos,
            policy.files,
            digest=case.entry.policy,
        )
    if policy.hash == case.entry.policy or all(
        said.guard != BRAKE.id for said in case.entry.findings
    ):
        return policy
    try:
        braked, _ = with_guards(policy, (), brake=True)
    except PolicyError:
        return policy
    return braked if braked.hash == case.entry.policy else policy
