"""Variables: the folders and files for which a variable of the environment usually stands."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

STAND_FOR: Final[dict[str, str]] = {
    "home": "~", "userprofile": "~", "homepath": "~", "zdotdir": "~",
    "pwd": "", "cd": "", "oldpwd": "", "github_workspace": "", "ci_project_dir": "",
    "workspace": "", "xdg_config_home": "~/.config", "xdg_data_home": "~/.local/share",
    "xdg_state_home": "~/.local/state", "xdg_cache_home": "~/.cache",
    "appdata": "~/AppData/Roaming", "localappdata": "~/AppData/Local", "tmpdir": "/tmp",
    "tmp": "/tmp", "temp": "/tmp", "runner_temp": "/tmp", "programdata": "c:/ProgramData",
    "allusersprofile": "c:/ProgramData", "public": "c:/Users/Public", "systemroot": "c:/Windows",
    "windir": "c:/Windows", "systemdrive": "c:", "programfiles": "c:/Program Files",
    "cargo_home": "~/.cargo", "gnupghome": "~/.gnupg", "docker_config": "~/.docker",
    "kubeconfig": "~/.kube/config", "aws_shared_credentials_file": "~/.aws/credentials",
    "cloudsdk_config": "~/.config/gcloud", "netrc": "~/.netrc",
    "google_application_credentials": "~/.config/gcloud/credentials.json",
    "pgpassfile": "~/.pgpass", "histfile": "~/.bash_history", "gopath": "~/go", "nvm_dir": "~/.nvm",
    "xdg_runtime_dir": "/run/user/0", "profile": "~/Documents/PowerShell/profile.ps1",
}  # fmt: skip
"""What stands under a name, in lower case; nothing is the working directory."""

NAMED: Final[dict[tuple[str, str], str]] = {
    ("npm", "userconfig"): "~/.npmrc", ("npm", "globalconfig"): "/etc/npmrc",
    ("gpgconf", "homedir"): "~/.gnupg", ("getent", "passwd"): "~", ("go", "gopath"): "~/go",
    ("ipython", "locate"): "~/.ipython", ("jupyter", "--config-dir"): "~/.jupyter",
    ("git", "--git-dir"): ".git", ("git", "hooks"): ".git/hooks",
    ("python3", "--user-site"): "~/.local/lib/python3/site-packages",
    ("xdg-user-dir", "documents"): "~/Documents",
    ("python", "--user-site"): "~/.local/lib/python3/site-packages",
    ("git", "--git-common-dir"): ".git", ("gh", "config-dir"): "~/.config/gh",
    ("pip", "debug"): "~/.config/pip/pip.conf", ("brew", "--prefix"): "/opt/homebrew",
}  # fmt: skip
"""Places that a program names, by its own name and a word that it is asked by, both in lower
case."""

_VARIABLE: Final = regex(
    r"(?:\$\{?(?:env:)?([A-Za-z_]\w*)\}?|%([A-Za-z_]\w*)%|\$\((pwd)\))((?:\.\w+)?)(?=[/\\]|\Z)",
    re.IGNORECASE,
)


def is_known(text: str) -> bool:
    """Whether a path begins with a variable of which it is known what it stands for."""
    return filled(text) is not None


def filled(text: str) -> str | None:
    """A path with what the variable at its beginning usually stands for; `None` where it begins
    with no such one."""
    found = _VARIABLE.match(text)
    if found is None:
        return None
    name = next(part for part in found.groups()[:3] if part is not None).lower()
    stands = STAND_FOR.get(name)
    if stands is None or (found[4] and name != "profile"):
        return None
    rest = text[found.end() :]
    return stands + rest if stands else rest.lstrip("/\\")


def named_by(argv: tuple[str, ...]) -> str:
    """The place whose name a command prints, or nothing."""
    program = argv[0].rpartition("/")[2].lower() if argv else ""
    return next(
        (NAMED[program, word.lower()] for word in argv[1:] if (program, word.lower()) in NAMED), ""
    )
