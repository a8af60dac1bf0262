"""Every manipulation of records, at every kind of place, in every kind of trail: found, and called
by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from stanchion.audit.verify import Deed, verify
from tests.audit.forging import (
    KEY,
    ONE,
    OTHER_KEY,
    TWO,
    Draft,
    Drafts,
    body_of,
    claimed,
    crashed,
    dumped,
    forged_body,
    hash_of,
    line_of,
    mac_of,
    many,
    move_head,
    retired,
    rewrite,
    seal,
    seal_of,
    seq_of,
    several,
    single,
)

TRAILS: Final = {make.__name__: make for make in (single, several, crashed, many, retired)}


class NotHere(Exception):
    """Something cannot be done at a place."""


class Found(NamedTuple):
    """What has to be found: at which record, done how, and, where it is said, seen in which
    file."""

    seq: int
    deed: Deed
    file: str = ""


class Spot:
    """A record that something is done to, and what is known of where it stood."""

    def __init__(self, drafts: Drafts, other: Drafts, seq: int) -> None:
        self.drafts, self.other, self.seq = drafts, other, seq
        self.chain = drafts[ONE]
        self.number, self.index = self.chain.at(seq)
        self.lines = self.chain.segments[self.number]
        self.line = self.lines[self.index]
        self.body = json.loads(body_of(self.line))
        self.first, self.last = self.chain.seqs()[0], self.chain.seqs()[-1]
        self.head = int(self.chain.said_head()["seq"])
        self.closed = bool(self.chain.said_head()["closed"])
        self.sealed = drafts.key is not None
        self.file = f"{self.number:08d}.jsonl"
        self.in_last_file = self.number == max(self.chain.segments)
        self.following = next((seq for seq in self.chain.seqs() if seq > seq_of(self.line)), -1)
        self.contradicts = contradicted_by(self.chain, self.number)
        self.next_checkpoint = next(
            (seq for seq in self.chain.checkpoints() if seq >= self.seq), None
        )

    def put(self, line: bytes) -> None:
        """Put another line in the place of the record's."""
        self.lines[self.index] = line

    def insert(self, line: bytes) -> None:
        """Put another line before the record's."""
        self.lines.insert(self.index, line)


def contradicted_by(draft: Draft, number: int) -> int | None:
    """The record that retires the segment behind another one, and thereby names the last hash in
    that."""
    if number + 1 in draft.segments or number == max(draft.segments):
        return None
    lines = [
        line for lines in draft.segments.values() for line in lines if b'"kind":"retired"' in line
    ]
    return next(seq_of(line) for line in lines if b'"segments":[[%d,' % (number + 1) in line)


Forge = Callable[[Spot], Found | None]
"""Does something to a record; says what has to be found, or None where nothing inside the trail can
tell."""

FORGES: Final[dict[str, Forge]] = {}


def forge(do: Forge) -> Forge:
    """Have something done in the table."""
    FORGES[do.__name__.replace("_", " ")] = do
    return do


@forge
def edit_a_body(spot: Spot) -> Found:
    spot.put(
        line_of(
            forged_body(body_of(spot.line)),
            seal_of(spot.line),
            hash_=hash_of(spot.line),
            mac=mac_of(spot.line),
        )
    )
    return Found(spot.seq, Deed.EDITED, spot.file)


@forge
def edit_a_hash(spot: Spot) -> Found:
    spot.put(
        line_of(
            body_of(spot.line),
            seal_of(spot.line),
            hash_=hash_of(spot.line)[::-1],
            mac=mac_of(spot.line),
        )
    )
    return Found(spot.seq, Deed.EDITED, spot.file)


@forge
def edit_a_body_and_its_hash(spot: Spot) -> Found | None:
    spot.put(line_of(forged_body(body_of(spot.line)), seal_of(spot.line), mac=mac_of(spot.line)))
    if spot.contradicts is not None and spot.seq == seq_of(spot.lines[-1]):
        return (
            Found(spot.seq, Deed.FORGED)
            if spot.sealed
            else Found(spot.contradicts, Deed.CONTRADICTED)
        )
    if spot.seq < spot.last:
        return Found(spot.seq, Deed.EDITED, spot.file)
    if spot.sealed:
        return Found(spot.seq, Deed.FORGED, spot.file)
    return Found(spot.seq, Deed.REWRITTEN, spot.file) if spot.head == spot.seq else None


