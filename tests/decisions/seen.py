"""What can be seen of a session when it was played, as bytes, and where two of them differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.audit.journal import MemoryJournal
from stanchion.audit.layout import segment_file
from stanchion.audit.segment_scan import taken_apart
from stanchion.kernel.decision import Decision
from stanchion.kernel.state import LiveRecord
from stanchion.stores.protocol import Store
from stanchion.telemetry.registry import Series
from tools.decisions.telling import list_figures

EPOCH: Final = "{*}epoch"
"""The cell by which a store that outlives its process is known again: it has a number of its own in
every file."""
PAGE: Final = "}notes:"
"""What is in the keys of pages on which a durable store keeps where a run's values come from."""
CHAIN: Final = "0" * 15 + "1"
"""The chain of the trail."""
CONTEXT: Final = 60
"""How many bytes are shown before and behind the first one that differs."""


class Seen(msgspec.Struct, frozen=True):
    """All that callers, people and programs can see of a session.

    `verdicts` has what each step's caller acts on, `given` that with all it was judged on,
    `records` the bytes of the journal, `state` the cells and holds of the store, `pages` what it
    keeps of a run only where it outlives a process, `figures` what telemetry counted, `notices`
    what the agent is told beside its calls.
    """

    verdicts: tuple[bytes, ...]
    given: tuple[bytes, ...]
    records: tuple[bytes, ...]
    state: tuple[bytes, ...]
    pages: tuple[bytes, ...]
    figures: tuple[bytes, ...]
    notices: tuple[bytes, ...]


def compare(one: Seen, other: Seen, parts: Iterable[str] = Seen.__struct_fields__) -> Iterator[str]:
    """Say for each part in which two sessions differ where that is for the first time."""
    for part in parts:
        lines = zip_longest(getattr(one, part), getattr(other, part))
        for number, (here, there) in enumerate(lines, 1):
            if here != there:
                yield f"{part} {number}: {_show(here, there)} instead of {_show(there, here)}"
                break


def _show(line: bytes | None, other: bytes | None) -> str:
    """A line around the byte in which it is another one."""
    if line is None:
        return "nothing"
    same = other if other is not None else b""
    pairs = enumerate(zip(line, same, strict=False))
    at = next((at for at, (a, b) in pairs if a != b), min(len(line), len(same)))
    return f"`{line[max(0, at - CONTEXT) : at + CONTEXT].decode('utf-8', 'replace')}`"


def spell(value: Any) -> bytes:
    """Spell data as JSON, names in the order they have; what JSON has no word for stands by its
    type."""
    plain = msgspec.to_builtins(value, enc_hook=_name_type, str_keys=True)
    return json.dumps(plain).encode()


def _name_type(value: object) -> str:
    return value.text() if isinstance(value, LiveRecord) else f"$type {type(value).__name__}"


class Answer(NamedTuple):
    """What the caller of a step got: what it acts on, and that with all it was judged on."""

    verdict: bytes
    whole: bytes


def spell_decision(decision: Decision) -> Answer:
    """Spell a decision with every field, the words made of them, and the chain it was made by; no
    durations."""
    names = [name for name in Decision.__struct_fields__ if name != "trace"]
    fields = {name: getattr(decision, name) for name in names}
    words = [decision.code, decision.message, decision.advice, decision.trace.chain]
    verdict = {name: value for name, value in fields.items() if name != "inputs"}
    return Answer(spell([verdict, *words]), spell([fields, *words]))


def spell_records(journal: object, folder: Path) -> tuple[bytes, ...]:
    """Spell all that a journal has: bodies, hashes, macs and what stands apart; no durations."""
    if isinstance(journal, MemoryJournal):
        kept = [b" ".join((one.hash.encode(), one.body, one.apart)) for one in journal.kept()]
        return (*kept, *[spell(fact) for fact in journal.facts()])
    lines = segment_file(folder / CHAIN, 1).read_bytes().rstrip(b"\0").splitlines()
    return tuple(map(_spell_line, lines))


def _spell_line(line: bytes) -> bytes:
    one = taken_apart(line)
    assert one is not None, "a line of the trail is none"
    return spell([one.hash, one.mac, one.seal]) + one.body + one.kept


def spell_state(store: Store) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Spell every cell and every open hold of a store; apart from them the pages of notebooks."""
    cells = [one for one in store.look() if one.key != EPOCH]
    pages = [one for one in cells if PAGE in one.key]
    state = [one for one in cells if PAGE not in one.key]
    return tuple([spell(one) for one in (*state, *store.holds())]), tuple(map(spell, pages))


def spell_figures(figures: Iterable[Series]) -> tuple[bytes, ...]:
    """Spell what was counted: of a histogram how many times there are, not how long they were."""
    return tuple(map(spell, list_figures(figures)))
