"""The table of operations: all that compiled code can call."""

from __future__ import annotations

from typing import Any, Final

from stanchion.policy.conditions import (
    arithmetic,
    conversions as converting,
    costs,
    equality,
    macros as looping,
    missing as reading,
    texts,
)

PURSED: Final[dict[str, Any]] = {
    "eq": equality.equal,
    "in": equality.within,
    "add": arithmetic.add,
    "string": converting.to_string,
    "bytes": converting.to_bytes,
    "weigh": costs.weigh,
    "exists": looping.exists,
    "all": looping.all_pass,
    "exists_one": looping.exists_one,
    "filter": looping.filtered,
    "map": looping.transformed,
    "exists_careful": looping.exists_careful,
    "all_careful": looping.all_careful,
}
"""Operations whose cost grows with their data; they take the purse first."""

PLAIN: Final[dict[str, Any]] = {
    "get": reading.get,
    "at": reading.at,
    "has": reading.has,
    "given": reading.given,
    "size": reading.size,
    "true": reading.true,
    "in_names": reading.in_names,
    "mapped": reading.mapped,
    "lt": arithmetic.lt,
    "le": arithmetic.le,
    "gt": arithmetic.gt,
    "ge": arithmetic.ge,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "div": arithmetic.div,
    "mod": arithmetic.mod,
    "neg": arithmetic.neg,
    "int": converting.to_int,
    "uint": converting.to_uint,
    "double": converting.to_double,
    "bool": converting.to_bool,
    "dyn": converting.dyn,
    "startsWith": texts.starts,
    "endsWith": texts.ends,
    "contains": texts.contains,
    "under": texts.under,
    "glob": texts.glob,
    "passes": texts.passes,
    "joined": looping.joined,
}

OPERATIONS: Final[dict[str, Any]] = {**PURSED, **PLAIN}
