"""Redaction before keeping: what guards hide, what looks like a secret and what promises one
reaches no tier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.audit.redaction import MASK, masked
from stanchion.experience.bounded import CUT, DEEPEST, bounded, cut
from stanchion.experience.incident import MOST_HINT, MOST_REASON
from stanchion.guards.secrets import Secrets
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of
from stanchion.kernel.events import Event, Failure, Prompt, RunInfo, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.patches import apply
from stanchion.kernel.regex import regex
from stanchion.kernel.soundness import sound_or_none
from stanchion.policy.veil import Veil
from stanchion.readings import read
from stanchion.runtime.deciding.discretion import arguments, taken_out

SHORTEST: Final = 3
"""What is shorter stands in every text by chance."""
ALONE: Final = 8
"""What is shorter counts only as a word of its own."""
MOST_HIDDEN: Final = 200
"""If more is hidden, texts beside it are withheld as a whole: looking for each would take too
long."""
WITHHELD_TEXT: Final = "[withheld]"

SIGN: Final = regex(r"\[[^\[\]\n]{1,80}\]")
"""What stands where something was hidden."""

Hides = Callable[[str], str]


def hidden_in(raw: Any, shown: Any) -> Iterator[str]:
    """The texts of some data that are not in what is shown of it."""
    if raw is shown or raw == shown:
        return
    if isinstance(raw, str) and isinstance(shown, str):
        yield from _between(raw, shown)
    elif isinstance(raw, dict) and isinstance(shown, dict):
        for name, item in raw.items():
            if name in shown:
                yield from hidden_in(item, shown[name])
            else:
                yield from (name,) if isinstance(name, str) and len(name) >= ALONE else ()
                yield from _texts(item)
    elif (
        isinstance(raw, list | tuple) and isinstance(shown, list | tuple) and len(raw) == len(shown)
    ):
        for one, other in zip(raw, shown, strict=True):
            yield from hidden_in(one, other)
    else:
        yield from _texts(raw)


def hiding(texts: Iterable[str]) -> Hides:
    """What hides all these texts, and their lines, in another one."""
    found = {line for text in texts for line in (text.strip(), *map(str.strip, text.splitlines()))}
    hidden = sorted(
        [text for text in found if len(text) >= SHORTEST and not SIGN.fullmatch(text)], key=len
    )[::-1]
    if len(hidden) > MOST_HIDDEN:
        return lambda text: WITHHELD_TEXT if text else text
    alone = [regex(rf"(?<!\w){_escaped(text)}(?!\w)") for text in hidden if len(text) < ALONE]

    def hide(text: str) -> str:
        for one in hidden:
            if len(one) >= ALONE:
                text = taken_out(text, one, MASK)
        for pattern in alone:
            text = pattern.sub(MASK, text)
        return text

    return hide


def everywhere(value: Any, hide: Hides) -> Any:
    """Data with every text of it hidden in, names included."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {everywhere(name, hide): everywhere(item, hide) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [everywhere(item, hide) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return MASK if hide(str(value)) != str(value) else value
    return value


def _between(raw: str, shown: str) -> Iterator[str]:
    """What stands in a text where another one has signs. Where they differ otherwise, all that
    differs."""
    at, found = 0, []
    parts = SIGN.split(shown)
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        here = len(raw) - len(part) if last else raw.find(part, at)
        if here < at or not raw.startswith(part, here) or (number == 0 and here):
            yield _differing(raw, shown)
            return
        found.append(raw[at:here])
        at = here + len(part)
    yield from found


def _differing(raw: str, shown: str) -> str:
    least = min(len(raw), len(shown))
    before = next((at for at in range(least) if raw[at] != shown[at]), least)
    after = next(
        (at for at in range(least - before) if raw[-1 - at] != shown[-1 - at]), least - before
    )
    return raw[before : len(raw) - after]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _escaped(text: str) -> str:
    import re

    return re.escape(text)


# Windows: as much of data as has to be looked at to keep a little of it, however large it is.
#
# A window may end in the middle of a secret, which then is not known for one. So it ends with a
# mark, and when all else is hidden, the mark leaves together with as much before it as a secret can
# be long.

WIDEST: Final = 8_000
"""How much of one text is looked at."""
SECRET: Final = 4_000
"""How long a secret can be; the end of a window is not kept."""
MOST_CHARS: Final = 128_000
"""How many characters of one call are looked at in all."""
DEEP: Final = 2 * DEEPEST
MARK: Final = "\n\ufdd0"
"""What stands at the end of a window: a line break, which ends most secrets, and what is no
character."""


class _RoomLeft:
    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_CHARS


