"""What the evidence guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "evidence.untested": Words(
            "code was changed (`{}`), and {}",
            "run the tests as a command of their own, such as `{2}`, fix what fails, and then "
            "repeat this step",
        ),
        "evidence.unlinted": Words(
            "code was changed (`{}`), and {}",
            "run the linter on the changed code, and fix what it finds",
        ),
        "evidence.unreviewed": Words(
            "`{}` needs a review by an agent in role `{}`, and {}",
            "have it review the changes as they are now, and then repeat this step",
        ),
        "evidence.branch": Words(
            "`{}` would change branch `{}`, and only these may be changed: {}",
            "switch to a branch that may be changed, and then repeat this step",
        ),
        "evidence.branch_unknown": Words(
            "it is not known which branch `{}` would change, and only these may be changed: {}",
            "name the branch, or switch to it with a command of its own first",
        ),
        "evidence.undocumented": Words(
            "a public interface was changed (`{}`), and no documentation was",
            "say in the documentation what has changed, in the same commit",
        ),
        "evidence.unfounded": Words(
            "the text says that {}, but {}",
            "run them and check the result, or say plainly that you did not run them or that they "
            "failed",
        ),
        "evidence.refuted": Words(
            "the text says that {}, but {}",
            "say what came of them, or put it right and run them again, and then repeat this step",
        ),
    }
)
