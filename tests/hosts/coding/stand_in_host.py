"""A process that stands in for a coding agent: it sends hooks, and runs commands, as that one does.

It is run by the name of the host with the standard library alone, and does what each line of its
standard input says.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

WAITS_S = 30.0 if len(sys.argv) < 3 else float(sys.argv[2])


def is_whole(got: bytes) -> bool:
    """Whether an answer is there to its end."""
    head, end, rest = got.partition(b"\r\n\r\n")
    return bool(end) and len(rest) >= int(head.lower().partition(b"content-length:")[2].split()[0])


def over_http(port: int, text: str, headers: dict[str, str] | None = None) -> dict[str, object]:
    """What an endpoint answers to a connection of this process."""
    mine = (port, threading.get_ident())
    sock = kept.get(mine)
    if sock is None:
        try:
            sock = socket.create_connection(("127.0.0.1", port), timeout=WAITS_S)
        except OSError:
            return {"status": 0, "text": ""}
        kept[mine] = sock
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    body = text.encode()
    given = {
        "Host": f"127.0.0.1:{port}",
        "Stanchion-Hook": "1",
        "Content-Type": "application/json",
        **(headers or {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    head = f"POST /{NAME} HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    got = b""
    try:
        sock.sendall(head.encode() + body)
        while not is_whole(got):
            part = sock.recv(65536)
            if not part:
                raise ConnectionResetError
            got += part
    except OSError:
        kept.pop(mine).close()
        return {"status": 0, "text": ""}
    answer, _, rest = got.partition(b"\r\n\r\n")
    if b"connection: close" in answer.lower() or "Connection" in given:
        sock.close()
        del kept[mine]
    return {"status": int(answer.split()[1]), "text": rest.decode()}


def together(port: int, texts: list[str]) -> dict[str, object]:
    """What an endpoint answers to connections of this process that speak at once."""
    ready = threading.Barrier(len(texts))

    def speak(text: str) -> dict[str, object]:
        ready.wait()
        return over_http(port, text)

    with ThreadPoolExecutor(len(texts)) as pool:
        return {"answers": list(pool.map(speak, texts))}


def pipes() -> list[tuple[int, int]]:
    """The standard streams of a hook: what it gets, and what this process keeps."""
    if NAME == "claude":
        pairs = [socket.socketpair() for _ in range(3)]
        for pair in pairs:
            kept_open.extend(pair)
        return [(ours.detach(), theirs.detach()) for ours, theirs in pairs]
    first, second, third = os.pipe(), os.pipe(), os.pipe()
    return [(first[1], first[0]), second, third]


kept_open: list[socket.socket] = []


def run_hook(
    words: str | list[str], text: str, env: dict[str, str] | None = None
) -> dict[str, object]:
    """Run a hook as the host does: in a session of its own, its streams made here."""
    (into, theirs), (out, out_theirs), (err, err_theirs) = pipes()
    made = subprocess.Popen(
        words,
        stdin=theirs,
        stdout=out_theirs,
        stderr=err_theirs,
        env={**os.environ, **(env or {})},
        start_new_session=True,
        shell=isinstance(words, str),
    )
    for each in (theirs, out_theirs, err_theirs):
        os.close(each)
    with contextlib.suppress(BrokenPipeError):
        os.write(into, text.encode())
    os.close(into)
    found = []
    for each in (out, err):
        parts = b""
        with contextlib.suppress(ConnectionResetError):
            while part := os.read(each, 65536):
                parts += part
        os.close(each)
        found.append(parts.decode())
    return {"status": made.wait(), "stdout": found[0], "stderr": found[1]}


def run_command(words: str | list[str], env: dict[str, str] | None = None) -> dict[str, object]:
    """Run a command of the agent as the host does."""
    own = socket.socketpair()
    kept_open.extend(own)
    environ = {**os.environ, **MARKS, **(env or {})}
    with tempfile.TemporaryFile() as output:
        made = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output if NAME == "claude" else subprocess.PIPE,
            stderr=subprocess.STDOUT if NAME == "claude" else subprocess.PIPE,
            env=environ,
            start_new_session=True,
            pass_fds=(own[1].fileno(),),
            shell=isinstance(words, str),
        )
        text, wrong = made.communicate()
        output.seek(0)
        said = output.read() if NAME == "claude" else text + wrong
        return {"status": made.returncode, "stdout": said.decode()}


NAME = sys.argv[1]
MARKS = {"claude": {"CLAUDECODE": "1"}, "codex": {"CODEX_THREAD_ID": "t"}}[NAME]
kept: dict[tuple[int, int], socket.socket] = {}
DOES: dict[str, Callable[..., dict[str, object]]] = {
    "http": over_http,
    "together": together,
    "hook": run_hook,
    "command": run_command,
}

if __name__ == "__main__":
    for line in sys.stdin:
        what, *rest = json.loads(line)
        try:
            answer = DOES[what](*rest)
        except OSError as error:
            answer = {"error": repr(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
