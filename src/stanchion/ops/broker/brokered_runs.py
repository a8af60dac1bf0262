"""The runs that a broker judges: whose each is, what speaks for it, and how it goes on after a
restart."""

from __future__ import annotations

import hmac
import os
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.folders import kept_key
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo
from stanchion.kernel.names import names
from stanchion.ops.broker.connection import BrokerSession
from stanchion.ops.broker.peers import Peer
from stanchion.runtime.deciding.aftermath import end_run
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.remote.messages import ENDED, Began, Begin, Sorry
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

KEY_FILE: Final = "broker.key"


class Passed(msgspec.Struct, frozen=True, array_like=True):
    """A run as it began: whose it is, in which life of the broker, and everything that its
    judgements depend on."""

    boot: str
    uid: int
    info: RunInfo
    """As it was given, before a policy describes it."""
    deadline_at_ms: int | None
    can: tuple[int, ...]
    carved: str


_encode = msgspec.msgpack.Encoder().encode
_decode = typed.unpacker(Passed).decode


class Passes:
    """Makes passes and tokens, and knows its own."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def token(self, uid: int, run: str) -> str:
        """What speaks for a run, for one user."""
        return self._signed(b"token", f"{uid}:{run}".encode()).hex()

    def is_token(self, given: str, uid: int, run: str) -> bool:
        """Whether somebody may speak for a run."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token(uid, run).encode())

    def sealed(self, passed: Passed) -> bytes:
        """A pass as a client keeps it."""
        body = _encode(passed)
        return self._signed(b"pass", body) + body

    def opened(self, sealed: bytes, uid: int) -> Passed | None:
        """What a pass says; `None` where it was not made with this key, or for another user."""
        signature, body = sealed[: sha256().digest_size], sealed[sha256().digest_size :]
        if not hmac.compare_digest(signature, self._signed(b"pass", body)):
            return None
        passed = _decode(body)
        return passed if passed.uid == uid else None

    def _signed(self, what: bytes, body: bytes) -> bytes:
        return hmac.digest(self._key, what + b"\0" + body, sha256().name)


def key_in(folder: Path) -> bytes:
    """The broker's key, made where there is none; `OSError` where it cannot be read or is none."""
    return kept_key(folder / KEY_FILE)


MOST_RUNS: Final = 1_000
"""How many runs one user may have open."""

NOT_YOURS: Final = Sorry("this run no longer exists: it was closed, or its client has gone", ENDED)


class NoSuchRun(Exception):
    """Nobody may speak for that run, or nobody any more; `reply` says so to the client."""

    def __init__(self, reply: Sorry = NOT_YOURS) -> None:
        super().__init__(reply.text)
        self.reply = reply


class BrokeredRun(NamedTuple):
    """A run, the user whose it is, and the session that it lives in."""

    run: Run
    uid: int
    session: BrokerSession


