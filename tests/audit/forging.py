"""Trails made by hand from the page of their format, and what is needed to forge them.

Nothing here uses the library's writer: a trail that both sides make, and both sides accept, is what
the page says.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

KEY: Final = bytes(range(100, 132))
OTHER_KEY: Final = bytes(range(32))
GENESIS: Final = "0" * 64
ONE: Final = "1111111111111111"
TWO: Final = "2222222222222222"
THREE: Final = "3333333333333333"


def key_id(key: bytes) -> str:
    """The id under which a key seals."""
    return sha256(b"stanchion-audit-key:" + key).hexdigest()[:16]


def seal(key: bytes, text: str) -> str:
    """A seal made with a key that both sides know."""
    return f"hmac-sha256:{key_id(key)}:{hmac.new(key, text.encode(), 'sha256').hexdigest()}"


def dumped(value: Any) -> bytes:
    """JSON as the writer spells it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def line_of(
    body: bytes,
    seal_: str | None = None,
    took: int = 41_234,
    hash_: str | None = None,
    mac: str | None = None,
) -> bytes:
    """A line around a body, with its line feed."""
    stated = sha256(body).hexdigest() if hash_ is None else hash_
    proof = "" if mac is None else f'"mac":"{mac}",'
    beside = "" if seal_ is None else f'"seal":"{seal_}",'
    return b'{"hash":"%b",%b"took":%d,%b"body":%b}\n' % (
        stated.encode(),
        proof.encode(),
        took,
        beside.encode(),
        body,
    )


def body_of(line: bytes) -> bytes:
    """The body of a line."""
    return line[line.index(b',"body":') + 8 : -2]


def hash_of(line: bytes) -> str:
    """The hash that a line's body has."""
    return sha256(body_of(line)).hexdigest()


def seal_of(line: bytes) -> str | None:
    """The seal beside a line's body."""
    said = json.loads(line).get("seal")
    assert said is None or isinstance(said, str)
    return said


def mac_of(line: bytes) -> str | None:
    """The mac beside a line's body."""
    said = json.loads(line).get("mac")
    assert said is None or isinstance(said, str)
    return said


@cache
def seq_of(line: bytes) -> int:
    """The number of a line's record."""
    seq = json.loads(line)["body"]["seq"]
    assert isinstance(seq, int)
    return seq


