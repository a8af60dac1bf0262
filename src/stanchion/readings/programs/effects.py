"""Effects: what calls of any language do, in one vocabulary: execute, delete, overwrite, read,
send, evaluate."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.calls import ENVIRONMENT, UNKNOWN, Called, Code
from stanchion.readings.programs.decoding import HIDING
from stanchion.readings.word_lists import listed

EXECUTES: Final = listed(
    """
    system popen popen2 popen3 popen4 exec execl execle execlp execlpe execv execve execvp execvpe
    execSync execFile execFileSync spawn spawnSync spawnl spawnle spawnlp spawnv spawnve spawnvp
    posix_spawn posix_spawnp shell_exec passthru proc_open pcntl_exec run call check_call
    check_output Popen getoutput getstatusoutput capture2 capture2e capture3 execute
    create_subprocess_exec create_subprocess_shell startfile sh getline backtick run_command Command
    """
)
DELETES: Final = listed(
    """
    rmtree remove unlink unlinkSync rm rmSync rmdir rmdirSync rm_rf rm_r rm_f remove_dir removedirs
    remove_tree remove_entry remove_entry_secure rimraf removeSync emptyDir emptyDirSync delete
    deleteRecursive deleteDir delete_tree DeleteDirectory secure_delete
    """
)
RECURSIVE: Final = listed(
    "rmtree rm_rf rm_r removedirs remove_dir rmSync rmdirSync remove_tree remove_entry "
    "remove_entry_secure rimraf removeSync emptyDir emptyDirSync deleteRecursive deleteDir "
    "delete_tree"
)
OVERWRITES: Final = listed(
    "writeFile writeFileSync file_put_contents write_text write_bytes truncate truncateSync "
    "ftruncate appendFile appendFileSync binwrite createWriteStream"
)
OPENS: Final = listed("open fopen openSync io_open sysopen")
READS: Final = listed(
    "readFile readFileSync file_get_contents readfile read_text read_bytes readlines slurp binread "
    "createReadStream file readlink copyfile copy copy2 upload_file"
)
CONNECTS: Final = listed(
    """
    connect create_connection createConnection fsockopen pfsockopen stream_socket_client TCPSocket
    TCPClient socketpair
    """
)
SENDS: Final = listed(
    """
    post put patch end urlopen request Request fetch axios get urlretrieve sendall sendto send
    sendmail send_message storbinary upload upload_file put_object curl_exec curl_init curl_setopt
    curl_setopt_array file_get_contents lookup resolve gethostbyname getaddrinfo dns_get_record
    start post_form write publish getstore mirror post_data UploadString UploadFile UploadData
    resolve4 resolveTxt wget
    """
)
"""Calls that reach another host, or hand something on to what does; only with a host, or what names
a library of the network in what they are called on."""
NETWORK: Final = listed(
    """
    requests httpx urllib urllib3 urllib.request request aiohttp socket http https net axios fetch
    Net HTTP Faraday RestClient HTTParty LWP smtplib ftplib boto3 client session s s3 sock conn
    paramiko dns tls got superagent curl TCPSocket Socket socket.http ssl websockets WebSocket dgram
    open-uri URI
    """
)
EVALUATES: Final = listed(
    """
    eval exec instance_eval class_eval module_eval Function runInThisContext runInNewContext
    loadstring load dofile assert create_function compile runpy run_path include require iex
    Invoke-Expression
    """
)
LOADS: Final = listed("CDLL PyDLL WinDLL LoadLibrary load_library dlopen exec_module")
"""Calls that run what a file of machine code, or a module, has."""
FETCHES: Final = listed("urlopen urlretrieve download")
SHELL_NAMES: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "cmd", "cmd.exe", "powershell", "powershell.exe"}
)
DUPLICATES: Final = listed(
    "dup2 pty fdopen reopen spawn stdin stdout stderr STDIN STDOUT pipe makefile fileno"
)
EMPTIES: Final = regex(
    r"(?:clear_?\w+|delete|terminate|destroy|delete_?(?:index|by\w*|many|objects?|collection|"
    r"database|all|bucket|stack|table|instances?|topics?|"
    r"volume|cluster|user|role|repo)|drop_?(?:database|collection|all|table|index)?|"
    r"destroy_?(?:all|database)|"
    r"flush_?(?:all|db)|terminate_?instances?|purge\w*|empty_?\w*bucket)"
)
HOLDING: Final = listed(
    "boto3 s3 ec2 rds dynamodb pymongo MongoClient redis es elasticsearch Elasticsearch storage "
    "bigquery mongo bucket"
)
_HOST: Final = regex(
    r"[a-z][a-z0-9+.-]*://[^\s/'\"]+|(?:\d{1,3}\.){3}\d{1,3}|(?:[a-z0-9-]+\.)+[a-z]{2,}"
)
_PATH: Final = regex(r"[~./$\w-][^\s'\"<>|;&(){}]{1,200}")


class Sending(NamedTuple):
    """A host that is talked to, the files that what goes there is made of, and whether all
    variables are in it."""

    host: str
    files: tuple[str, ...]
    variables: bool


class Effects(NamedTuple):
    """What a piece of code does: texts that a shell runs, words of commands, paths it deletes (and
    whether all in them), writes and reads, what it sends, code that it makes and runs, and marks:
    `fetched`, `hidden`, `reverse`, `forks`, `deletes`."""

    texts: tuple[str, ...]
    argvs: tuple[tuple[str, ...], ...]
    deletes: tuple[tuple[str, bool], ...]
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    sends: tuple[Sending, ...]
    code: tuple[str, ...]
    marks: frozenset[str]


def effects_of(code: Code) -> Effects:
    """What the calls of a piece of code do."""
    found = _Found()
    for call in code.calls:
        found.take(call)
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
        self.started: list[tuple[str, ...]] = []
        self.deletes: list[tuple[str, bool]] = []
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.sends: list[Sending] = []
        self.code: list[str] = []
        self.marks: set[str] = set()
        self.connects = False
        self.evaluates = False

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

    def take(self, call: Called) -> None:
        """Note what one call does."""
        name = call.name
        if name in EVALUATES:
            self._evaluates(call)
        if name in EXECUTES:
            self._executes(call)
        if name in DELETES:
            self._deletes(call)
        self._files(call)
        if name in CONNECTS or (
            name in ("new", "open", "tcp") and call.of.rpartition(".")[2] in CONNECTS
        ):
            self.connects = True
        if name in SENDS or name in CONNECTS:
            self._sends(call)
        if EMPTIES.fullmatch(name.lower()) and not HOLDING.isdisjoint(
            {*call.of.split("."), *call.made_of}
        ):
            self.marks.add("deletes")

    def _evaluates(self, call: Called) -> None:
        first = call.args[0] if call.args else None
        if first is not None and first.strip(UNKNOWN):
            self.code.append(first)
            if "://" in first and call.name in ("include", "require", "dofile"):
                self.marks.add("fetched")
            return
        if call.name in ("include", "require"):
            return
        self.evaluates = True
        if not call.made_of.isdisjoint(SENDS | {"URI", "recv", "getresponse"}):
            self.marks.add("fetched")
        elif not call.made_of.isdisjoint(HIDING):
            self.marks.add("hidden")

    def _executes(self, call: Called) -> None:
        words = [UNKNOWN if each is None else each for each in call.args]
        if not words:
            return
        if words[0] == UNKNOWN or call.args[0] is None:
            if not call.made_of.isdisjoint({"urlopen", "URI", "fetch", "recv", "urlretrieve"}):
                self.marks.add("fetched")
            elif not call.made_of.isdisjoint(HIDING - {"reverse", "unescape", "loads", "unpack"}):
                self.marks.add("hidden")
            return
        self.started.append(tuple(words))
        if len(words) == 1 or " " in words[0]:
            self.texts.append(words[0])
        elif words[0] == words[1] and call.name.startswith(
            ("exec", "spawn")
        ):  # `execvp(file, [file, …])`
            self.started.append((words[0], *words[2:]))

    def _deletes(self, call: Called) -> None:
        recursive = call.name in RECURSIVE or "recursive" in call.made_of
        paths = [path for path in call.args if path is not None]
        if not call.args and call.on is not None:
            paths = [call.on]
        self.deletes += [(path, recursive) for path in paths if _is_path(path)]

    def _files(self, call: Called) -> None:
        if call.name in OPENS:
            self.writes += [
                each.lstrip("> ")
                for each in call.args
                if each is not None and each.lstrip()[:1] == ">"
            ]
        own = call.name.startswith(("read_", "write_")) or not call.args  # methods of a path
        path = call.on if own else call.args[0]
        if path is None or not _is_path(path):
            return
        mode = next((each for each in call.args[1:] if each is not None), "")
        if call.name in OPENS:
            into = (
                self.writes
                if mode[:1] in ("w", ">", "x") or "w" in mode[:2] or mode == "a"
                else self.reads
            )
            into.append(path.lstrip("<> ") if mode == "" else path)
        elif call.name in OVERWRITES:
            self.writes.append(path)
        elif call.name in READS:
            self.reads.append(path)

    def _sends(self, call: Called) -> None:
        hosts = [each for each in (*call.args, call.on) if each is not None and _HOST.search(each)]
        named = not NETWORK.isdisjoint(call.of.replace("::", ".").split("."))
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
        self.sends.append(Sending(hosts[0] if hosts else "host", files[:16], variables))


def _is_path(text: str) -> bool:
    return "://" not in text and "\n" not in text and _PATH.fullmatch(text) is not None
