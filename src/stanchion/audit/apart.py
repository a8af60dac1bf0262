"""A record in two parts: its skeleton, which is bound into the chain, and what was said, which can
be erased.

The skeleton ends with the hash of the other part. So what was said cannot be changed, and the chain
does not depend on its being there. It begins with a salt: nobody can guess from a hash what stood
there, however short it was.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256, shake_256
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.audit.record import (
    DEFAULT,
    GENESIS,
    KINDS,
    LONGEST,
    RISKS,
    VERSION,
    Quiet,
    RecordedFinding,
    RecordEntry,
    canonical,
    digest_of,
    encoded,
    plain,
    safe,
    spelled_out,
)
from stanchion.audit.repeated import Brief
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Answer
from stanchion.kernel.state import Stake
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.units import Amounts

SALT: Final = 16
"""How many bytes a salt has."""
AT_ONCE: Final = 64
"""How many salts are made at once."""
NO_SALT: Final = "0" * 2 * SALT
"""The salt of records that nobody but their own process sees."""

ERASED: Final = {"$withheld": "it was erased"}
"""What stands for content that was erased."""

TOO_LONG: Final = "the text it was made from is too long to be kept"


class RecordParts(NamedTuple):
    """The exact bytes of a record's parts; the second is empty where there is nothing to say.
    `whole` tells that nothing had to be left out because it was too long."""

    body: bytes
    kept: bytes = b""
    whole: bool = True


class ContentApart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What stands apart of a decision. `said` has arguments and text of its findings, then of those
    in shadow mode."""

    salt: str
    content: Any = None
    beside: dict[str, Any] = {}
    said: tuple[tuple[tuple[Any, ...], str], ...] = ()
    notes: tuple[str, ...] = ()
    late: tuple[Finding, ...] = ()
    stakes: tuple[Stake, ...] = ()
    records: tuple[tuple[str, int, Any], ...] = ()
    left: str = ""
    answers: tuple[tuple[str, Answer], ...] = ()
    refused: tuple[tuple[str, int, Any], ...] = ()


_ELSEWHERE: Final[dict[str, Any]] = {
    "content": None,
    "beside": {},
    "notes": (),
    "late": (),
    "stakes": (),
    "records": (),
    "left": "",
    "answers": (),
    "refused": (),
}
"""The fields that stand apart under the name that they have in the record, as a skeleton has them:
these are their defaults, so that they are left out of it."""


@cache
def _entry() -> Callable[[bytes], RecordEntry]:
    """Reads a skeleton; made when the first is read."""
    return typed.reader(RecordEntry).decode


@cache
def _told() -> Callable[[bytes], ContentApart]:
    """Reads what stands apart."""
    return typed.reader(ContentApart).decode