@forge
def edit_a_record_and_link_the_next_to_it(spot: Spot) -> Found:
    if spot.index + 2 >= len(spot.lines):
        raise NotHere
    later = {number: list(lines) for number, lines in spot.chain.segments.items()}
    rewrite(spot.chain, spot.seq)
    for number, lines in spot.chain.segments.items():
        start = spot.index + 2 if number == spot.number else 0
        lines[start:] = later[number][start:] if number >= spot.number else lines
    if spot.sealed:
        return Found(spot.seq, Deed.FORGED, spot.file)
    return Found(spot.seq + 1, Deed.EDITED, spot.file)


@forge
def rewrite_the_rest(spot: Spot) -> Found | None:
    rewrite(spot.chain, spot.seq)
    if spot.sealed:
        return Found(spot.seq, Deed.FORGED, spot.file)
    if spot.contradicts is not None:
        return Found(spot.contradicts, Deed.CONTRADICTED)
    return Found(spot.head, Deed.REWRITTEN) if spot.head >= spot.seq else None


@forge
def rewrite_the_rest_and_the_head(spot: Spot) -> Found | None:
    rewrite(spot.chain, spot.seq)
    move_head(spot.chain)
    return Found(spot.seq, Deed.FORGED, spot.file) if spot.sealed else told_by_others(spot)


@forge
def rewrite_the_rest_and_seal_it_with_another_key(spot: Spot) -> Found | None:
    rewrite(spot.chain, spot.seq, OTHER_KEY)
    move_head(spot.chain, OTHER_KEY, old_seal=False)
    return Found(spot.seq, Deed.FORGED, spot.file) if spot.sealed else told_by_others(spot)


@forge
def rewrite_the_rest_and_leave_the_seals_out(spot: Spot) -> Found:
    if not spot.sealed:
        raise NotHere
    rewrite(spot.chain, spot.seq, old_seals=False)
    move_head(spot.chain, old_seal=False)
    some = any(b'"seal"' in line for lines in spot.chain.segments.values() for line in lines)
    return Found(spot.seq, Deed.FORGED if some else Deed.UNSEALED, spot.file)


def told_by_others(spot: Spot) -> Found | None:
    """What other chains know of the first record from the spot on that one of them names."""
    if spot.contradicts is not None:
        return Found(spot.contradicts, Deed.CONTRADICTED)
    named = [seq for seq in claimed(spot.drafts, ONE) if seq >= spot.seq]
    return Found(named[0], Deed.REWRITTEN) if named else None


@forge
def delete_a_record(spot: Spot) -> Found | None:
    del spot.lines[spot.index]
    if spot.seq < spot.last:
        return Found(spot.seq, Deed.DELETED)
    return Found(spot.seq, Deed.TRUNCATED) if spot.head == spot.seq else None


@forge
def delete_three_records(spot: Spot) -> Found | None:
    for seq in [seq for seq in spot.chain.seqs() if spot.seq <= seq < spot.seq + 3]:
        number, index = spot.chain.at(seq)
        del spot.chain.segments[number][index]
    if spot.seq + 2 < spot.last:
        return Found(spot.seq, Deed.DELETED)
    return Found(spot.seq, Deed.TRUNCATED) if spot.head >= spot.seq else None


@forge
def delete_the_rest_of_a_segment(spot: Spot) -> Found | None:
    if spot.index == 0:
        raise NotHere
    del spot.lines[spot.index :]
    if not spot.in_last_file:
        return Found(spot.seq, Deed.DELETED)
    spot.chain.tail = b""
    return Found(spot.seq, Deed.TRUNCATED, spot.file) if spot.head >= spot.seq else None


@forge
def delete_the_end_and_move_the_head_back(spot: Spot) -> Found | None:
    if spot.index == 0 or spot.seq > spot.head or not spot.in_last_file:
        raise NotHere
    del spot.lines[spot.index :]
    spot.chain.tail = b""
    move_head(spot.chain)
    if spot.sealed:
        return Found(spot.seq - 1, Deed.EDITED, "head")
    ahead = [seq for seq in claimed(spot.drafts, ONE) if seq >= spot.seq]
    return Found(spot.seq, Deed.TRUNCATED, spot.file) if ahead else None


@forge
def cut_within_a_line(spot: Spot) -> Found | None:
    spot.lines[spot.index :] = [spot.line[:100]]
    if spot.in_last_file:
        spot.chain.tail = b""
    return Found(spot.seq, Deed.TRUNCATED, spot.file) if spot.head >= spot.seq else None


