"""Commands of a list, run in a sandbox: what is not on the list does not run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from stanchion.runtime.sandbox.sandbox import Confined, Sandbox


class Commands:
    """Runs commands that begin with the words of one of `programs`, and no others; without any,
    nothing runs.

    `cat` allows every command of that program, `git log` only those with this first argument. A
    command may write only if `writes` is true and it asks for it. There is no shell: `;`, `|` and
    `>` are words like others.
    """

    def __init__(
        self, sandbox: Sandbox, programs: Iterable[str] = (), writes: bool = False
    ) -> None:
        if isinstance(programs, str):
            raise TypeError(f"`programs` is the text `{programs}`: give a list of programs")
        self._sandbox, self._writes = sandbox, writes
        self._allowed = {tuple(shlex.split(program)) for program in programs}
        if () in self._allowed:
            raise ValueError("one of `programs` is empty: name a program")

    def run(self, command: str | Iterable[str], write: bool = False) -> Confined:
        """Run a command, given as its words or as one text; one that may not run has not `ended`,
        and says why."""
        try:
            words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            return Confined(False, why=f"it cannot be read: {str(error).lower()}")
        why = self._refused(words, write)
        return Confined(False, why=why) if why else self._sandbox.run(words, write)

    def _refused(self, words: list[str], write: bool) -> str:
        if not words or any("\0" in word for word in words):
            return "it has no words that can be run"
        if not any(tuple(words[: len(allowed)]) == allowed for allowed in self._allowed):
            listed = ", ".join(sorted(map(shlex.join, self._allowed)))
            return (
                f"`{words[0]}` may not run so: "
                f"{f'what may is {listed}' if listed else 'nothing may run here'}"
            )
        return "it may not write here" if write and not self._writes else ""
