"""The secrets guard: credentials do not get to where they have no business."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from stanchion.guards._placeholders import finding_about, listed, placeholder, pseudonyms
from stanchion.guards.secrets.codes import CODES
from stanchion.guards.secrets.finder import NAMED, SecretFinder, Sought, finder
from stanchion.guards.secrets.index import Kind as RuleKind, SecretRule, indexed
from stanchion.guards.secrets.logins import parted
from stanchion.guards.secrets.pieces import cuts, in_name, in_pieces
from stanchion.guards.secrets.told import not_allowed, told
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import GuardGate
from stanchion.kernel.events import Event, ModelChunk
from stanchion.kernel.findings import Finding, Isolate, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import Names, glob, is_glob, names
from stanchion.kernel.option import (
    ACTIONS,
    Glob,
    Higher,
    Lower,
    On,
    SevererByStage,
    Shorter,
    Wider,
    list_actions_by_stage,
)
from stanchion.kernel.regex import finding
from stanchion.kernel.stages import Stage, check_stages
from stanchion.readings import Reading
from stanchion.readings.disguise.views import FORMS, LONGEST, last_run
from stanchion.readings.scan import CONTEXT
from stanchion.readings.texts import TextLeaf, TextSpan, Word, hiding

__all__ = ["CODES", "Secrets"]

SecretAction = Literal["warn", "redact", "escalate", "block", "quarantine"]

IN_PIECES: Final = frozenset({Stage.MODEL_CHUNK, Stage.MODEL_REPLY})
"""Where a text may come in pieces, so that pieces and the whole are read alike."""
BEFORE: Final = 128
"""How many characters before a piece of a stream tell what is in it."""
MOST_NAMES: Final = 1_024
"""Of how many names is remembered what was found in them."""
NAMES: Final = {Stage.TOOL_CALL: "", Stage.HANDOFF: "to"}
"""Where the agent chooses whom it calls by name, and which field has it beside the tool's."""
INSTEAD: Final = {
    (Stage.MODEL_CHUNK, Action.ESCALATE): Action.BLOCK,
    (Stage.HANDOFF_DONE, Action.REDACT): Action.WARN,
    (Stage.HANDOFF_DONE, Action.ESCALATE): Action.WARN,
    (Stage.HANDOFF_DONE, Action.BLOCK): Action.WARN,
}
"""What becomes of the general action where a stage does not have it."""