@forge
def cut_the_line_feed_off(spot: Spot) -> Found | None:
    spot.lines[spot.index :] = [spot.line[:-1]]
    if spot.in_last_file:
        spot.chain.tail = b""
    return Found(spot.seq, Deed.TRUNCATED, spot.file) if spot.head >= spot.seq else None


@forge
def cut_a_piece_out(spot: Spot) -> Found:
    if spot.index + 1 >= len(spot.lines):
        raise NotHere
    other = spot.lines.pop(spot.index + 1)
    spot.put(spot.line[:-20] + other[-10:])
    return Found(spot.seq, Deed.EDITED, spot.file)


@forge
def cut_a_line_feed_out(spot: Spot) -> Found:
    if spot.index + 1 >= len(spot.lines):
        raise NotHere
    spot.put(spot.line[:-1])
    return Found(spot.seq, Deed.EDITED, spot.file)


@forge
def swap_two_records(spot: Spot) -> Found:
    if spot.seq == spot.last:
        raise NotHere
    number, index = spot.chain.at(spot.following)
    other = spot.chain.segments[number]
    spot.lines[spot.index], other[index] = other[index], spot.lines[spot.index]
    return Found(spot.seq, Deed.REORDERED)


@forge
def move_to_the_end(spot: Spot) -> Found:
    if spot.seq == spot.last:
        raise NotHere
    del spot.lines[spot.index]
    spot.chain.segments[max(spot.chain.segments)].append(spot.line)
    return Found(spot.seq, Deed.REORDERED)


@forge
def move_to_the_beginning(spot: Spot) -> Found:
    if spot.seq == spot.first:
        raise NotHere
    del spot.lines[spot.index]
    spot.chain.segments[min(spot.chain.segments)].insert(0, spot.line)
    return Found(spot.first, Deed.REORDERED)


@forge
def duplicate_in_place(spot: Spot) -> Found:
    spot.insert(spot.line)
    return Found(spot.seq, Deed.DUPLICATED, spot.file)


@forge
def duplicate_at_the_end(spot: Spot) -> Found:
    spot.chain.segments[max(spot.chain.segments)].append(spot.line)
    return Found(spot.seq, Deed.DUPLICATED)


@forge
def duplicate_at_the_beginning(spot: Spot) -> Found:
    spot.chain.segments[min(spot.chain.segments)].insert(0, spot.line)
    return Found(spot.seq, Deed.DUPLICATED)


@forge
def put_a_copy_in_place_of_the_next(spot: Spot) -> Found:
    if spot.index + 2 >= len(spot.lines):
        raise NotHere
    spot.lines[spot.index + 1] = spot.line
    return Found(spot.seq, Deed.DUPLICATED, spot.file)


@forge
def splice_in_a_record_of_another_chain(spot: Spot) -> Found:
    spot.insert(Draft(TWO, spot.drafts.key).begin().work(3).line(2))
    return Found(spot.seq, Deed.SPLICED, spot.file)


@forge
def put_a_record_of_another_chain_in_place(spot: Spot) -> Found:
    spot.put(Draft(TWO, spot.drafts.key).begin().work(3).line(2))
    return Found(spot.seq, Deed.SPLICED, spot.file)


def of_another_copy(spot: Spot) -> bytes:
    """The record of that number in another trail with a chain of the same id."""
    if spot.seq == 0:
        raise NotHere  # it does follow from nothing, and counts as made up
    return spot.other[ONE].line(spot.seq)


@forge
def splice_in_a_record_of_another_copy(spot: Spot) -> Found:
    spot.insert(of_another_copy(spot))
    return Found(spot.seq, Deed.SPLICED, spot.file)


@forge
def put_a_record_of_another_copy_in_place(spot: Spot) -> Found:
    if spot.seq == spot.last > spot.head + 1:
        raise NotHere  # nothing tells whether it or the record before is strange
    spot.put(of_another_copy(spot))
    return Found(spot.seq, Deed.SPLICED, spot.file)


def made_up(spot: Spot) -> bytes:
    """A record that follows from the one before the spot, and nobody wrote."""
    body = {
        **{name: spot.body[name] for name in ("v", "prev", "seq", "chain")},
        "kind": "event",
        "at": 1,
    }
    return line_of(dumped({**body, "note": "nothing to see here"}))


@forge
def insert_a_made_up_record(spot: Spot) -> Found:
    if spot.seq == spot.last > spot.head:
        raise NotHere
    spot.insert(made_up(spot))
    return Found(spot.seq, Deed.INSERTED, spot.file)


