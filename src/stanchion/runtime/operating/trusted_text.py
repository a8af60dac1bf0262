"""The text of a policy that operators have trusted last, by its name and environment: what the next
one is compared with. It is as good as the trust in its hash; a text that has another is none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from stanchion.kernel.compare_and_set import change
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import key
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import compile_document, policy_file, read_policy
from stanchion.runtime.driving.sync import drive

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.policy.document import Document
    from stanchion.runtime.operating.grounds import Operated


def keep_text(shield: Operated, document: Document, env: str | None) -> None:
    """Keep a policy that was just trusted, as it is in its environment."""
    value = document.root.data()
    drive(
        change(
            shield.records,
            f"text-{os.urandom(8).hex()}",
            FLEET,
            _key(document, env),
            lambda *_: value,
        ),
        shield,
    )


def last_text(shield: Operated, document: Document, env: str | None) -> CompiledPolicy | None:
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
