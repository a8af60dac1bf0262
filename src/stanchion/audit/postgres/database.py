"""What can be done with records in a database beside writing more of them: ship, write back,
verify."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stanchion.audit.postgres.copy_options import SCHEMA, USUAL, Lag, Shipping, check_driver
from stanchion.audit.verify import CannotVerify, Progress, Report
from stanchion.audit.verifying.witness import Given

if TYPE_CHECKING:
    from stanchion.audit.postgres.export import Exported


def ship_trail(folder: Path, url: str, shipping: Shipping = USUAL) -> tuple[Lag, list[str]]:
    """Ship what is in a folder now and see to the tables; gives what is left, and what is wrong
    with single chains.

    It is for a host on which nothing runs that ships it. Raises `TrailError`.
    """
    check_driver()
    from stanchion.audit.postgres.copier import ship_once

    return ship_once(folder, url, shipping)


def export_trail(
    url: str, folder: Path, schema: str = SCHEMA, progress: Progress | None = None
) -> Exported:
    """Write all chains, segments and heads of a database into a new or empty folder, which is then
    a trail.

    It reads one state of the database, however long it takes. `progress` hears of records. Raises
    `TrailError`.
    """
    check_driver()
    from stanchion.audit.postgres.verify import written_back

    return written_back(url, schema, folder, progress)


def verify_database(
    url: str,
    key: bytes | str | Path | None = None,
    witness: Given | Sequence[Given] | None = None,
    progress: Progress | None = None,
    schema: str = SCHEMA,
) -> Report:
    """Verify the records in a database as `verify` does a folder, by way of a temporary one.

    Rows whose columns say something else than their records are found as well, and chains that are
    no longer shipped. Raises `CannotVerify`.
    """
    try:
        check_driver()
    except OSError as error:
        raise CannotVerify(str(error)) from None
    from stanchion.audit.postgres.verify import verified

    return verified(url, schema, key, witness, progress)