class OwnPattern(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of secret that only the policy's author knows."""

    kind: RuleKind
    """The name of the kind, in findings and placeholders."""
    pattern: str
    """A regular expression (RE2) that matches the secret."""
    keywords: tuple[str, ...] = ()
    """Words of which a match must contain at least one; if absent, it needs none."""
    entropy: float = 0.0
    """The least entropy of a match, in bits per character."""


@lru_cache(64)
def spans_of(
    finder: SecretFinder, decode: bool
) -> Callable[[Reading[Event]], list[list[TextSpan]] | None]:
    """What finds secrets in an event by a finder."""

    def spans(reading: Reading[Event]) -> list[list[TextSpan]] | None:
        most = LONGEST if reading.event.stage in IN_PIECES else None
        return finder.look_at(reading, decode, most)

    return spans


class Secrets(Struct, frozen=True, dict=True):
    """Finds credentials in all that goes in and out, and takes them out, or refuses what has them.

    It knows hundreds of kinds by how they look, values by names that promise a secret, and both
    behind one encoding.
    """

    name: ClassVar = "secrets"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset(Stage) - {Stage.CHARGE}
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 7
    veils: ClassVar = True
    stays: ClassVar = {"secrets.redacted": "secrets.stays"}
    CONTEXT: ClassVar = CONTEXT

    action: SevererByStage[SecretAction] = "redact"
    """The action for content with a secret; at `model_chunk` `escalate` refuses, and at
    `handoff_done` every action only warns."""
    at: SevererByStage[dict[str, SecretAction] | None] = None
    """Other actions for some stages; if absent, `action` applies at all of them."""
    kinds: Wider[tuple[Glob, ...] | None] = None
    """The only kinds of secret to find, by name or glob; `named-secret` is one known by its name.
    If absent, all kinds."""
    without: Shorter[tuple[Glob, ...]] = ()
    """Kinds of secret not to find, by name or glob."""
    patterns: tuple[OwnPattern, ...] = ()
    """Your own kinds of secret."""
    allow: Shorter[tuple[Glob, ...]] = ()
    """What is never a secret: fingerprints, or globs of values."""
    decode: On[bool] = True
    """If `true`, base64 and percent-encoding are decoded once before the search."""
    pseudonyms: bool = False
    """If `true`, the same secret always gets the same placeholder."""
    salt: str | None = None
    """The text from which pseudonyms are derived; if absent, the tenant and the task."""
    isolate_after: Lower[Annotated[int, Meta(ge=1, le=1_000)]] = 3
    """The number of the quarantine within a day that isolates the tool; 3 means that the third one
    does."""
    isolate_for_s: Higher[Annotated[float, Meta(gt=0, le=432_000)]] = 300.0
    """How many seconds the tool is isolated."""
    isolate_agent: On[bool] = True
    """If `true`, the agent is isolated in place of a tool where no tool is at work; otherwise
    nobody is, and each such secret is refused by itself."""

    def __post_init__(self) -> None:
        check_stages(self.at, self.stages)
        if self.salt is not None and not self.pseudonyms:
            raise ValueError(
                "`salt` does nothing without `pseudonyms`: add `pseudonyms: true`, or leave it out"
            )
        taken = {rule.kind for rule, _ in indexed()} | {NAMED}
        for own in self.patterns:
            if own.kind in taken:
                raise ValueError(f"the kind `{own.kind}` is taken: give the pattern another")
            taken.add(own.kind)
        for option in (self.kinds if self.kinds is not None else (), self.without):
            for kind in option:
                if kind not in taken and not (
                    is_glob(kind) and any(glob(kind, one) for one in taken)
                ):
                    raise ValueError(
                        f"there is no kind `{kind}`: `stanchion secrets kinds` lists them"
                    )
        _ = self._finder

    @cached_property
    def _finder(self) -> SecretFinder:
        own = [
            SecretRule(one.kind, one.pattern, keywords=one.keywords, entropy=one.entropy)
            for one in self.patterns
        ]
        return finder(Sought(self.kinds, self.without, tuple(own)))

    def prepare(self) -> None:
        """Compile what is looked for, so that no call has to wait for it."""
        self._finder.scanner.prepare()
        finding(FORMS)

    @cached_property
    def gate(self) -> GuardGate | None:
        """What is in every event with a secret; `None` where names tell of one, too, or the
        policy's own kinds, which may be shorter than anything encoded."""
        find = self._finder
        asked = self._stages_of_names or find.named or (self.patterns and self.decode)
        return None if asked else GuardGate((FORMS,), (find.seek,), find.shortest)

    @cached_property
    def _allowed(self) -> Names:
        return names(self.allow)

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Say what secrets an event has."""
        event = reading.event
        if type(event) is ModelChunk:
            return self._chunk(event, reading.reader.limits.matches_a_kb)
        spans, found = reading.of(self._spans), reading.leaves
        finding = None if spans is None else self._in_content(reading, spans)
        if finding is None and event.stage in self._stages_of_names:
            finding = self._in_names(event)
        parts = in_pieces(self._finder, found, spans) if len(found) > 1 else None
        if parts is None:
            return finding
        hides = hiding(found, parts, self._word(event))
        if finding is None:
            kinds = listed([span.kind for here in parts for span in here])
            return Finding(Action.ALLOW, "secrets.in_pieces", (kinds,), hides=hides)
        return replace(finding, hides=(*finding.hides, *hides))

    def _in_content(self, reading: Reading[Event], spans: list[list[TextSpan]]) -> Finding | None:
        event, found = reading.event, reading.leaves
        free, cleared = self._allowed, event.cleared
        left = [
            not_allowed(leaf.text, here, free, cleared)
            for leaf, here in zip(found, spans, strict=True)
        ]
        if not any(left):
            return None
        own: list[list[TextSpan]] = []
        if self.action_at(event.stage) == Action.REDACT:
            left, own = parted(reading, found, left, self._finder.told)
        hides = hiding(found, own, self._word(event)) if any(own) else ()
        if not any(left):
            kinds = listed([span.kind for here in own for span in here])
            code = "secrets.login" if event.stage is Stage.TOOL_CALL else "secrets.own_words"
            return Finding(Action.ALLOW, code, (kinds,), hides=hides)
        patches = hiding(found, left, self._word(event))
        finding = self._finding(event, patches, told(event.stage, found, left))
        return replace(finding, hides=(*finding.hides, *hides)) if hides else finding

    def _in_names(self, event: Event) -> Finding | None:
        """What is said of a secret in a name."""
        leaves = [
            TextLeaf((), name, named=True)
            for name in (event.tool, getattr(event, NAMES[event.stage], ""))
        ]
        spans = [self.in_name(leaf.text) if leaf.text else [] for leaf in leaves]
        return self._finding(event, (), told(event.stage, leaves, spans)) if any(spans) else None

    @cached_property
    def _stages_of_names(self) -> frozenset[Stage]:
        """Where names are judged. A name cannot be redacted: where that is all that is asked for it
        goes ahead, and only what is written down and shown does without it."""
        return frozenset([stage for stage in NAMES if self.action_at(stage) != Action.REDACT])

    def in_name(self, name: str) -> list[TextSpan]:
        """The secrets of a name; of each name they are looked for once."""
        known = self._named.get(name)
        if known is None:
            if len(self._named) >= MOST_NAMES:
                self._named.clear()
            known = self._named[name] = in_name(self._finder, name, self.decode, self._allowed)
        return known

    @cached_property
    def _named(self) -> dict[str, list[TextSpan]]:
        """What was found in names, as the same ones come again and again."""
        return {}

    def fingerprints(self, reading: Reading[Event], /) -> tuple[str, ...]:
        """What is found in an event that is about to be judged, by fingerprint; what the policy
        itself allows is left out."""
        event = reading.event
        spans = None if type(event) is ModelChunk else reading.of(self._spans)
        if spans is None:
            return ()
        found = reading.leaves
        left = [
            not_allowed(leaf.text, here, self._allowed, ())
            for leaf, here in zip(found, spans, strict=True)
        ]
        return told(event.stage, found, left).fingerprints if any(left) else ()

    @cached_property
    def _spans(self) -> Callable[[Reading[Event]], list[list[TextSpan]] | None]:
        """Finds what looks like a secret in an event: the same for guards that look for the
        same."""
        return spans_of(self._finder, self.decode)

    def _chunk(self, event: ModelChunk, a_kb: int) -> Finding | None:
        """What is in a piece of a stream. Nothing reaches over its beginning but a run that is too
        long to be decoded: without one, little of what stands before it matters."""
        known = event.before
        known = known if len(known) - last_run(known) > LONGEST else known[-BEFORE:]
        before = len(known)
        text = known + event.text
        found = self._finder.look([text], self.decode, LONGEST, False, a_kb)
        if found is None:
            return None
        spans = [
            TextSpan(max(0, span.start - before), span.end - before, span.kind)
            for span in not_allowed(text, found[0], self._allowed, ())
            if span.end > before
        ]
        if not spans:
            return None
        leaves = [TextLeaf((), event.text)]
        patches = hiding(leaves, [spans], self._word(event))
        return self._finding(event, patches, told(event.stage, leaves, [spans]))

    def settled(self, text: str) -> int:
        """How many characters at the beginning of a text can be judged for good, whatever
        follows."""
        return self.cuts(text)(len(text))

    def cuts(self, text: str) -> Callable[[int], int]:
        """Gives the last place up to another one where a text that goes on may be cut."""
        return cuts(self._finder, text, self.decode)

    def _word(self, event: Event) -> Word:
        return pseudonyms(event.run, self.salt) if self.pseudonyms else placeholder

    def _finding(self, event: Event, patches: tuple[Patch, ...], said: Any) -> Finding:
        action = self.action_at(event.stage)
        code = "secrets.redacted" if action == Action.REDACT else "secrets.found"
        terms = None
        if action == Action.QUARANTINE:
            what = "tool" if self.isolate_agent else "only_tool"
            terms = Isolate(what, round(self.isolate_for_s * 1_000), self.isolate_after)
        finding = finding_about(action, code, said.args, patches, terms)
        return replace(finding, about="\n".join(said.secrets))

    def action_at(self, stage: Stage) -> Action:
        """What becomes of a secret at a stage."""
        if self.at is not None and stage in self.at:
            return ACTIONS[self.at[stage]]
        action = ACTIONS[self.action]
        return INSTEAD.get((stage, action), action)

    def actions_at(self, stage: Stage) -> tuple[Action, ...]:
        """What this guard can answer at a stage."""
        return (self.action_at(stage),)

    actions = list_actions_by_stage