@dataclass
class Draft:
    """One chain in the making: its lines by segment, and its head."""

    id: str
    key: bytes | None = None
    salt: str = ""
    """Told by every record, so that two chains of one id can differ."""
    segments: dict[int, list[bytes]] = field(default_factory=dict)
    head: bytes | None = None
    seq: int = 0
    prev: str = GENESIS
    tail: bytes = b""
    """What a crash left behind the last line."""
    mac_key: bytes = b""
    """The key of the next record's mac."""

    def begin(self) -> Draft:
        """Begin the next segment."""
        number = max(self.segments, default=0) + 1
        self.segments[number] = []
        if self.key is None:
            return self.add("segment", number=number)
        self.mac_key = hmac.digest(
            self.key, f"stanchion-epoch:{self.id}:{self.seq}".encode(), "sha256"
        )
        return self.add("segment", number=number, epoch=f"{key_id(self.key)}:0")

    def add(self, kind: str, **fields: Any) -> Draft:
        """Add one record; a checkpoint gets its seal."""
        body = {"v": 3, "prev": self.prev, "seq": self.seq, "chain": self.id, "kind": kind}
        body |= {"at": 1_700_000_000_000 + self.seq, **fields, "salt": self.salt}
        return self.put(dumped(body), kind)

    def put(self, body: bytes, kind: str = "") -> Draft:
        """Add a record that has these bytes."""
        self.prev, self.seq = sha256(body).hexdigest(), self.seq + 1
        mac = None
        if self.mac_key:
            mac = hmac.digest(self.mac_key, self.prev.encode(), "sha256").hex()
            self.mac_key = sha256(b"stanchion-next:" + self.mac_key).digest()
        line = line_of(body, mac=mac)
        if kind == "checkpoint" and self.key is not None:
            line = line_of(body, seal(self.key, f"checkpoint:{self.id}:{self.prev}"), 0, mac=mac)
        self.segments[max(self.segments)].append(line)
        return self

    def work(self, count: int) -> Draft:
        """Add some decisions, as they are in a trail."""
        for number in range(count):
            kind = ("intent", "outcome", "event")[number % 3]
            self.add(
                kind, id=f"{self.seq:04x}", tool="bash", args={"command": f"make «{self.seq}»"}
            )
        return self

    def checkpoint(self, *others: Draft) -> Draft:
        """Add a checkpoint that names the heads of other chains as they are."""
        heads = {}
        for other in others:
            head = other.said_head()
            heads[other.id] = [head["seq"], head["hash"]]
        return self.add("checkpoint", heads=heads)

    def retire(self, *numbers: int) -> Draft:
        """Add a record that retires segments; `forget` removes them."""
        return self.add("retired", segments=[self.facts(number) for number in numbers])

    def facts(self, number: int) -> list[Any]:
        """What a `retired` record says of a segment."""
        lines = self.segments[number]
        first = json.loads(body_of(lines[0]))
        return [number, first["seq"], seq_of(lines[-1]), first["prev"], hash_of(lines[-1])]

    def forget(self, *numbers: int) -> Draft:
        """Remove segments."""
        for number in numbers:
            del self.segments[number]
        return self

    def mark(self, closed: bool = False) -> Draft:
        """Let the head name the last record there is now."""
        segment = max(number for number, lines in self.segments.items() if lines)
        lines = self.segments[segment]
        offset = sum(map(len, lines))
        self.set_head(segment, offset, seq_of(lines[-1]), hash_of(lines[-1]), closed)
        return self

    def set_head(self, segment: int, offset: int, seq: int, hash_: str, closed: bool) -> None:
        """Write the head, sealed where there is a key."""
        said = {
            "chain": self.id,
            "segment": segment,
            "offset": offset,
            "seq": seq,
            "hash": hash_,
            "closed": closed,
        }
        if self.key is not None:
            since = seq_of(self.segments[segment][0])
            text = f"head:{self.id}:{segment}:{offset}:{seq}:{hash_}:{int(closed)}:{since}"
            said["seal"] = seal(self.key, text)
            said["since"] = since
        self.head = dumped(said)

    def said_head(self) -> dict[str, Any]:
        """What the head says."""
        assert self.head is not None
        said: dict[str, Any] = json.loads(self.head)
        return said

    def close(self, *others: Draft) -> Draft:
        """End properly."""
        return self.checkpoint(*others).mark(closed=True)

    def at(self, seq: int) -> tuple[int, int]:
        """The segment and the index in it where a record stands."""
        for number, lines in self.segments.items():
            for index, line in enumerate(lines):
                if seq_of(line) == seq:
                    return number, index
        raise LookupError(seq)

    def line(self, seq: int) -> bytes:
        """A record's line."""
        number, index = self.at(seq)
        return self.segments[number][index]

    def seqs(self) -> list[int]:
        """The numbers of the records that are there."""
        return [seq_of(line) for lines in self.segments.values() for line in lines]

    def checkpoints(self) -> list[int]:
        """The numbers of the checkpoints that are there."""
        lines = [line for lines in self.segments.values() for line in lines]
        return [seq_of(line) for line in lines if b'"kind":"checkpoint"' in line]

    def write(self, folder: Path) -> None:
        """Write the chain into a trail's folder."""
        path = folder / self.id
        path.mkdir(parents=True)
        (path / "lock").touch()
        for number, lines in self.segments.items():
            last = self.tail if number == max(self.segments) else b""
            (path / f"{number:08d}.jsonl").write_bytes(b"".join(lines) + last)
        if self.head is not None:
            (path / "head").write_bytes(self.head)


@dataclass
class Drafts:
    """A trail in the making."""

    chains: dict[str, Draft]
    key: bytes | None = None

    def copy(self) -> Drafts:
        """Another one, to be forged."""
        chains = {
            name: replace(
                draft, segments={number: list(lines) for number, lines in draft.segments.items()}
            )
            for name, draft in self.chains.items()
        }
        return replace(self, chains=chains)

    def write(self, folder: Path) -> Path:
        """Write all chains into a folder, and give it back."""
        folder.mkdir(parents=True, exist_ok=True)
        for chain in self.chains.values():
            chain.write(folder)
        return folder

    def __getitem__(self, chain: str) -> Draft:
        return self.chains[chain]


def single(key: bytes | None = None, salt: str = "") -> Drafts:
    """One chain with one segment, closed, with a checkpoint in its middle."""
    one = (
        Draft(ONE, key, salt)
        .begin()
        .add("open", cut=0, unfit=[])
        .work(4)
        .checkpoint()
        .work(4)
        .close()
    )
    return Drafts({ONE: one}, key)


def several(key: bytes | None = None, salt: str = "") -> Drafts:
    """One chain with three segments, closed."""
    one = Draft(ONE, key, salt).begin().add("open", cut=0, unfit=[]).work(4)
    one.checkpoint().begin().work(5).checkpoint().begin().work(3).close()
    return Drafts({ONE: one}, key)