class BrokeredRuns:
    """Keeps the open runs. A run is its user's, and within one user it is whoever's who has its
    token."""

    def __init__(self, shield: Shield, passes: Passes, boot: str) -> None:
        self._shield, self._passes, self._boot = shield, passes, boot
        self._lock = threading.Lock()
        self._held: dict[str, BrokeredRun] = {}

    def of(self, run: str, token: str, peer: Peer) -> Run:
        """The run that a client speaks for; `NoSuchRun` where it may not."""
        held = self._held.get(run)
        if held is None or held.uid != peer.uid or not self._passes.is_token(token, peer.uid, run):
            raise NoSuchRun
        return held.run

    def begin(self, request: Begin, peer: Peer, session: BrokerSession) -> Began:
        """Begin a run for a client."""
        options: dict[str, Any] = {
            "role": request.role,
            "deadline_s": request.deadline_s,
            "tools": request.tools,
            "can": request.can,
            "risk": request.risk,
            "may": request.may,
        }
        self._check_room(peer)
        if request.parent:
            above = self.of(request.parent, request.token, peer)
            self._not_looser(request, above)
            run = above.spawn(request.agent, request.task, budget=request.budget, **options)
        else:
            task = "" if request.task is None else request.task
            self._not_looser(request, None)
            run = self._shield.run(
                request.agent, task, tenant=peer.tenant, labels=request.labels, **options
            )
        passed = self._passed(run, peer, request)
        with self._lock:
            self._held[run.id] = BrokeredRun(run, peer.uid, session)
        self._left_behind(run, session)
        return self._began(run, peer, passed)

    def _not_looser(self, request: Begin, above: Run | None) -> None:
        """Turn away a level by which a client would get rid of guards: only the broker's own policy
        gives such a one. A level above one that the policy gives is always a stricter one."""
        if request.risk is None:
            return
        from stanchion.policy.seat import leaves_out

        policy = self._shield.policy
        task = request.task if request.task is not None else "" if above is None else above.task
        given = policy.task(task).risk is not None or (above is not None and above.desk.info.risk)
        if not given and leaves_out(policy, request.risk):
            raise ValueError(
                f"the risk level `{request.risk}` leaves out guards of the broker's policy: leave "
                f"`risk` out, or have "
                "the policy give it to the task"
            )

    def resume(self, sealed: bytes, peer: Peer, session: BrokerSession) -> Began:
        """Go on with a run that an earlier life of this broker has begun. One of this life is here,
        or has ended."""
        passed = self._passes.opened(sealed, peer.uid)
        if passed is None or passed.info.tenant != peer.tenant:
            raise NoSuchRun
        with self._lock:
            held = self._held.get(passed.info.id)
            if held is not None and held.uid == peer.uid:
                return self._began(held.run, peer, sealed)
            if held is not None or passed.boot == self._boot:
                raise NoSuchRun
        self._check_room(peer)
        run = self._made(passed)
        with self._lock:
            first = self._held.setdefault(run.id, BrokeredRun(run, peer.uid, session))
        self._left_behind(first.run, first.session)
        return self._began(first.run, peer, sealed)

    def end(self, run: Run, code: str, why: str) -> None:
        """End a run for good: also a later life of the broker knows that it is over."""
        with self._lock:
            if self._held.pop(run.id, None) is None:
                return
        drive(end_run(run.desk, code, why), run.desk)
        run.close()

    def session_over(self, session: BrokerSession) -> None:
        """End what a client has left behind, children first."""
        with self._lock:
            left = [held for held in self._held.values() if held.session is session]
        for held in reversed(left):
            self.end(held.run, "kernel.ended", "its client has gone")

    def _left_behind(self, run: Run, session: BrokerSession) -> None:
        """End a run whose client has gone while it began."""
        if session.over:
            self.end(run, "kernel.ended", "its client has gone")

    def _check_room(self, peer: Peer) -> None:
        with self._lock:
            count = sum(held.uid == peer.uid for held in self._held.values())
        if count >= MOST_RUNS:
            raise ValueError(
                f"{MOST_RUNS:,} runs are open for user {peer.uid}: close some of them first"
            )

    def _began(self, run: Run, peer: Peer, sealed: bytes) -> Began:
        locks = bool(run.desk.shield.policy.ends_with_runs)
        return Began(
            run.id, run.agent, run.task, self._passes.token(peer.uid, run.id), sealed, locks
        )

    def _passed(self, run: Run, peer: Peer, request: Begin) -> bytes:
        desk = run.desk
        info = msgspec.structs.replace(
            desk.info,
            role="" if request.role is None else request.role,
            allowed_tools=None,
            additional_tools=names(() if request.tools is None else request.tools),
            capabilities=(),
        )
        can = tuple(map(int, desk.can))
        return self._passes.sealed(
            Passed(self._boot, peer.uid, info, desk.deadline_at_ms, can, desk.carved)
        )

    def _made(self, passed: Passed) -> Run:
        info = passed.info
        parent = self._held.get(info.parents[0]) if info.parents else None
        above = None if parent is None else parent.run.desk
        can = tuple(map(Action, passed.can))
        desk = Desk(self._shield, info, os.urandom(4).hex(), passed.deadline_at_ms, above, can)
        desk.carved = passed.carved
        return Run(desk)
