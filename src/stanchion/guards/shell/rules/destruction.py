"""Destruction: files, disks and whole systems that would be lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards.shell.places import DISKS, Roots, place_of
from stanchion.guards.shell.rule import Family, Rule
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.effects import find_roots
from stanchion.readings.shell.partly_known import origin_of

LOST: Final = frozenset({"root", "home", "system", "core", "disk"})
_PUT_ASIDE: Final = regex(r"\.(?:gz|bz2|xz|zst|old|\d+|\[0-9\]\*?)\Z")
"""How the name of a log ends that was put aside."""
RECURSIVE: Final = frozenset(
    {"-r", "-R", "--recursive", "-rf", "-Rf", "/s", "-recurse", "-Recurse"}
)


def _places(command: Command, roots: Roots, paths: tuple[str, ...] | list[str]) -> set[str]:
    return {place_of(path, command.cwd, roots) for path in paths}


def _deletes_lost(command: Command, roots: Roots) -> bool:
    places = _places(command, roots, command.operands)
    if any(
        path.endswith("*") and place_of(path, command.cwd, roots) == "home"
        for path in command.operands
    ):
        return True
    if command.flags & RECURSIVE:
        return bool(places & LOST)
    many = [path for path in command.operands if "/*" in f"/{path.rpartition('/')[2]}"]
    return bool(places & {"root", "core", "disk"}) or bool(_places(command, roots, many) & LOST)


def _deletes_outside(command: Command, roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and bool(
        _places(command, roots, command.operands) & {"outside", "open"}
    )


def _deletes_shared(command: Command, roots: Roots) -> bool:
    """Whether everything in a folder goes in which other programs keep their files and sockets,
    too."""
    if not command.flags & RECURSIVE and not any("*" in path for path in command.operands):
        return False
    return "shared" in _places(command, roots, command.operands)


def _finds_shared(command: Command, roots: Roots) -> bool:
    narrow = any(word in NARROWS for word in command.argv)
    return (
        "-delete" in command.argv
        and not narrow
        and "shared" in _places(command, roots, find_roots(command.argv))
    )


def _deletes_all(command: Command, roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and "all" in _places(command, roots, command.operands)


def _deletes_listed(command: Command, _roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and (not command.operands or "$(…)" in command.operands)


def _deletes_found(command: Command, roots: Roots) -> bool:
    """Whether what is deleted was listed in a folder of the system or a home."""
    listed = [
        each[1:] for word in command.operands for each in origin_of(word) if each.startswith("<")
    ]
    return bool(_places(command, roots, listed) & {"root", "home", "core", "system"})


def _found_recursively(command: Command, _roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and "find -exec" in command.via


def _deletes_git(command: Command, _roots: Roots) -> bool:
    return any(path.rstrip("/").rpartition("/")[2] == ".git" for path in command.operands)


def _moves_lost(command: Command, roots: Roots) -> bool:
    sources = command.deletes
    return (
        bool(_places(command, roots, sources) & {"root", "home", "core", "disk"})
        or "/dev/null" in command.writes
    )


def _seeks_old_logs(command: Command) -> bool:
    """Whether a search asks for logs that were put aside long ago, by their name and their age."""
    words = command.argv
    names = [word for before, word in pairwise(words) if before in ("-name", "-iname")]
    aged = any(
        before in ("-mtime", "-mmin", "-ctime") and word[:1] == "+"
        for before, word in pairwise(words)
    )
    below = all(root.startswith("/var/log/") for root in find_roots(words))
    return aged and below and bool(names) and all(_PUT_ASIDE.search(name) for name in names)


def _find_lost(command: Command, roots: Roots) -> bool:
    if _seeks_old_logs(command):
        return False
    return "-delete" in command.argv and bool(
        _places(command, roots, find_roots(command.argv)) & LOST
    )


def _by_list(command: Command, roots: Roots) -> bool:
    return bool(command.operands) and not all(
        path.startswith(("/usr/lib/", "/etc/")) for path in command.operands
    )


def _shreds_open(command: Command, roots: Roots) -> bool:
    return bool(_places(command, roots, command.operands) & {"open"})


def _found_outside(command: Command, roots: Roots) -> bool:
    found = [path for path in command.operands if path.endswith("/**")]
    return "find -exec" in command.via and bool(
        _places(command, roots, found) & {"outside", "open"}
    )


def _find_here(command: Command, roots: Roots) -> bool:
    unfiltered = not any(word in NARROWS for word in command.argv)
    places = _places(command, roots, find_roots(command.argv))
    return "-delete" in command.argv and (
        bool(places & {"outside", "open"}) or ("all" in places and unfiltered)
    )


def _onto_disk(command: Command, _roots: Roots) -> bool:
    named = command.operands if command.name in ("shred", "tee") else ()
    return any(path.startswith(DISKS) for path in (*command.writes, *named))


def _opens_disk(command: Command, roots: Roots) -> bool:
    return any(
        place_of(path, command.cwd, roots) == "disk" for op, path in command.opens if ">" in op
    )


def _opens_core(command: Command, roots: Roots) -> bool:
    targets = [
        path
        for op, path in command.opens
        if op in (">", ">|", "&>") and not path.startswith("/dev/")
    ]
    return any(
        place_of(path, command.cwd, roots) == "core"
        and path.startswith(
            (
                "/etc/passwd",
                "/etc/shadow",
                "/etc/hosts",
                "/etc/fstab",
                "/etc/sudoers",
                "/boot",
                "/bin",
                "/sbin",
                "/usr/bin",
                "/lib",
            )
        )
        for path in targets
    )


def _empties_lost(command: Command, roots: Roots) -> bool:
    return bool(
        _places(command, roots, command.operands) & {"core", "disk", "home", "root", "system"}
    )


def _mirrors_over(command: Command, roots: Roots) -> bool:
    last = command.operands[-1:]
    deletes = any(flag.startswith(("--delete", "--remove-source")) for flag in command.flags)
    return deletes and bool(_places(command, roots, last) & LOST)


def _mirrors(command: Command, roots: Roots) -> bool:
    if (
        _places(command, roots, command.operands[-1:]) <= {"temporary", "made"}
        and "--remove" not in command.line
    ):
        return False
    deletes = any(flag.startswith(("--del", "--remove-source")) for flag in command.flags)
    return (
        deletes
        and len(command.operands) > 1
        and not command.flags & {"-n", "--dry-run", "--list-only"}
    )


def _is_image(command: Command, _roots: Roots) -> bool:
    return any(word.startswith(("/dev/", "\\\\.\\")) for word in command.operands)


def _partitions(command: Command, _roots: Roots) -> bool:
    """Whether partitions are changed: `parted` can also only show them, or set marks and names."""
    harmless = (
        command.name == "parted"
        and not LABELS.isdisjoint(command.operands)
        and LOSES.isdisjoint(command.operands)
    )
    return not harmless and any(word.startswith(DISKS) for word in command.operands)


NARROWS: Final = frozenset(
    {
        "-name",
        "-iname",
        "-path",
        "-regex",
        "-empty",
        "-newer",
        "-mtime",
        "-mmin",
        "-size",
        "-user",
        "-atime",
        "-ctime",
    }
)
"""What a search asks for besides where something is."""
LABELS: Final = frozenset(
    {"print", "unit", "align-check", "set", "toggle", "disk_set", "disk_toggle", "name", "help"}
)
LOSES: Final = frozenset(
    {"mklabel", "mktable", "mkpart", "rm", "resizepart", "rescue", "mkfs", "mkpartfs", "resize"}
)


def _packs_lost(command: Command, roots: Roots) -> bool:
    return bool(_places(command, roots, command.operands) & (LOST | {"outside"}))


def _empties_home(command: Command, roots: Roots) -> bool:
    targets = [path for op, path in command.opens if op in (">", ">|", "&>")]
    return any(
        path.endswith("*") and place_of(path, command.cwd, roots) in LOST for path in targets
    )


def _erases(command: Command, _roots: Roots) -> bool:
    verb, _, noun = command.name.partition("-")
    return noun in (
        "disk",
        "partition",
        "volume",
        "physicaldisk",
        "virtualdisk",
        "storagepool",
    ) and (verb in ("clear", "format", "remove", "reset", "initialize"))


def _whole_drive(command: Command, roots: Roots) -> bool:
    paths = [path.replace("\\", "/").rstrip("*.").rstrip("/") for path in command.operands]
    return any(path[1:2] == ":" and path.count("/") < 2 for path in paths)


MAKES_FILE_SYSTEMS: Final = (
    "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs "
    "mkfs.exfat mke2fs mkswap mkfs.jfs mkfs.reiserfs mkfs.minix newfs"
)
FAMILY: Final = Family(
    "destructive",
    "good",
    (
        Rule(
            "rm rmdir unlink shred srm trash del erase rd ri remove-item",
            "deletes a folder of the system or a home",
            check=_deletes_lost,
        ),
        Rule("rm", "takes the guard off the root of the file system", flags="--no-preserve-root"),
        Rule(
            "rm rd del remove-item",
            "deletes everything in the working directory",
            check=_deletes_all,
            loss="work",
        ),
        Rule(
            "rm rd del remove-item",
            "deletes whole folders outside the working directory",
            check=_deletes_outside,
            loss="unknown",
        ),
        Rule(
            "rm rd del remove-item",
            "deletes what other programs keep in a temporary folder",
            check=_deletes_shared,
            loss="unknown",
        ),
        Rule(
            "find bfs fd",
            "deletes what other programs keep in a temporary folder",
            check=_finds_shared,
            loss="unknown",
        ),
        Rule(
            "rm",
            "deletes whole folders that another command lists",
            check=_deletes_listed,
            loss="unknown",
        ),
        Rule(
            "rm unlink shred truncate",
            "deletes what is found in a folder of the system or a home",
            check=_deletes_found,
        ),
        Rule(
            "rm",
            "deletes a repository with its history",
            flags="-r|-R",
            check=_deletes_git,
            loss="work",
        ),
        Rule(
            "rm",
            "deletes every folder that a search finds",
            check=_found_recursively,
            loss="unknown",
        ),
        Rule(
            "rm unlink shred", "deletes everything it finds", check=_found_outside, loss="unknown"
        ),
        Rule(
            "systemd-tmpfiles",
            "deletes what a list names",
            flags="--remove|--purge",
            check=_by_list,
            loss="unknown",
        ),
        Rule("shred srm", "destroys a file that is not known", check=_shreds_open, loss="unknown"),
        Rule("mv", "moves away a folder of the system or a home", check=_moves_lost),
        Rule(
            "find bfs fd",
            "deletes what it finds in a folder of the system or a home",
            check=_find_lost,
        ),
        Rule("find bfs fd", "deletes everything it finds", check=_find_here, loss="unknown"),
        Rule(MAKES_FILE_SYSTEMS, "makes a new file system over what is on a disk", check=_is_image),
        Rule(
            "dd shred cp tee badblocks pv cat",
            "writes over a disk",
            check=_onto_disk,
            hint="/dev/",
        ),
        Rule(">", "writes over a disk", check=_opens_disk),
        Rule(">", "writes over a file of the system", check=_opens_core),
        Rule("badblocks", "writes over a disk", flags="-w|-n", check=_is_image),
        Rule(
            "parted",
            "changes a disk's partitions",
            words="* mklabel|mktable|mkpart|rm|resizepart",
            loss="unknown",
        ),
        Rule("tar", "deletes what it packs", flags="--remove-files", check=_packs_lost),
        Rule("zip", "deletes what it packs", flags="-m|--move", check=_packs_lost),
        Rule(">", "empties files of a home", check=_empties_home),
        Rule(
            "wipefs sgdisk",
            "wipes a disk's tables",
            flags="-a|--all|-z|--zap-all|-Z|--zap|-o",
            lacks="-n|--no-act|--pretend",
        ),
        Rule("blkdiscard nwipe scrub", "wipes a disk", check=_is_image),
        Rule("hdparm", "erases a disk", flags="--security-erase|--security-erase-enhanced"),
        Rule("nvme", "erases a disk", words="format|sanitize"),
        Rule("cryptsetup", "makes a disk's content unreadable", words="luksformat|erase|lukserase"),
        Rule(
            "fdisk parted sfdisk cfdisk gdisk",
            "changes a disk's partitions",
            lacks="-l|--list|-d|--dump|-p|--print|-s|-v",
            check=_partitions,
            loss="unknown",
        ),
        Rule("lvremove vgremove pvremove", "removes logical volumes"),
        Rule("dmsetup", "removes logical volumes", words="remove|remove_all|wipe_table"),
        Rule(
            "rsync",
            "deletes at the target what is not at the source",
            check=_mirrors,
            loss="recoverable",
        ),
        Rule("zpool zfs", "destroys a pool or a data set", words="destroy|labelclear"),
        Rule("btrfs", "deletes a subvolume", words="subvolume delete"),
        Rule("mdadm", "stops or wipes an array", flags="--zero-superblock|--stop"),
        Rule("diskutil", "erases a disk", words="erase*|partitiondisk|secureerase|zerodisk|apfs"),
        Rule(
            "format", "formats a drive", check=lambda c, _: any(w[1:2] == ":" for w in c.operands)
        ),
        Rule("truncate", "empties a file of the system", check=_empties_lost),
        Rule("rsync", "deletes on the far side what is not on this one", check=_mirrors_over),
        Rule("vssadmin wbadmin", "deletes backups", words="delete"),
        Rule("*", "erases a disk", marks="cmdlet", check=_erases),
        Rule("cipher", "wipes what is free on a disk", flags="/w"),
        Rule("diskpart", "changes a disk's partitions", flags="/s", loss="unknown"),
        Rule(
            "diskpart",
            "erases a disk",
            check=lambda c, _: c.given is not None and "clean" in c.given,
        ),
        Rule(
            "robocopy",
            "deletes at the target what is not at the source",
            flags="/mir|/purge",
            loss="unknown",
        ),
        Rule("del erase rd rmdir", "deletes whole drives", flags="/s", check=_whole_drive),
        Rule("tmutil", "deletes backups", words="delete|deletelocalsnapshots"),
    ),
)

HITS: Final = (
    "shred -u ~/*",
    "badblocks -w /dev/sdb",
    "parted -s /dev/sdb rm 1",
    "tar cf x.tar ~/work --remove-files",
    "for f in ~/*; do : > $f; done",
    "truncate -s 0 /var/lib/app/data",
    "rm -rf /tmp/*",
    "cd /tmp; rm -rf *",
    "rm -rf /var/tmp",
    "find /tmp -mindepth 1 -delete",
    "rm -r /tmp/* /tmp/.??*",
    "rm -rf /",
    "rm -fr ~/",
    "rm -r --force /etc/nginx",
    'rm -rf "$HOME"',
    "sudo rm -rf /var/lib/*",
    "rm -rf .",
    "rm -rf *",
    "rm -rf ../..",
    "rm -rf /srv/data",
    "rm /etc/fstab",
    "cd / && rm -rf *",
    "find / -name core -delete",
    "find /home -type f -delete",
    "dd if=/dev/zero of=/dev/sda bs=1M",
    "cat zeros > /dev/sdb",
    "mkfs.ext4 /dev/sda1",
    "shred -u /dev/nvme0n1",
    "mv /etc /tmp/x",
    "wipefs -a /dev/sdc",
    "ls | xargs rm -rf",
    "rm -rf --no-preserve-root /x",
    "rsync -a --delete empty/ /home/",
    "X=/; rm -rf $X",
    "for d in /bin /sbin; do rm -r $d; done",
    "zpool destroy tank",
    "rsync -a --delete src/ backup/",
    "find . -type d -exec rm -r {} +",
    "rm -rf /srv/shop/dist",
    "rm -rf ~/.cache/../.ssh",
    "rm -rf /home/cache",
    "parted /dev/sda set 1 boot on rm 2",
    "sfdisk /dev/sda",
    "rm -rf /var/cache",
    "rm -rf build ../other",
    "rm -rf ${UNSET}/",
    "rm -rf ~ada",
    "find /etc -type f | xargs rm",
    "rm -rf app/.git",
    ": > /etc/passwd",
)
MISSES: Final = (
    "rm -rf /tmp/shop-*",
    "cd /tmp/work && rm -rf *",
    "rm -f /tmp/*.log",
    "find /tmp -name 'shop-*' -mtime +2 -delete",
    "rm -rf $TMPDIR/*",
    "find /var/log/shop -name '*.log.[0-9]*' -mtime +30 -delete",
    "find /var/log/shop -name '*.gz' -mtime +90 -delete",
    "rsync -a --delete site/ /tmp/preview/",
    "badblocks -v /dev/sdb",
    "tar cf x.tar build --remove-files",
    "truncate -s 0 app.log",
    "rm -rf ./build",
    "rm -rf ../other/node_modules",
    'rm -rf "$CI_DIR/build"',
    "w=$(mktemp -d); trap 'rm -rf $w' EXIT",
    "rm -rf ~/.cargo/registry/cache ~/.cache/yarn",
    "rm -rf ~/Library/Caches/Homebrew/*",
    "rm -rf /var/cache/dnf/*",
    "sudo wipefs --all --no-act /dev/sdc",
    "rm -rf node_modules dist",
    "rm notes.txt",
    "rm -rf /tmp/work",
    "rm -f *.o",
    'echo "rm -rf /"',
    "man rm",
    "grep 'rm -rf /' history.txt",
    "git commit -m 'stop rm -rf /'",
    "rm -rf /workspace/app/build",
    "rm --help",
    "dd if=disk.img of=copy.img",
    "cat > notes <<EOF\nrm -rf /\nEOF",
    "# rm -rf /",
    "rsync -a src/ backup/",
    "mv a b",
    "mkfs.ext4 disk.img",
    "parted /dev/sda print",
    "sudo parted /dev/sda set 1 boot on",
    "rm -rf $TMPDIR/x",
    "rm .gitignore",
    "find . -name '*.pyc' -delete",
    "find src -name x | xargs rm",
    "echo done > /dev/null",
    "which mkfs",
)
