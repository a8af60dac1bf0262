"""Trails to tamper with, written by real shields, some of them killed; and everything that can be
done to them."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion import Shield
from stanchion.audit.anchors import anchors_of
from stanchion.audit.chain_lock import take
from stanchion.audit.keys import load_key, make_key
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.policy.load import load_policy
from stanchion.stores.open_store import open_store
from tests.live_folders import copy

POLICY: Final = load_policy(
    {
        "name": "tampered",
        "tools": {"high": {"risk": "high"}},
        "guards": [{"use": "step_limit", "max_steps": 1_000_000, "per": "run", "counter": "steps"}],
    }
)
AHEAD: Final = 6
"""How many records everybody has seen behind the early state before it goes on."""

Anchors = list[tuple[str, int, str]]


class Scene(NamedTuple):
    """A trail as it was left: its folder, an earlier state of it, its last chain, and what others
    know of it."""

    trail: Path
    early: Path
    chain: str
    key: Path | None
    anchors: Anchors
    witness: Path

    def copy(self, to: Path) -> Scene:
        """The same trail elsewhere, to be tampered with."""
        copy(self.trail, to)
        return self._replace(trail=to)

    @property
    def verifies(self) -> Path | None:
        """The key that verifies."""
        return None if self.key is None else self.key.with_name("key.verify")


def opened(folder: Path, key: Path | None, **more: Any) -> Shield:
    """A shield of that policy, with its trail and its store in a folder."""
    held = None if key is None else load_key(key)
    trail = Trail(folder / "trail", TrailOptions(key=held, head_ms=0, sync_ms=0.1, **more))
    return Shield(POLICY, store=open_store(str(folder / "state.db")), journal=trail)


def known(folder: Path) -> Anchors:
    """What the store has seen of the trail."""
    store = open_store(str(folder / "state.db"))
    try:
        there = [path.name for path in (folder / "trail").iterdir()]
        return anchors_of(
            ((cell.key, cell.value) for cell in store.look()), folder / "trail", there
        )
    finally:
        store.close()


def head(chain: Path) -> int:
    """The record that a chain's head names."""
    return int(json.loads((chain / "head").read_bytes())["seq"])


def is_ahead(folder: Path, chain: str, of: int) -> bool:
    """Whether store and head have both seen what was written well behind a record."""
    seen = max((seq for name, seq, _ in known(folder) if name == chain), default=-1)
    return min(seen, head(folder / "trail" / chain)) >= of + AHEAD


def witness_of(folder: Path) -> Path:
    """The heads of a trail, kept elsewhere."""
    heads = [path.read_bytes().strip() for path in sorted((folder / "trail").glob("*/head"))]
    (folder / "witness").write_bytes(b"\n".join(heads) + b"\n")
    return folder / "witness"


def early_of(folder: Path) -> Path:
    """The trail as it is now, for later."""
    return copy(folder / "trail", folder / "early")


def left(folder: Path, chain: str, key: Path | None) -> Scene:
    return Scene(folder / "trail", folder / "early", chain, key, known(folder), witness_of(folder))


def key_in(folder: Path, with_key: bool) -> Path | None:
    """A new ratcheting key, where one is wanted."""
    folder.mkdir()
    if with_key:
        make_key(folder / "key")
    return folder / "key" if with_key else None


def closed(folder: Path, with_key: bool) -> Scene:
    """Two chains that were closed properly. The first has several segments; the second no other
    chain names."""
    key = key_in(folder, with_key)
    with opened(folder, key, segment_bytes=3_000) as shield, shield.run(id="r1") as run:
        for _ in range(12):
            run.check("high", {})
    first = shield.journal.name
    lock = take(folder / "trail" / first)
    assert lock is not None
    with opened(folder, key) as shield, shield.run(id="r2") as run:
        os.close(lock)
        chain = shield.journal.name
        for _ in range(3):
            run.check("high", {})
        early_of(folder)
        of = head(folder / "early" / chain)
        while not is_ahead(folder, chain, of):
            run.check("high", {})
    assert chain != first
    return left(folder, chain, key)


def _work(folder: Path, key: Path | None, tell: Any) -> None:
    """Write until killed; say when the first records are written, and wait for an answer then."""
    shield = opened(folder, key)
    run = shield.run(id="r1")
    for _ in range(3):
        run.check("high", {})
    tell.send(shield.journal.name)
    tell.recv()
    while True:
        run.check("high", {})


def killed(folder: Path, with_key: bool) -> Scene:
    """One chain whose writer was killed."""
    key = key_in(folder, with_key)
    hear, tell = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(folder, key, tell), daemon=True
    )
    process.start()
    chain = hear.recv()
    early_of(folder)
    of = head(folder / "early" / chain)
    hear.send("go on")
    while not is_ahead(folder, chain, of):
        assert process.is_alive()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return left(folder, chain, key)


