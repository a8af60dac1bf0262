"""Pure functions: those that are known to do nothing but compute, or to tell something about the
server."""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.dialect import DIALECTS
from stanchion.readings.sql.statement import CHANGES
from stanchion.readings.word_lists import in_order, listed

REACHES: Final = "reaches files, programs, the network or other sessions"
WAITS: Final = "makes the server wait"
RUNS: Final = "runs SQL that is in a text"


_ONLY: Final = {
    dialect: WORDS[f"functions that reach in {dialect}"]
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
    for name in WORDS[f"functions that {does}"]
}


FILES: Final = WORDS["files"]
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


_LISTED: Final = WORDS["pure functions"]

_REACHING: Final = in_order(
    "ai_ a_i_ ml_ generate_text generate_embedding generate_table to_file try_to_file"
)
"""How names begin of functions that the parser knows, and that ask a model or make a file."""

_SERVERS: Final = listed("pg_catalog safe net hll_count dbms_random dbms_lob utl_raw utl_match")
"""Schemas and packages that are the server's own; a function in another one is somebody's, whatever
its name is."""


def is_pure(name: str) -> bool:
    """Whether a function is known to only compute, by its name in small letters (`schema.name`
    where it has one)."""
    schema, _, last = name.rpartition(".")
    if schema and schema not in _SERVERS:
        return False
    return last in _known()


@cache
def _known() -> frozenset[str]:
    """What is listed here, and what the parser knows as a function of some dialect."""
    known = {*_LISTED, *[name.lower() for name in exp.FUNCTION_BY_NAME]}
    for dialect in DIALECTS:
        known |= {name.lower() for name in Dialect.get_or_raise(dialect).parser_class.FUNCTIONS}
    return frozenset(
        [name for name in known if not name.startswith(_REACHING) and not effect_of(name, "")]
    )
