"""Effects: what calls of any language do, in one vocabulary: execute, delete, overwrite, read,
send, evaluate."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.names import KEPT, words
from stanchion.readings.programs.calls import (
    ENVIRONMENT,
    FAKES,
    UNKNOWN,
    Code,
    CodeCall,
    known_parts,
)
from stanchion.readings.programs.decoding import HIDING
from stanchion.readings.programs.files import LIBRARIES, WORDS, files_of, is_of_files
from stanchion.readings.word_lists import Strings, in_order, listed

EXECUTES: Final = WORDS["executes"]
STARTS: Final = regex(
    r"\A(?!.* (?:query|sql|statement) ).* (?:(?:exec|execute|popen|spawn|shell|system|cmd|command|"
    r"sh|bash)|(?:run|start|create|call|open|launch) (?:process|program)) "
)
"""What is in the words of the name of a call that starts a program, whichever library it is of."""
DESTROYS: Final = regex(
    r" (?:delete|remove|rm|del|erase) (?:.* )?(?:dir|directory|tree|recursive|recursively|folder) "
)
"""What is in those of one that deletes a folder."""
USES: Final = (
    (regex(r" read (?:.* )?(?:file|text|bytes|lines) "), "readFile"),
    (regex(r" write (?:.* )?(?:file|text|bytes|lines) "), "writeFile"),
)
"""What is in those of one that reads or writes a file, and a name by which it is known."""
DELETES: Final = WORDS["deletes"]
OFTEN_OTHER: Final = WORDS["often other"]
"""Names that mean files only in a library of files, or on a path."""
KILLS: Final = listed("kill killpg posix_kill Kill")
EVERY_PROCESS: Final = listed("process_iter pids GetProcesses allProcesses")
"""Calls that list all that runs."""
COMMANDS: Final = {
    **dict.fromkeys(listed("move rename renames renameSync moveSync mv replace"), "mv"),
    **dict.fromkeys(listed("chmod chmodSync fchmod chmod_R Chmod"), "chmod"),
    **dict.fromkeys(listed("chown chownSync lchown chown_R Chown"), "chown"),
    **dict.fromkeys(listed("symlink symlinkSync ln_s ln_sf symlink_to"), "ln"),
    **dict.fromkeys(KILLS, "kill"),
    **dict.fromkeys(WORDS["unpacks"], "tar -xf archive -C"),
}
"""Calls that do what a command does, with the same words."""
SWEEPS: Final = WORDS["sweeps"]
"""Calls that list a folder."""
WALKS: Final = listed("walkBottomUp walkTopDown listFiles walkFileTree EnumerateFiles GetFiles")
"""Calls that list all files of a folder for what is then done to each."""
QUERIES: Final = WORDS["queries"]
"""Calls that hand a statement to a database."""
GIVEN: Final = listed("command cmd shell_command")
"""Arguments by name that hold a command, whatever runs it."""
STARTED_BY: Final = {"Artisan": ("php", "artisan"), "redis": ("redis-cli",), "pip": ("pip",)}
"""What is started by a call on a thing of these names."""
EACH: Final = listed("array_map array_walk forEach map each for_each finddepth find")
"""Calls that do something with each thing of a list."""
SQL: Final = regex(r"(?i)\s*(?:drop|truncate|delete|update|alter|grant|revoke|with)\s")
IN_MEMORY: Final = regex(r":memory:|[:/]mem(?:ory)?:")
DATABASE: Final = regex(r"jdbc:[a-z0-9]+:\S+|[a-z][a-z0-9+]*://\S+|\S+\.(?:db|sqlite3?)|:memory:")
RECURSIVE: Final = WORDS["recursive"]
ALL_BELOW: Final = listed("recursive true")
"""What is said where a folder goes with all that is in it."""
OVERWRITES: Final = WORDS["overwrites"]
PACKS: Final = listed("write add make_archive addFile addLocalFile addLocalFolder add_file addGlob")
"""Calls that put a file into an archive."""
ENDINGS: Final = in_order("zip tar tar.gz tgz")
READS: Final = WORDS["reads"]
CONNECTS: Final = WORDS["connects"]
SENDS: Final = WORDS["sends"]
"""Calls that reach another host, or hand something on to what does; only with a host, or what names
a library of the network in what they are called on."""
NETWORK: Final = WORDS["network"]
EVALUATES: Final = WORDS["evaluates"]
READS_DATA: Final = WORDS["reads data"]
"""Libraries whose `load` and `compile` run nothing."""
UNPACKS: Final = listed("pickle dill cloudpickle marshal joblib shelve")
LIBRARIES_OF_WEB: Final = listed("requests httpx urllib urlopen aiohttp urlretrieve")
LOADS: Final = listed("CDLL PyDLL WinDLL LoadLibrary load_library dlopen exec_module")
"""Calls that run what a file of machine code, or a module, has."""
FETCHES: Final = listed("urlopen urlretrieve download")
SHELL_NAMES: Final = listed("sh bash dash zsh ksh cmd cmd.exe powershell powershell.exe")
DUPLICATES: Final = WORDS["duplicates"]
EMPTIES: Final = regex(
    r"(?:clear_?\w+|delete|terminate|destroy|drop|drop_?(?:database|collection|all|table|index)|"
    r"delete_?(?:by\w*|many|all|\w*(?:index|objects?|collection|database|bucket|stack|table|"
    r"instances?|topics?|volume|cluster|user|role|repo\w*|function|queue|snapshot|secret|stream))|"
    r"destroy_?(?:all|database)|flush_?(?:all|db)|terminate_?instances?|purge\w*|empty_?\w*bucket)"
)
EVERY_RECORD: Final = regex(
    r"(?:\.all|objects|\.query)\.delete$|\.(?:clear(?!Timeout|Interval|Immediate|Rect)\w+|"
    r"delete(?:Index|By|Many|Objects?|Collection|"
    r"Database|_many)|(?:drop|destroy|delete|truncate)_all|drop(?:Database|Collection|_database)|"
    r"flush(?:[aA]ll|[dD]b)|EnsureDeleted(?:Async)?|obliterate|ExecuteDelete(?:Async)?|"
    r"deleteAllInBatch|drop_all_tables|dropSchema|drop_?(?:table|if_?exists))$|"
    r"(?:^|\.)(?:knex|table)\.(?:truncate|del|delete)$|"
    r"(?:sequelize|connection|[sS]chema)\.drop\w*$|"
    r"(?:[rR]epository|[rR]epo|[dD]ao|[mM]apper)\.deleteAll$"
)
"""Calls of mappers that delete every record."""
HOLDING: Final = WORDS["holding"]
ENDS: Final = listed("sync async")
"""Words with which a name says how the same is done."""
_HOST: Final = regex(
    r"[a-z][a-z0-9+.-]*://[^\s/'\"]+|(?:\d{1,3}\.){3}\d{1,3}|(?:[a-z0-9-]+\.)+[a-z]{2,}"
)
_PATH: Final = regex(r"[~./$\w-](?:[^\s'\"<>|;&(){}]|(?<=[a-z]) (?=[A-Z])){0,200}")


class CodeSending(NamedTuple):
    """A host that is talked to, the files that what goes there is made of, and whether all
    variables are in it."""

    host: str
    files: Strings
    variables: bool


class Effects(NamedTuple):
    """What a piece of code does: texts that a shell runs, words of commands, paths it deletes (and
    whether all in them), writes and reads, what it sends, code that it makes and runs, and marks:
    `fetched`, `hidden`, `reverse`, `forks`, `deletes`."""

    texts: Strings
    argvs: tuple[Strings, ...]
    deletes: tuple[tuple[str, bool], ...]
    writes: Strings
    reads: Strings
    sends: tuple[CodeSending, ...]
    code: Strings
    marks: frozenset[str]


def effects_of(code: Code) -> Effects:
    """What the calls of a piece of code do."""
    found = _Found()
    for call in code.calls:
        found.take(call)
    found.settle(code)
    names = {call.name for call in code.calls}
    starts_shell = any(
        word.rpartition("/")[2] in SHELL_NAMES for argv in found.started for word in argv[:1]
    )
    if (
        found.connects
        and (names & DUPLICATES or starts_shell)
        and (starts_shell or found.shell_like(code))
    ):
        found.marks.add("reverse")
    if found.evaluates and found.sends and "fetched" not in found.marks:
        found.marks.add("hidden")
    if (
        names & LOADS
        and names & FETCHES
        and any(call.name in LOADS and call.args[:1] == (None,) for call in code.calls)
    ):
        found.marks.add("fetched")
    if code.forks:
        found.marks.add("forks")
    return found.all()


class _Found:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.started: list[Strings] = []
        self.deletes: list[tuple[str, bool]] = []
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.sends: list[CodeSending] = []
        self.code: list[str] = []
        self.marks: set[str] = set()
        self.connects = False
        self.evaluates = False
        self.statements: list[str] = []
        self.built: list[str] = []
        self.loose = False
        self.reads_each = False

    def all(self) -> Effects:
        argvs = tuple([argv for argv in self.started if len(argv) > 1])
        return Effects(
            tuple(self.texts), argvs, tuple(self.deletes), tuple(self.writes), tuple(self.reads),
            tuple(self.sends), tuple(self.code), frozenset(self.marks),
        )  # fmt: skip

    def shell_like(self, code: Code) -> bool:
        """Whether what comes over a connection is run: a program is started with what nobody
        knows."""
        return any(
            call.name in EXECUTES and (not call.args or call.args[0] is None) for call in code.calls
        )

    def settle(self, code: Code) -> None:
        """Join what only several calls tell: what is deleted is what was listed, a statement goes
        to the database that is named, an archive has what was read."""
        texts = [each for call in code.calls for each in call.args if each is not None]
        named = [each for each in texts if DATABASE.fullmatch(each) is not None]
        here = [each for each in named if IN_MEMORY.search(each) is not None]
        if here and here == named:
            self.marks.discard("deletes")
        elif "sqlite://" not in texts:
            self.started += [("psql", *named[:1], "-c", text) for text in self.statements]
        folders = [
            each
            for call in code.calls
            if not SWEEPS.isdisjoint((call.name, call.owner))
            for each in _places(call)
        ]
        everything = "/proc" in folders or any(call.name in EVERY_PROCESS for call in code.calls)
        if everything and any(call.name in KILLS for call in code.calls):
            self.started.append(("kill", "-9", "-1"))
        called = {call.name for call in code.calls}
        if self.loose or not (called.isdisjoint(WALKS) or called.isdisjoint(DELETES)):
            self.deletes += [(f"{path.rstrip('/*')}/**", True) for path in folders]
        self.reads += folders if self.reads_each else []
        self._join_archives()
        if self.reads:
            read = tuple(self.reads[:16])
            self.sends = [one if one.files else one._replace(files=read) for one in self.sends]
        self._run_fetched(code)

    def _run_fetched(self, code: Code) -> None:
        """Note that a file is run that was written where something was fetched."""
        ran = {
            word for text in [*self.texts, *map(" ".join, self.started)] for word in text.split()
        }
        fetched = any(
            not FETCHES.isdisjoint((call.name, *call.made_of))
            or (call.name == "get" and call.of in ("requests", "httpx"))
            for call in code.calls
        )
        loads = self.evaluates and not ran.isdisjoint(("curl", "wget"))
        if loads or (fetched and not ran.isdisjoint(self.writes)):
            self.marks.add("fetched")

    def _join_archives(self) -> None:
        """Let what is sent tell what the files were made of that the code wrote before."""
        packed = {*self.writes, *[f"{path}.{end}" for path in self.writes for end in ENDINGS]}
        for at, sent in enumerate(self.sends):
            if not packed.isdisjoint(sent.files):
                self.sends[at] = sent._replace(files=(*sent.files, *self.reads)[:16])

    def take(self, call: CodeCall) -> None:
        """Note what one call does."""
        self.texts += [value for key, value in call.named if key in GIVEN and value is not None]
        own = f"{call.of}.{call.name}".lstrip(".")
        call = call._replace(name=_usual_name(call.name))
        if ("trust_remote_code", "True") in call.named:
            self.marks.add("fetched")
        if self._asks(call) and call.name not in ("run", "exec"):
            return
        for names, note in NOTES:
            if call.name in names:
                note(self, call)
        if call.name == "main" and call.of == "pip":
            self._executes(call)
        self._files(call)
        self._builds(call)
        about = {*call.of.split("."), *call.made_of}
        every = EMPTIES.fullmatch(own.rpartition(".")[2].lower()) and not HOLDING.isdisjoint(about)
        if not FAKES.isdisjoint(call.behind):
            return
        if every or EVERY_RECORD.search(own):
            self.marks.add("deletes")

    def _builds(self, call: CodeCall) -> None:
        """Note a command that is put together word by word: `Command::new("rm").arg("-rf")`."""
        known = known_parts(call.args)
        if call.name == "new" and call.owner == "Command":
            self.built = known
        elif call.name in ("arg", "args") and "Command" in call.of.split("."):
            self.built = [*self.built, *known]
            self.started.append(tuple(self.built))

    def _asks(self, call: CodeCall) -> bool:
        """Note a statement that is handed to a database; whether it is one."""
        if call.name not in QUERIES:
            return False
        asked = [each for each in call.args[:2] if each is not None and SQL.match(each) is not None]
        self.statements += asked[:1] if FAKES.isdisjoint(call.behind) else ()
        return bool(asked)

    def _syncs(self, call: CodeCall) -> None:
        if "force" in call.made_of:
            self.marks.add("deletes")

    def _each(self, call: CodeCall) -> None:
        if not {*call.made_of, *call.args[:1]}.isdisjoint(DELETES - OFTEN_OTHER):
            self.loose = True

    def _connects(self, call: CodeCall) -> None:
        self.connects = self.connects or not CONNECTS.isdisjoint((call.name, call.owner))

    def _packs(self, call: CodeCall) -> None:
        """Note what goes into an archive; what else is written has no such name, or no path."""
        self.reads += _places(call)

    def _evaluates(self, call: CodeCall) -> None:
        if call.of in READS_DATA:
            return
        first = call.args[-1 if call.name == "Function" else 0] if call.args else None
        if first is not None and first.strip(UNKNOWN):
            self.code.append(first)
            if "://" in first and call.name in ("include", "require", "dofile"):
                self.marks.add("fetched")
            return
        if call.name in ("include", "require") and call.made_of.isdisjoint(FETCHES):
            return
        self.evaluates = True
        if not call.made_of.isdisjoint(SENDS | FETCHES | {"URI", "recv", "getresponse"}):
            self.marks.add("fetched")
        elif not call.made_of.isdisjoint(HIDING):
            self.marks.add("hidden")

    def _unpacks(self, call: CodeCall) -> None:
        """Note objects that are made of what was fetched: making them may run anything."""
        if call.of in UNPACKS and not call.made_of.isdisjoint(LIBRARIES_OF_WEB):
            self.marks.add("fetched")

    def _executes(self, call: CodeCall) -> None:
        given = call.args if call.args or call.on is None else (call.on,)
        words = known_parts(given)
        if not words:
            return
        if words[0] == UNKNOWN or given[0] is None:
            if not call.made_of.isdisjoint({"urlopen", "URI", "fetch", "recv", "urlretrieve"}):
                self.marks.add("fetched")
            elif not call.made_of.isdisjoint(HIDING - {"reverse", "unescape", "loads", "unpack"}):
                self.marks.add("hidden")
            self.texts += [text for text in sorted(call.made_of) if " " in text][:8]
            return
        words = [*STARTED_BY.get(call.owner, ()), *words]
        if call.name in ("Start", "ProcessStartInfo"):  # its second word is a line of them
            line = " ".join(words[1:])
            words = [words[0], *line.split(None, 1 if line[:2] in ("-c", "/c") else -1)]
        self.started.append(tuple(words))
        if len(words) == 1 or " " in words[0]:
            self.texts.append(words[0])
        elif words[0] == words[1] and call.name.startswith(
            ("exec", "spawn")
        ):  # `execvp(file, [file, …])`
            self.started.append((words[0], *words[2:]))

    def _deletes(self, call: CodeCall) -> None:
        if not is_of_files(call):
            return
        recursive = call.name in RECURSIVE or not ALL_BELOW.isdisjoint(call.made_of)
        given = call.args if call.args else (call.on,)
        paths = [path for path in given if path is not None and path[:1] != UNKNOWN]
        self.loose = self.loose or not paths
        self.deletes += [
            (path, recursive or path.endswith("*"))
            for path in paths or _places(call)
            if _is_path(path)
        ]
        self.started += [("gsutil", "rm", "-r", path) for path in paths if "://" in path[:8]]

    def _commands(self, call: CodeCall) -> None:
        """Note a call that does what a command does."""
        if not is_of_files(call):
            return
        args = call.args if call.args else [value for _, value in call.named]
        words = [each.removeprefix("0o") for each in known_parts(args)]
        if call.on is not None and _is_path(call.on) and call.of not in LIBRARIES - {"Path"}:
            words.insert(0, call.on)
        command = COMMANDS[call.name]
        if command in ("chmod", "chown", "kill") and words and not words[0][:1].isdigit():
            words.reverse()
        words = ["-9", "-1"] if command == "kill" and words[:1] == ["-1"] else words
        self.started.append((*command.split(), *words))

    def _files(self, call: CodeCall) -> None:
        """Note what it reads and writes; what it only makes leaves everything as it is."""
        for use, path in files_of(call):
            reads = use == "read" or use == "open"
            self.reads_each = self.reads_each or (path is None and reads and call.name in READS)
            if use == "write" and path is not None and "*" in path and path[0] in "/~":
                self.deletes.append((path, True))  # all that a search found
            if path is not None and (reads or use == "write") and _is_path(path):
                (self.reads if reads else self.writes).append(path)

    def _sends(self, call: CodeCall) -> None:
        hosts = [each for each in (*call.args, call.on) if each is not None and _HOST.search(each)]
        named = call.is_of(NETWORK)
        if not hosts and not named and call.name not in CONNECTS:
            return
        files = tuple(
            [
                text
                for text in sorted(call.made_of)
                if _is_path(text) and ("/" in text or text[:1] in ".~")
            ]
        )
        variables = not call.made_of.isdisjoint(ENVIRONMENT)
        self.sends.append(CodeSending(hosts[0] if hosts else "host", files[:16], variables))


@lru_cache(KEPT)
def _usual_name(name: str) -> str:
    """The name by which a call is known here: `delete` of `deleteSync`, `system` of whatever says
    that it starts a program."""
    if name in KNOWN:
        return name
    said = words(name)
    alike = USUAL.get("".join([word for word in said if word not in ENDS]))
    name_of_it = f" {' '.join(said)} "
    if alike is not None:
        return alike
    if DESTROYS.search(name_of_it) is not None:
        return "rmtree"
    use = next((use for sign, use in USES if sign.search(name_of_it) is not None), name)
    return use if STARTS.search(name_of_it) is None else "system"


def _places(call: CodeCall) -> list[str]:
    """The paths that a call has to do with, as far as they are known."""
    known = [each for each in (*call.args, call.on) if each is not None]
    texts = known if known else sorted(call.made_of)
    return [each for each in texts if _is_path(each) and each[0] in "/~$." and each != "."]


NOTES: Final[tuple[tuple[frozenset[str], Callable[[_Found, CodeCall], None]], ...]] = (
    (EACH, _Found._each),
    (frozenset({"sync"}), _Found._syncs),
    (frozenset(COMMANDS), _Found._commands),
    (EVALUATES, _Found._evaluates),
    (frozenset({"load", "loads"}), _Found._unpacks),
    (EXECUTES, _Found._executes),
    (DELETES, _Found._deletes),
    (CONNECTS | {"new", "open", "tcp"}, _Found._connects),
    (SENDS | CONNECTS, _Found._sends),
    (PACKS, _Found._packs),
)
"""What is noted of calls, by their names."""
KNOWN: Final = frozenset().union(*WORDS.values(), *[names for names, _ in NOTES])
USUAL: Final = {
    "".join(words(name)): name
    for name in sorted(EXECUTES | DELETES | RECURSIVE | OVERWRITES | frozenset(COMMANDS))
}
"""Names without what tells their spellings from one another."""


def _is_path(text: str) -> bool:
    return "://" not in text and "\n" not in text and _PATH.fullmatch(text) is not None
