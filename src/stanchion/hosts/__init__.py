"""Hosts: each file puts one framework, client or protocol under a shield, by one contract. A host
of your own needs the names here, and nothing else."""

from stanchion.hosts.contract.elements import ActedOn
from stanchion.hosts.contract.frameworks import Part, lesser, survey
from stanchion.hosts.contract.host import Host, Hosted
from stanchion.hosts.contract.sealing import opened, sealed
from stanchion.hosts.contract.terms import EVERYTHING, Changed, Refusal, Told, as_text, raised
from stanchion.hosts.contract.works import Works
from stanchion.hosts.versions import UnknownVersion, tried
from stanchion.runtime.coverage.own_work import own_work

__all__ = [
    "EVERYTHING",
    "ActedOn",
    "Changed",
    "Host",
    "Hosted",
    "Part",
    "Refusal",
    "Told",
    "UnknownVersion",
    "Works",
    "as_text",
    "lesser",
    "opened",
    "own_work",
    "raised",
    "sealed",
    "survey",
    "tried",
]
