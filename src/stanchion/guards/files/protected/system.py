"""The system itself: what it trusts, what it starts, and what it runs on."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.protected.rule import CHANGES, Protected, Shown, homes

RULES: Final = (
    Protected(
        "the system's passwords",
        (
            "/etc/shadow*", "/etc/gshadow*", "/etc/master.passwd", "/etc/security/opasswd", "/etc/sudoers",
            "/etc/sudoers.d/**", "/var/db/shadow/**", "/etc/krb5.keytab", "/var/lib/sss/secrets/**",
            "?:/windows/system32/config/**", "?:/windows/repair/**", "?:/windows/ntds/**", "/etc/ssl/private/**",
        ),
    ),
    Protected(
        "the memory of a process",
        ("/proc/*/environ", "/proc/*/mem", "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port"),
    ),
    Protected(
        "a file of the system",
        (
            "/etc/**", "/boot/**", "/bin/**", "/sbin/**", "/lib/**", "/lib32/**", "/lib64/**", "/usr/bin/**",
            "/usr/sbin/**", "/usr/lib/**", "/usr/libexec/**", "/sys/**", "/proc/**", "/System/**",
            "/Library/LaunchDaemons/**", "/Library/LaunchAgents/**", "/var/spool/cron/**", "/var/lib/systemd/**",
            "?:/windows/**", "?:/boot.ini", "?:/bootmgr", "?:/Program Files/**",
        ),
        CHANGES,
    ),
    Protected(
        "a disk",
        (
            "/dev/sd*", "/dev/hd*", "/dev/vd*", "/dev/xvd*", "/dev/nvme*", "/dev/mmcblk*", "/dev/disk*", "/dev/disk/**",
            "/dev/rdisk*", "/dev/md*", "/dev/dm-*", "/dev/mapper/**", "/dev/loop*", "/dev/zvol/**",
        ),
        CHANGES,
    ),
    Protected(
        "what starts by itself",
        homes(
            ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
            ".config/autostart/**", ".config/systemd/user/**", "Library/LaunchAgents/**", ".config/fish/config.fish",
        ),
        CHANGES,
    ),
)  # fmt: skip

HITS: Final[Shown] = (
    ("/etc/shadow", "read"),
    ("/etc/sudoers.d/agent", "read"),
    ("/proc/self/root/etc/shadow", "read"),
    ("../../../../etc/shadow", "read"),
    ("C:\\Windows\\System32\\config\\SAM", "read"),
    ("/proc/self/environ", "read"),
    ("/etc/passwd", "write"),
    ("/etc/cron.d/x", "write"),
    ("/etc", "delete"),
    ("/usr/bin/python3", "delete"),
    ("/dev/sda", "write"),
    ("~/.bashrc", "write"),
    ("/home/ada/.config/autostart/x.desktop", "write"),
    ("/private/etc/sudoers", "read"),
)
MISSES: Final[Shown] = (
    ("/etc/passwd", "read"),
    ("/etc/os-release", "read"),
    ("/dev/null", "write"),
    ("/dev/stderr", "write"),
    ("/dev/fd/63", "write"),
    ("/dev/shm/buffer", "write"),
    ("/usr/local/bin/tool", "write"),
    ("dotfiles/.bashrc", "write"),
    ("etc/shadow", "read"),
    ("/tmp/x", "delete"),
    ("~/.bashrc", "read"),
    ("/proc/cpuinfo", "read"),
    ("/usr/share/dict/words", "read"),
)
