"""The user's folders are those that `platformdirs` says."""

import sys

import platformdirs
import pytest

from stanchion.folders import user_config, user_state

NAMES = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME")


@pytest.mark.parametrize("home", ["/home/a", "/home/a/", "/", "/root//", "a", ""])
@pytest.mark.parametrize("named", [None, "", "/etc/x", "/etc/x/", "x/y", " /x", "~/x"])
def test_they_are_where_platformdirs_says(
    monkeypatch: pytest.MonkeyPatch, home: str, named: str | None
) -> None:
    for name, value in zip(NAMES, (named, named, home), strict=True):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(
            name, value
        )
    assert user_config() == platformdirs.user_config_dir("stanchion")
    assert user_state() == platformdirs.user_state_dir("stanchion")


def test_another_system_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platformdirs, "user_config_dir", lambda app: f"C:/{app}/config")
    monkeypatch.setattr(platformdirs, "user_state_dir", lambda app: f"C:/{app}/state")
    assert (user_config(), user_state()) == ("C:/stanchion/config", "C:/stanchion/state")
