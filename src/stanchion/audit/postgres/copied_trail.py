"""A trail whose records go to PostgreSQL as well: written to the folder first, shipped behind
everybody's back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from stanchion.audit.open_trail import options_of, shared
from stanchion.audit.options import USUAL, TrailOptions
from stanchion.audit.postgres.copy_options import (
    USUAL as USUAL_SHIPPING,
    Lag,
    Shipping,
    check_driver,
)
from stanchion.audit.retention import Keep
from stanchion.audit.trail import Trail, wall_ms


class PostgresTrail(Trail):
    """A trail in a folder, and a thread that copies it to a database.

    Records are written as to any trail: no decision waits for the database, and none is refused
    because of it. While it cannot be reached the folder grows, as no segment leaves it before it
    has arrived.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        options: TrailOptions = USUAL,
        shipping: Shipping = USUAL_SHIPPING,
        clock: Callable[[], int] = wall_ms,
        names: Callable[[], str] = lambda: os.urandom(8).hex(),
        process: Callable[[], int] = os.getpid,
    ) -> None:
        """Open the folder and begin to ship it; what earlier processes left behind is shipped as
        well.

        `url` is a libpq URL with all its options (`sslmode`, `target_session_attrs` …).
        """
        check_driver()
        from stanchion.audit.postgres.copier import Shipper

        self._shipper = Shipper(folder, url, shipping)
        super().__init__(folder, options, clock, names, process, self._shipper)
        self._shipper.start()

    @property
    def trouble_shipping(self) -> str:
        """Why records do not get to the database, all of them or those of single chains; empty
        where they do."""
        return self._shipper.trouble

    @property
    def lag(self) -> Lag:
        """How far the database is behind the folder, as far as is known here."""
        return self._shipper.lag

    def ship(self, timeout_s: float) -> bool:
        """Wait until what this process has written so far is in the database; false where it is not
        by then."""
        return self._shipper.wait(self.name, self.head[0], timeout_s)


def open_postgres_trail(
    folder: Path,
    url: str,
    key_file: Path | None = None,
    keep: Keep = Keep(),  # noqa: B008 - a frozen value
    clock: Callable[[], int] = wall_ms,
    shipping: Shipping = USUAL_SHIPPING,
) -> PostgresTrail:
    """The trail in a folder that is shipped to a database. Whoever opens it closes it, and the last
    one ends its chain and waits a little for the rest to arrive."""
    return shared(
        (folder.absolute(), url, key_file, keep, shipping),
        lambda: PostgresTrail(folder, url, options_of(key_file, keep), shipping, clock),
    )
