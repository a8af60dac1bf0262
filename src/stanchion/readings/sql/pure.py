"""Pure functions: those that are known to do nothing but compute, or to tell something about the
server."""

from __future__ import annotations

from functools import cache
from typing import Final

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.dialect import DIALECTS
from stanchion.readings.sql.functions import effect_of
from stanchion.readings.word_lists import in_order, listed

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
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    known = {*_LISTED.split(), *[name.lower() for name in exp.FUNCTION_BY_NAME]}
    for dialect in DIALECTS:
        known |= {name.lower() for name in Dialect.get_or_raise(dialect).parser_class.FUNCTIONS}
    return frozenset(
        [name for name in known if not name.startswith(_REACHING) and not effect_of(name, "")]
    )
