"""`stanchion notify`: test the destinations of notices, list pending notices, and send them."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stanchion.cli.command import Args, BadInput, DeclaredCommand, Verb, option
from stanchion.cli.printing import Layout, put_found, put_json
from stanchion.cli.terminal import Terminal, put_line, tell, visible
from stanchion.ops.views.amounts import shown
from stanchion.runtime.standing.listeners import (
    NOTIFY,
    notify_file,
    post_for,
    spool_folder,
    usual_file,
)
from stanchion.stores.memory import wall_ms
from stanchion.telemetry.notices.message import DeliveryOutcome, message_of
from stanchion.telemetry.notices.post import Post
from stanchion.telemetry.notices.spool import WaitingDelivery, waiting
from stanchion.telemetry.notices.webhook import new_secret
from stanchion.telemetry.occurrences import Kind, Occurrence, new_id

DONE: Final = 0
FAILED: Final = 1


def tried(post: Post) -> Iterator[tuple[str, str, DeliveryOutcome]]:
    """Send a test notice to every destination: its name, the notice's id, and what came back."""
    text = "this is a test notice; nothing has happened"
    test = message_of(
        Occurrence(kind=Kind.TEST, at=wall_ms(), text=text, id=new_id()), platform.node()
    )
    for name, destination in post.destinations.items():
        yield name, test.id, destination.send(test)


def _test(args: Args) -> int:
    status = DONE
    terminal = Terminal.of_stdout()
    for name, id, outcome in tried(_post(args)):
        status = status if outcome.delivered else FAILED
        if args.json:
            answer = {
                "destination": name,
                "delivered": outcome.delivered,
                "said": outcome.said,
                "id": id,
            }
            put_json(answer)
            continue
        word = (
            terminal.paint("delivered", "good")
            if outcome.delivered
            else terminal.paint("failed   ", "bad")
        )
        put_line(f"{word}  {name}: {visible(outcome.said)}")
    return status


def _waiting(args: Args) -> int:
    path = _file(args)
    found = list(waiting(spool_folder(path, os.environ)))
    put_found(found, PENDING, args.json)
    return FAILED if found else DONE


def _send(args: Args) -> int:
    post = _post(args)
    try:
        sent = post.send_all()
    finally:
        post.close()
    for name, (delivered, left) in sent.items():
        if args.json:
            put_json({"destination": name, "delivered": delivered, "waiting": left})
            continue
        why = f", of the last one: {visible(left[-1].said)}" if left else ""
        tell(f"{name}: {delivered} delivered, {len(left)} still wait{why}")
    return FAILED if any(left for _, left in sent.values()) else DONE


def _secret(_args: Args) -> int:
    put_line(new_secret())
    return DONE


def _file(args: Args) -> Path:
    path = notify_file(args.file, os.environ)
    if path is None:
        raise BadInput(
            f"no destination for notices is configured: write `{usual_file()}`, or set {NOTIFY} to "
            f"a file"
        )
    return path


def _post(args: Args) -> Post:
    post = post_for(_file(args), os.environ)
    if post is None:
        raise BadInput(f"`{_file(args)}` has no destination: add one under `destinations`")
    return post


def _row(one: WaitingDelivery) -> tuple[str, ...]:
    kept = one.delivery
    process = "there" if one.is_held else "gone"
    times = shown(kept.at), str(kept.attempts), shown(kept.due)
    return one.destination, *times, process, kept.id, kept.said


PENDING: Final = Layout(
    ("destination", "since", "tries", "next", "process", "id", "last answer"),
    _row,
    ("tries",),
    "no notice waits",
)


NOTIFY_COMMAND: Final = DeclaredCommand(
    usage="""stanchion notify test [--file FILE] [--json]
       stanchion notify waiting [--file FILE] [--json]
       stanchion notify send [--file FILE] [--json]
       stanchion notify secret""",
    description="""\
test     send a test notice to every destination, and say what came back
waiting  list the notices that are not delivered yet, with the result of the last attempt
send     send what ended processes left behind
secret   make a secret for signing webhooks""",
    epilog="""\
examples:
  stanchion notify secret > ~/.config/stanchion/pager.secret
  stanchion notify test
  stanchion notify waiting --json

Destinations are configured in a file: the one that --file or STANCHION_NOTIFY names, or
`notify.yaml` beside your own policy. `docs/how-to/get-notified.md` describes it.

exit status:
  0  done; for waiting: nothing waits
  1  for test and send: something was not delivered; for waiting: something waits
  2  there is no such file, or it is wrong""",
    options=(
        option("verb test|waiting|send|secret", "what to do"),
        option("--file FILE", "the configuration file for notices"),
        option("--json", "answer with JSON, one line for each"),
    ),
    work={
        "test": Verb(_test),
        "waiting": Verb(_waiting),
        "send": Verb(_send),
        "secret": Verb(_secret),
    },
)
