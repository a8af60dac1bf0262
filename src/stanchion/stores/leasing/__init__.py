"""Leases: how a process spends from fleet-wide counters without a trip to them for each
decision."""

from stanchion.stores.leasing.store import LeasingStore

__all__ = ["LeasingStore"]
