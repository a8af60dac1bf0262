"""Commands that would run: their words, where they stand, and what they do with files and hosts."""

from __future__ import annotations

import msgspec

from stanchion.readings.shell.effects import effects_of
from stanchion.readings.shell.options import Once, Sorted, sort
from stanchion.readings.shell.partly_known import Open, origin_of


class Command(msgspec.Struct, frozen=True, dict=True):
    """One command that a shell text would run.

    `argv` are its words after expansion; what is not known stands as the shell writes it (`$NAME`,
    `$(…)`). `via` are the commands that start it, outermost first. `given` is what it reads from
    its input, if that is known or comes from somewhere. `opens` are its redirections, `settings`
    the variables set for it. `marks` say what its words do
    not: `forks` (it starts itself again and again), `endless` (a loop in the background). `carries`
    is where the content of the files comes from that it reads and that the text wrote before.
    `taken` is whether another program or a variable takes what it prints.
    """

    argv: tuple[str, ...]
    via: tuple[str, ...] = ()
    privileged: bool = False
    cwd: str = ""
    given: str | None = None
    opens: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    marks: frozenset[str] = frozenset()
    carries: tuple[str, ...] = ()
    taken: bool = False

    @Once
    def name(self) -> str:
        """The program's name without its folder, in lower case."""
        if not self.argv:
            return ""
        first = self.argv[0]
        name = first.rpartition("/")[2] if "/" in first else first
        return name.lower().removesuffix(".exe")

    @Once
    def sorted(self) -> Sorted:
        """Options, operands and options' values."""
        return sort(self.name, self.argv[1:])

    @Once
    def line(self) -> str:
        """Its words and the targets of its redirections in one text."""
        return " ".join(
            [*self.argv, *[target for _, target in self.opens]] if self.opens else self.argv
        )

    @property
    def flags(self) -> frozenset[str]:
        """Options: long ones without their value, short ones each for itself."""
        return self.sorted.flags

    @property
    def operands(self) -> tuple[str, ...]:
        """Words that are neither options nor their values."""
        return self.sorted.operands

    @property
    def known(self) -> bool:
        """Whether every word is known."""
        return not any(isinstance(word, Open) for word in self.argv)

    @property
    def origin(self) -> tuple[str, ...]:
        """The programs, and behind `<` the files, that what it reads comes from."""
        return origin_of(self.given)

    @Once
    def _effects(self) -> tuple[tuple[str, ...], ...]:
        return effects_of(self)

    @property
    def reads(self) -> tuple[str, ...]:
        """Files it reads, redirections included."""
        return self._effects[0]

    @property
    def writes(self) -> tuple[str, ...]:
        """Files it writes, makes or changes."""
        return self._effects[1]

    @property
    def deletes(self) -> tuple[str, ...]:
        """Files it deletes, moved ones included."""
        return self._effects[2]

    @property
    def sends(self) -> tuple[str, ...]:
        """Hosts and addresses it talks to."""
        return self._effects[3]

    @property
    def words(self) -> str:
        """The command on one line, as a message quotes it: at most 120 characters."""
        text = " ".join(
            [
                word if word and not any(char.isspace() for char in word) else f"'{word}'"
                for word in self.argv
            ]
        )
        text = text if self.argv else " ".join([f"{op} {target}" for op, target in self.opens])
        text = text.replace("\n", " ").replace("`", "'")
        return text if len(text) <= 120 else f"{text[:117]}…"

    @property
    def place(self) -> str:
        """Where it stands: ` (in xargs, in sh -c)`, empty at the top."""
        return f" ({', '.join([f'in {each}' for each in self.via])})" if self.via else ""
