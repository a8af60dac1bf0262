"""Records that do not bear the mac of the key: written by somebody else, or changed since."""

from __future__ import annotations

from .files import segment_name
from .macs import Marking
from .report import Deed, Fault
from .seals import RATCHET, Sealing
from .seen import BadMac
from .walk import Walk


def mac_fault(walk: Walk, bad: BadMac, vouched: int, head: Sealing | None) -> Fault:
    """Say what a record is that does not bear the mac of the key.

    `vouched` is the last record that a seal of the key stands behind, `head` what the seal of the
    head is. A writer with a shared secret checks what it goes on from, so its seals stand behind
    all that is before; one with a key that ratchets cannot, and seals only what it wrote.
    """
    seq, checks = bad.seq, walk.key is not None and walk.key.algorithm != RATCHET
    sealed = walk.sealed > 0 or (walk.head is not None and walk.head.seal is not None)
    other = bad.marking is Marking.OTHER_KEY or (
        bad.marking is Marking.MISSING and head is Sealing.OTHER_KEY
    )
    if other and not (checks and vouched >= seq):
        deed = Deed.REWRITTEN
        said = (
            f"record {seq} was written with another key: the chain was rewritten from there on, or "
            f"the key is wrong"
        )
    elif checks and vouched >= seq and bad.marking is Marking.MISSING:
        deed, said = Deed.UNSEALED, f"the mac of record {seq} was removed"
    elif checks and vouched >= seq:
        deed, said = Deed.RESEALED, f"the mac of record {seq} was changed"
    elif bad.marking is Marking.MISSING and not sealed:
        deed = Deed.UNSEALED
        said = (
            f"record {seq} has no mac: the chain was written without the key, or rewritten "
            f"without it"
        )
    elif bad.marking is Marking.MISSING:
        deed, said = (
            Deed.FORGED,
            f"record {seq} was not written by somebody who had the key: it has no mac",
        )
    else:
        deed, said = (
            Deed.FORGED,
            f"record {seq} was not written by somebody who had the key: its mac does not match",
        )
    return Fault(walk.files.chain, segment_name(bad.number), bad.line, seq, deed, said)
