"""Interrupts: a piece of work is cut off by an exception at each of its steps, and what follows
must still work.

A signal handler that raises, and an exception that one thread sends another, strike between any two
steps of the interpreter. `everywhere` strikes at each in turn, so that a test does not wait for
luck to find the one that matters.
"""

import gc
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import stanchion

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
ROOT: Final = Path(stanchion.__file__).parent
PATIENCE_S: Final = 60.0
"""How long what follows may take before it counts as stuck: far longer than it ever needs."""
ALL_S: Final = 3_600.0
"""The same for all of it."""


class Cut(BaseException):
    """What cuts the work off; nobody catches it by accident."""


class CutByTimer(Exception):
    """The same as a handler of `SIGALRM` would raise it: whoever catches every `Exception` catches
    it."""


class Cutter:
    """Raises at the n-th step inside the given files, and says where that was."""

    def __init__(self, at: int, within: tuple[str, ...], error: type[BaseException]) -> None:
        self._left, self._within, self._error = at, within, error
        self.place = ""

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Watch a frame, where it is of a file that counts."""
        if not frame.f_code.co_filename.startswith(self._within):
            return None
        # Python 3.13 traces steps only of a frame that has its function by then.
        frame.f_trace = self.step
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.step

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Count a step, and strike at the last one."""
        if event == "opcode":
            self._left -= 1
            if self._left == 0:
                code = frame.f_code
                where = code.co_filename.removeprefix(f"{ROOT}{os.sep}")
                self.place = (
                    f"{where}:{frame.f_lineno} in `{code.co_qualname}`, opcode {frame.f_lasti}"
                )
                raise self._error(self.place)
        return self.step


def files(*names: str) -> tuple[str, ...]:
    """The folders and files of Stanchion with those names, `stores` or `runtime/driving/turns.py`,
    as `everywhere` takes them."""
    found = [ROOT / name for name in names]
    missing = [str(path) for path in found if not path.exists()]
    assert not missing, f"no such files: {missing}"
    return tuple(f"{path}{os.sep}" if path.is_dir() else str(path) for path in found)


def cut_off(
    work: Callable[[], object], at: int, within: tuple[str, ...], error: type[BaseException] = Cut
) -> str:
    """Do a piece of work and raise at its n-th step; gives the place, or nothing where it has fewer
    steps."""
    return _cut_off(work, at, within, error)[0]


def everywhere(
    work: Callable[[], object],
    check: Callable[[], object],
    within: tuple[str, ...],
    *,
    error: type[BaseException] = Cut,
    every: int = 1,
    seed: int = 0,
) -> int:
    """Cut a piece of work off at each of its steps, and check after each that all is well.

    The check runs while the exception is still being handled, in another thread first and then in
    this one, and fails where either is stuck. With `every` only each so many-th step is taken, from
    one that the seed says; where `STANCHION_SOAK` is set, all are. Gives how often the work was cut
    off.

    All of it has a thread of its own: what a thread handles when it is struck may stay with it, and
    would be the context of whatever it raises later.
    """
    struck: list[int] = []
    soon(
        lambda: struck.append(
            _everywhere(work, check, within, error, _steps(1 if SOAK else every, seed))
        ),
        ALL_S,
    )
    return struck[0]


def _everywhere(
    work: Callable[[], object],
    check: Callable[[], object],
    within: tuple[str, ...],
    error: type[BaseException],
    steps: Iterator[int],
) -> int:
    work()  # what is loaded when it is first needed is loaded now
    check()
    for struck, at in enumerate(steps):
        place, raised = _cut_off(work, at, within, error)
        if not place:
            # Who was cut off is gone before the test ends, and so is what it could not close
            gc.collect()
            return struck
        try:
            soon(check)
            check()
        except BaseException as trouble:
            raise AssertionError(f"after an interrupt at {place}: {trouble!r}") from trouble
        del raised
    raise AssertionError("unreachable: there are always more steps")


def soon(check: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Do a check in a thread of its own; where it does not end, the test fails instead of waiting
    for ever."""
    troubles: list[BaseException] = []

    def checked() -> None:
        try:
            check()
        except BaseException as error:  # noqa: BLE001 - raised where it was asked for
            troubles.append(error)

    thread = threading.Thread(target=checked, daemon=True)
    thread.start()
    thread.join(patience_s)
    if thread.is_alive():
        where = sys._current_frames().get(thread.ident or 0)
        at = "" if where is None else f" at {where.f_code.co_filename}:{where.f_lineno}"
        raise AssertionError(f"it is stuck{at}")
    if troubles:
        raise troubles[0]


def _cut_off(
    work: Callable[[], object], at: int, within: tuple[str, ...], error: type[BaseException]
) -> tuple[str, BaseException | None]:
    """The place, and the exception as it came out, so that who asks can keep it and the frames it
    knows alive."""
    cutter = Cutter(at, within, error)
    before = sys.gettrace()
    # Python 3.12 traces steps only if some frame has asked for them before tracing begins.
    sys._getframe().f_trace_opcodes = True
    # What other tests have left is thrown away by itself at any time: its steps are none of this
    # work, and an exception in them would come out nowhere.
    collects = gc.isenabled()
    gc.disable()
    sys.settrace(cutter.enter)
    try:
        work()
    except BaseException as raised:
        if not cutter.place:
            raise
        return cutter.place, raised
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return cutter.place, None


def _steps(every: int, seed: int) -> Iterator[int]:
    at = random.Random(seed).randint(1, every)
    while True:
        yield at
        at += every
