"""Carries what a host says to the daemon, and what is answered back.

This is what a hook's process does, for every tool call, so it loads nothing but what the
interpreter has built in. Whatever goes wrong, it refuses in the
host's own words. Standard input that is a socket is handed over unread: the daemon asks the kernel
who made it.
"""

import _signal  # type: ignore[import-not-found]  # `signal` wraps it, and loads much
import _socket
import posix
import sys
import time

PROTOCOL = 1
DEADLINE_S = 50.0
"""How long it takes at most; hosts wait for 60 s."""
LARGEST = 16 << 20
"""How many bytes a body, or an answer, has at most."""
PAUSE_S = 0.02
FOLDER, SOCKET, STARTING, LOG = "agents", "daemon.sock", "starting", "daemon.log"
"""The daemon's folder in the state folder, and what is in it."""
CONFIG = "agents.json"
SHORT = 90
"""How long the path of a socket may be, without its own name."""

UNBLOCKED = ("Stop", "SubagentStart", "SubagentStop", "SessionStart", "SessionEnd", "PreCompact")
"""Events at which a refusal would make an agent go on, or is not heard: they are told alone."""


class Refuse(Exception):
    """The event is refused; the text says why, and what to do."""


class Again(Exception):
    """Nobody has read what was sent: it may be sent again, to the daemon that comes next."""


def main(words: list[str]) -> int:
    """Have one hook answered; gives the status with which the process ends."""
    agent = words[0] if words else ""
    heard = b""
    try:
        options = dict(word.split("=", 1) for word in words[1:])
        _signal.signal(_signal.SIGALRM, _late)
        _limit(max(PAUSE_S, min(DEADLINE_S, float(options.get("deadline", DEADLINE_S)))))
        is_socket = posix.fstat(0).st_mode & 0o170000 == 0o140000
        heard = _peeked() if is_socket else _read()
        answer = _answered(agent, _state(options.get("state", "")), None if is_socket else heard)
        _limit(0)
        status, out, err = _checked(answer)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is no yes
        _limit(0)
        why = f"{error}" if isinstance(error, Refuse) else f"the hook failed: {error!r}"
        status, out, err = refusal(agent, heard, f"Stanchion refuses: {why}")
    _write(1, out)
    _write(2, err)
    return status


def refusal(agent: str, heard: bytes, words: str) -> tuple[int, str, str]:
    """The status, the output and the errors by which a host hears that an event is refused."""
    import json

    event = (
        heard.partition(b'"hook_event_name"')[2].lstrip(b' \t\r\n:"').partition(b'"')[0].decode()
    )
    if event in UNBLOCKED:
        return 0, json.dumps({"systemMessage": words}), words
    said: dict[str, object] = {"decision": "block", "reason": words}
    quiet = agent == "claude" and event in ("PermissionRequest", "PostToolUse")
    if event in ("", "PreToolUse"):
        denied = {"permissionDecision": "deny", "permissionDecisionReason": words}
        said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}}
    elif event == "PermissionRequest":
        decision = {"behavior": "deny", "message": words}
        said = {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}
    elif quiet:  # the result is there: only an end keeps the agent from reading it
        said = {"continue": False, "stopReason": words}
    if quiet:  # Claude Code does not mind the status here
        return 0, json.dumps(said), words
    return 2, "" if agent == "claude" else json.dumps(said), words


def _answered(agent: str, state: str, body: bytes | None) -> bytes:
    """What the daemon answers; one is started where there is none, and where the one that is there
    makes room."""
    started = None
    while True:
        sock = connected(state)
        if sock is None:
            started = _start(state) if started is None else _checked_start(started)
            time.sleep(PAUSE_S)
            continue
        try:
            return exchanged(sock, agent, body)
        except Again:
            started = None
            time.sleep(PAUSE_S)
        finally:
            sock.close()


def folder_in(state: str) -> str:
    """The daemon's folder by a name that is short enough for a socket in it."""
    folder = f"{state}/{FOLDER}"
    if len(folder.encode()) < SHORT or sys.platform != "linux":
        return folder
    return f"/proc/self/fd/{posix.open(folder, posix.O_RDONLY)}"


def connected(state: str) -> _socket.socket | None:
    """A connection to the daemon; `None` where there is none."""
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        sock.connect(f"{folder_in(state)}/{SOCKET}")
    except (FileNotFoundError, ConnectionRefusedError):
        sock.close()
        return None
    asks = getattr(_socket, "SO_PEERCRED", 0)
    who = sock.getsockopt(_socket.SOL_SOCKET, asks, 12)[4:8] if asks else b""
    if who and int.from_bytes(who, sys.byteorder) != posix.geteuid():
        sock.close()
        raise Refuse(f"another user listens in `{state}`: give Stanchion a folder of your own")
    return sock


