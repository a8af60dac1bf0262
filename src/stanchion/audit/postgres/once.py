"""Shipping what is in a folder now: for a host on which nothing of Stanchion runs at the moment."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import psycopg

from stanchion.audit.errors import TrailError
from stanchion.audit.postgres.address import Address
from stanchion.audit.postgres.arrival import Landing
from stanchion.audit.postgres.connections import connected
from stanchion.audit.postgres.rounds import Manner, Rounds
from stanchion.audit.postgres.schema import checked
from stanchion.audit.postgres.shipment import Lag, Shipping
from stanchion.audit.postgres.upkeep import tidy


def ship_once(folder: Path, url: str, shipping: Shipping) -> tuple[Lag, list[str]]:
    """Ship all that is there and see to the tables; gives what is left, and what is wrong with
    single chains."""
    address, schema = Address(url, shipping.timeout_s), checked(shipping.schema)
    manner = Manner(frozenset(), 0.0, shipping.batch_bytes, shipping.patience_s)
    rounds = Rounds(folder, monotonic)
    try:
        with connected(address, schema, shipping.timeout_s) as db:
            landing = Landing(db, schema)
            left = None
            while rounds.go(landing, manner) and left != (now := rounds.lag()):
                left = now
            while tidy(db, schema, shipping.portion, shipping.incident_days):
                pass
    except psycopg.Error as error:
        raise TrailError(address.trouble(error)) from None
    return Lag(*rounds.lag()), rounds.troubles
