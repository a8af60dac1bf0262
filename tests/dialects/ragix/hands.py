"""Commands without a shell: a world with one file of two lines."""

from __future__ import annotations

from stanchion.tutor.law.v1 import is_safe

SHOWS = {
    "test -f a.txt": (0, "", ""),
    "wc -l a.txt": (0, "2 a.txt\n", ""),
    "cat a.txt": (0, "one\ntwo\n", ""),
    "cat b.txt": (1, "", "cat: b.txt: No such file or directory\n"),
    "grep one a.txt": (0, "one\n", ""),
    "ls": (0, "a.txt\n", ""),
}


class Hands:
    """Shows what commands show; others fail."""

    def __init__(self, log: list[str] | None = None) -> None:
        self.log: list[str] = [] if log is None else log

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """Whether the denylist has nothing against a command."""
        return is_safe(command)

    def execute(self, command: str, _mode: str = "read", /) -> tuple[int, str, str]:
        """What a command shows."""
        self.log.append(f"shell {command}")
        return SHOWS.get(command, (127, "", "sh: not found\n"))
