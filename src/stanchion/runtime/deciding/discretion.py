"""Discretion: what guards redact is not repeated in words about it, whichever guard they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of
from stanchion.kernel.contract.powers import having
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ModelReply, Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Placed, failure_of
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.resolution import BROKEN
from stanchion.kernel.sizes import CEILING, unread
from stanchion.kernel.soundness import sound_or_none
from stanchion.kernel.stages import Stage
from stanchion.policy.veil import Pairs
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.standing.veil import hidden_in
from stanchion.runtime.values import Unreadable, project
from stanchion.runtime.values.words import Path

SHORTEST: Final = 6
"""What is shorter is not looked for in words: it stands in them by chance."""
BEGINNING: Final = 8
"""Words that are cut off may end within something: so much of its beginning is enough to know it
by."""
LONGEST_WORD: Final = 100
"""A patch that is longer stands for itself, not for something in a message."""
WITHHELD: Final = "[withheld]"


def arguments(plans: Plans, event: Any) -> Any:
    """The arguments of an event's call without what guards redact in a call."""
    call = ToolCall(
        id="",
        at=0,
        run=plans.run,
        tool=event.tool,
        risk=event.risk,
        traits=event.traits,
        args=event.args,
    )
    plan = plans.of((call,), "")
    reading = plans.policy.read(call)
    patches: list[Patch] = []
    try:
        for _, judge, _ in plan.redactors:
            finding = sound_or_none(judge(reading))
            patches += () if finding is None else finding.patches
        return apply(event.args, patches)
    except Exception:  # noqa: BLE001 - a guard may raise anything; then all of it is withheld
        return BROKEN.value


def worded(plans: Plans, moment: Moment, decision: Decision) -> Decision:
    """A decision whose words do not repeat what its guards redact, whichever guard they are of;
    what was too large to be read is in no words."""
    if unread(decision.findings):
        return decision
    patches = (*wanted(decision.findings), *decision.trace.hides)
    names = hidden_in(plans, moment.events[0], decision)
    return (
        discreet(decision, content_of(moment.events[0]), patches, names)
        if patches or names
        else decision
    )


def wanted(findings: tuple[Finding, ...]) -> tuple[Patch, ...]:
    """All that findings want hidden where people see it, whether or not it goes ahead like that."""
    return tuple([patch for finding in findings for patch in (*finding.patches, *finding.hides)])


def discreet(
    decision: Decision, content: Any, patches: tuple[Patch, ...], names: Pairs = ()
) -> Decision:
    """A decision with the patched parts of some content taken out of its findings' words, and what
    names hide."""
    clean = cleaner(content, patches, names)
    findings = tuple([_cleaned(finding, clean) for finding in decision.findings])
    shadow = tuple([_cleaned(finding, clean) for finding in decision.shadow])
    if findings == decision.findings and shadow == decision.shadow:
        return decision
    return msgspec.structs.replace(decision, findings=findings, shadow=shadow)


def cleaner(content: Any, patches: tuple[Patch, ...], names: Pairs = ()) -> Callable[[str], str]:
    """Takes the patched parts of some content out of a text, and what names hide."""
    told = dict.fromkeys([*names, *_hidden(content, patches)])
    hidden = sorted(told, key=lambda pair: -len(pair[0]))

    def clean(text: str) -> str:
        for raw, word in hidden:
            text = taken_out(text, raw, word)
        return text

    return clean


def _cleaned(finding: Finding, clean: Callable[[str], str]) -> Finding:
    args = tuple([clean(arg) if isinstance(arg, str) else arg for arg in finding.args])
    text, guidance = clean(finding.text), clean(finding.guidance)
    if (args, text, guidance) == (finding.args, finding.text, finding.guidance):
        return finding
    return msgspec.structs.replace(finding, args=args, text=text, guidance=guidance)


def taken_out(text: str, raw: str, word: str) -> str:
    """A text without another one in it, nor the beginning of it."""
    text = text.replace(raw, word)
    at = text.find(raw[:BEGINNING]) if len(raw) > BEGINNING and raw[:BEGINNING] not in word else -1
    while at >= 0:
        end = at + BEGINNING
        while end < len(text) and end - at < len(raw) and text[end] == raw[end - at]:
            end += 1
        text = text[:at] + word + text[end:]
        at = text.find(raw[:BEGINNING], at + len(word))
    return text


