"""Deliveries: signed, retried with the same id, kept on the disk, and taken over by the next
process."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.telemetry.notices.command import CommandRun
from stanchion.telemetry.notices.courier import (
    HELD,
    MOST,
    PAUSES_S,
    Courier,
    CourierReport,
    note_said,
    pause_s,
)
from stanchion.telemetry.notices.message import DeliveryOutcome, NoticeMessage, message_of
from stanchion.telemetry.notices.spool import Spool, waiting
from stanchion.telemetry.notices.webhook import (
    BadSecret,
    WebhookPost,
    headers_of,
    new_secret,
    secrets_in,
)
from tests.telemetry.holding import Held
from tests.telemetry.receiver import SECRET, Receiver, cut, receiving, status, verified

BIG = 60_000_000
"""Milliseconds by which every pause is over."""


class Clock:
    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def __call__(self) -> int:
        return self.ms


class Heard(CourierReport):
    def __init__(self) -> None:
        self.failures: list[str] = []
        self.losses: list[tuple[int, str]] = []
        self.successes = 0

    def failing(self, name: str, why: str) -> None:
        self.failures.append(why)

    def working(self, name: str) -> None:
        self.successes += 1

    def lost(self, name: str, number: int, why: str) -> None:
        self.losses.append((number, why))


def message(name: str = "msg_1") -> NoticeMessage:
    return message_of(Occurrence(kind=Kind.STORE_LOST, at=1, text="gone", id=name), "host")


def courier(
    folder: Path,
    send: Callable[[NoticeMessage], DeliveryOutcome],
    heard: CourierReport,
    clock: Clock,
) -> Courier:
    class Sends:
        def send(self, message: NoticeMessage) -> DeliveryOutcome:
            return send(message)

    return Courier("pager", Sends(), Spool(folder), heard, clock, lambda: 0.5)


def hook(receiver: Receiver, deadline_s: float = 30) -> WebhookPost:
    return WebhookPost(receiver.url, lambda: SECRET, deadline_s)


def queued(one: Courier, *messages: NoticeMessage) -> None:
    """Put messages in without starting the thread: tests take each turn themselves."""
    for each in messages:
        one._queue.append(each)


def test_a_message_is_signed_so_that_the_specification_verifies_it() -> None:
    with receiving() as receiver:
        outcome = hook(receiver).send(message())
        assert outcome == DeliveryOutcome(True, "it answered 204")
        (got,) = receiver.got
    assert (got.id, got.kind, got.data["text"]) == ("msg_1", "store.lost", "gone")
    assert receiver.forged == 0


def test_the_signature_is_that_of_the_published_example() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    headers = headers_of("msg_p5jXN8AQM9LWM0D4loKWxJek", body, (secret,), 1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_two_secrets_give_two_signatures_and_another_body_fits_none() -> None:
    other = new_secret()
    headers = headers_of("msg_1", b"{}", secrets_in(f"{other}\n{SECRET}\n"), 1)
    assert len(headers["webhook-signature"].split()) == 2
    assert verified(headers, b"{}")
    assert not verified(headers, b"{ }")
    assert not verified({**headers, "webhook-timestamp": "2"}, b"{}")


@pytest.mark.parametrize(
    "text", ["", "abc", "whsec_!", "whsec_" + base64.b64encode(b"short").decode()]
)
def test_a_bad_secret_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(BadSecret, match="stanchion notify secret") as refused:
        secrets_in(text)
    assert not text or text not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (status(500), "it answered 500"),
        (
            status(302, location="http://127.0.0.1:1/"),
            "it answered 302, a redirect, which is not followed",
        ),
        (cut, "it closed the connection before it answered"),
    ],
)
def test_what_fails_is_tried_again_with_the_same_id(
    tmp_path: Path, answer: Callable[..., None], said: str
) -> None:
    clock, heard = Clock(), Heard()
    with receiving() as receiver:
        receiver.answers = [answer, answer]
        one = courier(tmp_path, hook(receiver).send, heard, clock)
        queued(one, message())
        one.turn()
        assert heard.failures[0].startswith(said)
        one.turn()
        assert len(receiver.got) == 1, "nothing is tried before it is due"
        for _ in range(2):
            clock.ms += BIG
            one.turn()
        assert [got.id for got in receiver.got] == ["msg_1"] * 3
    assert (one.waiting, heard.successes) == ((), 1)
    one.close(0)
    assert list(waiting(tmp_path.parent)) == []


def test_nobody_at_the_address_and_one_who_hangs(tmp_path: Path) -> None:
    with receiving() as receiver:
        gone = hook(receiver)
    assert not gone.send(message()).delivered
    with receiving() as receiver:
        receiver.answers = [receiver.hang]
        outcome = hook(receiver, deadline_s=0.05).send(message())
        assert not outcome.delivered
        assert len(receiver.got) <= 1


def test_who_wants_no_more_is_left_alone_and_who_wants_a_pause_gets_it(tmp_path: Path) -> None:
    clock, heard = Clock(), Heard()
    with receiving() as receiver:
        receiver.answers = [status(410), status(429, retry_after="3600")]
        one = courier(tmp_path, hook(receiver).send, heard, clock)
        queued(one, message("msg_a"), message("msg_b"))
        one.turn()
        assert heard.losses == [
            (
                1,
                (
                    "it answered 410: it no longer accepts notices, after 1 attempts to deliver "
                    "`msg_a`"
                ),
            )
        ]
        clock.ms += 3_599_000
        one.turn()
        assert len(receiver.got) == 2
        clock.ms += 2_000
        one.turn()
        assert [got.id for got in receiver.got] == ["msg_a", "msg_b", "msg_b"]


def test_it_is_given_up_after_days_and_that_is_told(tmp_path: Path) -> None:
    clock, heard, tries = Clock(), Heard(), []

    def fails(message: NoticeMessage) -> DeliveryOutcome:
        tries.append(message.id)
        return DeliveryOutcome(False, "no")

    one = courier(tmp_path, fails, heard, clock)
    queued(one, message())
    for _ in range(len(PAUSES_S) + 5):
        one.turn()
        clock.ms += 2 * BIG
    assert len(tries) == len(PAUSES_S) + 1
    assert heard.losses == [(1, f"no, after {len(tries)} attempts to deliver `msg_1`")]
    assert one.waiting == ()


def test_pauses_grow_and_differ() -> None:
    usual = [pause_s(number, 0.5) for number in range(1, len(PAUSES_S) + 1)]
    assert usual == list(PAUSES_S)
    assert pause_s(1, 0.0) == 4.0
    assert pause_s(1, 1.0) == pytest.approx(6.0)
    assert pause_s(len(PAUSES_S) + 1, 0.5) is None


def test_what_is_too_much_is_dropped_from_the_oldest_and_counted(tmp_path: Path) -> None:
    clock, heard = Clock(), Heard()
    one = courier(tmp_path, lambda _message: DeliveryOutcome(False, "no"), heard, clock)
    one._closed = True  # no thread: what is put stays in the queue
    for number in range(MOST + 7):
        one.put(message(f"msg_{number}"))
    queue = [each.id for each in one._queue]
    assert (len(queue), queue[0]) == (MOST, "msg_7")
    one._queue.clear()
    one.turn()
    assert heard.losses == [(7, "more than 1,000 notices wait for it")]


def test_a_spool_that_cannot_be_written_is_told_and_the_message_sent_all_the_same(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    clock, heard, sent = Clock(), Heard(), []

    def send(message: NoticeMessage) -> DeliveryOutcome:
        sent.append(message.id)
        return DeliveryOutcome(True, "")

    one = courier(tmp_path / "file" / "spool", send, heard, clock)
    queued(one, message())
    one.turn()
    assert sent == ["msg_1"]
    assert "the spool cannot be written" in heard.failures[0]


def test_the_next_process_takes_over_what_was_left_and_leaves_alone_what_is_held(
    tmp_path: Path,
) -> None:
    clock, sent = Clock(), []

    def send(message: NoticeMessage) -> DeliveryOutcome:
        sent.append(message.id)
        return DeliveryOutcome(True, "")

    first = courier(
        tmp_path / "pager", lambda _message: DeliveryOutcome(False, "no"), Heard(), clock
    )
    queued(first, message("msg_a"), message("msg_b"))
    first.turn()
    clock.ms += BIG
    second = courier(tmp_path / "pager", send, Heard(), clock)
    second.turn()
    assert sent == [], "the first process is there, and will try again"
    assert [one.is_held for one in waiting(tmp_path)] == [True, True]
    first.close(0)
    (lock,) = (tmp_path / "pager").glob("own-*/lock")
    with lock.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # as one who looks in this moment
        assert [one.is_held for one in waiting(tmp_path)] == [False, False]
    clock.ms += 61_000
    second.turn()
    assert sorted(sent) == ["msg_a", "msg_b"]
    assert list(waiting(tmp_path)) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from stanchion.telemetry.notices.courier import Courier, CourierReport
from stanchion.telemetry.notices.message import NoticeMessage
from stanchion.telemetry.notices.spool import Spool

class Sends:
    def send(self, message):
        if sys.argv[2] == "after":
            from stanchion.telemetry.notices.webhook import WebhookPost
            assert WebhookPost(sys.argv[3], lambda: sys.argv[4], 30).send(message).delivered
        os.kill(os.getpid(), signal.SIGKILL)

courier = Courier("pager", Sends(), Spool(Path(sys.argv[1])), CourierReport())
courier._queue.append(NoticeMessage("msg_k", sys.argv[5]))
courier.turn()
"""


