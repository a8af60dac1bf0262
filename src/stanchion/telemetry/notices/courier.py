"""A courier: brings messages to one destination, in a thread of its own, until each is delivered or
given up."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from stanchion.locks.files import attempt_within
from stanchion.telemetry.notices.message import DeliveryOutcome, Destination, NoticeMessage
from stanchion.telemetry.notices.spool import Delivery, Spool

# What a host has said lately, so that each of its processes does not say it again when it starts.

FOLDER: Final = "said"
HELD: Final = "said.held"
PATIENCE_S: Final = 2.0
"""How long one waits for others to say something; then it may be said twice."""
LATELY_MS: Final = 86_400_000


@contextmanager
def by_turns(folder: Path) -> Iterator[None]:
    """Ask what was said, and say it, while no other process does. Where that cannot be, it is said
    all the same."""
    held = None
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = attempt_within(folder / HELD, PATIENCE_S)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def was_said(folder: Path, message_id: str, now_ms: int) -> bool:
    """Whether a message was sent lately. What cannot be looked up was not."""
    try:
        at_ms = os.stat(folder / FOLDER / message_id).st_mtime * 1000
    except OSError:
        return False
    return 0 <= now_ms - at_ms + 1000 < LATELY_MS


def note_said(folder: Path, message_id: str) -> None:
    """Remember that a message is on its way, and forget what was said long ago. Where that cannot
    be written, it is said again."""
    with suppress(OSError):
        said = folder / FOLDER
        said.mkdir(mode=0o700, parents=True, exist_ok=True)
        (said / message_id).touch(0o600)
        newest = (said / message_id).stat().st_mtime
        for each in said.iterdir():
            if newest - each.stat().st_mtime > LATELY_MS / 1000:
                each.unlink(missing_ok=True)


PAUSES_S: Final = (5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""How long after each attempt the next one follows: about three days in all."""

SPREAD: Final = 0.2
"""By how much of itself each pause is longer or shorter, so that a thousand processes do not come
back together."""
MOST: Final = 1_000
"""How many messages wait for a destination; then the oldest is given up for the newest."""
LONGEST_MS: Final = 2_000 * max(PAUSES_S)
"""No delivery waits for longer than that."""
LOOK_S: Final = 60.0
"""How often a courier looks for what other processes have left behind."""
REST_MS: Final = 2_000
"""How long a destination that has just failed is left alone."""


class CourierReport:
    """Hears how a courier fares: that its destination fails or takes messages again, and what was
    given up."""

    def failing(self, name: str, why: str) -> None:
        """A destination did not take a message."""

    def working(self, name: str) -> None:
        """A destination took a message."""

    def lost(self, name: str, number: int, why: str) -> None:
        """Messages will not be delivered."""

    def passed(self) -> None:
        """Some time has passed."""


