"""What was hidden: found by comparing data with what is shown of it, and then hidden wherever else
it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from stanchion.audit.redaction import MASK
from stanchion.kernel.regex import regex
from stanchion.runtime.deciding.discretion import taken_out

SHORTEST: Final = 3
"""What is shorter stands in every text by chance."""
ALONE: Final = 8
"""What is shorter counts only as a word of its own."""
MOST: Final = 200
"""If more is hidden, texts beside it are withheld as a whole: looking for each would take too
long."""
WITHHELD: Final = "[withheld]"

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
    if len(hidden) > MOST:
        return lambda text: WITHHELD if text else text
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
