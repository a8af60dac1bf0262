"""The post: hands each occurrence to the couriers of those destinations that want it."""

from __future__ import annotations

import atexit
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.telemetry.notices.command import CommandRun
from stanchion.telemetry.notices.config import NotifyFile, OwnCommand, SlackChannel, Webhook
from stanchion.telemetry.notices.courier import Courier, CourierReport
from stanchion.telemetry.notices.message import Destination, message_of
from stanchion.telemetry.notices.slack import SlackPost
from stanchion.telemetry.notices.spool import Delivery, Spool
from stanchion.telemetry.notices.webhook import BadSecret, WebhookPost, secrets_in
from stanchion.telemetry.occurrences import Occurrences

LINGER_S: Final = 2.0
"""How long a process that ends waits for its last notices to be sent; then they are for the next
process."""


LinkMaker = Callable[[Occurrence, str], str]


class Post(CourierReport):
    """Everything that brings notices to the destinations of the file at `path`. `folder` is where
    they wait, and `link` makes the address at which the holder of a destination answers what a
    notice asks; none where it is empty."""

    def __init__(
        self,
        path: Path,
        file: NotifyFile,
        folder: Path,
        environ: Mapping[str, str],
        link: LinkMaker = lambda _one, _holder: "",
    ) -> None:
        self.path, self.file, self.folder, self._link = path, file, folder, link
        programs = [
            Path(one.command[0])
            for one in file.destinations.values()
            if isinstance(one, OwnCommand)
        ]
        self.files = (path, *programs)
        """Files that nobody but the operator should change."""
        self.secrets = tuple(map(Path, file.secret_files))
        """Files that nobody but this post should read."""
        self.destinations: dict[str, Destination] = {
            name: destination_of(one, environ) for name, one in file.destinations.items()
        }
        self._couriers = {
            name: Courier(name, where, Spool(folder / name), self)
            for name, where in self.destinations.items()
        }
        self._host = platform.node()
        self._occurrences: Occurrences | None = None

    def begin(self, occurrences: Occurrences) -> None:
        """Listen, and deliver what waits from processes that are gone."""
        self._occurrences = occurrences
        occurrences.subscribe(self.heard, end=self.close)
        atexit.register(self.close)
        for courier in self._couriers.values():
            courier.begin()

    def heard(self, one: Occurrence) -> None:
        """Have an occurrence delivered to those who want it; of a destination's own trouble the
        others hear."""
        for name, courier in self._couriers.items():
            where = self.file.destinations[name]
            if where.wants(one) and one.about != f"destination:{name}":
                link = self._link(one, name)
                more = {"link": link} if link else {}
                if link and one.asked is not None and isinstance(where, SlackChannel):
                    more["shown"] = one.asked.shown
                courier.put(message_of(one, self._host, **more))

    def send_all(self) -> dict[str, tuple[int, tuple[Delivery, ...]]]:
        """Deliver everything now that processes have left which are gone, in this thread, whenever
        it is due. Says for each destination how much was delivered, and what waits still."""
        for courier in self._couriers.values():
            courier.turn(hurry=True)
        return {
            name: (courier.delivered, courier.waiting) for name, courier in self._couriers.items()
        }

    def close(self, linger_s: float = LINGER_S) -> None:
        """Deliver what was not tried yet, for so long; what is left is for the next process."""
        atexit.unregister(self.close)
        until = time.monotonic() + linger_s
        for courier in self._couriers.values():
            courier.close(max(0.0, until - time.monotonic()))

    def failing(self, name: str, why: str) -> None:
        """Tell that a destination does not take messages."""
        self._tell(
            Kind.NOTICES_FAILING,
            name,
            f"notices do not reach `{name}`: {why}; they are kept and tried again",
        )

    def working(self, name: str) -> None:
        """Tell that a destination takes messages again, where it did not."""
        if self._occurrences is not None and Kind.NOTICES_FAILING in self._occurrences.open:
            self._tell(Kind.NOTICES_BACK, name, f"notices reach `{name}` again")

    def lost(self, name: str, number: int, why: str) -> None:
        """Tell that messages will not be delivered."""
        said = "a notice" if number == 1 else f"{number:,} notices"
        self._tell(Kind.NOTICES_LOST, name, f"{said} for `{name}` will not be delivered: {why}")

    def passed(self) -> None:
        """Have numbers told that are due."""
        if self._occurrences is not None:
            self._occurrences.remind()

    def _tell(self, kind: Kind, name: str, text: str) -> None:
        if self._occurrences is not None:
            at = time.time_ns() // 1_000_000
            self._occurrences.tell(
                Occurrence(kind=kind, at=at, text=text, about=f"destination:{name}")
            )


def destination_of(
    one: Webhook | OwnCommand | SlackChannel, environ: Mapping[str, str]
) -> Destination:
    """What sends to a destination as a file has it."""
    match one:
        case Webhook():
            return WebhookPost(one.url, lambda: secret_of(one, environ), one.deadline_s)
        case OwnCommand():
            return CommandRun(one.command, one.deadline_s)
        case SlackChannel():
            return SlackPost(lambda: own_text(one.url_file, ADDRESS), one.deadline_s)


def unusable_secrets(file: NotifyFile, environ: Mapping[str, str]) -> Iterator[str]:
    """Which destinations have a secret that cannot be used, and why."""
    for name, one in file.destinations.items():
        try:
            if isinstance(one, Webhook):
                secrets_in(secret_of(one, environ))
        except (BadSecret, OSError) as error:
            yield f"the secret of `{name}` cannot be used: {error}"


def secret_of(one: Webhook, environ: Mapping[str, str]) -> str:
    """The secret of a webhook as it is now; `OSError` where there is none, or everybody can read
    it."""
    if one.secret_file is None:
        name = "" if one.secret_env is None else one.secret_env
        if not environ.get(name, ""):
            raise OSError(
                f"the variable `{name}` is not set: set it to a secret, as `stanchion notify "
                f"secret` prints it"
            )
        return environ[name]
    return own_text(one.secret_file, "put there what `stanchion notify secret` prints")


ADDRESS: Final = "put the address of the channel's incoming webhook there"


def own_text(path: str, make: str) -> str:
    """What a file keeps that only its owner may read; `OSError` where there is none, which says
    what to `make`, or everybody can read it."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            if os.name != "nt" and os.fstat(file.fileno()).st_mode & 0o007:
                raise OSError(f"other users on this host can read `{path}`: `chmod 600` it")
            return file.read(10_000)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file `{path}`: {make}, and `chmod 600` it") from None
