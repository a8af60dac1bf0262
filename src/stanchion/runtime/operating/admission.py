"""Admitting a policy on reload: what loosens nothing goes ahead, what loosens needs an operator's
trust, all of it is written down."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import key
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import compile_document, load_policy, policy_file, read_policy
from stanchion.policy.loosens import PolicyLoosens
from stanchion.policy.project_policies import FOUND
from stanchion.policy.sealed import DocumentCache
from stanchion.runtime.driving.sync import change_now
from stanchion.runtime.standing.occurring import remark_on_found
from stanchion.runtime.standing.places import state_or_none
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.policy.document import Document
    from stanchion.policy.loosening import Loosening
    from stanchion.runtime.operating.reload import Policies
    from stanchion.runtime.people.authority import Trust
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
    policies: Policies,
) -> Admitted:
    """The policy to put in force, entered among a shield's `policies` and written down;
    `PolicyLoosens` where it may not be.

    Files are read once, and none of the code that a file names is run before the file is found to
    be no looser, or trusted. What comes from no file is the word of the program that holds the
    shield.
    """
    from stanchion.policy.loosening import loosenings

    offer = _found(shield, old) if source == FOUND else _offered(shield, source, policies.joined)
    loose = loosenings(old, offer.seen)
    if loose and offer.needs_trust and not shield.trust.trusts(offer.seen.hash, offer.seen):
        _tell(shield, "policy.refused", (old, offer.seen), offer.origin, by, loose)
        raise PolicyLoosens(offer.origin, offer.seen, loose)
    new = offer.make()
    whole = policies.enter(new)
    if not _tell(shield, "policy.reloaded", (old, new), offer.origin, by, loose) and loose:
        raise AuditLost(
            "the trail cannot be written: a policy that allows more does not come into force "
            "unrecorded"
        )
    return Admitted(new, whole)


class _Offer(NamedTuple):
    """A policy that wants to come into force: as it looks, how it is made, and whether what it
    loosens needs trust."""

    seen: CompiledPolicy
    make: Callable[[], CompiledPolicy]
    origin: str
    needs_trust: bool


def _offered(shield: Shield, source: str | Path | dict[str, Any], joined: bool) -> _Offer:
    read = read_policy(source)
    document = read.variant(shield.env)
    seen = compile_document(document, read.files, imports=False, joined=joined)
    origin = (
        str(read.files[0])
        if read.files
        else "mapping"
        if isinstance(source, dict)
        else f"pack {source}"
    )
    return _Offer(
        seen,
        lambda: compile_document(document, read.files, joined=joined),
        origin,
        bool(read.files),
    )


def _found(shield: Shield, old: CompiledPolicy) -> _Offer:
    """What counts in the folder by now. Where it loosens nothing without the trusted files, what it
    loosens with them is what their trust is for; a file that is gone, or milder than it was, is
    another matter."""
    from stanchion.policy.found import find_policy
    from stanchion.policy.loosening import loosenings

    found = find_policy(env=shield.env, trusts=shield.trust.trusts)
    remark_on_found(found)
    owed = any(file.trusted for file in found.files) and not loosenings(
        old, find_policy(env=shield.env).seen
    )
    origin = str(found.files[-1].file) if found.files else found.base
    return _Offer(found.seen, found.policy, origin, not owed)


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
        tell(
            shield, Fact(shield.clock(), what, f"policy:{new.file.name}", FLEET, "", by, why, data)
        )
    except AuditLost:
        return False
    return True


def first_policy(
    source: str | Path | dict[str, Any], env: str | None, trust: Trust, joined: bool = False
) -> CompiledPolicy:
    """The policy that a shield begins with, `joined` by guards that were handed in or not; of one
    that is found, what was left out is said."""
    if source != FOUND:
        return load_policy(source, env, DocumentCache(state_or_none(os.environ)), joined)
    from stanchion.policy.found import find_policy

    found = find_policy(env=env, trusts=trust.trusts)
    remark_on_found(found)
    return found.policy()


def keep_text(shield: Shield, document: Document, env: str | None) -> None:
    """Keep a policy that was just trusted, as it is in its environment."""
    value = document.root.data()
    change_now(shield, "text", FLEET, _key(document, env), lambda *_: value)


def last_text(shield: Shield, document: Document, env: str | None) -> CompiledPolicy | None:
    """The policy of that name that was trusted last in that environment, with none of its code run;
    `None` where there is none, or nobody trusts it any more."""
    kept = shield.store.read(_key(document, env))[1]
    if not isinstance(kept, dict):
        return None
    try:
        policy = compile_document(read_policy(kept).variant(None), imports=False)
    except PolicyError:
        return None
    return policy if shield.trust.trusts(policy.hash, policy) else None


def _key(document: Document, env: str | None) -> str:
    name: Any = policy_file(document).name
    return key(FLEET, "trusted_text", str(name), "" if env is None else env)
