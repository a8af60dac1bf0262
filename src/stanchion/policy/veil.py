"""The veil: secrets in names and in people's words, hidden wherever these are written down or
shown.

A name stays a name to rules and guards: only what is shown or stored of it changes, and always to
the same. A secret in it becomes its kind and digits of its hash, so that two names that differ in
it can be told apart: a few digits where it is shown, more in a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec

from stanchion.kernel.contract.powers import having
from stanchion.kernel.events import Event, Prompt, RunInfo
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.patches import apply
from stanchion.kernel.regex import regex
from stanchion.kernel.stages import Stage
from stanchion.kernel.told_secrets import without_told
from stanchion.readings import read

T = TypeVar("T")
Pairs = tuple[tuple[str, str], ...]
"""What is hidden, longest first, each with what stands in its place."""

MOST: Final = 4_096
"""How many names are remembered."""
MOST_SECRETS: Final = 256
"""How many secrets in names: each is looked for in all that a store gets."""
LONGEST: Final = 512
"""A longer name is not remembered."""
DIGITS: Final = 6
STORED: Final = 32
"""How much of its hash stands for a secret in a store: enough that no two share a counter."""
MASK: Final = "[redacted]"
WITHHELD: Final = "withheld"

NAMED: Final[dict[Stage, tuple[str, ...]]] = {
    Stage.PROMPT: ("source",),
    Stage.MODEL_CHUNK: ("channel",),
    Stage.MODEL_REPLY: ("model",),
    Stage.EGRESS: ("method",),
    Stage.ERROR: ("error", "bases", "fault"),
    Stage.CHARGE: ("model",),
    Stage.HANDOFF: ("to",),
    Stage.HANDOFF_DONE: ("to",),
}
"""The fields of an event that are names, beside its tool and its run."""

_STORED: Final = regex(rf"(\[[^\[\]]*-[0-9a-f]{{{DIGITS}}})[0-9a-f]{{{STORED - DIGITS}}}=?\]")
"""What stands for a secret in a store, and the beginning of it that is shown."""
_NOBODY: Final = RunInfo("")


class Veil:
    """Hides what guards take for a secret in names and words. Of each name it asks them once."""

    def __init__(self, guards: Iterable[Any] = ()) -> None:
        self._guards = tuple([guard for guard in guards if having(guard, "in_name") is not None])
        self._known: dict[str, Pairs] = {}
        self._runs: dict[str, tuple[RunInfo, Pairs]] = {}
        self.secrets: dict[str, str] = {}
        """What was found in names of late, and what is shown in its place."""

    def of(self, event: Event) -> Pairs:
        """What is hidden in the names that an event has."""
        if not self._guards:
            return ()
        run = event.run
        known = self._runs.get(run.id)
        found = known[1] if known is not None and known[0] is run else self.of_run(run)
        tool = self._known.get(event.tool)
        found += self._learn(event.tool) if tool is None else tool
        if named_by_host(event):
            found += self.pairs((event.call,))
        for field in NAMED.get(event.stage, ()):
            value = getattr(event, field)
            found += self.pairs((value,) if isinstance(value, str) else value)
        return found and _joined(found)

    def of_run(self, run: RunInfo) -> Pairs:
        """What is hidden in the names that a run has."""
        if not self._guards:
            return ()
        own = (
            run.id,
            run.agent,
            run.role,
            run.task,
            run.tenant,
            run.purse,
            run.allotted_by,
            run.allotted_for,
        )
        tools = (*run.additional_tools.exact, *run.additional_tools.globs)
        found = self.pairs((*own, *run.parents, *run.labelled, *sorted(tools)))
        if len(self._runs) >= MOST:
            self._runs.clear()
        self._runs[run.id] = (run, found)
        return found

    def pairs(self, names: Iterable[str]) -> Pairs:
        """What is hidden in names."""
        found: Pairs = ()
        for name in names:
            known = self._known.get(name)
            found += self._learn(name) if known is None else known
        return found and _joined(found)

    def name(self, name: str) -> str:
        """A name as it is shown."""
        if not self._guards or self._known.get(name) == ():
            return name
        return renamed(name, self.pairs((name,)))

    def words(self, text: str) -> str:
        """What somebody has written, as it is shown."""
        shown = apply(text, self._patches(text)) if text else text
        return without_told(str(shown), MASK)

    def data(self, value: T) -> T:
        """A value of which every text is shown as a name is, and tells no secret either."""
        shown: T = _changed(value, lambda text: without_told(self.name(text), MASK))
        return shown

    def _learn(self, name: str) -> Pairs:
        found = self._hidden(name) if name else ()
        if len(self.secrets) >= MOST_SECRETS:
            self.secrets.clear()
        self.secrets |= dict(found)
        made = _joined((*found, *[(long[0], f"{long[1]}]") for long in _STORED.finditer(name)]))
        if len(name) <= LONGEST:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[name] = made
        return made

    def _hidden(self, name: str) -> Pairs:
        found: Pairs = ()
        for guard in self._guards:
            try:
                spans = guard.in_name(name)
            except Exception:  # noqa: BLE001 - a guard may raise anything; then all of it is withheld
                return ((name, _word(WITHHELD, name)),)
            found += tuple(
                [(name[at:end], _word(kind, name[at:end])) for at, end, kind, *_ in spans]
            )
        return found

    def _patches(self, text: str) -> list[Patch]:
        probe = read(Prompt(id="", at=0, run=_NOBODY, text=text))
        patches: list[Patch] = []
        for guard in self._guards:
            try:
                finding = guard.judge(probe)
            except Exception:  # noqa: BLE001 - a guard may raise anything; then all of it is withheld
                return [Patch((), f"[{WITHHELD}]", kind=WITHHELD)]
            patches += (*finding.patches, *finding.hides) if isinstance(finding, Finding) else ()
        return patches


def named_by_host(event: Event) -> bool:
    """Whether the call that an event is about has a name of its host's choosing."""
    return bool(event.call) and not event.call.startswith(event.run.id)