class Courier:
    """Delivers at least once, in the order in which messages come, as far as nothing fails."""

    def __init__(
        self,
        name: str,
        destination: Destination,
        spool: Spool,
        report: CourierReport,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        chance: Callable[[], float] = lambda: os.urandom(1)[0] / 255,
    ) -> None:
        self.name = name
        self._destination, self._spool, self._report = destination, spool, report
        self._now_ms, self._chance = now_ms, chance
        self._fresh()

    def _fresh(self) -> None:
        """What a new courier has, and one that finds itself in a forked process: what waits is the
        parent's."""
        self._process = os.getpid()
        self._queue: deque[NoticeMessage] = deque()
        self._dropped = 0
        self.delivered = 0
        """How many messages this process has delivered."""
        self._waiting: OrderedDict[str, Delivery] = OrderedDict()
        self._rest_until = 0
        self._looked_at = -1
        self._bell = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def waiting(self) -> tuple[Delivery, ...]:
        """What waits here, oldest first."""
        return tuple(self._waiting.values())

    def begin(self) -> None:
        """Start to work, with what other processes have left behind."""
        self._wake()

    def put(self, message: NoticeMessage) -> None:
        """Have a message delivered; this returns at once."""
        if self._process != os.getpid():
            self._fresh()
        if len(self._queue) >= MOST:
            self._queue.popleft()
            self._dropped += 1
        self._queue.append(message)
        self._wake()

    def turn(self, hurry: bool = False) -> float:
        """Do everything that is due, and say in how many seconds to come back. With `hurry` all
        that waits is due."""
        self._take_in()
        now = self._now_ms()
        if not 0 <= now - self._looked_at < LOOK_S * 1000:
            self._look(now)
        for one in [*self._waiting.values()]:
            now = self._now_ms()
            if hurry or (one.due <= now and self._rest_until <= now):
                self._try(one)
        dues = [max(one.due, self._rest_until) for one in self._waiting.values()]
        soonest = (min(dues) - self._now_ms()) / 1000 if dues else LOOK_S
        return min(max(soonest, 0.0), LOOK_S)

    def close(self, linger_s: float) -> None:
        """Deliver what was not tried yet, but take no longer than so many seconds; the rest stays
        in the spool."""
        if self._process != os.getpid():
            return
        with self._bell:
            thread, self._closed = self._thread, True
            self._bell.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(linger_s)
        if thread is None or not thread.is_alive():
            self._spool.close()
        else:
            self._leave()

    def _wake(self) -> None:
        with self._bell:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._work, name=f"stanchion-notify-{self.name}", daemon=True
                )
                self._thread.start()
            self._bell.notify_all()

    def _work(self) -> None:
        while True:
            wait_s = LOOK_S
            try:
                wait_s = self.turn()
                self._report.passed()
            except Exception as error:  # noqa: BLE001 - whatever goes wrong here, later messages need this thread
                self._report.failing(
                    self.name, f"its courier failed with `{type(error).__name__}`: {error}"
                )
            with self._bell:
                if self._queue:
                    continue
                if not self._closed:
                    self._bell.wait(wait_s)
                    continue
            # Whoever closes may have left something meanwhile, which is for others now.
            self._spool.close()
            return

    def _leave(self) -> None:
        """Put into the spool what the thread has not looked at: it is at one message, maybe until
        the end."""
        now, lost, why = self._now_ms(), 0, ""
        while self._queue:
            with suppress(IndexError):  # the thread is back, and has taken it in
                message = self._queue.popleft()
                try:
                    self._enter(message, now, self._spool.keep)
                except OSError as error:
                    lost, why = lost + 1, f"the spool cannot be written: {error.strerror}"
        if lost:
            self._report.lost(self.name, lost, why)

    def _take_in(self) -> None:
        """Enter new messages into the spool. Where that cannot be written they wait in memory."""
        now = self._now_ms()
        while self._queue:
            message = self._queue.popleft()
            self._enter(message, now, self._keep)
        dropped, self._dropped = self._dropped, 0
        while len(self._waiting) > MOST:
            oldest, _ = self._waiting.popitem(last=False)
            self._forget(oldest)
            dropped += 1
        if dropped:
            self._report.lost(self.name, dropped, f"more than {MOST:,} notices wait for it")

    def _enter(self, message: NoticeMessage, now: int, keep: Callable[[Delivery], None]) -> None:
        one = Delivery(message.id, message.body, now, now)
        if not message.once:
            keep(one)
            return
        with by_turns(self._spool.folder):
            if not was_said(self._spool.folder, message.id, now):
                keep(one)
                note_said(self._spool.folder, message.id)

    def _look(self, now: int) -> None:
        self._looked_at = now
        try:
            left = self._spool.adopt()
        except OSError:
            return
        for one in left:
            # Another process, or the clock before it was set back, may have meant a time that is
            # far off.
            latest = now + (LONGEST_MS if one.attempts else 0)
            self._waiting.setdefault(one.id, replace(one, due=min(one.due, latest)))
        if left:
            self._waiting = OrderedDict(sorted(self._waiting.items(), key=lambda each: each[1].at))

    def _try(self, one: Delivery) -> None:
        try:
            outcome = self._destination.send(NoticeMessage(one.id, one.body))
        except Exception as error:  # noqa: BLE001 - whatever a destination raises, it was not delivered
            outcome = DeliveryOutcome(False, f"it failed with `{type(error).__name__}`: {error}")
        if outcome.delivered:
            self.delivered += 1
            self._waiting.pop(one.id, None)
            self._forget(one.id)
            self._report.working(self.name)
            return
        attempts, now = one.attempts + 1, self._now_ms()
        wait_s = None if outcome.is_final else pause_s(attempts, self._chance())
        if wait_s is None:
            self._waiting.pop(one.id, None)
            self._forget(one.id)
            self._report.lost(
                self.name, 1, f"{outcome.said}, after {attempts} attempts to deliver `{one.id}`"
            )
            return
        due = now + int(max(wait_s, outcome.after_s) * 1000)
        self._rest_until = now + max(REST_MS, int(outcome.after_s * 1000))
        self._keep(replace(one, attempts=attempts, due=due, said=outcome.said))
        self._report.failing(self.name, outcome.said)

    def _keep(self, one: Delivery) -> None:
        self._waiting[one.id] = one
        try:
            self._spool.keep(one)
        except OSError as error:
            self._report.failing(
                self.name,
                f"the spool cannot be written: {error.strerror}; the notice waits in memory",
            )

    def _forget(self, delivery_id: str) -> None:
        try:
            self._spool.drop(delivery_id)
        except OSError as error:
            self._report.failing(
                self.name,
                f"the spool cannot be written: {error.strerror}; the notice may be delivered twice",
            )


def pause_s(attempts: int, chance: float) -> float | None:
    """How long to wait after so many attempts; `None` where it is given up. `chance` is from 0 to
    1."""
    if attempts > len(PAUSES_S):
        return None
    return PAUSES_S[attempts - 1] * (1 - SPREAD + 2 * SPREAD * chance)
