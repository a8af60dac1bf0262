"""`stanchion policy trust`: an operator's word that a policy may loosen what is in force, and who has given it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final

from stanchion.approvals.act import Purpose
from stanchion.approvals.errors import OperatorKeyError, TicketError
from stanchion.audit.errors import TrailError
from stanchion.cli.answerers import answerer
from stanchion.cli.operating import loaded
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import StoreLost
from stanchion.policy.load import policy_hash
from stanchion.runtime.acts import Request
from stanchion.runtime.loading import stored_trust
from stanchion.runtime.places import MEMORY, store_name
from stanchion.stores.memory import wall_ms
from stanchion.stores.opening import file_of, open_store
from stanchion.stores.protocol import StoreError

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy

REFUSED: Final = 1


def trust(args: argparse.Namespace) -> int:
    """Have a policy trusted, by its hash, in one environment or in none."""
    name = args.policies[0]
    env = args.env[0] if args.env and args.env[0] else None
    hashed = policy_hash(name, env)
    said = {"policy": str(name), "env": env, "why": args.why}
    try:
        with loaded(args) as shield:
            request = Request(purpose=Purpose.POLICY, tenant=FLEET, subject=hashed, said=said)
            shield.act(request, answerer(args, shield))
    except OperatorKeyError as error:
        raise BadInput(str(error)) from None
    except TicketError as error:
        say(sys.stderr, f"stanchion: {error}")
        return REFUSED
    except (StoreLost, TrailError) as error:
        raise BadInput(str(error)) from None
    say(sys.stdout, f"{name} is trusted as it is now: hash {hashed}")
    return 0


class ProjectTrust:
    """Trust in what operators have signed, by the store of the project around the working directory."""

    def trusts(self, policy_hash: str, policy: CompiledPolicy, /) -> bool:
        """Whether one has said yes to a policy with that hash; nobody has where nothing is kept yet."""
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
