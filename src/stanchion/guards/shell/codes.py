"""The words of the shell guard: families of dangers, and what an agent reads of them."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

SAID: Final = "`{}`{} {}"

FAMILIES: Final = {
    "tampering": (
        "leave records and Stanchion's own files, variables and processes alone; a person changes "
        "the policy"
    ),
    "destructive": (
        "delete only what you made, by its exact path in the working directory; ask a "
        "person for more"
    ),
    "remote_code": "save it to a file, read it, then run the steps you need openly",
    "exfiltration": (
        "send only what the task asks for, by the tool that is meant for it; secrets "
        "stay where they are"
    ),
    "privilege": (
        "work with the rights you have; say which single right is missing and let a person give it"
    ),
    "persistence": (
        "do the step now and once; where something has to run by itself, propose it to a person"
    ),
    "exhaustion": (
        "stop only the process you started, by its id; let a person stop servers and machines"
    ),
    "database": (
        "bound the statement by a condition, try it as a SELECT first, and let a person "
        "drop or empty things"
    ),
    "service": (
        "say what it would do, and to whom, and let a person do it; try `--dry-run` where the "
        "command has it"
    ),
    "git": "commit or copy what is there first, and push without force to your own branch",
    "credentials": (
        "use the tool that holds the key instead of reading it; say which access is missing"
    ),
}
"""What to do instead, by family, in the order in which they are looked for."""

CODES: Final = declare(
    {
        **{f"shell.{name}": Words(SAID, instead) for name, instead in FAMILIES.items()},
        "shell.not_allowed": Words(
            "`{}`{} is not among the commands that are allowed: {}",
            "do the step with those, or ask for this one",
        ),
        "shell.unclear": Words(
            "what `{}` would run cannot be determined: {}",
            "write it as plain commands, one step at a time",
        ),
        "shell.scrambled": Words(
            "`{}` is scrambled, so that nobody can read what it runs",
            "write it as plain commands, one step at a time",
        ),
        "shell.malformed": Words("no shell accepts `{}`: {}", "write the command again"),
    }
)
