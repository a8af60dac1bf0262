"""Real interrupts, on every store: a signal handler that raises, and an exception that one thread
sends another. Calls that follow go through, and the budget shows what was at work."""

import asyncio
import ctypes
import gc
import random
import signal
import sysconfig
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from pathlib import Path

import pytest

from stanchion import Refused
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.shields import shield_for
from tests.interrupts import SOAK, CutByTimer, soon
from tests.runtime.working import POLICY, Working
from tests.stores import redis_server
from tests.stores.servers import new_place

STORES = ["memory", "sqlite", *(["redis", "postgres"] if SOAK else [])]
"""A server takes too long for every test run: each step is a trip to it."""
INTERRUPTS = 3_000 if SOAK else 30

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:coroutine:RuntimeWarning"
    ),  # one that is cut off before it is awaited
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # files and sockets of who is cut off before it closes them
    pytest.mark.filterwarnings(
        "ignore::pytest.PytestUnraisableExceptionWarning"
    ),  # what it is cut off in may complain
]


@pytest.fixture(params=STORES)
def working(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Working]:
    """Calls under a budget, on each store."""
    with ExitStack() as stack:
        store: Store
        match request.param:
            case "memory":
                store = MemoryStore()
            case "sqlite":
                store = SqliteStore(tmp_path / "a.db")
            case "redis":
                redis_server.shared().ask("FLUSHALL")
                store = RedisStore(redis_server.shared().url, timeout_s=30)
            case _:
                store = stack.enter_context(new_place()).open(timeout_s=30)
        made = Working(stack.enter_context(shield_for(POLICY, store=store)))
        # What is imported when it is first needed is imported now: Python's own lock on that can
        # stay held
        made.call()
        made.acall_alone()
        yield made
    gc.collect()  # who was cut off is gone before the test ends, and so is what it could not close


@contextmanager
def python_complains() -> Iterator[None]:
    """Let Python's own modules say of a lock of theirs that nobody has it: whoever had it was cut
    off. No other."""
    try:
        yield
    except RuntimeError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        if "lock" not in str(error) or not Path(last.filename).is_relative_to(
            sysconfig.get_path("stdlib")
        ):
            raise


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="the system has no timers that send signals"
)
@pytest.mark.parametrize("on_a_loop", [False, True], ids=["thread", "loop"])
def test_a_signal_handler_that_raises(working: Working, on_a_loop: bool) -> None:
    """On an event loop it raises `KeyboardInterrupt`: of anything else a loop may lose whom it was
    about to wake."""
    chance = random.Random(7)
    armed = False
    struck = 0

    def strike(*_: object) -> None:
        nonlocal armed, struck
        if armed:
            armed = False
            struck += 1
            raise error

    error = KeyboardInterrupt if on_a_loop else CutByTimer

    async def acall() -> None:
        nonlocal armed
        armed = True
        await working.acall()
        armed = False

    def call() -> None:
        nonlocal armed
        if on_a_loop:
            asyncio.run(acall())
        else:
            armed = True
            working.call()
            armed = False

    before = signal.signal(signal.SIGALRM, strike)
    try:
        while struck < INTERRUPTS:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.000_02, 0.001))
            # A guard that is cut off refuses.
            with python_complains(), suppress(CutByTimer, KeyboardInterrupt, Refused):
                # Its own context: one that is cut off on its way out stays at work there, and in no
                # later test.
                copy_context().run(call)
            if struck % 10 == 9:
                signal.setitimer(signal.ITIMER_REAL, 0)
                soon(working.check)
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    soon(working.check)
    working.check()


def test_an_exception_that_another_thread_sends(
    working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        threading, "excepthook", lambda _: None
    )  # whom it strikes outside of the work
    chance = random.Random(8)
    send = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def work(started: threading.Event) -> None:
        try:
            started.set()
            for _ in range(20):
                working.call()
        except (CutByTimer, Refused):
            return

    for at in range(INTERRUPTS // 3):
        started = threading.Event()
        thread = threading.Thread(target=work, args=(started,), daemon=True)
        thread.start()
        started.wait()
        sum(range(chance.randrange(20_000)))
        send(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(CutByTimer))
        thread.join(60)
        assert not thread.is_alive(), "it is stuck"
        if at % 10 == 9:
            soon(working.check)
    soon(working.check)
    working.check()