def segments(chain: Path) -> list[Path]:
    return sorted(chain.glob("*.jsonl"))


def dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def line_of(outer: dict[str, Any], body: dict[str, Any]) -> bytes:
    """A line around a body with a hash that fits, and everything else beside it as it was."""
    text = dumped(body)
    beside = {name: value for name, value in outer.items() if name not in ("hash", "body", "kept")}
    kept = b',"kept":' + dumped(outer["kept"]) if "kept" in outer else b""
    return (
        dumped({"hash": sha256(text).hexdigest(), **beside})[:-1]
        + b',"body":'
        + text
        + kept
        + b"}\n"
    )


def edit(scene: Scene) -> None:
    path = segments(scene.trail / scene.chain)[0]
    path.write_bytes(path.read_bytes().replace(b'"ALLOW"', b'"BLOCK"', 1))


def rewrite(scene: Scene) -> None:
    chain = scene.trail / scene.chain
    (path,) = segments(chain)
    prev, made = "0" * 64, []
    for outer in map(json.loads, path.read_bytes().splitlines()):
        body = {**outer["body"], "prev": prev}
        if body.get("action") == "ALLOW":
            body["action"] = "BLOCK"
        made.append(line_of(outer, body))
        prev = json.loads(made[-1])["hash"]
    path.write_bytes(b"".join(made))
    (chain / "head").write_bytes(
        dumped({**json.loads((chain / "head").read_bytes()), "hash": prev})
    )


def delete(scene: Scene) -> None:
    path = segments(scene.trail / scene.chain)[0]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))


def insert(scene: Scene) -> None:
    path = segments(scene.trail / scene.chain)[0]
    lines = path.read_bytes().splitlines(keepends=True)
    outer = json.loads(lines[4])
    path.write_bytes(
        b"".join([*lines[:4], line_of(outer, {**outer["body"], "id": "made-up"}), *lines[4:]])
    )


def forge(scene: Scene) -> None:
    path = segments(scene.trail / scene.chain)[-1]
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    last = json.loads(whole.splitlines()[-1])
    body = {**last["body"], "prev": last["hash"], "seq": last["body"]["seq"] + 1, "id": "made-up"}
    path.write_bytes(whole + line_of(last, body))
    key = None if scene.key is None else load_key(scene.key)
    shield = Shield(
        POLICY, store=open_store("memory:"), journal=Trail(scene.trail, TrailOptions(key=key))
    )
    with shield, shield.run(id="next") as run:
        assert run.check("high", {}).proceeds
    assert shield.journal.name == scene.chain


def cut(scene: Scene) -> None:
    """To what it was early, or a little more: the head of that time still fits."""
    chain, then = scene.trail / scene.chain, scene.early / scene.chain
    seq = head(then) + 2
    (path,) = segments(chain)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[: seq + 1]))
    shutil.copy(then / "head", chain / "head")


def delete_segment(scene: Scene) -> None:
    first = next(path for path in sorted(scene.trail.iterdir()) if len(segments(path)) > 1)
    segments(first)[0].unlink()


def delete_chain(scene: Scene) -> None:
    shutil.rmtree(scene.trail / scene.chain)


def put_back(scene: Scene) -> None:
    shutil.rmtree(scene.trail)
    shutil.copytree(scene.early, scene.trail)


def move(scene: Scene) -> None:
    other = next(path for path in sorted(scene.trail.iterdir()) if path.name != scene.chain)
    source, target = segments(scene.trail / scene.chain)[0], segments(other)[-1]
    lines = source.read_bytes().splitlines(keepends=True)
    target.write_bytes(target.read_bytes() + lines.pop(4))
    source.write_bytes(b"".join(lines))


def begin_anew(scene: Scene) -> None:
    shutil.rmtree(scene.trail)
    shield = Shield(POLICY, store=open_store("memory:"), journal=Trail(scene.trail))
    with shield, shield.run(id="anew") as run:
        run.check("high", {})


Deed = Callable[[Scene], None]

DEEDS: Final[dict[str, tuple[str, Deed]]] = {
    "edit": ("closed", edit),
    "rewrite": ("closed", rewrite),
    "delete": ("closed", delete),
    "insert": ("closed", insert),
    "forge": ("killed", forge),
    "cut killed": ("killed", cut),
    "cut closed": ("closed", cut),
    "delete segment": ("closed", delete_segment),
    "delete chain": ("closed", delete_chain),
    "put back": ("closed", put_back),
    "move": ("closed", move),
    "begin anew": ("closed", begin_anew),
}
"""What can be done, and to which trail."""
