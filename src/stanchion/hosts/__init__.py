"""Hosts: each file puts one framework, client or protocol under a shield, by one contract. A host
of your own needs the names here, and nothing else."""

from stanchion.hosts.contract.changed import Changed
from stanchion.hosts.contract.host import Host
from stanchion.hosts.contract.hosted import Hosted
from stanchion.hosts.contract.lesser import lesser
from stanchion.hosts.contract.refusal import Refusal
from stanchion.hosts.contract.sealing import opened, sealed
from stanchion.hosts.contract.survey import Part, survey
from stanchion.hosts.contract.terms import EVERYTHING, as_text, raised
from stanchion.hosts.contract.told import Told
from stanchion.hosts.contract.versions import UnknownVersion, tried
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
