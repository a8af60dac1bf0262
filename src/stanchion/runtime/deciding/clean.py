"""Cleaning: plain data without what guards of content find in its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.events import ModelReply, RunInfo
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Placed, failure_of
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.sizes import CEILING
from stanchion.kernel.soundness import sound_or_none
from stanchion.kernel.stages import Stage
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import WITHHELD
from stanchion.runtime.values import Unreadable, project
from stanchion.runtime.values.words import Path


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
