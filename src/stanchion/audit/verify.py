"""Verifying a trail: whether it is as it was written, and if not, what was done to it where.

What does it is in `verifying`, which shares no code with the rest of Stanchion and runs without it.
"""

from __future__ import annotations

import sys

from stanchion.audit.verifying.command import main
from stanchion.audit.verifying.report import (
    CannotVerify,
    Chain,
    Deed,
    Fault,
    Remark,
    Report,
    Witnessed,
    as_json,
    as_text,
    verdict,
)
from stanchion.audit.verifying.verify import Progress, verify
from stanchion.audit.verifying.witness import Witness, read_witness

__all__ = [
    "CannotVerify",
    "Chain",
    "Deed",
    "Fault",
    "Progress",
    "Remark",
    "Report",
    "Witness",
    "Witnessed",
    "as_json",
    "as_text",
    "main",
    "read_witness",
    "verdict",
    "verify",
]

if __name__ == "__main__":
    sys.exit(main())
