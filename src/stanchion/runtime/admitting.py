"""Admitting a policy on reload: what loosens nothing goes ahead, what loosens needs an operator's trust, all of it is
written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.scopes import FLEET
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyLoosens
from stanchion.policy.load import compile_document, read_policy
from stanchion.policy.loosening import Loosening, loosenings
from stanchion.runtime.veiling import tell

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.runtime.shield import Shield

TOLD: Final = 20
"""How many loosenings a record has in words."""


class Admitted(NamedTuple):
    """A policy that may come into force: as it was read, and with what a shield adds to it."""

    bare: CompiledPolicy
    whole: CompiledPolicy


def admitted(
    shield: Shield,
    old: CompiledPolicy,
    source: str | Path | dict[str, Any],
    by: str,
    enter: Callable[[CompiledPolicy], CompiledPolicy],
) -> Admitted:
    """The policy to put in force, made whole by `enter` and written down; `PolicyLoosens` where it may not be.

    Files are read once, and none of the code that a file names is run before the file is found to be no looser, or
    trusted. What comes from no file is the word of the program that holds the shield.
    """
    read = read_policy(source)
    document = read.variant(shield.env)
    seen = compile_document(document, read.files, imports=False)
    found = loosenings(old, seen)
    origin = str(read.files[0]) if read.files else "mapping" if isinstance(source, dict) else f"pack {source}"
    if found and read.files and not shield.trust.trusts(seen.hash, seen):
        _tell(shield, "policy.refused", (old, seen), origin, by, found)
        raise PolicyLoosens(origin, seen, found)
    new = compile_document(document, read.files)
    whole = enter(new)
    if not _tell(shield, "policy.reloaded", (old, new), origin, by, found) and found:
        raise AuditLost("the trail cannot be written: a policy that loosens does not come into force unrecorded")
    return Admitted(new, whole)


def _tell(
    shield: Shield,
    what: str,
    policies: tuple[CompiledPolicy, CompiledPolicy],
    origin: str,
    by: str,
    found: tuple[Loosening, ...],
) -> bool:
    """Write down what became of a reload; says whether that was possible."""
    old, new = policies
    more = [f"and {len(found) - TOLD} more"] if len(found) > TOLD else []
    why = "; ".join([*map(str, found[:TOLD]), *more])
    data = {"origin": origin, "old_digest": old.hash, "new_digest": new.hash}
    try:
        tell(shield, Fact(shield.clock(), what, f"policy:{new.file.name}", FLEET, "", by, why, data))
    except AuditLost:
        return False
    return True
