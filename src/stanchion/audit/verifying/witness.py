"""A witness: lines with the heads of a trail that were written elsewhere, each bound to the line
before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from .files import is_count, is_hash, parsed
from .heads import VerifiedHead, head_of
from .report import CannotVerify, Deed, Fault, Remark, Witnessed
from .rewritable import owner_of, why_rewritable

GENESIS: Final = "0" * 64
"""What the first line names as the hash of the line before."""

LATE: Final = 2
"""A witness that has written nothing for longer than this many of its intervals has stopped."""

AHEAD_MS: Final = 300_000
"""How far clocks of two machines may differ."""

_FIELDS: Final = {"witness", "at", "every", "prev", "heads"}


class WitnessLine(NamedTuple):
    """One line of a witness: when it was written, in milliseconds, the seconds until the next, and
    the heads that had changed."""

    number: int
    at: int
    every_s: int
    prev: str
    heads: tuple[VerifiedHead, ...]
    hash: str


class Witness(NamedTuple):
    """What one witness says. `copy` says why the trail's own user could have rewritten it; it is
    empty where they could not. `broken` are the lines that do not follow from those before, with
    the reason."""

    name: str
    heads: tuple[VerifiedHead, ...]
    lines: tuple[WitnessLine, ...] = ()
    copy: str = ""
    broken: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()


Given = str | Path | Witness
"""How a witness is named: a file, or one that was read already."""


def read_witnesses(given: Given | Sequence[Given] | None, trail: Path) -> list[Witness]:
    """The witnesses that were given, files among them read; raises `CannotVerify`."""
    if given is None:
        return []
    several = [given] if isinstance(given, str | Path | Witness) else given
    return [one if isinstance(one, Witness) else _of_file(one, owner_of(trail)) for one in several]


def _of_file(given: Path | str, uid: int | None) -> Witness:
    try:
        raw = Path(given).read_bytes()
    except OSError as error:
        raise CannotVerify(f"cannot read the witness `{given}`: {error.strerror}") from None
    return read_witness(str(given), raw, why_rewritable(Path(given), uid))


def read_witness(name: str, raw: bytes, copy: str = "") -> Witness:
    """A witness from its lines; plain heads, one a line, are one too. Raises `CannotVerify` where
    it is none."""
    heads: list[VerifiedHead] = []
    lines: list[WitnessLine] = []
    trouble: list[tuple[int, str]] = []
    for number, text in enumerate(raw.split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            one = _read(number, text.strip())
        except ValueError as error:
            trouble.append((number, str(error)))
            continue
        heads += [one] if isinstance(one, VerifiedHead) else one.heads if one is not None else ()
        lines += [one] if isinstance(one, WitnessLine) else []
    if trouble and not lines:
        raise CannotVerify(
            f"line {trouble[0][0]} of the witness `{name}` is not a head: {trouble[0][1]}"
        )
    if not heads and not lines:
        raise CannotVerify(
            f"the witness `{name}` holds no heads: write it with `stanchion audit witness`"
        )
    broken, notes = _followed(lines, bool(copy))
    notes += [
        f"line {number} of the witness `{name}` is incomplete: a crash left it"
        for number, _ in trouble
    ]
    return Witness(name, tuple(heads), tuple(lines), copy, tuple(broken), tuple(notes))


def _read(number: int, text: bytes) -> VerifiedHead | WitnessLine | None:
    """What one line says; None for the token of a timestamp service, which is about the line before
    it."""
    if not text.startswith(b'{"witness":'):
        if text.startswith(b'{"token":'):
            return None
        return head_of(text)
    said = parsed(text)
    if not isinstance(said, dict) or set(said) != _FIELDS or said["witness"] != 1:
        raise ValueError("it does not have the fields of a line")
    at, every, prev, heads = said["at"], said["every"], said["prev"], said["heads"]
    if not (is_count(at) and is_count(every) and is_hash(prev) and isinstance(heads, list)):
        raise ValueError("one of its fields has an invalid value")
    named = [json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() for head in heads]
    return WitnessLine(
        number, at, every, prev, tuple(map(head_of, named)), sha256(text).hexdigest()
    )


def _followed(
    lines: list[WitnessLine], rewritable: bool
) -> tuple[list[tuple[int, str]], list[str]]:
    """The lines that do not follow from those before, and what else is worth knowing of them."""
    broken, notes = [], []
    before = GENESIS
    for line in lines:
        if line.prev == GENESIS and before != GENESIS and not rewritable:
            # Who can only append, and not read, begins anew each time; nobody can have taken lines
            # away there.
            notes.append(f"line {line.number} starts over: it is not linked to the lines before it")
        elif line.prev != before:
            broken.append(
                (
                    line.number,
                    "does not follow from the line before: lines were removed, edited or inserted",
                )
            )
        before = line.hash
    return broken, notes


def judge(
    witnesses: Iterable[Witness], newest_at: int | None, now_ms: int
) -> Iterator[Fault | Remark | Witnessed]:
    """What is to be said of witnesses themselves: whether they are whole, and how far they prove
    the trail."""
    for one in witnesses:
        if one.broken:
            (number, why), more = min(one.broken), len(one.broken) - 1
            said = (
                f"line {number} of the witness "
                f"{why}{f'; the same is true of {more} more lines' if more else ''}"
            )
            yield Fault("", one.name, number, None, Deed.BROKEN, said)
        yield from (Remark("", note) for note in one.notes)
        if one.copy:
            said = (
                f"the witness `{one.name}` is a copy: {one.copy}, so it proves the end only as "
                f"a copy"
            )
            yield Remark("", said)
        last = one.lines[-1] if one.lines else None
        yield Witnessed(
            one.name,
            bool(one.copy),
            len(one.lines),
            None if last is None else last.at,
            last.every_s if last else 0,
        )
        if last is not None:
            yield from _covered(one, last, newest_at, now_ms)


def _covered(
    one: Witness, last: WitnessLine, newest_at: int | None, now_ms: int
) -> Iterator[Fault | Remark]:
    every_ms = last.every_s * 1000
    if last.at > now_ms + every_ms + AHEAD_MS:
        said = f"the newest line of the witness is dated {_time(last.at)}, which is in the future"
        yield Fault("", one.name, last.number, None, Deed.BROKEN, said)
        return
    until = max(now_ms, 0 if newest_at is None else newest_at)
    if every_ms and until - last.at > LATE * every_ms:
        missed = (until - last.at) // every_ms
        said = (
            f"the witness stopped at {_time(last.at)}: {missed} intervals of {last.every_s} s "
            f"are not covered"
        )
        if newest_at is not None and newest_at > last.at:
            said += f", and the trail has records until {_time(newest_at)}"
        yield Fault("", one.name, last.number, None, Deed.UNCOVERED, said)
    else:
        yield Remark("", f"the witness `{one.name}` knows the trail up to {_time(last.at)}")
    gaps = [
        (before, line)
        for before, line in zip(one.lines, one.lines[1:], strict=False)
        if before.every_s and line.at - before.at > LATE * before.every_s * 1000
    ]
    if gaps:
        longest = max(gaps, key=lambda gap: gap[1].at - gap[0].at)
        said = (
            f"the witness `{one.name}` wrote nothing from {_time(longest[0].at)} to "
            f"{_time(longest[1].at)}"
        )
        yield Remark(
            "", said if len(gaps) == 1 else f"{said}, and {len(gaps) - 1} more times for less long"
        )


def _time(at: int) -> str:
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return str(at)