def window(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= WIDEST else text[:WIDEST] + MARK


def windowed(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments of which every text is a window, and no more of them than there is room for."""
    seen: dict[str, Any] = _seen(args, _RoomLeft(), 0)
    return seen


def closed(value: Any) -> Any:
    """Data without the marks, and without what could be half a secret before them."""
    if isinstance(value, str):
        return value[: -SECRET - len(MARK)] + CUT if value.endswith(MARK) else value
    if isinstance(value, dict):
        return {closed(name): closed(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [closed(item) for item in value]
    return value


def _seen(value: Any, room: _RoomLeft, depth: int) -> Any:
    if room.left <= 0:
        return CUT
    room.left -= 8
    if isinstance(value, str):
        room.left -= min(len(value), WIDEST)
        return window(value)
    if isinstance(value, bytes | bytearray):
        return value if len(value) <= WIDEST else CUT
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= DEEP:
        return CUT
    if isinstance(value, dict):
        return _mapping(value, room, depth)
    kept: list[Any] = []
    for item in value:
        if room.left <= 0:
            return [*kept, CUT]
        kept.append(_seen(item, room, depth + 1))
    return kept


def _mapping(value: dict[Any, Any], room: _RoomLeft, depth: int) -> dict[Any, Any]:
    """The names in the order in which they are kept, so that what is left out is what would be."""
    kept: dict[Any, Any] = {}
    for name in sorted(value, key=str):
        if room.left <= 0:
            kept[CUT] = CUT
            break
        shown = _seen(name, room, depth) if isinstance(name, str) else name
        kept[shown] = _seen(value[name], room, depth + 1)
    return kept


WITHHELD: Final = "$withheld"
NOBODY: Final = RunInfo("")


class KeptOutcome(NamedTuple):
    """An outcome as it is kept: without secrets, bounded, and whatever is hidden in one part of it
    is hidden in all. `whole` says whether all arguments could be read."""

    args: dict[str, Any]
    whole: bool
    reason: str
    hint: str


@cache
def _secrets() -> Secrets:
    return Secrets()


@cache
def _veil() -> Veil:
    return Veil([_secrets()])


def kept_outcome(plans: Plans, event: ToolResult | Failure, meant: str) -> KeptOutcome:
    """What is kept of an outcome, and of what it was meant for."""
    args, task = windowed(event.args), window(meant)
    shown, whole = _shown(plans, event.tool, args)
    failed = (
        msgspec.structs.replace(event, text=window(event.text))
        if isinstance(event, Failure)
        else None
    )
    words = "" if failed is None else _words(plans, failed)
    hint = masked(_named(plans, task))
    kind = "" if failed is None else masked(_named(plans, window(failed.error)))
    hidden = [*hidden_in(args, shown), *hidden_in(task, hint)]
    hidden += (
        ()
        if failed is None
        else (*hidden_in(failed.text, words), *hidden_in(window(failed.error), kind))
    )
    hide = hiding(hidden)
    return KeptOutcome(
        bounded(closed(everywhere(shown, hide))),
        whole,
        _reason(plans, closed(hide(kind)), closed(hide(words))),
        cut(closed(hide(hint)), MOST_HINT),
    )


def kept_args(plans: Plans, tool: str, args: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """A call's arguments as they are kept, without secrets and bounded; and whether all of them
    could be read."""
    seen = windowed(args)
    shown, whole = _shown(plans, tool, seen)
    return bounded(closed(everywhere(shown, hiding(hidden_in(seen, shown))))), whole


def kept_name(by: Any, name: str, most: int = MOST_HINT) -> str:
    """A name as it is shown under the policy of a shield or of a run's plans, without what looks
    like a secret, cut where it is long."""
    return cut(closed(_named(by, window(name))), most)


def _named(by: Any, name: str) -> str:
    return _veil().name(by.policy.veil.name(name))


def _shown(plans: Plans, tool: str, args: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    call = ToolCall(id="", at=0, run=plans.run, tool=tool, args=args)
    shown = arguments(plans, call)
    whole = isinstance(shown, dict) and WITHHELD not in shown
    hidden = _without(ToolCall(id="", at=0, run=NOBODY, args=shown)) if whole else shown
    return masked(hidden), whole


def _words(plans: Plans, event: Failure) -> str:
    """What a failure says without secrets."""
    text = _guarded(plans, event)
    return masked(str(_without(Prompt(id="", at=0, run=NOBODY, text=text)))) if text else ""


def _reason(plans: Plans, error: str, words: str) -> str:
    """Why something failed: its kind, and its words."""
    said = f"{error}: {words}" if words and error else words if words else error
    return kept_name(plans, said, MOST_REASON)


def _guarded(plans: Plans, event: Failure) -> str:
    """The words of a failure without what guards redact in it."""
    reading = plans.policy.read(event)
    patches: list[Any] = []
    try:
        for _, judge, _ in plans.of((event,), "").redactors:
            finding = sound_or_none(judge(reading))
            patches += () if finding is None else (*finding.patches, *finding.hides)
        return str(apply(event.text, patches))
    except Exception:  # noqa: BLE001 - a guard may raise anything; then all of it is withheld
        return "[withheld]"


def _without(event: Event) -> Any:
    """The content of an event without anything that looks like a secret."""
    found = _secrets().judge(read(event))
    content = content_of(event)
    return apply(content, (*found.patches, *found.hides)) if isinstance(found, Finding) else content
