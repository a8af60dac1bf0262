"""Hosting: the contract by which any host is guarded. What an adapter needs, and nothing else."""

from stanchion.hosting.changed import Changed
from stanchion.hosting.host import Host
from stanchion.hosting.hosted import Hosted
from stanchion.hosting.lesser import lesser
from stanchion.hosting.refusal import Refusal
from stanchion.hosting.sealing import opened, sealed
from stanchion.hosting.survey import Part, survey
from stanchion.hosting.terms import EVERYTHING, as_text, raised
from stanchion.hosting.told import Told
from stanchion.hosting.versions import UnknownVersion, tried
from stanchion.runtime.coverage.own_work import own_work

__all__ = [
    "EVERYTHING",
    "Changed",
    "Host",
    "Hosted",
    "Part",
    "Refusal",
    "Told",
    "UnknownVersion",
    "as_text",
    "lesser",
    "opened",
    "own_work",
    "raised",
    "sealed",
    "survey",
    "tried",
]