def _hidden(content: Any, patches: tuple[Patch, ...]) -> Iterator[tuple[str, str]]:
    """The parts of some content that patches hide, each with what stands in its place."""
    for patch in patches:
        try:
            value = content
            for step in patch.path:
                value = value[step]
            value = patch.path[-1] if patch.named else value
        except (KeyError, IndexError, TypeError):
            continue
        short = isinstance(patch.value, str) and len(patch.value) <= LONGEST_WORD
        word = patch.value if short else WITHHELD
        raws: Iterator[str] | list[str] = []
        if patch.start >= 0:
            raws = [value[patch.start : patch.end]] if isinstance(value, str) else []
        elif isinstance(value, str):
            raws = [value] if isinstance(patch.value, str) else []
        elif patch.kind:
            kept = set(_texts(patch.value))
            raws = [text for text in _texts(value) if text not in kept]
        yield from [(raw, word) for raw in raws if len(raw) >= SHORTEST and raw != word]


def _texts(value: Any) -> Iterator[str]:
    """Every text in some data, names included, and long numbers as they are written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def clean(desk: Desk, value: Any) -> Any:
    """Plain data without what guards of content find in its texts; the same object where they find
    nothing.

    Guards that only watch change nothing; what they would have redacted is kept out of the record
    of the run's end.
    """
    guards, run = _of_content(desk)
    read = desk.plans.policy.read

    def redacted(text: str) -> str:
        if len(text) > CEILING:
            return WITHHELD
        reading = read(ModelReply(id="", at=0, run=run, text=text))
        patches: list[Patch] = []
        for placed in guards:
            try:
                finding = sound_or_none(placed.guard.judge(reading))
            except Exception:  # noqa: BLE001 - a guard may raise anything, and fails closed
                return text if placed.fail_open or placed.shadow else WITHHELD
            if finding is not None and placed.shadow:
                desk.veiled = desk.veiled or bool(finding.patches)
            elif finding is not None:
                patches += finding.patches
        try:
            return str(apply(text, patches)) if patches else text
        except PatchError:
            return WITHHELD

    return _mapped(value, redacted) if guards else value


def _of_content(desk: Desk) -> tuple[list[Placed], RunInfo]:
    """The guards that look for something in the texts of a reply, and the run for which they do."""
    plans = desk.plans
    chain = plans.policy.guards(Stage.MODEL_REPLY, "", plans.run, "")
    return [placed for placed in chain if having(placed.guard, "settled") is not None], plans.run


def hidden(
    desk: Desk, texts: Sequence[tuple[Path, str]]
) -> tuple[tuple[Patch, ...], tuple[Finding, ...]]:
    """What guards of content find in texts that are handed on with a reply and are no words of it:
    patches that hide it, and refusals."""
    patches: list[Patch] = []
    refused: list[Finding] = []
    if not texts:
        return (), ()
    guards, run = _of_content(desk)
    read = desk.plans.policy.read
    whole = ModelReply(id="", at=0, run=run, text="\n".join([text for _, text in texts]))
    together = read(whole)
    alone = [(path, read(msgspec.structs.replace(whole, text=text))) for path, text in texts]
    for placed in guards:
        try:
            if placed.guard.judge(together) is None:
                continue
            judged = [(path, placed.guard.judge(reading)) for path, reading in alone]
            findings = [(path, sound_or_none(finding)) for path, finding in judged]
        except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
            if not placed.fail_open and not placed.shadow:
                refused.append(_failed(placed, error))
            continue
        for path, finding in findings:
            if finding is None:
                continue
            if placed.shadow:
                desk.veiled = desk.veiled or bool(finding.patches)
                continue
            patches += [
                msgspec.structs.replace(patch, path=(*path, *patch.path))
                for patch in finding.patches
            ]
            if finding.action > PROCEEDS:
                refused.append(msgspec.structs.replace(finding, guard=placed.id, patches=()))
    return tuple(patches), tuple(refused)


def _failed(placed: Placed, error: Exception) -> Finding:
    return Finding(
        Action.BLOCK, "kernel.guard_error", (placed.id, failure_of(error)), guard="kernel"
    )


def kept(desk: Desk, value: Any) -> Any:
    """What a run keeps, fit to be handed on and written down; what cannot be read is for its keeper
    to refuse."""
    try:
        return clean(desk, project(value))
    except Unreadable:
        return value


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Data with every text in it changed, names included; what stays the same is shared."""
    if isinstance(value, str):
        new = change(value)
        return value if new == value else new
    if type(value) is dict:
        made: dict[Any, Any] = {}
        same = True
        for name, item in value.items():
            new_name, new = (
                _mapped(name, change) if isinstance(name, str) else name,
                _mapped(item, change),
            )
            same = same and new_name == name and new is item
            while new_name in made:
                new_name = f"{new_name}'"
            made[new_name] = new
        return value if same else made
    if type(value) is list or type(value) is tuple:
        items = [_mapped(item, change) for item in value]
        return (
            value
            if all(new is item for new, item in zip(items, value, strict=True))
            else type(value)(items)
        )
    return value
