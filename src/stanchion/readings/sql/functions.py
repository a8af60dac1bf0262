"""Functions that do more than compute, and what each of them does besides."""

from __future__ import annotations

from typing import Final

from stanchion.readings.sql import WORDS
from stanchion.readings.word_lists import listed

REACHES: Final = "reaches files, programs, the network or other sessions"
WAITS: Final = "makes the server wait"
CHANGES: Final = "changes the state of the server"
RUNS: Final = "runs SQL that is in a text"


_ONLY: Final = {
    dialect: listed(WORDS[f"functions that reach in {dialect}"])
    for dialect in ("clickhouse", "duckdb", "sqlite")
}
"""Names that are dangerous in one dialect; elsewhere they are like any other."""

_FAMILIES: Final = (
    ("dblink", REACHES),
    ("xp_", REACHES),
    ("sp_oa", REACHES),
    ("pg_ls_", REACHES),
    ("utl_", REACHES),
    ("dbms_", REACHES),
    ("system$", REACHES),
)
"""What functions and packages do whose names begin like this."""

_BEGINNINGS: Final = tuple([begins for begins, _ in _FAMILIES])
_HARMLESS: Final = listed(
    "dbms_random dbms_lob dbms_utility dbms_metadata utl_raw utl_match dbms_stats dbms_output "
    "dbms_application_info dbms_xplan dbms_session dbms_assert utl_i18n dbms_crypto dbms_mview"
)  # fmt: skip
"""Packages of these families that compute, tell or tidy up."""

_EVERYWHERE: Final = {
    name: what
    for what, does in ((REACHES, "reach"), (WAITS, "wait"), (CHANGES, "change"), (RUNS, "run"))
    for name in WORDS[f"functions that {does}"].split()
}


FILES: Final = listed(
    """
    read_csv read_csv_auto read_json read_json_auto read_json_objects read_ndjson read_parquet
    parquet_scan sniff_csv glob
    """
)
"""Functions that read the rows of a file."""
ONE_SESSION: Final = frozenset({"pg_cancel_backend"})
"""Functions that stop what one session does, and nothing else."""


def effect_of(name: str, dialect: str) -> str:
    """What a function does besides computing, by its name in small letters (`package.name` where it
    has one); empty where it is not known to do anything."""
    package, _, last = name.rpartition(".")
    known = _EVERYWHERE.get(last)
    if known is not None:
        return known
    if last in _ONLY.get(dialect, ()):
        return REACHES
    for part in (last, package.rpartition(".")[2]):
        if part.startswith(_BEGINNINGS) and part not in _HARMLESS:
            return next(what for begins, what in _FAMILIES if part.startswith(begins))
    return ""