def exchanged(sock: _socket.socket, agent: str, body: bytes | None) -> bytes:
    """What the daemon answers to a body, or to standard input, which is handed over."""
    head = f"POST /{agent} HTTP/1.1\r\nHost: localhost\r\nStanchion-Hook: {PROTOCOL}\r\n"
    head += "Content-Type: application/json\r\nConnection: close\r\n"
    head += "Stanchion-Stdin: passed\r\n" if body is None else ""
    sent = f"{head}Content-Length: {len(body) if body else 0}\r\n\r\n".encode()
    try:
        if body is None:
            fd = (0).to_bytes(4, sys.byteorder)
            sock.sendmsg([sent], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fd)])
        else:
            sock.sendall(sent + body)
    except OSError:  # it cannot have been heard, for it was not sent to its end
        raise Again from None
    parts = bytearray()
    try:
        while part := sock.recv(1 << 16):
            parts += part
            if len(parts) > LARGEST:
                raise Refuse("the daemon answers without end: run `stanchion hook stop`")
    except OSError as error:
        raise Refuse(f"the daemon hung up ({error.strerror}): try again") from None
    first, _, rest = bytes(parts).partition(b"\r\n\r\n")
    lines = first.split(b"\r\n")
    if b"Stanchion-Again: 1" in lines:
        raise Again
    if not lines[0].startswith(b"HTTP/1.1 "):
        raise Refuse("the daemon ended in the middle of the call: try again")
    if f"Content-Length: {len(rest)}".encode() not in lines:
        raise Refuse("the daemon's answer is cut off: try again")
    if not lines[0].startswith(b"HTTP/1.1 200 "):
        raise Refuse(rest.decode("utf-8", "replace").strip())
    return rest


def _checked(answer: bytes) -> tuple[int, str, str]:
    """What the daemon said, if it is whole and the host will understand it."""
    said = _parsed(answer.decode())
    status, out, err = said["status"], said["stdout"], said["stderr"]
    if status not in (0, 2) or type(out) is not str or type(err) is not str:
        raise Refuse("the daemon's answer cannot be read: run `stanchion hook stop`")
    if not (status == 2 and err.strip()):
        _parsed(out)
    return status, out, err


def _parsed(text: str) -> dict[str, object]:
    """The object that a text is; loading the whole of `json` would take as long as all the rest."""
    from _json import make_scanner

    found, end = make_scanner(_How)(text, 0)  # type: ignore[arg-type]  # it reads the attributes
    if text[end:].strip():
        raise Refuse("the daemon's answer is not JSON: run `stanchion hook stop`")
    if type(found) is not dict:
        raise Refuse("the daemon's answer is no object: run `stanchion hook stop`")
    return found


class _How:
    """How JSON is read."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int


def _limit(seconds: float) -> None:
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _late(*_: object) -> None:
    raise Refuse("the daemon does not answer in time: see its log, or run `stanchion hook stop`")


def _read() -> bytes:
    parts = bytearray()
    while part := posix.read(0, 1 << 16):
        parts += part
        if len(parts) > LARGEST:
            raise Refuse("the host says more than 16 MiB at once")
    return bytes(parts)


def _peeked() -> bytes:
    """The beginning of what the host says on a socket, which stays in it."""
    sock = _socket.socket(fileno=posix.dup(0))
    try:
        return sock.recv(1 << 12, _socket.MSG_PEEK)
    finally:
        sock.close()


def _write(fd: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[posix.write(fd, data) :]


# Starting the daemon: seldom, so everything may be loaded.


def _state(given: str) -> str:
    """The state folder. A project's settings can give a hook any environment, so what was installed
    says which, and `~` is the home that the system knows."""
    if given == "~":
        import pwd

        return f"{pwd.getpwuid(posix.getuid()).pw_dir}/.local/state/stanchion"
    if not given.startswith("/"):
        raise Refuse(f"the state folder `{given}` is not an absolute path: install the hooks again")
    return given


KEPT = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CONFIG_HOME")
"""What the daemon is given of the environment."""


def _start(state: str) -> int:
    """Start the daemon in a session of its own, unless somebody else does; gives its process, or
    0."""
    import fcntl
    import os

    folder = f"{state}/{FOLDER}"
    os.makedirs(state, 0o700, exist_ok=True)
    os.makedirs(folder, 0o700, exist_ok=True)
    # Kept open until this process ends: whoever comes now waits for the daemon that it starts.
    lock = os.open(f"{folder}/{STARTING}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return 0
    environ = {name: os.environ[name] for name in KEPT if name in os.environ}
    above, name = os.path.split(state)
    if name == "stanchion" and not os.environ.get("STANCHION_STATE_DIR"):
        environ["XDG_STATE_HOME"] = above
    else:
        environ["STANCHION_STATE_DIR"] = state
    log = (1, f"{folder}/{LOG}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    opened = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, *log),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    python = _python(state)
    words = [python, "-E", "-P", "-m", "stanchion", "hook", "daemon"]
    try:
        return os.posix_spawn(python, words, environ, file_actions=opened, setsid=True)
    except OSError as error:
        raise Refuse(f"`{python}` cannot be started: {error.strerror}: install again") from None


def _python(state: str) -> str:
    import json

    try:
        with open(f"{state}/{CONFIG}", encoding="utf-8") as file:
            named = json.load(file).get("python", "")
    except FileNotFoundError:
        named = ""
    except (OSError, ValueError, AttributeError):
        raise Refuse(f"`{state}/{CONFIG}` cannot be read: install again") from None
    return str(named) if named else sys.executable


def _checked_start(started: int) -> int | None:
    """The same, while it lives or somebody else's does; `None` to try again."""
    if not started:
        return None
    pid, status = posix.waitpid(started, posix.WNOHANG)
    if pid and posix.waitstatus_to_exitcode(status):
        raise Refuse("the daemon cannot start: `agents/daemon.log` in the state folder says why")
    return None if pid else started
