"""The door of one run: it accepts on the sockets of the inside, and lets through what may go."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from stanchion.policy.schema import PolicyFile
from stanchion.runtime.answers.resolver import Resolver, system
from stanchion.runtime.asides import aside
from stanchion.runtime.door.codes import QUESTION
from stanchion.runtime.door.credentials import DoorCredential, for_git, loaded
from stanchion.runtime.door.exchanges import HttpDoor, refusal
from stanchion.runtime.door.heads import HeadFault
from stanchion.runtime.door.judging import UNREADABLE, DoorDesk, TooManyBytes, Unreached
from stanchion.runtime.door.listeners import HOST, DoorError, Listeners
from stanchion.runtime.door.names import (
    NO_NAME,
    OK,
    REFUSED,
    A,
    answer_to,
    carries_data,
    question_in,
)
from stanchion.runtime.door.socks import (
    FAILED,
    NOT_ALLOWED,
    UNREACHED,
    BadSocks,
    answered,
    requested,
)
from stanchion.runtime.door.tunnels import SPEAK_S, through, unaware
from stanchion.runtime.door.wires import HTTP, SOCKS, TLS, DoorWire
from stanchion.runtime.errors import Refused

MOST_CONNECTIONS: Final = 256
"""How many connections from inside are served at once; others wait to be accepted."""
MOST_QUESTIONS: Final = 64
"""How many questions for names are worked on at once; others are dropped."""
LOOK_S: Final = 1.0
"""How often it is seen whether the run is over."""
LONGEST_QUESTION: Final = 512
ALERT: Final = b"\x15\x03\x03\x00\x02\x02\x31"
"""What TLS says where access is denied."""
HERE: Final = "127.0.0.1,localhost,::1"
"""What is reached inside without the door, because it is inside."""


class Door:
    """Lets through what a run may do, from `start` until `close`. `tls` is how servers are trusted
    to which the door itself speaks TLS; `resolver` finds what a policy that only tells would have
    refused, and nobody has looked up; `closed` are the ports of this machine that are our own
    servers', which nothing inside reaches."""

    def __init__(
        self,
        run: Any,
        listeners: Listeners,
        tls: ssl.SSLContext | None = None,
        resolver: Resolver = system,
        closed: Iterable[int] = (),
    ) -> None:
        if getattr(run, "desk", None) is None:
            raise DoorError("a door judges in its own process: give it a run that no broker judges")
        file = run.desk.shield.policy.file
        if len(listeners.local) < local_doors(file):
            raise DoorError(f"the inside has too few sockets: {local_doors(file)} are needed")
        self._listeners = listeners
        self._credentials = loaded(file.credentials)
        self._desk = DoorDesk(run, file.door, self._credentials, tls, resolver, closed)
        self._asked: dict[str, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="stanchion-door", daemon=True)
        self._ends = asyncio.Event()

    def start(self) -> None:
        """Accept from now on."""
        for one in self._listeners:
            one.setblocking(False)
        self._thread.start()

    def close(self) -> None:
        """Close every connection and every listening socket: the inside has no network any more."""
        if self._thread.is_alive():
            with suppress(RuntimeError):  # it has just ended by itself
                self._loop.call_soon_threadsafe(self._ends.set)
            self._thread.join()
        self._listeners.close()

    def environment(self) -> dict[str, str]:
        """What programs inside have to be told, so that they find the door."""
        http = "http://{}:{}".format(*self._listeners.http.getsockname())
        socks = "socks5h://{}:{}".format(*self._listeners.socks.getsockname())
        found = {"HTTP_PROXY": http, "HTTPS_PROXY": http, "ALL_PROXY": http, "NO_PROXY": HERE}
        found["SOCKS_PROXY"] = socks
        found |= {name.lower(): said for name, said in found.items()} | FOR_PROGRAMS
        local = [
            (one, "http://{}:{}".format(*sock.getsockname()))
            for one, sock in zip(self._credentials, self._listeners.local, strict=False)
        ]
        for one, place in local:
            found |= dict(one.environment(place))
        return found | for_git(local)

    def learned(self, base: str) -> str:
        """The policy of what was reached so far, over another one, for a person to read."""
        return self._desk.learned.policy(base)

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._open())
        except Exception as error:  # noqa: BLE001 - whatever ends the door, the inside is shut
            aside("the door has ended, and with it the network of the inside", error)
        finally:
            self._listeners.close()
            self._loop.close()

    async def _open(self) -> None:
        room = asyncio.Semaphore(MOST_CONNECTIONS)
        doors: list[tuple[socket.socket, str, Callable[[DoorWire], Awaitable[None]]]] = [
            (self._listeners.http, HTTP, self._http),
            (self._listeners.socks, SOCKS, self._socks),
            (self._listeners.dns_tcp, "", self._dns_stream),
        ]
        doors += [
            (sock, HTTP, partial(self._http, credential=one))
            for one, sock in zip(self._credentials, self._listeners.local, strict=False)
        ]
        if self._listeners.tls is not None:
            doors.append((self._listeners.tls, TLS, self._unaware))
        if self._listeners.plain is not None:
            doors.append((self._listeners.plain, HTTP, partial(self._http, unaware=True)))
        works: list[Coroutine[Any, Any, None]] = [
            self._accepting(sock, speaks, serve, room) for sock, speaks, serve in doors
        ]
        tasks = [self._loop.create_task(one) for one in (*works, self._dns_packets())]
        tasks.append(self._loop.create_task(self._until_closed()))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    async def _until_closed(self) -> None:
        """Wait for the end. A run that is over before has no connection any more."""
        while not self._ends.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._ends.wait()
            if self._desk.over:
                for task in self._tasks:
                    task.cancel()

    async def _accepting(
        self,
        listener: socket.socket,
        speaks: str,
        serve: Callable[[DoorWire], Awaitable[None]],
        room: asyncio.Semaphore,
    ) -> None:
        """Accept as long as there is room; whoever comes then waits in the kernel's queue."""
        while True:
            await room.acquire()
            try:
                sock, _ = await self._loop.sock_accept(listener)
            except ConnectionAbortedError:
                room.release()
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = self._loop.create_task(self._served(DoorWire(sock, speaks), serve))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(lambda _: room.release())

    async def _served(self, inner: DoorWire, serve: Callable[[DoorWire], Awaitable[None]]) -> None:
        """Serve one connection to its end. Whatever goes wrong ends it, and nothing else."""
        try:
            await self._answered(inner, serve)
        except (OSError, ValueError, Refused):
            pass
        except Exception as error:  # noqa: BLE001 - one connection must not end the door
            aside("a connection through the door was closed", error)
        finally:
            inner.close()

    async def _answered(
        self, inner: DoorWire, serve: Callable[[DoorWire], Awaitable[None]]
    ) -> None:
        """Serve one connection, and say why where it does not go on."""
        try:
            await serve(inner)
            return
        except Refused as refused:
            said = _said(inner.speaks, "403 Forbidden", str(refused), NOT_ALLOWED)
        except TooManyBytes as error:
            said = b""
            await self._desk.refuse(UNREADABLE, error.code, *error.about)
        except HeadFault as fault:
            said = _said(inner.speaks, "400 Bad Request", str(fault), FAILED)
        except BadSocks as bad:
            said = b"" if bad.code == 255 else answered(bad.code)
        except Unreached as error:
            said = _said(inner.speaks, "502 Bad Gateway", str(error), UNREACHED)
        await inner.send(said)
        await inner.let_go()

    async def _http(
        self, inner: DoorWire, credential: DoorCredential | None = None, unaware: bool = False
    ) -> None:
        await HttpDoor(self._desk, inner, "", credential, unaware).serve()

    async def _unaware(self, inner: DoorWire) -> None:
        await unaware(self._desk, inner, self._within)

    async def _socks(self, inner: DoorWire) -> None:
        async with asyncio.timeout(SPEAK_S):
            host, port = await requested(inner)
        await through(self._desk, inner, host, port, answered(0), self._within)

    async def _within(self, inner: DoorWire, base: str) -> None:
        await HttpDoor(self._desk, inner, base).serve()

    async def _dns_stream(self, inner: DoorWire) -> None:
        while True:
            async with asyncio.timeout(SPEAK_S):
                size = int.from_bytes(await inner.exactly(2), "big")
                packet = await inner.exactly(min(size, LONGEST_QUESTION))
            answer = await self._dns(packet)
            if not answer:
                return
            await inner.send(len(answer).to_bytes(2, "big") + answer)

    async def _dns_packets(self) -> None:
        at_work: set[asyncio.Task[None]] = set()
        listener = self._listeners.dns_udp
        while True:
            packet, whence = await self._loop.sock_recvfrom(listener, LONGEST_QUESTION)
            if len(at_work) < MOST_QUESTIONS:
                task = self._loop.create_task(self._dns_packet(packet, whence))
                at_work.add(task)
                task.add_done_callback(at_work.discard)

    async def _dns_packet(self, packet: bytes, whence: Any) -> None:
        try:
            answer = await self._dns(packet)
            if answer:
                await self._loop.sock_sendto(self._listeners.dns_udp, answer, whence)
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001 - one question must not end the door
            aside("a question for a name was not answered", error)

    async def _dns(self, packet: bytes) -> bytes:
        """The answer to a question: an address that stands for the name, where it may be reached.
        Nothing is asked outside that the run has not had judged."""
        question = question_in(packet)
        if question is None:
            return b""
        name = question.name
        why = carries_data(name, question.kind)
        if not await self._may_be_asked(name, why):
            return answer_to(question, REFUSED if why else NO_NAME)
        here = self._desk.names.address(name) if self._listeners.tls is None else HOST
        return answer_to(question, OK, here if question.kind == A else "")

    async def _may_be_asked(self, name: str, why: str) -> bool:
        """Whether a name may be reached; asked once, and the connection is judged again anyway."""
        key = f"{name} {why}"
        known = self._asked.get(key)
        if known is None:
            if len(self._asked) >= 2 * self._desk.names.most:
                return False
            asked = self._desk.question(name)
            try:
                await self._desk.keep_in(name)
                if why:
                    await self._desk.refuse(asked, QUESTION, name, why)
                await self._desk.clear(asked)
                known = self._desk.names.admits(name)
            except Refused:
                known = False
            self._asked[key] = known
        return known


def local_doors(policy: PolicyFile) -> int:
    """How many local doors a policy needs: one for each credential."""
    return len(policy.credentials)


FOR_PROGRAMS: Final = {"NODE_USE_ENV_PROXY": "1"}
"""What some programs need to heed the others."""


def _said(speaks: str, status: str, text: str, code: int) -> bytes:
    """What is answered where a connection does not go on, in what is spoken on it."""
    return {HTTP: refusal(status, text), SOCKS: answered(code), TLS: ALERT}.get(speaks, b"")


__all__ = ["Door", "DoorError", "Listeners", "local_doors"]
