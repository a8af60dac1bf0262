"""The host suite: what every adapter must do, as named behaviours, judged in its framework with a
scripted model.

@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)

def test_probes() -> None:
    check_probes(DRIVER, globals())
"""

from stanchion.testing.host_suite.behaviours import BEHAVIOURS, check, check_probes
from stanchion.testing.host_suite.scene import KEY, Call, Driver, Ended, Scene, Seen, Turn

__all__ = [
    "BEHAVIOURS",
    "KEY",
    "Call",
    "Driver",
    "Ended",
    "Scene",
    "Seen",
    "Turn",
    "check",
    "check_probes",
]