class Salts:
    """The salts of a process's records: nobody has one who knows neither the process's secret nor
    the record."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._made: tuple[str, int, str] = ("", 0, "")

    def of(self, chain: str, seq: int) -> str:
        """The salt of one record. Those of its neighbours are made along with it."""
        at = seq % AT_ONCE
        known, first, digits = self._made
        if known != chain or first != seq - at:
            # The secret comes first, and what is made from it does not tell the state that it was
            # made in.
            digits = shake_256(b"%b:%b:%d" % (self._secret, chain.encode(), seq - at)).hexdigest(
                AT_ONCE * SALT
            )
            self._made = (chain, seq - at, digits)
        return digits[at * 2 * SALT : (at + 1) * 2 * SALT]


def encode(entry: RecordEntry, salt: str = NO_SALT, brief: Brief | None = None) -> RecordParts:
    """The canonical bytes: what is hashed is what is kept. Content that is too long is kept as its
    length and hash. With `brief` that stands in the place of what it is about."""
    try:
        parts = _encode(entry, salt, brief)
        if _fits(parts):
            return parts
        is_data = True
    except (UnicodeEncodeError, TypeError):
        is_data = False
    if brief is not None:
        entry = msgspec.structs.replace(
            entry, policy=brief.policy, records=brief.records, left=brief.left
        )
    if not is_data:
        entry = typed.convert(spelled_out(msgspec.to_builtins(entry, enc_hook=plain)), RecordEntry)
        parts = _encode(entry, salt)
        if _fits(parts):
            return parts
    shorter = msgspec.structs.replace(entry, content=digest_of(entry.content))
    parts = _encode(shorter, salt)
    if not _fits(parts):
        parts = _encode(_shortened(shorter), salt)
    return parts._replace(whole=False)


def _fits(parts: RecordParts) -> bool:
    return len(parts.body) + len(parts.kept) <= LONGEST


def _encode(entry: RecordEntry, salt: str, brief: Brief | None = None) -> RecordParts:
    policy, records, left = (entry.policy, entry.records, entry.left) if brief is None else brief
    findings, shadow = entry.findings, entry.shadow
    said: tuple[Any, ...] = ()
    if findings or shadow:
        each = (*findings, *shadow)
        if any(one.args or one.text for one in each):
            said = tuple([(one.args, one.text) for one in each])
            findings, shadow = _bare(findings), _bare(shadow)
    told = ContentApart(
        salt,
        entry.content,
        entry.beside,
        said,
        entry.notes,
        entry.late,
        entry.stakes,
        records,
        left,
        entry.answers,
        entry.refused,
    )
    if findings or shadow or told != ContentApart(salt, entry.content, records=records, left=left):
        skeleton = msgspec.structs.replace(
            entry, policy=policy, findings=findings, shadow=shadow, **_ELSEWHERE
        )
    else:
        skeleton = msgspec.structs.replace(entry, policy=policy, content=None, records=(), left="")
    return bound(canonical(skeleton), canonical(told), salt)


class Template(msgspec.Struct, frozen=True, gc=False):
    """What a record says between what is each event's own: its place in the chain, its time, id and
    call, and what the store has answered."""

    kind: str
    run: str
    policy: str
    agent: str
    tool: str
    can: str


def template_of(
    event: Event, policy: str, passed: tuple[str, ...], can: tuple[int, ...], amounts: Amounts
) -> Template:
    """The template of the records of events as this one, which are decided straight under a
    policy. It is taken from a record as it is encoded otherwise, so that both say the same."""
    run = event.run
    tenant = DEFAULT if run.tenant == DEFAULT else run.tenant
    entry = RecordEntry(
        VERSION, GENESIS, 0, "", KINDS[event.stage], 0, "", run.id, event.stage,
        NAMES[Action.ALLOW], policy, tenant, run.agent, run.task, "?", event.tool,
        RISKS[event.risk], event.traits, passed=passed, amounts=amounts,
    )  # fmt: skip
    # What stands in a text cannot look like a field: its quotes are escaped.
    _, _, rest = _text(entry).partition('"chain":""')
    kind, _, rest = rest.partition('0,"id":""')
    named, _, rest = rest.partition('"policy":"')
    agent, _, tool = rest[len(policy) :].partition(',"call":"?"')
    told = f',"can":{_text(can)}' if can else ""
    return Template(kind, f'{named}"policy":"', policy, agent, tool[:-1], told)


def encode_quiet(
    template: Template,
    quiet: Quiet,
    moment: Moment,
    decision: Decision,
    seq: int,
    prev: str,
    chain: str,
    salt: str = NO_SALT,
    brief: Brief | None = None,
) -> RecordParts:
    """The canonical bytes of a quiet event's record."""
    reply, settles = decision.inputs.reply, moment.settles
    policy, records, left = (template.policy, quiet.records, "") if brief is None else brief
    said = ""
    if reply is not None:
        said = f',"now":{reply.now}' if reply.now else ""
        if reply.values:
            said += f',"values":{_text(reply.values)}'
        if reply.settled:
            said += f',"settled":{_text(reply.settled)}'
    call = f',"call":{_text(quiet.call)}' if quiet.call else ""
    settled = f',"settles":{_text(settles)}' if settles else ""
    body = (
        f'{{"v":{VERSION},"prev":"{prev}","seq":{seq},"chain":"{chain}"{template.kind}'
        f'{moment.events[0].at},"id":{_text(decision.id)}{template.run}{policy}{template.agent}'
        f"{call}{template.tool}{settled}{template.can}{said}"
    )
    content = "" if quiet.content is None else f',"content":{_text(quiet.content)}'
    beside = f',"beside":{_text(quiet.beside)}' if quiet.beside else ""
    judged_on = f',"records":{_text(records)}' if records else ""
    as_left = f',"left":"{left}"' if left else ""
    answers = f',"answers":{_text(quiet.answers)}' if quiet.answers else ""
    told = f"{content}{beside}{judged_on}{as_left}{answers}"
    if not told:
        return RecordParts(safe(f"{body}}}".encode()))
    kept = safe(f'{{"salt":"{salt}"{told}}}'.encode())
    return RecordParts(safe(f'{body},"holds":"{sha256(kept).hexdigest()}"}}'.encode()), kept)