@pytest.mark.parametrize(("when", "times"), [("before", 1), ("after", 2)])
def test_a_process_that_is_killed_leaves_its_messages_to_the_next(
    tmp_path: Path, when: str, times: int
) -> None:
    with receiving() as receiver:
        argv = [
            sys.executable,
            "-c",
            KILLED,
            str(tmp_path),
            when,
            receiver.url,
            SECRET,
            message("msg_k").body,
        ]
        done = subprocess.run(argv, check=False, capture_output=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
        one = courier(tmp_path, hook(receiver).send, Heard(), Clock())
        one.turn()
        assert [got.id for got in receiver.got] == ["msg_k"] * times, (
            "at least once, and with the same id"
        )


def test_what_stands_until_somebody_sees_to_it_is_sent_once_a_day_by_all_processes(
    tmp_path: Path,
) -> None:
    sent: list[str] = []

    def send(message: NoticeMessage) -> DeliveryOutcome:
        sent.append(message.id)
        return DeliveryOutcome(True, "")

    def process(text: str) -> None:
        one = courier(tmp_path, send, Heard(), now)
        queued(
            one,
            message_of(Occurrence(kind=Kind.TRAIL_TAMPERED, at=1, text=text, id="msg_x"), "host"),
        )
        one.turn()
        one.close(0)

    now = Clock()
    now.ms = time.time_ns() // 1_000_000
    process("chain a")
    process("chain a")
    process("chain b")
    assert len(sent) == len(set(sent)) == 2
    now.ms += 90_000_000
    process("chain a")
    assert sent[2] == sent[0], "the same thing has the same id"


def test_processes_that_find_the_same_in_one_moment_send_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def send(message: NoticeMessage) -> DeliveryOutcome:
        sent.append(message.id)
        return DeliveryOutcome(True, "")

    now = Clock()
    now.ms = time.time_ns() // 1_000_000
    one, about = (
        courier(tmp_path, send, Heard(), now),
        Occurrence(kind=Kind.TRAIL_TAMPERED, at=1, text="chain a"),
    )
    found = message_of(about, "host")
    queued(one, found)
    other = Held(tmp_path / HELD, monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(one.turn)
        turn.add_done_callback(lambda _: other.asked.set())
        assert other.asked.wait(60)
        note_said(tmp_path, found.id)
        other.let_go()
        turn.result()
    assert sent == []


def test_what_comes_behind_a_receiver_that_hangs_is_for_the_next_process(tmp_path: Path) -> None:
    sent: list[str] = []
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(message: NoticeMessage) -> DeliveryOutcome:
        hangs.set()
        goes_on.wait(60)
        return DeliveryOutcome(False, "no")

    def send(message: NoticeMessage) -> DeliveryOutcome:
        sent.append(message.id)
        return DeliveryOutcome(True, "")

    first = courier(tmp_path / "pager", hang, Heard(), Clock())
    first.put(message("msg_a"))
    assert hangs.wait(60)
    first.put(message("msg_b"))
    first.close(0)
    assert [one.delivery.id for one in waiting(tmp_path)] == ["msg_a", "msg_b"]
    goes_on.set()
    thread = first._thread
    assert thread is not None
    thread.join()
    assert [one.is_held for one in waiting(tmp_path)] == [False, False]
    later = Clock()
    later.ms += BIG
    courier(tmp_path / "pager", send, Heard(), later).turn()
    assert sent == ["msg_a", "msg_b"]


def test_a_child_of_a_fork_sends_what_is_its_own(tmp_path: Path) -> None:
    clock, heard = Clock(), Heard()
    with receiving() as receiver:
        one = courier(tmp_path, hook(receiver).send, heard, clock)
        one._closed = True
        one.put(message("msg_parent"))
        pid = os.fork()
        if pid == 0:
            try:
                one.put(message("msg_child"))
                one.close(30)
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert [got.id for got in receiver.got] == ["msg_child"]
        one.turn()
        assert [got.id for got in receiver.got] == ["msg_child", "msg_parent"]


def program(folder: Path, text: str) -> str:
    file = folder / "page"
    file.write_text(f"#!{sys.executable}\n{text}")
    file.chmod(0o700)
    return str(file)


def test_a_command_gets_the_message_on_its_standard_input(tmp_path: Path) -> None:
    written = (
        "import os, sys; open('got', 'w').write(sys.stdin.read() + "
        "os.environ['STANCHION_NOTICE_ID'] + sys.argv[1])"
    )
    outcome = CommandRun([program(tmp_path, written), "; touch /tmp/no"], 60).send(message())
    assert outcome == DeliveryOutcome(True, "it ended with status 0")
    got = (tmp_path / "got").read_text()
    assert got.endswith("msg_1; touch /tmp/no"), "there is no shell to read it"
    assert json.loads(got.removesuffix("msg_1; touch /tmp/no"))["type"] == "store.lost"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('no pager')", "it ended with status 1: no pager"),
        ("import time; time.sleep(3600)", "it did not finish within 0.5 s"),
    ],
)
def test_a_command_that_fails_has_not_delivered(tmp_path: Path, text: str, said: str) -> None:
    assert CommandRun([program(tmp_path, text)], 0.5 if "sleep" in text else 60).send(
        message()
    ) == DeliveryOutcome(False, said)


def test_a_command_that_is_not_there_has_not_delivered(tmp_path: Path) -> None:
    outcome = CommandRun([str(tmp_path / "none")], 60).send(message())
    assert outcome == DeliveryOutcome(False, "it cannot be started: No such file or directory")