@forge
def insert_a_made_up_record_with_a_wrong_hash(spot: Spot) -> Found:
    spot.insert(line_of(body_of(made_up(spot)), hash_="f" * 64))
    return Found(spot.seq, Deed.INSERTED, spot.file)


@forge
def append_a_made_up_record(spot: Spot) -> Found | None:
    if spot.seq != spot.last:
        raise NotHere
    body = {
        "v": 3,
        "prev": hash_of(spot.line),
        "seq": spot.seq + 1,
        "chain": ONE,
        "kind": "event",
        "at": 1,
    }
    spot.lines.append(line_of(dumped(body)))
    if spot.sealed:
        return Found(spot.seq + 1, Deed.FORGED, spot.file)
    return Found(spot.seq + 1, Deed.INSERTED, spot.file) if spot.closed else None


@forge
def insert_a_blank_line(spot: Spot) -> Found:
    spot.insert(b"\n")
    return Found(spot.seq, Deed.INSERTED, spot.file)


@forge
def insert_garbage(spot: Spot) -> Found:
    spot.insert(b"\xff\xfe{]\n")
    return Found(spot.seq, Deed.INSERTED, spot.file)


@forge
def append_a_line_of_garbage(spot: Spot) -> Found:
    if spot.seq != seq_of(spot.lines[-1]):
        raise NotHere
    spot.lines.append(b"garbage\n")
    return Found(spot.seq + 1, Deed.INSERTED, spot.file)


@forge
def append_garbage_without_a_line_feed(spot: Spot) -> Found | None:
    if spot.seq != seq_of(spot.lines[-1]):
        raise NotHere
    spot.lines.append(b"garbage")
    return (
        Found(spot.seq + 1, Deed.INSERTED, spot.file)
        if spot.closed or not spot.in_last_file
        else None
    )


@forge
def put_a_byte_order_mark_before(spot: Spot) -> Found:
    spot.put(b"\xef\xbb\xbf" + spot.line)
    return Found(spot.seq, Deed.EDITED, spot.file)


@forge
def end_a_line_with_a_carriage_return(spot: Spot) -> Found:
    spot.put(spot.line[:-1] + b"\r\n")
    return Found(spot.seq, Deed.EDITED, spot.file)


@forge
def end_all_lines_with_carriage_returns(spot: Spot) -> Found:
    spot.lines[:] = [line[:-1] + b"\r\n" for line in spot.lines]
    return Found(seq_of(spot.lines[0]), Deed.EDITED, spot.file)


@forge
def write_zeros_over_a_record(spot: Spot) -> Found | None:
    spot.put(bytes(len(spot.line)))
    if spot.seq > spot.head:
        return None
    at_the_end = spot.index + 1 == len(spot.lines)
    return Found(spot.seq, Deed.TRUNCATED if at_the_end else Deed.UNREADABLE, spot.file)


@forge
def write_spaces_over_a_record(spot: Spot) -> Found:
    spot.put(b" " * (len(spot.line) - 1) + b"\n")
    if spot.seq == spot.last > spot.head:
        return Found(spot.seq, Deed.INSERTED, spot.file)
    return Found(spot.seq, Deed.UNREADABLE, spot.file)


@forge
def put_a_seal_beside_it(spot: Spot) -> Found:
    if spot.body["kind"] == "checkpoint":
        raise NotHere
    spot.put(
        line_of(
            body_of(spot.line),
            seal(KEY, f"checkpoint:{ONE}:{hash_of(spot.line)}"),
            mac=mac_of(spot.line),
        )
    )
    return Found(spot.seq, Deed.INSERTED, spot.file)


def checkpoint_seal(spot: Spot) -> str:
    """The seal of a checkpoint that there is one beside."""
    mark = seal_of(spot.line)
    if mark is None:
        raise NotHere
    return mark


def mac_beside(spot: Spot) -> str:
    """The mac of a record that there is one beside."""
    mac = mac_of(spot.line)
    if mac is None:
        raise NotHere
    return mac


@forge
def change_a_mac(spot: Spot) -> Found:
    mac = mac_beside(spot)
    spot.put(line_of(body_of(spot.line), seal_of(spot.line), 0, mac=mac[::-1]))
    return Found(spot.seq, Deed.RESEALED if spot.head >= spot.seq else Deed.FORGED, spot.file)


