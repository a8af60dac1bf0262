"""What the locks guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "locks.held": Words(
            "`{}` is locked by agent `{}` until {}",
            "work on something else, and try again after that time",
            "run `{3}` has locked it",
        ),
        "locks.waits": Words(
            "`{}` is locked by agent `{}` until {}, and {} calls are waiting ahead of this one",
            "wait and try again",
            "run `{4}` has locked it",
        ),
        "locks.deadlock": Words(
            "waiting for `{}` would never end: agent `{}` waits for something that this run has "
            "locked",
            "release what you have locked, or finish with it, and try again",
            "it is run `{2}`",
        ),
        "locks.missing": Words(
            "`{}` may not be changed: this run has not locked it", "call `lock_file` for it first"
        ),
        "locks.full": Words(
            "{} locks are held, and no more may be",
            "release what you no longer need, or change fewer files in one call",
        ),
        "locks.conflict": Words(
            "`{}` is handed over, and agent `{}` has locked it until {}",
            "hand over without it, or wait until it is released",
            "run `{3}` has locked it",
        ),
    }
)
