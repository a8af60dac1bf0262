"""A process that says what a host's hooks say, and times each answer.

It is run by the name of the host with the standard library alone. A line of its standard input has
a port, a session, a folder and how many calls are made; the answer has the nanoseconds of each
event by what it is, and the answers that are no plain yes.
"""

from __future__ import annotations

import json
import socket
import sys
import time

CALLS = {
    "ls": ("Bash", {"command": "ls src/m#"}, {"stdout": "a#.py\nb#.py", "stderr": ""}),
    "git status": ("Bash", {"command": "git status"}, {"stdout": "modified: a#.py", "stderr": ""}),
    "Read": ("Read", {"file_path": "a#.py"}, {"type": "text", "file": {"content": "x = #\n"}}),
}
"""What is called, with its arguments and what comes of it; `#` is the number of the turn, for who
does the same again and again is told so."""
kept: dict[int, socket.socket] = {}


def asked(port: int, body: dict[str, object]) -> tuple[int, bytes]:
    """How long an event takes to be answered on the kept connection, and the answer."""
    if port not in kept:
        kept[port] = socket.create_connection(("127.0.0.1", port), timeout=60)
        kept[port].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock, data = kept[port], json.dumps(body).encode()
    head = (
        f"POST /claude HTTP/1.1\r\nAccept: application/json, text/plain, */*\r\n"
        f"Content-Type: application/json\r\nStanchion-Hook: 1\r\nUser-Agent: axios/1.8.4\r\n"
        f"Content-Length: {len(data)}\r\nAccept-Encoding: gzip, compress, deflate, br\r\n"
        f"Host: 127.0.0.1:{port}\r\nConnection: keep-alive\r\n\r\n"
    )
    begun = time.perf_counter_ns()
    sock.sendall(head.encode() + data)
    first, end, rest = b"", b"", b""
    while not end or len(rest) < int(first.partition(b"Content-Length: ")[2].split()[0]):
        part = sock.recv(65_536)
        if not part:
            return 0, b"the connection was closed"
        first, end, rest = (first + end + rest + part).partition(b"\r\n\r\n")
    return time.perf_counter_ns() - begun, rest


def main() -> None:
    """Play what each line asks for."""
    for line in sys.stdin:
        port, session, folder, calls = json.loads(line)
        common = {
            "session_id": session, "cwd": folder, "transcript_path": "/t.jsonl",
            "permission_mode": "default",
        }  # fmt: skip
        took: dict[str, list[int]] = {}
        odd: list[str] = []
        asked(port, {**common, "hook_event_name": "UserPromptSubmit", "prompt": "look around"})
        for n in range(calls):
            told = {**common, "hook_event_name": "PreCompact", "trigger": "auto"}
            took.setdefault("PreCompact", []).append(asked(port, told)[0])
            for name, (tool, *said) in CALLS.items():
                given, result = json.loads(json.dumps(said).replace("#", str(n)))
                call = {
                    **common, "tool_name": tool, "tool_input": given, "tool_use_id": f"{name}{n}",
                }  # fmt: skip
                for event, more in (("PreToolUse", {}), ("PostToolUse", {"tool_response": result})):
                    ns, answer = asked(port, {**call, "hook_event_name": event, **more})
                    took.setdefault(f"{event} {name}", []).append(ns)
                    if answer != b'{"continue":true}':
                        odd.append(f"{event} {name}: {answer.decode()}")
        print(json.dumps([took, odd]), flush=True)


if __name__ == "__main__":
    main()
