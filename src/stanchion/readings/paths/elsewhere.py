"""Elsewhere: tools whose files lie on another machine, in a bucket, in an archive or behind an API;
by their name and by the arguments that say where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stanchion.readings.names import letters, plain
from stanchion.readings.word_lists import listed

PLACES: Final = listed(
    """
    adls azure bitbucket blob blobs box bucket buckets cloud confluence device dropbox ftp gcs
    gdrive gitea github gitlab hdfs minio notion onedrive remote s3 scp sftp sharepoint ssh webdav
    zip archive pod
    """
)
"""Words in the name of a tool that say so."""
SAID_WHERE: Final = frozenset(
    {
        "archive", "bucket", "bucketname", "containerid", "containername", "device", "deviceid",
        "host", "hostname", "machine", "node", "owner", "pod", "podname", "remotehost", "server",
        "sshhost", "vm", "vmid", "zip", "zipfile",
    }
)  # fmt: skip
"""Names of arguments that say which machine, bucket or archive a path is in."""
HERE: Final = listed("localhost 127.0.0.1 ::1 local")


def is_elsewhere(tool: str, args: Mapping[str, Any]) -> bool:
    """Whether the files of a call are surely not those of this machine. A drafted name is bound to
    this machine until something says otherwise."""
    if not PLACES.isdisjoint(_words(tool)):
        return True
    return any(
        type(value) is str
        and value
        and value.lower() not in HERE
        and plain(str(name)) in SAID_WHERE
        for name, value in args.items()
    )


def _words(tool: str) -> frozenset[str]:
    """The words of a tool's name, `s3` among them."""
    named = letters(tool)
    return named | {"s3"} if "s3" in tool.lower() else named
