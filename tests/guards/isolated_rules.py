"""Guards that are named in policies as isolated: some judge, some do what only a process of its own
survives."""

from __future__ import annotations

import inspect
import os
import re
import signal
import socket
import subprocess
import threading
from typing import Any

import msgspec

from stanchion import Action, Finding
from stanchion.runtime.answers.isolated.wire import MARK
from tests.guards.house_rules import (
    Rules,
    Waiting,
    crashes,
    graded,
    hide_password,
    no_force,
    nonsense,
)

CATASTROPHE = re.compile(r"(a+)+$")
rules = Rules()
waiting = Waiting()


def policy(
    call: str, deadline_ms: int = 60_000, isolated: bool = True, **guard: Any
) -> dict[str, Any]:
    """A policy with one guard, whose code may have a process of its own."""
    code = f"tests.guards.isolated_rules:{call}"
    entry = {
        "use": "python",
        "id": "g",
        "call": code,
        "deadline_ms": deadline_ms,
        "isolated": isolated,
        **guard,
    }
    return {"name": "apart", "tools": {"door": {"risk": "high"}}, "guards": [entry]}


def process_of(run: Any) -> int:
    """The process in which the guard `tells` judges."""
    return int(run.check("t", {}).message.split()[0])


def tells_context(_event: Any, context: Any) -> str:
    """Refuse with all that the context says."""
    return msgspec.json.encode(context).decode()


async def tells_context_later(event: Any, context: Any, stop: threading.Event) -> str:
    """The same as async code that takes a `stop` as well."""
    assert not stop.is_set()
    return tells_context(event, context)


def stuck(event: Any) -> str | None:
    """Look for what takes longer than the world will last, where the arguments hold it; no other
    thread can work."""
    CATASTROPHE.match(event.args.get("text", ""))
    return "short, and refused" if event.args.get("refuse") else None


def misfits(event: Any) -> Any:
    """A finding that holds what no finding may."""
    return Finding(Action.WARN, "house.misfit", args=(event.args, object()))  # type: ignore[arg-type]


def tells(event: Any) -> str:
    """Tell of the process: its number, its parent's, and its environment."""
    print("printed")
    return f"{os.getpid()} {os.getppid()} {sorted(os.environ)}"


JUDGES: dict[str, Any] = {
    "no_force": no_force,
    "graded": graded,
    "hide_password": hide_password,
    "crashes": crashes,
    "nonsense": nonsense,
    "rules": rules.judge,
    "waiting": waiting.judge,
}


def judges(event: Any, stop: threading.Event) -> Any:
    """Judge with the guard that the tool is named for; its answer may have to be awaited."""
    return "stopped" if stop.is_set() else JUDGES[event.tool](event)


def asserts(event: Any) -> str | None:
    """Answer by an assertion, which an interpreter that optimizes leaves out."""
    assert event.args.get("path"), "no path"
    return "checked" if __debug__ else "not checked"


def dies(event: Any) -> str | None:
    """End the process in the way the arguments say."""
    match event.args.get("how"):
        case "exit":
            os._exit(7)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise SystemExit
        case "large":
            return "x" * (17 << 20)
        case "close":
            os.closerange(0, 64)
        case "garbage":
            _channel().sendall(b"garbage " * 100)
        case "forged":
            _channel().sendall(_frame(bytes(MARK)))
        case "endless":
            os.set_blocking((channel := _channel()).fileno(), True)
            while True:
                channel.sendall(bytes(1 << 16))
        case "announced":
            _channel().sendall(b"\xff\xff\xff\xff")
    return None


def strays(event: Any) -> str | None:
    """Judge by the arguments, and leave something behind that another question could take for its
    answer."""
    match event.args.get("leaves"):
        case "fork":
            os.fork()
        case "fork that raises":
            if os.fork() == 0:
                raise ValueError
        case "fork that exits":
            if os.fork() == 0:
                raise SystemExit
        case "frame":
            _channel().sendall(_frame(bytes(MARK)))
        case "own answer":
            # The mark of the question is in the frames that brought it here: code that means harm
            # can find it.
            marks = [
                frame.frame.f_locals["mark"]
                for frame in inspect.stack()
                if "mark" in frame.frame.f_locals
            ]
            _channel().sendall(_frame(marks[0]))
        case "late frame":
            threading.Timer(0.05, _channel().sendall, [_frame(bytes(MARK))]).start()
        case "half a frame":
            _channel().sendall(_frame(bytes(MARK))[:-4])
        case "output":
            os.write(1, b"raw\n" * 100)
            print("printed", flush=True)
    return "refused" if event.args.get("refuse") else None


def breeds(event: Any) -> str | None:
    """Leave a process behind that would never end, and tell its number; or end in the middle."""
    if event.args.get("exit"):
        os._exit(0)
    child = subprocess.Popen(["sleep", "600"])
    return str(child.pid)


def _frame(mark: bytes) -> bytes:
    """What says that there is no objection, to whoever takes it."""
    return len(b'["passed"]').to_bytes(4, "big") + mark + b'["passed"]'


def _channel() -> socket.socket:
    """The channel to the host, found as code that means harm would find it."""
    for number in range(3, 64):
        try:
            return socket.socket(fileno=os.dup(number))
        except OSError:
            continue
    raise AssertionError("there is no channel")