def renamed(value: T, pairs: Pairs) -> T:
    """A value with everything hidden in every text of it, names included; the same one where
    nothing is to hide."""

    def hidden(text: str) -> str:
        for raw, word in pairs:
            text = text.replace(raw, word)
        return text

    shown: T = _changed(value, hidden) if pairs else value
    return shown


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """A value with every text in it changed; what is no data is left as it is."""
    if isinstance(value, str):
        shown = change(value)
        return value if shown == value else shown
    if isinstance(value, msgspec.Struct):
        fields = {name: _changed(getattr(value, name), change) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, dict):
        return {_changed(name, change): _changed(item, change) for name, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make([_changed(item, change) for item in value])
    if isinstance(value, list | tuple | frozenset):
        return type(value)([_changed(item, change) for item in value])
    return value


def texts_in(value: Any) -> list[str]:
    """Every text in a value, names included."""
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, msgspec.Struct):
            waiting += [getattr(one, name) for name in one.__struct_fields__]
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple | frozenset):
            waiting += one
    return found


def together(*found: Pairs) -> Pairs:
    """All that is hidden by any of them."""
    return _joined(tuple([pair for pairs in found for pair in pairs]))


def _joined(found: Pairs) -> Pairs:
    return tuple(sorted(dict(found).items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _word(kind: str, raw: str) -> str:
    """What stands for a secret in a name: nothing in it that a key would write otherwise."""
    return f"[{kind}-{_digest(raw)[:DIGITS]}]"


def stored_word(raw: str, shown: str) -> str:
    """What stands for a secret in a store, where that is shown in its place."""
    return f"{shown[:-1]}{_digest(raw)[DIGITS:STORED]}]"


def _digest(raw: str) -> str:
    return sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
