"""Stanchion for tests: a fake clock, scripted tools and models, shields, tables, the interleaver,
the store suite."""

from stanchion.testing.clock import FakeClock
from stanchion.testing.interleave import Interleaved, Trip, interleave
from stanchion.testing.models import ScriptedModel, ScriptEnded
from stanchion.testing.shields import LostStore, shield_for, stable_nonces
from stanchion.testing.store_suite import CASES as STORE_CASES, Case as StoreCase, check_store
from stanchion.testing.table_file import Case, Expect, RunSpec, Step, Table, read_table
from stanchion.testing.tables import Driver, Ran, StoreFactory, run_case, run_table
from stanchion.testing.tools import Blocks, ScriptedTool

__all__ = [
    "STORE_CASES",
    "Blocks",
    "Case",
    "Driver",
    "Expect",
    "FakeClock",
    "Interleaved",
    "LostStore",
    "Ran",
    "RunSpec",
    "ScriptEnded",
    "ScriptedModel",
    "ScriptedTool",
    "Step",
    "StoreCase",
    "StoreFactory",
    "Table",
    "Trip",
    "check_store",
    "interleave",
    "read_table",
    "run_case",
    "run_table",
    "shield_for",
    "stable_nonces",
]
