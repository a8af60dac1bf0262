"""Presidio: its recognisers as a deep guard, asked off the hot path, without any model that would
be downloaded."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

import msgspec

from stanchion.guards._placeholders import above, finding_about, listed, place_of, placeholder
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import (
    ACTIONS,
    AtLeastZero,
    Fraction,
    Lower,
    SevererByStage,
    list_actions_by_stage,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import carried, sensible
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.texts import TextLeaf, TextSpan, hiding

CODES: Final = declare(
    {
        "presidio.redacted": Words(
            "personal data ({}) in {} was replaced by placeholders",
            "go on with the placeholders; do not ask for what they stand for",
        ),
        "presidio.stays": Words(
            "there is personal data ({}) in {}: what runs or is written here is not changed",
            "keep it where it is needed; no record has it",
            asked="leave it out, or say why it has to leave this machine",
        ),
        "presidio.found": Words(
            "there is personal data ({}) in {}",
            "leave it out, or ask whoever maintains the policy to allow it",
        ),
    }
)

PresidioAction = Literal["allow", "warn", "redact", "escalate", "block", "quarantine", "halt"]
NEEDS: Final = "it needs `presidio-analyzer`, which is not installed: install the extra `presidio`"


class EntityQuestion(msgspec.Struct, frozen=True):
    """A question: what is personal in these texts, given the names above each."""

    texts: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    language: str
    entities: tuple[str, ...] | None
    score: float


class Presidio(msgspec.Struct, frozen=True):
    """Has Presidio's recognisers read content, and hides what they find, or does what the policy
    says for the stage.

    The answer is plain data, so a decision is made again from its record without Presidio.
    """

    name: ClassVar = "presidio"
    stays: ClassVar = {"presidio.redacted": "presidio.stays"}
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = True
    call: ClassVar = "stanchion.runtime.answers.presidio:found"
    stages: ClassVar = frozenset(Stage) - {Stage.CHARGE, Stage.MODEL_CHUNK}
    default_stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.MODEL_REPLY})
    category: ClassVar = Category.COMPLIANCE
    priority: ClassVar = 90

    entities: tuple[str, ...] | None = None
    """The kinds of personal data to find, by Presidio's names; if absent, all except `URL`,
    `DATE_TIME` and `UUID`."""
    score: Lower[Fraction] = 0.4
    """How confident Presidio must be, from 0 to 1."""
    language: str = "en"
    """The language of the texts, as a code; it selects the recognizers."""
    deadline_ms: AtLeastZero = 2_000
    """How many milliseconds to wait for Presidio's answer."""
    action: SevererByStage[PresidioAction] = "redact"
    """The action for content with personal data."""
    at: SevererByStage[dict[str, PresidioAction] | None] = None
    """Other actions for some stages; if absent, `action` applies at all of them."""

    def __post_init__(self) -> None:
        for stage in self.at if self.at is not None else ():
            if stage not in self.stages:
                known = ", ".join(sorted(self.stages))
                raise ValueError(
                    f"`at` has `{stage}`, where nothing is asked: choose among {known}"
                )
        if self.entities == ():
            raise ValueError(
                "`entities` is empty, so nothing is looked for: name some, or leave it out"
            )
        try:
            import presidio_analyzer  # noqa: F401  # a policy that cannot be carried out is refused when it loads
            from spacy.util import get_lang_class
        except ImportError:
            raise ValueError(NEEDS) from None
        try:
            get_lang_class(self.language)
        except ImportError:
            raise ValueError(
                f"`{self.language}` is not a language that Presidio can part into words: try `en`"
            ) from None

    def ask(self, reading: Reading[Event], /) -> Lookup | None:
        """Ask what is personal in the texts of an event; nothing where it has none."""
        found = reading.leaves
        if not found:
            return None
        names = tuple([above(leaf) for leaf in found])
        asked = EntityQuestion(
            tuple([leaf.text for leaf in found]), names, self.language, self.entities, self.score
        )
        return Lookup("", asked, self.deadline_ms)

    def judge(self, reading: Reading[Event | EntityQuestion], value: Any, /) -> Finding | None:
        """Read the answer: for each thing found the number of its text, where it is, what it is,
        and how sure that is. An answer of any other shape is a failure, which refuses."""
        event = reading.event
        answer = msgspec.convert(value, list[tuple[int, int, int, str, float]], strict=False)
        if isinstance(event, EntityQuestion):
            kinds = [entity for _, _, _, entity, _ in answer]
            return (
                Finding(ACTIONS[self.action], "presidio.found", (listed(kinds), "the text"))
                if kinds
                else None
            )
        found = reading.leaves
        spans: list[list[TextSpan]] = [[] for _ in found]
        for number, start, end, entity, _ in sorted(answer, key=lambda one: -one[4]):
            if not 0 <= start < end <= len(found[number].text):
                raise ValueError("the answer is about another text")
            spans[number].append(TextSpan(start, end, entity.lower().replace("_", "-")))
        return self._finding(event, found, spans) if any(spans) else None

    def _finding(self, event: Event, found: list[TextLeaf], spans: list[list[TextSpan]]) -> Finding:
        action = self.action_at(event.stage)
        patches = hiding(found, spans, placeholder)
        code = "presidio.redacted" if action == Action.REDACT else "presidio.found"
        kinds = listed([span.kind for here in spans for span in here])
        places = listed([place_of(leaf) for leaf, here in zip(found, spans, strict=True) if here])
        return finding_about(action, code, (kinds, places), patches)

    def action_at(self, stage: Stage) -> Action:
        """What is done at a stage. Where the general action makes no sense, the next stricter is;
        what was handed over already is only told."""
        if self.at is not None and stage in self.at:
            return ACTIONS[self.at[stage]]
        usual = ACTIONS[self.action]
        if stage is Stage.HANDOFF_DONE and not sensible(stage, usual):
            return Action.WARN
        return carried(stage)[usual]

    actions = list_actions_by_stage

    def actions_at(self, stage: Stage, /) -> tuple[Action, ...]:
        """What it can answer at a stage."""
        return (self.action_at(stage),) if stage in self.stages else ()
