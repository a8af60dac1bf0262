"""Verifying the records in a database: they are written back as a trail, and judged by the verifier
of trails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg

from stanchion.audit.errors import TrailError, reason
from stanchion.audit.postgres.connections import RecordsAddress, checked, connected
from stanchion.audit.postgres.export import Exported, Misfit, StopEvidence, export
from stanchion.audit.verify import CannotVerify, Deed, Fault, Progress, Remark, Report, verify
from stanchion.audit.verifying.files import segment_name
from stanchion.audit.verifying.witness import Given

TIMEOUT_S: Final = 10.0
STRANGER: Final = "there are rows whose chain has an impossible name"


def written_back(url: str, schema: str, folder: Path, progress: Progress | None) -> Exported:
    """Write the records of a database into a new or empty folder; raises `TrailError`."""
    address = RecordsAddress(url, TIMEOUT_S)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise TrailError(f"the folder `{folder}` is not empty: give an empty or a new folder")
        with connected(address, checked(schema), TIMEOUT_S, reading=True) as db:
            return export(db, schema, folder, progress)
    except psycopg.Error as error:
        raise TrailError(address.trouble(error)) from None
    except TrailError:
        raise
    except OSError as error:
        raise TrailError(
            f"the folder `{folder}` cannot be written: {reason(error)}; use another one"
        ) from None


def verified(
    url: str,
    schema: str,
    key: bytes | str | Path | None,
    witness: Given | Sequence[Given] | None,
    progress: Progress | None,
) -> Report:
    """Verify the records of a database; raises `CannotVerify`."""
    with TemporaryDirectory(prefix="stanchion-audit-") as folder:
        try:
            name = f"{RecordsAddress(url, TIMEOUT_S).name} ({schema})"
            exported = written_back(url, schema, Path(folder), _half(progress, 0))
        except TrailError as error:
            raise CannotVerify(str(error)) from None
        if not exported.chains:
            raise CannotVerify(
                f"the database `{name}` holds no chain: give the database that a trail was shipped "
                f"to"
            )
        report = verify(folder, key, witness, _half(progress, 1))
    faulty = {fault.chain for fault in report.faults}
    faults = [_of_misfit(misfit) for misfit in exported.misfits if misfit.chain not in faulty]
    faults += [
        Fault(ascii(chain), "", None, None, Deed.INSERTED, STRANGER) for chain in exported.strangers
    ]
    faults += [_of_evidence(evidence) for evidence in exported.evidence]
    remarks = [
        Remark(chain, "its head has not arrived yet: it is still being shipped")
        for chain in exported.headless
    ]
    return replace(
        report, folder=name, faults=(*report.faults, *faults), remarks=(*report.remarks, *remarks)
    )


def _half(progress: Progress | None, half: int) -> Progress | None:
    """Progress of one half of the work, told as progress of all of it."""
    if progress is None:
        return None
    return lambda done, total: progress(half * total + done, 2 * total)


def _of_misfit(misfit: Misfit) -> Fault:
    chain, segment, seq, column, says, record = misfit
    said = (
        f"the row of record {seq} was edited: its column `{column}` says `{says}`, and the "
        f"record `{record}`"
    )
    return Fault(chain, segment_name(segment), None, seq, Deed.EDITED, said)


def _of_evidence(evidence: StopEvidence) -> Fault:
    deed = Deed.SPLICED if evidence.deed == "spliced" else Deed.EDITED
    return Fault(evidence.chain, "", None, evidence.seq, deed, evidence.why)
