"""How much a confined command may use."""

from __future__ import annotations

from typing import Annotated

import msgspec


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bounds of one command, with everything that it starts."""

    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=600)] = 30
    memory_mb: Annotated[int, msgspec.Meta(ge=64, le=4_096)] = 512
    cores: Annotated[int, msgspec.Meta(ge=1, le=4)] = 1
    children: Annotated[int, msgspec.Meta(ge=0, le=100)] = 10
    stdout_bytes: Annotated[int, msgspec.Meta(ge=1, le=1 << 30)] = 1 << 20
    stderr_bytes: Annotated[int, msgspec.Meta(ge=1, le=1 << 30)] = 256 << 10
    file_mb: Annotated[int, msgspec.Meta(ge=1, le=10_240)] = 64
    tmp_mb: Annotated[int, msgspec.Meta(ge=1, le=10_240)] = 64

    def __post_init__(self) -> None:
        for field in msgspec.structs.fields(self):
            value = getattr(self, field.name)
            meta = field.type.__metadata__[0]
            if type(value) is not int or not meta.ge <= value <= meta.le:
                raise ValueError(
                    f"`{field.name}` is `{value}`: give a whole number from {meta.ge} to "
                    f"{meta.le:,}"
                )
