"""Guards of content see bytes, objects, iterators and keys that collide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stanchion import Refused, Shield


class Speaks:
    """An object that says something when it is asked."""

    def __str__(self) -> str:
        raise AssertionError("nobody asks it while judging")

    __repr__ = __iter__ = __str__


RAN: list[Any] = []


def bash(command: Any) -> str:
    RAN.append(command)
    return "done"


ARGUMENTS: dict[str, Any] = {
    "bytes": b"rm -rf /",
    "bytearray": bytearray(b"rm -rf /"),
    "memory": memoryview(b"rm -rf /"),
    "UTF-16": "rm -rf /".encode("utf-16"),
    "no UTF-8": b"rm -rf / \xff",
    "object": Speaks(),
    "iterator": iter(["rm -rf /"]),
    "values": {"a": Speaks()}.values(),
    "array": np.array(["rm -rf /"]),
    "bytes in an array": np.frombuffer(b"rm -rf /", dtype="B"),
    "keys that collide": {1: "rm -rf /", "1": "ls"},
}


@pytest.mark.parametrize("pack", ["default", "strict", "coding-agent"])
@pytest.mark.parametrize("command", ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_command_in_any_form_does_not_run(command: Any, pack: str) -> None:
    run = Shield.load(pack).run("ann")
    RAN.clear()
    with pytest.raises(Refused):
        run.call(bash, command=command)
    assert RAN == []
    assert not run.check("bash", {"command": command}).proceeds


def test_a_path_in_bytes_is_a_path() -> None:
    run = Shield.load("strict").run("ann")
    with pytest.raises(Refused):
        run.call(lambda path: path, path=b"/root/.ssh/id_rsa")
    assert not run.check("read_file", {"path": b"/root/.ssh/id_rsa"}).proceeds
