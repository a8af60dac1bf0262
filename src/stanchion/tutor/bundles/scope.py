"""Whether a bundle is for what it would be used for."""

from __future__ import annotations

from fnmatch import fnmatchcase

import msgspec

from stanchion.tutor.bundles.file import UNSCOPED, BundleFault, BundleFile, BundleRefusal


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle would be used for: the game, the model that plays it, the law that judges
    it."""

    game: str
    model: str
    law: str
    deterministic: bool = True


def unfit(file: BundleFile, use: Use) -> BundleRefusal | None:
    """Why a bundle is not to be used so; `None` where it is."""
    scope = file.scope
    if scope is None:
        return UNSCOPED
    for what, name, names in (
        ("game", use.game, scope.games),
        ("model", use.model, scope.models),
        ("law", use.law, scope.laws),
    ):
        if not any(fnmatchcase(name, one) for one in names):
            listed = ", ".join(f"`{one}`" for one in names)
            return BundleRefusal(
                BundleFault.OUT_OF_SCOPE,
                f"it was not made for the {what} `{name}`: its scope has {listed}",
            )
    heat = file.model_params.temperature
    if use.deterministic and heat != 0:
        said = f"its temperature is {heat:g}, and a deterministic run has 0"
        return BundleRefusal(
            BundleFault.NOT_DETERMINISTIC,
            f"{said}: set `deterministic_mode` to false, or freeze one with 0",
        )
    return None
