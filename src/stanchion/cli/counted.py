"""One check that counts: judged on the project's store, as an event of a run, and written to its
trail."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from typing import Any

from stanchion import PolicyError, StanchionError
from stanchion.audit.errors import AuditLost, TrailError
from stanchion.cli.check_runs import JudgedEvent
from stanchion.cli.counted_runs import CountedRuns
from stanchion.cli.events import Report
from stanchion.cli.trouble import BadInput
from stanchion.cli.unresolved import Unasked
from stanchion.cli.whose import whose
from stanchion.kernel.state import StoreLost
from stanchion.policy.compiled import CompiledPolicy
from stanchion.stores.protocol import StoreError


def judge_counted(args: argparse.Namespace, report: Report) -> tuple[JudgedEvent, CompiledPolicy]:
    """Judge an event in its run; what cannot be opened or reached is bad input, and nothing may go
    ahead then."""
    whose(args.project)
    unasked = Unasked(strict=True)
    options: dict[str, Any] = {} if args.env is None else {"env": args.env}
    options |= {} if args.project is None else {"project": args.project}
    options |= {} if args.resolve else {"resolver": unasked}
    try:
        with redirect_stdout(sys.stderr), args.load(args.policy, **options) as shield:
            return CountedRuns(shield, unasked.take).judge(report), shield.policy
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None
    except (StoreError, StoreLost, TrailError, AuditLost, StanchionError) as error:
        raise BadInput(str(error)) from None