def crashed(key: bytes | None = None, salt: str = "") -> Drafts:
    """One chain with two segments whose writer crashed: records behind the head, and an incomplete
    line."""
    one = Draft(ONE, key, salt).begin().add("open", cut=0, unfit=[]).work(4)
    one.checkpoint().begin().work(4).mark().work(3)
    one.tail = line_of(b'{"v":3,"prev":"and so on"}')[:50]
    return Drafts({ONE: one}, key)


def many(key: bytes | None = None, salt: str = "") -> Drafts:
    """Three chains that name one another, two of them with several segments; one crashed."""
    one, two, three = (
        Draft(chain, key, salt).begin().add("open", cut=0, unfit=[]) for chain in (ONE, TWO, THREE)
    )
    one.work(3).mark()
    two.work(4).checkpoint(one).begin().work(2).mark()
    three.work(2).mark()
    one.checkpoint(two, three).begin().work(4).mark()
    two.work(3).close(one, three)
    three.work(3).checkpoint(one, two).work(2).mark()
    one.work(2).close(two, three)
    return Drafts({ONE: one, TWO: two, THREE: three}, key)


def retired(key: bytes | None = None, salt: str = "") -> Drafts:
    """One chain of which segments 1, 2 and 4 were retired; 3 was kept for its bypass."""
    one = Draft(ONE, key, salt).begin().add("open", cut=0, unfit=[]).work(2)
    one.checkpoint().begin().work(3).checkpoint().begin().work(1).add("bypass", who="kim").work(2)
    one.checkpoint().begin().work(2).checkpoint().begin().work(2).retire(1, 2).retire(4).work(2)
    one.checkpoint().begin().work(3).close()
    return Drafts({ONE: one.forget(1, 2, 4)}, key)


def forged_body(body: bytes) -> bytes:
    """A body that tells another time, and is as long."""
    return body.replace(b'"at":17', b'"at":18', 1)


def relinked(
    lines: list[bytes], prev: str, key: bytes | None, old_seals: bool
) -> tuple[list[bytes], str]:
    """Lines made anew so that each follows from the one before; gives the hash of the last as
    well."""
    made = []
    for line in lines:
        body = json.loads(body_of(line)) | {"prev": prev}
        encoded = dumped(body)
        prev = sha256(encoded).hexdigest()
        mark = seal_of(line) if old_seals else None
        if key is not None and body["kind"] == "checkpoint":
            mark = seal(key, f"checkpoint:{body['chain']}:{prev}")
        made.append(line_of(encoded, mark, mac=mac_of(line) if old_seals else None))
    return made, prev


def rewrite(draft: Draft, seq: int, key: bytes | None = None, old_seals: bool = True) -> None:
    """Change a record and make everything behind it anew, as somebody without the trail's key
    does."""
    number, index = draft.at(seq)
    lines = draft.segments[number]
    prev = json.loads(body_of(lines[index]))["prev"]
    forged = forged_body(body_of(lines[index]))
    lines[index] = line_of(forged, seal_of(lines[index]), mac=mac_of(lines[index]))
    for later in [each for each in draft.segments if each >= number]:
        start = index if later == number else 0
        lines = draft.segments[later]
        if later > number and later - 1 not in draft.segments:
            return  # what is retired between names the hashes it had
        lines[start:], prev = relinked(lines[start:], prev, key, old_seals)


def move_head(draft: Draft, key: bytes | None = None, old_seal: bool = True) -> None:
    """Let the head name what stands in its place now, or the last record, without the trail's
    key."""
    said, real = draft.said_head(), draft.key
    draft.key = key
    number, index = draft.at(min(said["seq"], draft.seqs()[-1]))
    lines = draft.segments[number][: index + 1]
    closed = said["closed"] and b'"kind":"checkpoint"' in lines[-1]
    draft.set_head(number, sum(map(len, lines)), seq_of(lines[-1]), hash_of(lines[-1]), closed)
    draft.key = real
    if old_seal and "seal" in said:
        draft.head = dumped({**draft.said_head(), "seal": said["seal"]})


def claimed(drafts: Drafts, chain: str) -> list[int]:
    """The numbers of a chain's records that checkpoints of other chains name."""
    lines = [
        line
        for other in drafts.chains.values()
        for lines in other.segments.values()
        for line in lines
    ]
    bodies = [json.loads(body_of(line)) for line in lines if b'"kind":"checkpoint"' in line]
    return sorted(body["heads"][chain][0] for body in bodies if chain in body["heads"])
