"""One connection to the server: statements go out, answers come back, and nobody waits longer than
said."""

from __future__ import annotations

import select
from asyncio import AbstractEventLoop, Future, get_running_loop
from collections.abc import Callable, Generator
from math import ceil
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import pq
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from stanchion.stores.postgres.address import GONE

Exchange = Generator[bool, None, PGresult]
"""Yields each time it must wait for the server, whether there is something left to send; returns
the answer."""


class BrokenLink(Exception):
    """The connection is gone; whether the server did what was asked of it is not known."""

    def __init__(self, words: str, code: str = "") -> None:
        super().__init__(words)
        self.code: Final = code


class Late(Exception):
    """No answer came in time; whether the server did what was asked of it is not known."""


class Complaint(Exception):
    """The server answered that it did not do it: a code, and its words."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(code, words)
        self.code: Final = code
        self.words: Final = words


class PostgresLink:
    """A connection, used by one caller at a time. Who does not go through with an exchange must
    close it."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection: Final = connection
        self._pg: Final = connection.pgconn

    def call(self, statement: bytes, given: list[bytes | None]) -> Exchange:
        """Run a prepared statement; arguments and answer are as PostgreSQL sends them."""
        return self._exchange(
            lambda: self._pg.send_query_prepared(statement, given, [1] * len(given), 1)
        )

    def ask(self, sql: bytes, given: list[bytes | None], kinds: list[int]) -> Exchange:
        """Run one statement with arguments of these types."""
        return self._exchange(
            lambda: self._pg.send_query_params(sql, given, kinds, [1] * len(given), 1)
        )

    def run(self, sql: bytes) -> Exchange:
        """Run some statements without arguments."""
        return self._exchange(lambda: self._pg.send_query(sql))

    def prepare(self, name: bytes, sql: bytes) -> Exchange:
        """Have a statement ready under a name."""
        return self._exchange(lambda: self._pg.send_prepare(name, sql))

    def wait(self, exchange: Exchange, until: float) -> PGresult:
        """Go through with an exchange; `Late` where it takes longer than until then."""
        try:
            while True:
                sending = next(exchange)
                if not _ready(self._pg.socket, sending, max(until - monotonic(), 0)):
                    raise Late
        except StopIteration as stop:
            answer: PGresult = stop.value
            return answer

    async def await_(self, exchange: Exchange, until: float) -> PGresult:
        """The same without blocking the event loop."""
        loop = get_running_loop()
        try:
            while True:
                sending = next(exchange)
                left_s = until - monotonic()
                # A loop that was held up looks at what has come before it says that nothing has.
                if not (
                    _ready(self._pg.socket, sending, 0)
                    if left_s <= 0
                    else await _soon_ready(loop, self._pg.socket, sending, left_s)
                ):
                    raise Late
        except StopIteration as stop:
            answer: PGresult = stop.value
            return answer

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()

    def _exchange(self, send: Callable[[], None]) -> Exchange:
        pg = self._pg
        answer: PGresult | None = None
        try:
            send()
            while pg.flush():
                yield True
                pg.consume_input()
            while True:
                while pg.is_busy():
                    yield False
                    pg.consume_input()
                result = pg.get_result()
                if result is None:
                    break
                if answer is None or answer.status != ExecStatus.FATAL_ERROR:
                    answer = result
        except psycopg.Error as error:
            raise BrokenLink(str(error)) from None
        if answer is None:
            raise BrokenLink("it closed the connection")
        if answer.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            return answer
        code = (answer.error_field(DiagnosticField.SQLSTATE) or b"").decode()
        words = (
            answer.error_field(DiagnosticField.MESSAGE_PRIMARY) or answer.error_message
        ).decode("utf-8", "replace")
        if not code or code in GONE or pg.status == pq.ConnStatus.BAD:
            raise BrokenLink(words, code)
        raise Complaint(code, words)


def _ready(socket: int, sending: bool, left_s: float) -> bool:
    """Whether the socket became ready in time."""
    poll = select.poll()
    poll.register(socket, select.POLLIN | select.POLLOUT if sending else select.POLLIN)
    return bool(poll.poll(ceil(left_s * 1000)))


async def _soon_ready(loop: AbstractEventLoop, socket: int, sending: bool, left_s: float) -> bool:
    """The same for an event loop."""
    ready: Future[bool] = loop.create_future()
    limit = loop.call_later(left_s, tell, ready, False)
    loop.add_reader(socket, tell, ready, True)
    if sending:
        loop.add_writer(socket, tell, ready, True)
    try:
        return await ready
    finally:
        limit.cancel()
        loop.remove_reader(socket)
        if sending:
            loop.remove_writer(socket)


def tell(ready: Future[bool], is_ready: bool) -> None:
    """Say that a future is over, unless it is already."""
    if not ready.done():
        ready.set_result(is_ready)
