"""Records in PostgreSQL: a trail is copied there as it grows, can be written back, and verified
where it is."""

from stanchion.audit.postgres.copied_trail import PostgresTrail, open_postgres_trail
from stanchion.audit.postgres.copy_options import Lag, Shipping
from stanchion.audit.postgres.database import export_trail, ship_trail, verify_database

__all__ = [
    "Lag",
    "PostgresTrail",
    "Shipping",
    "export_trail",
    "open_postgres_trail",
    "ship_trail",
    "verify_database",
]