@forge
def take_a_mac_off(spot: Spot) -> Found:
    mac_beside(spot)
    spot.put(line_of(body_of(spot.line), seal_of(spot.line), 0))
    return Found(spot.seq, Deed.UNSEALED if spot.head >= spot.seq else Deed.FORGED, spot.file)


@forge
def change_a_seal(spot: Spot) -> Found:
    mark = checkpoint_seal(spot)
    spot.put(
        line_of(
            body_of(spot.line),
            mark[:-1] + ("0" if mark[-1] != "0" else "1"),
            0,
            mac=mac_of(spot.line),
        )
    )
    return Found(spot.seq, Deed.RESEALED, spot.file)


@forge
def change_a_seal_into_none(spot: Spot) -> Found:
    checkpoint_seal(spot)
    spot.put(line_of(body_of(spot.line), "trust me", 0, mac=mac_of(spot.line)))
    return Found(spot.seq, Deed.RESEALED, spot.file)


@forge
def seal_with_another_key(spot: Spot) -> Found:
    checkpoint_seal(spot)
    spot.put(
        line_of(
            body_of(spot.line),
            seal(OTHER_KEY, f"checkpoint:{ONE}:{hash_of(spot.line)}"),
            0,
            mac=mac_of(spot.line),
        )
    )
    return Found(spot.seq, Deed.RESEALED, spot.file)


@forge
def take_a_seal_off(spot: Spot) -> Found:
    checkpoint_seal(spot)
    spot.put(line_of(body_of(spot.line), None, 0, mac=mac_of(spot.line)))
    return Found(spot.seq, Deed.UNSEALED, spot.file)


@forge
def change_how_long_it_took(spot: Spot) -> None:
    spot.put(spot.line.replace(b'"took":4', b'"took":9', 1))


def positions(draft: Draft) -> dict[str, int]:
    """Kinds of places in a chain, each with a record there; a record is taken once."""
    seqs = draft.seqs()
    segments = [list(map(seq_of, lines)) for lines in draft.segments.values()]
    head = int(draft.said_head()["seq"])
    checkpoints = draft.checkpoints()
    found = {
        "first": seqs[0],
        "last": seqs[-1],
        "head": head,
        "behind the head": min(head + 1, seqs[-1]),
        "end of a segment": segments[0][-1],
        "beginning of a segment": segments[-1][0],
        "checkpoint": checkpoints[0],
        "middle": seqs[len(seqs) // 2],
    }
    taken = {seq: where for where, seq in reversed(found.items())}
    return {where: seq for seq, where in taken.items()}


def cases() -> Iterator[object]:
    """Each trail, sealed and not, with each thing done to it."""
    for trail, make in TRAILS.items():
        for key, mark in ((None, "unsealed"), (KEY, "sealed")):
            drafts, other = make(key), make(key, "another copy")
            for name, do in FORGES.items():
                done = {}
                for where, seq in positions(drafts[ONE]).items():
                    spot = Spot(drafts.copy(), other, seq)
                    with suppress(NotHere):
                        done[where] = (do(spot), spot.drafts)
                if done:
                    yield pytest.param(done, id=f"{trail}, {mark}: {name}")


@pytest.mark.parametrize("done", list(cases()))
def test_what_was_done_is_found_and_named(
    done: dict[str, tuple[Found | None, Drafts]], tmp_path: Path
) -> None:
    for where, (found, drafts) in done.items():
        report = verify(drafts.write(tmp_path / where), drafts.key)
        if found is None:
            assert report.faults == (), where
            continue
        (fault,) = report.faults
        assert (fault.chain, fault.seq, fault.deed) == (ONE, found.seq, found.deed), (where, fault)
        assert found.file in ("", fault.file), (where, fault)
        assert not report.whole


def test_the_table_is_not_empty() -> None:
    assert len(list(cases())) > 300
    assert {
        make(key)[ONE].said_head()["closed"] for make in TRAILS.values() for key in (None, KEY)
    } == {True, False}


@pytest.mark.parametrize("key", [None, KEY], ids=["unsealed", "sealed"])
@pytest.mark.parametrize("make", TRAILS.values(), ids=TRAILS)
def test_an_untouched_trail_is_whole(
    make: Callable[..., Drafts], key: bytes | None, tmp_path: Path
) -> None:
    drafts: Drafts = make(key)
    report = verify(drafts.write(tmp_path / "trail"), key)
    assert report.whole
    assert {chain.id: chain.records for chain in report.chains} == {
        name: len(draft.seqs()) for name, draft in drafts.chains.items()
    }
