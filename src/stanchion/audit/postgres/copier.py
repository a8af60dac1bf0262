"""The shipper: a thread that copies what is new in a trail's folder to the database, and never
gives up."""

from __future__ import annotations

import threading
from pathlib import Path
from random import uniform
from time import monotonic
from typing import Final

import psycopg
from psycopg import sql

from stanchion.audit.errors import TrailError, reason
from stanchion.audit.postgres.connections import Connection, RecordsAddress, checked, connected, one
from stanchion.audit.postgres.copy_options import Lag, Shipping
from stanchion.audit.postgres.copy_rounds import Manner, Rounds
from stanchion.audit.postgres.database_writer import RecordLanding
from stanchion.locks.forks import tell_of_forks

FIRST_S: Final = 0.25
"""How long it waits after the first trouble, at most; twice as long after each more."""


class Shipper:
    """Copies the chains of a folder, this process's own at once and those of others where nobody
    else does.

    It is what a trail knows as its copier. Nothing waits for it but who closes the trail, and that
    not for long.
    """

    def __init__(self, folder: Path, url: str, shipping: Shipping) -> None:
        self._folder: Final = folder
        self._shipping: Final = shipping
        self._address: Final = RecordsAddress(url, shipping.timeout_s)
        checked(shipping.schema)
        self._own: frozenset[str] = frozenset()
        self._fresh()
        tell_of_forks(self)

    def _fresh(self) -> None:
        """What a new shipper has, and one that finds itself in a forked process."""
        self._rounds = Rounds(self._folder, monotonic)
        self._db: Connection | None = None
        self._landing: RecordLanding | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._wake, self._hurry = threading.Event(), threading.Event()
        self._landed = threading.Condition()
        self._closing = False
        self._lost = self._untidy = ""
        self._hopeless = False
        self._tidied_at = float("-inf")

    def start(self) -> None:
        """Begin to ship: what is there already, and whatever comes."""
        with self._starting:
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(
                    target=self._work, name="stanchion-audit-shipping", daemon=True
                )
                self._thread.start()

    @property
    def trouble(self) -> str:
        """Why records do not get to the database, all of them or those of single chains; empty
        where they do."""
        each = (self._lost, self._untidy, *self._rounds.troubles)
        return "; ".join(words for words in each if words)

    @property
    def lag(self) -> Lag:
        """How far the database is behind the folder."""
        return Lag(*self._rounds.lag())

    def moved(self, chain: str) -> None:
        """A chain that this process writes has got further."""
        self._own = frozenset((chain,))
        if self._thread is None:
            self.start()
        self._wake.set()

    def has(self, chain: str, seq: int) -> bool:
        """Whether all records of a chain up to that number have arrived."""
        return self._rounds.has(chain, seq)

    def wait(self, chain: str, seq: int, timeout_s: float) -> bool:
        """Wait until a record has arrived; false where it has not by then, or never will."""
        with self._landed:
            self._hurry.set()
            self._wake.set()
            self._landed.wait_for(
                lambda: self.has(chain, seq) or self._rounds.is_stopped(chain), timeout_s
            )
            return self.has(chain, seq)

    def finish(self) -> None:
        """Ship the rest, in the time there is, and stop; at once where the server is lost or its
        schema not ours.

        What is left is for whoever comes next.
        """
        with self._starting:
            self._closing = True
            thread = self._thread
        self._hurry.set()
        self._wake.set()
        if thread is not None and not self._hopeless:
            thread.join(self._shipping.close_s)

    def _work(self) -> None:
        """The thread: wait until something is new, give more of it a moment to come, and carry
        it."""
        again_s, until = FIRST_S, float("inf")
        try:
            while monotonic() < until:
                closing = self._closing
                if closing:
                    until = min(until, monotonic() + self._shipping.close_s)
                try:
                    more = self._turn(closing)
                except Exception as error:  # noqa: BLE001 - whatever goes wrong here, later records need this thread
                    self._drop(error)
                    if closing and self._hopeless:
                        return
                    if self._hurry.wait(again_s * uniform(0.5, 1.0)):
                        self._hurry.clear()
                    again_s = min(2 * again_s, self._shipping.again_s)
                    continue
                again_s = FIRST_S
                if closing and not more:
                    return
                self._rest(more)
        finally:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _turn(self, closing: bool) -> bool:
        """One round; tells whether another one should follow soon."""
        if self._db is None or self._landing is None:
            self._db = connected(self._address, self._shipping.schema, self._shipping.timeout_s)
            self._landing = RecordLanding(self._db, self._shipping.schema)
        how = self._shipping
        manner = Manner(self._own, how.others_s, how.batch_bytes, how.patience_s)
        more = self._rounds.go(self._landing, manner)
        self._lost, self._hopeless = "", False
        with self._landed:
            self._landed.notify_all()
        if not closing and (self._landing.retired or monotonic() - self._tidied_at >= how.tidy_s):
            self._landing.retired = self._tidy(self._db)
            more = more or self._landing.retired
        return more

    def _tidy(self, db: Connection) -> bool:
        """See to the tables. That it cannot be done keeps nobody from shipping."""
        how = self._shipping
        self._tidied_at = monotonic()
        try:
            more = tidy(db, how.schema, how.portion, how.incident_days)
        except psycopg.Error as error:
            if db.closed or error.sqlstate is None:
                raise
            self._untidy = self._address.trouble(error)
            return False
        self._untidy = ""
        return more

    def _rest(self, more: bool) -> None:
        """Wait for something new, or look all the same after a while: others may have died."""
        if not more:
            self._wake.wait(self._shipping.others_s)
        self._wake.clear()
        if self._hurry.wait(self._shipping.ship_ms / 1000):
            self._hurry.clear()

    def _drop(self, error: Exception) -> None:
        """Let go of a connection that failed, and say why."""
        away = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
        self._hopeless = away or isinstance(error, TrailError)
        match error:
            case psycopg.Error():
                self._lost = self._address.trouble(error)
            case TrailError():
                self._lost = str(error)
            case OSError():
                self._lost = f"the trail cannot be read: {reason(error)}"
            case _:
                self._lost = f"shipping failed with `{type(error).__name__}`"
        if self._db is not None:
            self._db.close()
        self._db = self._landing = None
        with self._landed:
            self._landed.notify_all()

    def forked(self) -> None:
        """In a forked process: the thread and the connection are the parent's, and so are the
        chains."""
        if self._db is not None:
            _inherited.append(self._db)
        closing = self._closing
        self._own = frozenset()
        self._fresh()
        self._closing = closing


_inherited: Final[list[Connection]] = []
"""Connections of parents, which to close would end the parents' work."""


# Seeing to the tables: months are made ahead, retired segments and erased content leave in small
# portions, empty months go.

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


# Shipping what is in a folder now: for a host on which nothing of Stanchion runs at the moment.


def ship_once(folder: Path, url: str, shipping: Shipping) -> tuple[Lag, list[str]]:
    """Ship all that is there and see to the tables; gives what is left, and what is wrong with
    single chains."""
    address, schema = RecordsAddress(url, shipping.timeout_s), checked(shipping.schema)
    manner = Manner(frozenset(), 0.0, shipping.batch_bytes, shipping.patience_s)
    rounds = Rounds(folder, monotonic)
    try:
        with connected(address, schema, shipping.timeout_s) as db:
            landing = RecordLanding(db, schema)
            left = None
            while rounds.go(landing, manner) and left != (now := rounds.lag()):
                left = now
            while tidy(db, schema, shipping.portion, shipping.incident_days):
                pass
    except psycopg.Error as error:
        raise TrailError(address.trouble(error)) from None
    return Lag(*rounds.lag()), rounds.troubles
