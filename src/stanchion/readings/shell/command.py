"""Commands that would run: their words, where they stand, and what they do with files and hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.names import LOOK, TOOL
from stanchion.readings.shell.known import KINDS, NO_KINDS, by_name, named
from stanchion.readings.shell.options import LANGUAGES, VALUED, ComputedOnce, Sorted, sort
from stanchion.readings.shell.partly_known import OpenText, origin_of
from stanchion.readings.word_lists import Pairs, Strings, listed

BETWEEN: Final = "\x1f"
"""What parts the words of a command that are looked through together."""
WRITES: Final = listed("> >> >| &> &>> <> >&")
FIGURES: Final = "0123456789"
READS: Final = listed("< <>")
"""Operators of a shell that write into a file, and that read one."""
USES: Final = {"reads": 0, "writes": 1, "deletes": 2, "sends": 3}
Found = tuple[list[str], list[str], list[str], list[str]]
"""Reads, writes, deletes, sends."""

EXECS: Final = listed("-exec -execdir -ok -okdir")
HOSTS: Final = named("hosts")


def effects_of(command: Command) -> tuple[Strings, ...]:
    """What a command reads, writes, deletes and sends to."""
    found: Found = ([], [], [], [])
    for op, target in command.opens:
        if op in READS:
            found[0].append(target)
        if op.lstrip(FIGURES) in WRITES:
            found[1].append(target)
    if command.argv:
        special = SPECIAL.get(command.name)
        if special is not None:
            special(command, found)
        else:
            _plain(command, found)
    return tuple([tuple(each) for each in found])


def _plain(command: Command, found: Found) -> None:
    kinds, operands = command.kinds, command.operands
    if "deletes" in kinds:
        found[2].extend(operands)
    elif "makes" in kinds:
        has_mode = command.name in ("chmod", "chown", "chgrp")
        found[1].extend(operands[1:] if has_mode else operands)
    elif "reads" in kinds:
        files = operands[1:] if _begins_with_code(command) else operands
        into = (
            found[1] if "in-place" in kinds and command.flags & {"-i", "--in-place"} else found[0]
        )
        into.extend([file for file in files if file != "-"])
    elif "hosts" in kinds:
        found[3].extend([each for each in operands if not each.isdigit()][:4])


def _begins_with_code(command: Command) -> bool:
    """Whether the first operand is a pattern or a program, and so no file."""
    if "pattern-first" in command.kinds:
        return not command.flags & {"-e", "-f"}
    language = LANGUAGES.get(command.name)
    return language is not None and any(option in command.flags for option in language.options)


TAKES: Final = by_name(
    "takes",
    lambda takes: {option: use for options, use in takes.items() for option in options.split()},
)
"""What becomes of the file or host behind an option, by program."""


def _take(use: str, value: str, found: Found) -> None:
    if use != "reads-at":
        found[USES[use]].append(value.removeprefix("file:") if use == "reads" else value)
    elif "@" in value:
        found[0].append(value.partition("@")[2].partition(";")[0])
    elif "=<" in value:
        found[0].append(value.partition("=<")[2])


ROLES: Final = by_name("operands", str.split)
"""What becomes of a program's operands, in their order: `*` stands behind the role of all between,
`@` behind that of one that may be on another host."""


def _setting(word: str) -> tuple[str, str, str]:
    return word.partition("=")


def _in_roles(command: Command, found: Found) -> None:
    """What the table says of operands and of what stands behind options."""
    name, operands = command.name, command.operands
    takes, roles = TAKES.get(name, {}), ROLES.get(name, [])
    given = list(command.sorted.values if name in VALUED else pairwise(command.argv))
    given += [(f"{key}=", value) for key, _, value in map(_setting, command.argv)]
    into = False
    for flag, value in given:
        if (use := takes.get(flag)) is not None:
            _take(use, value, found)
            into = into or use == "writes"
    if into and roles[-1:] in (["writes"], ["here"]):
        roles = roles[:-1]
    elif roles[-1:] == ["here"]:
        found[1].append(".")
    every = next((at for at, role in enumerate(roles) if "*" in role), len(roles))
    last = roles[every + 1 :][-len(operands) :] if operands else []
    between = len(operands) - len(last) - every
    named = [*roles[:every], *(roles[every : every + 1] * between), *last]
    for role, word in zip(named, operands, strict=False):
        uses = ["sends"] if "@" in role and is_remote(word) else role.strip("*@").split("+")
        for use in uses if word != "-" else ():
            if use in USES:
                found[USES[use]].append(word)
    if name == "curl" and command.flags & {"-O", "--remote-name"}:
        found[1].extend([each.rstrip("/").rpartition("/")[2] for each in operands])
    if name == "rsync" and any(flag.startswith("--delete") for flag in command.flags):
        found[2].extend(operands[-1:])


def is_remote(word: str) -> bool:
    """Whether a word names something on another host: `host:path` or a URL."""
    head, colon, _ = word.partition(":")
    return bool(colon) and "/" not in head and len(head) > 1


def _find(command: Command, found: Found) -> None:
    roots = find_roots(command.argv)
    found[0].extend(roots)
    found[0].extend([f"{roots[0].rstrip('/')}/{name}" for name in found_names(command.argv)])
    if find_deletes(command.argv):
        found[2].extend(roots)


def find_roots(argv: Strings) -> list[str]:
    """Where a `find` begins to look."""
    roots: list[str] = []
    for word in argv[1:]:
        if word in ("-H", "-L", "-P") or word.startswith("-O"):
            continue
        if word[:1] in ("-", "(", "!"):
            break
        roots.append(word)
    return roots if roots else ["."]


def find_deletes(argv: Strings) -> bool:
    """Whether a `find` deletes: `-delete` is its own word, and none of a command that it runs."""
    if "-delete" not in argv:
        return False
    within = False
    for word in argv:
        if word == "-delete" and not within:
            return True
        within = word not in (";", "+") if within else word in EXECS
    return False


def found_names(argv: Strings) -> list[str]:
    """The names that a `find` looks for."""
    wanted = ("-name", "-iname", "-path", "-ipath", "-wholename")
    return [value for flag, value in pairwise(argv) if flag in wanted][:8]


TAKES_OR_MAKES: Final = frozenset("xc")
LISTS: Final = listed("-t --list")
CREATES: Final = listed("-c --create -r -u --append --update")


_IN_FOLDER: Final = regex(r"(?:-[A-Za-z]*C|--directory)=?(.*)")
"""An option that names the folder in which what is packed stands, beside it or in it."""


def _archive(command: Command, found: Found) -> None:
    args = command.argv[1:]
    mode = args[0].lstrip("-") if args and args[0][:2] != "--" else ""
    lists = ("t" in mode and TAKES_OR_MAKES.isdisjoint(mode)) or not LISTS.isdisjoint(command.flags)
    creates = "c" in mode or not CREATES.isdisjoint(command.flags)
    given = dict(command.sorted.values)
    archive = given.get(
        "-f",
        given.get(
            "--file",
            args[1] if "f" in mode and not args[0].startswith("-") and len(args) > 1 else "",
        ),
    )
    if archive and archive != "-":
        found[1 if creates else 0].append(archive)
    if creates:
        found[0].extend(_packed(args, [*command.operands], (archive, args[0])))
    elif not lists:
        found[1].append(given.get("-C", given.get("--directory", ".")))


def _packed(args: Strings, operands: list[str], not_packed: Strings) -> Iterator[str]:
    """What goes into an archive, each seen from the folder that an option before it names."""
    folder, beside = "", False
    for word in (f"-{args[0].lstrip('-')}" if args[0][:2] != "--" else args[0], *args[1:]):
        option = None if beside else _IN_FOLDER.fullmatch(word)
        named = word if beside else option[1] if option is not None else ""
        if named:
            folder = named if named[0] in "/~$" else folder + named
            folder = f"{folder.rstrip('/')}/"
        elif word in operands and word not in not_packed:
            yield f"{folder}{word}" if folder and word[0] not in "/~$" else word
        beside = option is not None and not named


def _ssh_keygen(command: Command, found: Found) -> None:
    """What makes a key writes it, what shows a fingerprint looks at it; the rest reads or changes
    the key."""
    words = command.argv
    files = [value for flag, value in pairwise(words) if flag[:1] == "-" and flag[-1:] == "f"]
    if any(word[:2] in ("-y", "-p", "-e", "-i", "-c") for word in words[1:]):
        found[0].extend(files)


SPECIAL: Final[dict[str, Callable[[Command, Found], None]]] = {
    **dict.fromkeys(ROLES, _in_roles), "find": _find, "tar": _archive, "bsdtar": _archive,
    "gtar": _archive, "ssh-keygen": _ssh_keygen,
}  # fmt: skip


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

    argv: Strings
    via: Strings = ()
    privileged: bool = False
    cwd: str = ""
    given: str | None = None
    opens: Pairs = ()
    settings: Pairs = ()
    marks: frozenset[str] = frozenset()
    carries: Strings = ()
    taken: bool = False

    @ComputedOnce
    def name(self) -> str:
        """The program's name without its folder, in lower case."""
        if not self.argv:
            return ""
        first = self.argv[0]
        name = first.rpartition("/")[2] if "/" in first else first
        return name.lower().removesuffix(".exe")

    @ComputedOnce
    def kinds(self) -> frozenset[str]:
        """Of which kinds its program is."""
        return KINDS.get(self.name, NO_KINDS)

    @ComputedOnce
    def small(self) -> frozenset[str]:
        """Its words behind the program, in lower case."""
        return frozenset(map(str.lower, self.argv[1:]))

    @ComputedOnce
    def lined(self) -> str:
        """Its words behind the program, in lower case and in one text, with `BETWEEN` on both sides
        of each."""
        return f"{BETWEEN}{BETWEEN.join(self.argv[1:]).lower()}{BETWEEN}"

    @ComputedOnce
    def sorted(self) -> Sorted:
        """Options, operands and options' values."""
        return sort(self.name, self.argv[1:])

    @ComputedOnce
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
    def operands(self) -> Strings:
        """Words that are neither options nor their values."""
        return self.sorted.operands

    @property
    def known(self) -> bool:
        """Whether every word is known."""
        return not any(isinstance(word, OpenText) for word in self.argv)

    @property
    def origin(self) -> Strings:
        """The programs, and behind `<` the files, that what it reads comes from."""
        return origin_of(self.given)

    @ComputedOnce
    def _effects(self) -> tuple[Strings, ...]:
        return effects_of(self)

    @property
    def reads(self) -> Strings:
        """Files it reads, redirections included."""
        return self._effects[0]

    @property
    def writes(self) -> Strings:
        """Files it writes, makes or changes."""
        return self._effects[1]

    @property
    def deletes(self) -> Strings:
        """Files it deletes, moved ones included."""
        return self._effects[2]

    @property
    def sends(self) -> Strings:
        """Hosts and addresses it talks to."""
        return self._effects[3]

    @property
    def targets(self) -> Strings:
        """Files it writes, and those that its redirections open for that, of errors too."""
        if not self.opens:
            return self.writes
        return (*self.writes, *[target for op, target in self.opens if ">" in op])

    @property
    def paths(self) -> list[str]:
        """The paths among its words, where nobody knows what its program reads."""
        words = self.operands[:8]
        return [word for word in words if word[:1] in ("/", "~", ".") and "://" not in word]

    @property
    def emptied(self) -> list[str]:
        """Files that its redirections empty."""
        return [target for op, target in self.opens if op in (">", ">|", "&>")]

    @property
    def words(self) -> str:
        """The command on one line, as a message quotes it: at most 120 characters. A call that is
        told as one is quoted by the words of its name."""
        shown = self.operands if self.name in (TOOL, LOOK) else self.argv
        text = " ".join(
            [
                word if word and not any(char.isspace() for char in word) else f"'{word}'"
                for word in shown
            ]
        )
        text = text if self.argv else " ".join([f"{op} {target}" for op, target in self.opens])
        text = text.replace("\n", " ").replace("`", "'")
        return text if len(text) <= 120 else f"{text[:117]}…"

    @property
    def place(self) -> str:
        """Where it stands: ` (in xargs, in sh -c)`, empty at the top."""
        return f" ({', '.join([f'in {each}' for each in self.via])})" if self.via else ""