def _text(value: Any) -> str:
    return encoded(value).decode()


def bound(body: bytes, kept: bytes, salt: str) -> RecordParts:
    """A skeleton that holds the other part; that one is left out where it has nothing but its
    salt."""
    if len(kept) <= len(salt) + len('{"salt":""}'):
        return RecordParts(body)
    return RecordParts(b'%b,"holds":"%b"}' % (body[:-1], sha256(kept).hexdigest().encode()), kept)


def _bare(findings: tuple[RecordedFinding, ...]) -> tuple[RecordedFinding, ...]:
    return tuple([RecordedFinding(one.guard, one.action, one.code) for one in findings])


def _shortened(entry: RecordEntry) -> RecordEntry:
    """What is too long by more than its content: what it was made from becomes one digest."""
    made_from = digest_of([entry.beside, entry.records, entry.answers])
    return msgspec.structs.replace(
        entry,
        beside={"$digest": made_from},
        records=(),
        answers=(),
        left="",
        notes=(*entry.notes, TOO_LONG),
    )


def is_erased(body: bytes, kept: bytes) -> bool:
    """Whether what stood apart of a record is there no more, or only a piece of it is."""
    return (
        not kept.startswith(b'{"salt":"')
        and body.endswith(b'"}')
        and body[-76:].startswith(b',"holds":"')
    )


def entry_from(body: bytes, kept: bytes) -> RecordEntry:
    """The record of a decision, joined again; what was erased of it says so."""
    entry = _entry()(body)
    if not kept or is_erased(body, kept):
        return msgspec.structs.replace(entry, content=ERASED) if is_erased(body, kept) else entry
    told = _told()(kept)
    changes = {name: getattr(told, name) for name in _ELSEWHERE}
    if told.said:
        count = len(entry.findings)
        changes["findings"] = _joined(entry.findings, told.said[:count])
        changes["shadow"] = _joined(entry.shadow, told.said[count:])
    return msgspec.structs.replace(entry, **changes)


def _joined(
    findings: tuple[RecordedFinding, ...], said: tuple[tuple[tuple[Any, ...], str], ...]
) -> tuple[RecordedFinding, ...]:
    each = zip(findings, said, strict=False)
    return tuple(
        [RecordedFinding(one.guard, one.action, one.code, args, text) for one, (args, text) in each]
    )


def data_from(body: bytes, kept: bytes) -> dict[str, Any]:
    """Any record as data, joined again."""
    data: dict[str, Any] = msgspec.json.decode(body)
    data.pop("holds", None)
    if not kept or is_erased(body, kept):
        return {**data, "content": ERASED} if is_erased(body, kept) else data
    apart: dict[str, Any] = msgspec.json.decode(kept)
    apart.pop("salt", None)
    found = [*data.get("findings", ()), *data.get("shadow", ())]
    for one, (args, text) in zip(found, apart.pop("said", ()), strict=False):
        one |= ({"args": args} if args else {}) | ({"text": text} if text else {})
    return {**data, **apart}
