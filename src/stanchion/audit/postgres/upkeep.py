"""Seeing to the tables: months are made ahead, retired segments and erased content leave in small
portions, empty months go."""

from __future__ import annotations

from typing import Final

from psycopg import sql

from stanchion.audit.postgres.schema import Connection, one

_LOCK: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s || ' audit tidying', 0))"
_PATIENCE: Final = "SET LOCAL lock_timeout = '1s'"
_AHEAD: Final = sql.SQL(
    "SELECT {schema}.make_month(parent, at) FROM unnest(ARRAY['audit_record', 'incident']) AS "
    "parent, unnest(ARRAY[now(), now() + interval '1 month']) AS at"
)
_REMOVE: Final = sql.SQL("SELECT {schema}.audit_remove_retired(%s)")
_ERASE: Final = sql.SQL("SELECT {schema}.audit_erase(%s)")
_DROP: Final = sql.SQL(
    "SELECT {schema}.drop_empty_months('audit_record', now() - interval '1 month')"
)
_FORGET: Final = sql.SQL("SELECT {schema}.forget_incidents(now() - make_interval(secs => %s), %s)")

DAY_S: Final = 86_400


def tidy(db: Connection, schema: str, portion: int, incident_days: float | None) -> bool:
    """See to what is due, unless another process is at it; tells whether there is more to
    remove."""
    own = {"schema": sql.Identifier(schema)}
    more = False
    with db.transaction():
        if not one(db.execute(_LOCK, (schema,)))[0]:
            return False
        db.execute(_PATIENCE)
        db.execute(_AHEAD.format(**own))
        removed = one(db.execute(_REMOVE.format(**own), (portion,)))[0]
        erased = one(db.execute(_ERASE.format(**own), (portion,)))[0]
        if incident_days is not None:
            more = (
                one(db.execute(_FORGET.format(**own), (incident_days * DAY_S, portion)))[0]
                >= portion
            )
    if removed >= portion or erased >= portion:
        return True
    with db.transaction():
        if one(db.execute(_LOCK, (schema,)))[0]:
            db.execute(_PATIENCE)
            db.execute(_DROP.format(**own))
    return more
