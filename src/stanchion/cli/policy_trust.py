"""`stanchion policy trust`: an operator's word that a policy may loosen what is in force, and who
has given it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.cli.answerers import answerer
from stanchion.cli.loosening_lines import loosening_lines
from stanchion.cli.operator_options import answered
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import StoreLost
from stanchion.policy.differences import differences
from stanchion.policy.load import compile_document, read_policy
from stanchion.policy.loosening import loosenings
from stanchion.runtime.operating.admission import keep_text, last_text
from stanchion.runtime.operating.load import stored_trust
from stanchion.runtime.standing.places import MEMORY, store_name
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import file_of, open_store
from stanchion.stores.protocol import StoreError

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy


def trust(args: argparse.Namespace) -> int:
    """Have a policy trusted, by its hash, in one environment or in none."""
    name = args.policies[0]
    env = args.env[0] if args.env and args.env[0] else None
    document = read_policy(name).variant(env)
    policy = compile_document(document, imports=False)
    hashed = policy.hash
    said = {"policy": str(name), "env": env, "why": args.why}
    request = Request(purpose=Purpose.POLICY, tenant=FLEET, subject=hashed, said=said)

    tell(f"{name} has the hash {hashed}")

    def said_so(shield: Shield) -> int:
        put_lines(_changes(last_text(shield, document, env), policy))
        sys.stdout.flush()
        shield.act(request, answerer(args, shield))
        keep_text(shield, document, env)
        tell(f"{name} is trusted as it is now: hash {hashed}")
        return 0

    return answered(args, said_so)


def _changes(old: CompiledPolicy | None, new: CompiledPolicy) -> Iterator[str]:
    """What a policy changes of the one that was trusted last, for whoever is about to trust it."""
    if old is None:
        yield "no policy of this name was trusted before: there is nothing to compare it with"
        return
    terminal = Terminal.of_stdout()
    yield f"compared with what was trusted last, hash {old.hash}:"
    yield from loosening_lines(loosenings(old, new), terminal)
    for change in differences(old, new):
        yield f"{change.kind}  {visible(change.what)}"


class ProjectTrust:
    """Trust in what operators have signed, by the store of the project around the working
    directory."""

    def trusts(self, policy_hash: str, policy: CompiledPolicy, /) -> bool:
        """Whether one has said yes to a policy with that hash; nobody has where nothing is kept
        yet."""
        try:
            name = str(store_name(None, os.environ, whose(None)))
            path = file_of(name)
            if name == MEMORY or (path is not None and not os.path.lexists(path)):
                return False
            store = open_store(name, wall_ms, reading=True)
            try:
                return stored_trust(store, ()).trusts(policy_hash, policy)
            finally:
                store.close()
        except (BadInput, OSError, StoreError, StoreLost):
            return False
