"""Origins: whether an edit has a project fetch what it runs from somewhere else than before."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.paths.swaps import Swap

_FETCHES: Final = regex(
    r"(?:\A|/)(?:(?:gradle|maven)-wrapper\.properties|package(?:-lock)?\.json|npm-shrinkwrap\.json|"
    r"[\w.-]+\.lock|pnpm-lock\.yaml|go\.(?:mod|sum)"
    r"|flake\.nix|\.npmrc|\.yarnrc(?:\.yml)?|pip\.conf|pip\.ini|nuget\.config|"
    r"\.pre-commit-config\.yaml|\.gitmodules|[\w-]*requirements[\w-]*\.(?:txt|in)"
    r"|\.terraform\.lock\.hcl|podfile|gemfile|brewfile|composer\.json|bun\.lockb?|deno\.json|"
    r"pyproject\.toml|cargo\.toml|build\.gradle(?:\.kts)?"
    r"|settings\.gradle(?:\.kts)?|pom\.xml|module\.bazel|workspace(?:\.bazel)?|[\w-]+\.bzl|"
    r"conanfile\.(?:py|txt)|environment\.ya?ml|setup\.cfg)\Z"
    r"|(?:\A|/)\.github/(?:workflows|actions)/.*\.ya?ml\Z|(?:\A|/)\.(?:cargo|mvn|bundle)/[^/]+\Z"
)
"""Files that say where what is built, installed or started comes from."""
_URL: Final = regex(
    r"https?\\?:(?:\\?/){2}(?:[^/@\s\"']*@)?([A-Za-z0-9.-]+)(?::\d+)?([^\s\"'<>,;)#]*)"
)
_ACTION: Final = regex(r"uses:\s*[\"']?([\w.-]+)/([\w.-]+)")
_PINNED: Final = regex(r"(?:\A|[\s\"'])([\w.-]+)/([\w./-]+)@[\w.-]+")
_WRAPPER: Final = regex(
    r"(?i)^\s*(?:distribution|wrapper)Url\s*=\s*https?\\?:(?:\\?/){2}(?:[^/@\s]*@)?([A-Za-z0-9.-]+)"
)
MAKERS: Final = (
    "registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org", "crates.io",
    "static.crates.io", "rubygems.org", "repo.maven.apache.org", "repo1.maven.org",
    "services.gradle.org", "plugins.gradle.org", "proxy.golang.org", "api.nuget.org",
    "www.nuget.org", "packagist.org", "github.com", "gitlab.com", "ghcr.io", "docker.io",
    "registry.terraform.io", "deno.land", "jsr.io",
)  # fmt: skip
"""Where the makers of package managers have their packages."""
OWNERS: Final = (
    "actions", "github", "docker", "azure", "google-github-actions", "aws-actions", "hashicorp",
    "gradle", "codecov", "peter-evans", "softprops", "astral-sh", "shivammathur", "golangci",
    "sigstore", "aquasecurity", "peaceiris", "dependabot", "microsoft", "reviewdog",
)  # fmt: skip
"""Those whose actions most workflows use."""
_ALIKE: Final = str.maketrans(
    {"1": "i", "l": "i", "!": "i", "0": "o", "5": "s", "-": None, "_": None}
)
WRAPPERS: Final = ("gradle.org", "apache.org", "maven.org")


def fetches(path: str) -> bool:
    """Whether a file says where things come from that are run; the path is in small letters, with
    slashes."""
    return _FETCHES.search(path) is not None


def moves(swap: Swap) -> bool:
    """Whether what a swap puts in is fetched from elsewhere than what it takes out, and is the same
    otherwise."""
    old = {
        (found[2].rpartition("/")[2] or found[2]): found[1].lower()
        for found in _URL.finditer(swap.old)
    }
    for found in _URL.finditer(swap.new):
        before = old.get(found[2].rpartition("/")[2] or found[2])
        host = found[1].lower()
        if before is not None and host != before and host not in MAKERS:
            return True
    owners = {found[2]: found[1] for found in _PINNED.finditer(swap.old)}
    return any(owners.get(found[2], found[1]) != found[1] for found in _PINNED.finditer(swap.new))


def feigns(path: str, text: str) -> bool:
    """Whether a text fetches from one who is called almost like a known maker, or has a build begin
    elsewhere."""
    if any(_feigned(found[1].lower(), OWNERS) for found in _ACTION.finditer(text)):
        return True
    if path.endswith("-wrapper.properties"):
        for line in text.split("\n"):
            found = _WRAPPER.match(line)
            if found is not None and not f".{found[1].lower()}".endswith(
                tuple([f".{one}" for one in WRAPPERS])
            ):
                return True
    hosts = {found[1].lower() for found in _URL.finditer(text)}
    return any(
        _feigned(host, MAKERS) or any(host.startswith(f"{one}.") for one in MAKERS)
        for host in hosts
    )


def _feigned(name: str, known: tuple[str, ...]) -> bool:
    if name in known or len(name) < 5:
        return False
    alike = _looks(name)
    return any(alike == _looks(one) or (len(one) > 5 and _one_off(name, one)) for one in known)


def _looks(name: str) -> str:
    """A name as it looks at a glance."""
    return name.replace("rn", "m").replace("vv", "w").translate(_ALIKE)


def _one_off(name: str, known: str) -> bool:
    """Whether two names differ by one letter that is left out, put in or changed, or by two that
    are turned round."""
    if abs(len(name) - len(known)) > 1 or name == known:
        return False
    at = next(
        (at for at, (one, other) in enumerate(zip(name, known, strict=False)) if one != other),
        min(len(name), len(known)),
    )
    rest, other = name[at:], known[at:]
    if len(name) == len(known):
        return rest[1:] == other[1:] or (rest[:2] == other[:2][::-1] and rest[2:] == other[2:])
    return rest[1:] == other if len(name) > len(known) else rest == other[1:]
