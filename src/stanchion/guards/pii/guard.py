"""The PII guard: personal data in whatever goes in and out, found by shape, check digit and the
words nearby."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import msgspec

from stanchion.guards._placeholders import (
    above,
    finding_about,
    listed,
    place_of,
    placeholder,
    pseudonyms,
)
from stanchion.guards.pii.finder import REACH, TABLE
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import GuardGate
from stanchion.kernel.events import Event, ModelChunk
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import (
    ACTIONS,
    Glob,
    On,
    SevererByStage,
    Shorter,
    list_actions_by_stage,
)
from stanchion.kernel.regex import finding
from stanchion.kernel.stages import Stage, check_stages
from stanchion.kernel.table import carried, sensible
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.joined import JoinedTexts
from stanchion.readings.texts import TextLeaf, TextSpan, hiding

if TYPE_CHECKING:
    from stanchion.guards.pii.reader import EntityReader, Settling


CODES: Final = declare(
    {
        "pii.redacted": Words(
            "personal data ({}) in {} was replaced by placeholders",
            "go on with the placeholders; do not ask for what they stand for",
        ),
        "pii.stays": Words(
            "there is personal data ({}) in {}: what runs or is written here is not changed",
            "keep it where it is needed; no record has it",
            asked="leave it out, or say why it has to leave this machine",
        ),
        "pii.found": Words(
            "there is personal data ({}) in {}",
            "leave it out, or ask whoever maintains the policy to allow it",
        ),
    }
)


__all__ = ["CODES", "Pii"]

PiiAction = Literal["allow", "warn", "redact", "escalate", "block", "quarantine", "halt"]


@lru_cache(64)
def spans_of(reader: EntityReader) -> Callable[[Reading[Event]], list[list[TextSpan]] | None]:
    """What finds personal data in an event by a reader."""

    def spans(reading: Reading[Event]) -> list[list[TextSpan]] | None:
        most = reading.reader.limits.matches_a_kb
        return reader.spans(reading.joined, lambda at: above(reading.leaves[at]), most)

    return spans


class Pii(msgspec.Struct, frozen=True, dict=True):
    """Finds personal data in content and hides it, or does what the policy says for the stage.

    It looks for what has a shape: numbers of cards, accounts, people and papers, wallets; where
    asked for, addresses, telephone numbers and dates of birth too. Names of people and places have
    none: they need a model.
    """

    name: ClassVar = "pii"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset(Stage) - {Stage.CHARGE}
    category: ClassVar = Category.COMPLIANCE
    priority: ClassVar = 8
    veils: ClassVar = True
    stays: ClassVar = {"pii.redacted": "pii.stays"}
    CONTEXT: ClassVar = TABLE + REACH

    entities: tuple[Glob, ...] | None = None
    """The kinds of personal data to find, by name or glob; if absent, the usual ones."""
    without: Shorter[tuple[Glob, ...]] = ()
    """Kinds of personal data not to find, by name or glob."""
    action: SevererByStage[PiiAction] = "redact"
    """The action for content with personal data."""
    at: SevererByStage[dict[str, PiiAction] | None] = None
    """Other actions for some stages; if absent, `action` applies at all of them."""
    allow: Shorter[tuple[Glob, ...]] = ()
    """Values that are not personal data, and domains of email addresses, by name or glob."""
    bare: On[bool] = False
    """If `true`, a number with a valid check digit counts even without a word that says what it is.
    """
    pseudonyms: bool = False
    """If `true`, the same value always gets the same placeholder."""
    salt: str | None = None
    """The text from which pseudonyms are derived; if absent, the tenant and the task."""

    def __post_init__(self) -> None:
        check_stages(self.at, self.stages)
        if self.salt is not None and not self.pseudonyms:
            raise ValueError("nothing acts on `salt`: set `pseudonyms: true`, or leave it out")
        _ = self._kinds

    def prepare(self) -> None:
        """Compile what is looked for, so that no call has to wait for it."""
        _ = self._reader.finder.sieve, finding(self._reader.finder.gate)

    @cached_property
    def gate(self) -> GuardGate:
        """What stands in every text with personal data."""
        return GuardGate((self._reader.finder.gate,), (), self._reader.finder.shortest)

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        from stanchion.guards.pii.reader import chosen

        return tuple([entity.kind for entity in chosen(self.entities, self.without)])

    @cached_property
    def _reader(self) -> EntityReader:
        from stanchion.guards.pii.reader import reader

        return reader(self._kinds, self.allow, self.bare)

    @cached_property
    def _settling(self) -> Settling:
        from stanchion.guards.pii.reader import Settling

        return Settling(self._reader.finder)

    @cached_property
    def _actions(self) -> dict[Stage, Action]:
        """What is done at each stage. Where the general action makes no sense, the next stricter
        is; what was handed over already is only told."""
        said = {
            Stage(stage): ACTIONS[action]
            for stage, action in (self.at if self.at is not None else {}).items()
        }
        usual = {stage: carried(stage)[ACTIONS[self.action]] for stage in self.stages}
        if not sensible(Stage.HANDOFF_DONE, ACTIONS[self.action]):
            usual[Stage.HANDOFF_DONE] = Action.WARN
        return {**usual, **said}

    def settled(self, text: str) -> int:
        """How many leading characters of a growing text can be judged for good, whatever
        follows."""
        return self.cuts(text)(len(text))

    def cuts(self, text: str) -> Callable[[int], int]:
        """Gives the last place up to another one where a text that goes on may be cut."""
        return self._settling.cuts(text)

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Find personal data in the event's content; say where, and of what kinds."""
        event = reading.event
        if type(event) is ModelChunk:
            return self._chunk(event, reading.reader.limits.matches_a_kb)
        spans = reading.of(self._spans)
        return self._finding(event, reading.leaves, spans) if spans is not None else None

    @cached_property
    def _spans(self) -> Callable[[Reading[Event]], list[list[TextSpan]] | None]:
        """Finds personal data in an event: the same for guards that look for the same."""
        return spans_of(self._reader)

    def _chunk(self, event: ModelChunk, a_kb: int) -> Finding | None:
        before = event.before[-self.CONTEXT :]
        known = len(before)
        spans = self._reader.spans(JoinedTexts([before + event.text]), lambda _: (), a_kb, known)
        own = [
            TextSpan(max(0, s.start - known), s.end - known, s.kind)
            for s in (spans[0] if spans else ())
        ]
        return self._finding(event, [TextLeaf((), event.text)], [own]) if own else None

    def _finding(self, event: Event, found: list[TextLeaf], spans: list[list[TextSpan]]) -> Finding:
        action = self._actions[event.stage]
        word = pseudonyms(event.run, self.salt, _plain) if self.pseudonyms else placeholder
        patches = hiding(found, spans, word)
        code = "pii.redacted" if action == Action.REDACT else "pii.found"
        kinds = listed([span.kind for here in spans for span in here])
        places = listed([place_of(leaf) for leaf, here in zip(found, spans, strict=True) if here])
        return finding_about(action, code, (kinds, places), patches)

    actions = list_actions_by_stage

    def actions_at(self, stage: Stage, /) -> tuple[Action, ...]:
        """What it can answer at a stage."""
        return (self._actions[stage],) if stage in self._actions else ()


def _plain(text: str) -> str:
    """A value without the signs that it may be written with."""
    return "".join([char for char in text.lower() if char.isalnum() or char == "@"])
