"""Lines of the log come whoever is interrupted, and whoever waits for whom."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from stanchion.telemetry import lines, loggers
from stanchion.telemetry.lines import LogThread
from tests.interrupts import everywhere, files


class Written(logging.StreamHandler[io.StringIO]):
    """A handler as anybody has it, and what it wrote."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@pytest.fixture
def written() -> Iterator[Written]:
    handler, log = Written(), logging.getLogger("stanchion")
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


def say(text: str) -> None:
    loggers.say(loggers.STORE, loggers.ERROR, text)


def test_they_are_there_when_the_one_who_said_them_goes_on(written: Written) -> None:
    for number in range(50):
        say(f"line {number}")
        assert len(written.lines) == number + 1
    assert written.lines == [f"line {number}" for number in range(50)]


def test_the_record_is_of_the_thread_that_said_it(caplog: pytest.LogCaptureFixture) -> None:
    thread = threading.Thread(target=say, args=("here",), name="worker-7")
    thread.start()
    thread.join()
    assert [one.threadName for one in caplog.records if one.getMessage() == "here"] == ["worker-7"]


def test_an_interrupt_anywhere_leaves_no_handler_locked(written: Written) -> None:
    # The folder of `logging` counts too: that is where an interrupt would leave a lock held.
    within = (*files("telemetry"), os.path.dirname(logging.__file__))
    struck = everywhere(lambda: say("once"), lambda: say("again"), within)
    assert struck > 100
    assert written.lines.count("again") == 1 + 2 * struck


def test_a_handler_that_has_something_to_say_itself(written: Written) -> None:
    class Echo(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "echo" not in record.getMessage():
                say(f"echo of {record.getMessage()}")

    echo, log = Echo(), logging.getLogger("stanchion")
    log.addHandler(echo)
    try:
        say("hello")
    finally:
        log.removeHandler(echo)
    assert written.lines == ["hello", "echo of hello"]


def test_one_who_holds_the_lock_of_a_handler_is_not_held_up(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "PATIENCE_S", 0.05)
    written.acquire()  # as anybody does whose handler calls a guarded tool
    try:
        say("one")
        say("two")
        assert written.lines == []
    finally:
        written.release()
    say("three")
    assert_soon(lambda: written.lines == ["one", "two", "three"])
    assert_soon(lambda: lines.apart._patient)  # the next one waits for its lines again


def assert_soon(true: object) -> None:
    assert callable(true)
    for _ in range(2_000):
        if true():
            return
        threading.Event().wait(0.005)
    raise AssertionError("not even after ten seconds")


def test_what_is_said_after_the_end_is_done_at_once() -> None:
    apart, done = LogThread(), []
    apart.do(lambda: done.append(threading.current_thread().name))
    apart.end()
    apart.do(lambda: done.append(threading.current_thread().name))
    assert done == ["stanchion-log", threading.current_thread().name]


def test_what_fails_is_dropped_and_the_next_is_done() -> None:
    apart, done = LogThread(), []
    apart.do(lambda: 1 / 0)
    apart.do(lambda: done.append(1))
    assert done == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_and_one_that_ends_say_all() -> None:
    program = """
import atexit, logging, os, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from stanchion.telemetry import loggers
say = lambda text: loggers.say(loggers.STORE, loggers.ERROR, text)
atexit.register(say, "at the end")
say("before")
child = os.fork()
if child == 0:
    say("in the child")
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
say("after")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["before", "in the child", "after", "at the end"]
