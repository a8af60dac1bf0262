"""Words that tell what a tool does and what its arguments are; all in lower case, arguments without
separators."""

from __future__ import annotations

from typing import Final

from stanchion.readings.word_lists import listed

DELETES: Final = listed("delete remove rm rmdir rmtree unlink trash erase shred")
MOVES: Final = listed("move mv rename")
WRITES: Final = MOVES | listed(
    "write edit multiedit create save append patch replace update modify insert put copy cp "
    "mkdir touch truncate overwrite chmod chown upload"
)  # fmt: skip
READS: Final = listed(
    "read open cat view show list ls get load stat head tail find grep search glob diff tree "
    "download"
)  # fmt: skip
FILES: Final = listed("file files path folder directory dir document notebook")
ALONE: Final = listed("write edit multiedit read")
"""Verbs that mean files even where a tool is named by nothing else."""
WEB: Final = listed("http https fetch curl wget request browse browser web url webfetch")
APIS: Final = listed("api rest graphql endpoint")
"""Words in the name of a tool that reaches a service, at which a path is no file."""
ELSEWHERE: Final = listed(
    """
    adls azure bitbucket blob blobs bucket buckets confluence dropbox ftp gcs gdrive gitea github
    gitlab hdfs minio notion onedrive pod remote s3 scp sftp sharepoint ssh webdav
    """
)
"""Words in the name of a tool whose files lie on another machine or in a bucket."""
CARRIES: Final = listed(
    "backup clone copy download export fetch import install pull push save sync transfer upload"
)
"""Words of tools that bring files from one machine to another: one of their paths is here."""
CHANGES: Final = listed(
    "write edit multiedit create save append patch replace update modify insert put delete "
    "remove move rename overwrite upsert rewrite refactor"
)  # fmt: skip
"""Words in the name of a tool that changes the work it is given."""
SEEKS: Final = listed(
    "check count detect diff exists filter find glob grep has is list lookup ls match poll "
    "query scan search select status"
)  # fmt: skip
"""Words in the name of a tool to which nothing found is an answer."""
ASKS: Final = listed("get list show read view status search find fetch check describe")
"""Words in the name of a tool that only asks."""
SAYS: Final = listed("send post comment message mail email notify reply report answer")
"""Words in the name of a tool that tells somebody something."""

PATHS: Final = listed(
    "path paths file files filepath filepaths filename filenames fname targetfile targetfiles "
    "targetpath notebookpath directory dir folder root relativepath absolutepath fullpath "
    "localpath pathname location targetdir targetdirectory targetfolder"
)  # fmt: skip
SOURCES: Final = listed(
    "inputpath inputfile oldpath srcpath sourcepath sourcefile frompath fromfile"
)
RESULTS: Final = listed(
    "outputpath outputfile outputdir outfile newpath destpath dstpath destinationpath "
    "destinationfile destfile topath saveto saveas savepath exportpath outdir outpath "
    "outfilename outputfilename outputfilepath outputfolder outputdirectory destdir "
    "destfolder destinationdir destinationfolder destinationdirectory savedir savefile "
    "downloadpath downloaddir exportfile exportdir writeto extractto extractdir extractpath "
    "unpackto"
)  # fmt: skip
LOOSE_SOURCES: Final = listed("source sources src from old input inputs")
LOOSE_RESULTS: Final = listed("destination dest dst to new output out")
PUTS: Final = listed("destination dest dst output out")
"""Those of them that say where something is put, whatever the tool is called."""
LOOSE_PUTS: Final = (LOOSE_RESULTS - PUTS) | listed("target targets")
"""Those that say so only where the tool's name says that it makes a file."""
MAKES: Final = listed(
    "convert export render generate extract unpack unzip untar compile build dump download "
    "archive compress screenshot plot copy cp transform transcode save install clone scaffold "
    "bundle package print record merge split"
)  # fmt: skip
"""Words in the name of a tool whose work ends in a file."""
LOOSE: Final = LOOSE_SOURCES | LOOSE_RESULTS | listed("target targets")
"""Names of arguments that name files only where the tool's name speaks of files, or of doing
something to them."""
STARTS: Final = listed(
    "cwd workdir workingdir workingdirectory basedir basepath chdir"
)  # fmt: skip
"""Folders from which the other paths of a call are seen."""
COMMANDS: Final = listed("command cmd commandline script")
URLS: Final = listed("url uri urls")
CONTENTS: Final = listed(
    "content contents text body newstring oldstring oldstr newstr newtext oldtext newcontent "
    "patch edits code data filetext message prompt query description diff inserttext "
    "newsource cellsource replace replacement replacewith replacetext newcode newvalue "
    "newline newlines addition"
)  # fmt: skip
"""Names of arguments that are written into files or sent; a path in them is not used."""

WRITTEN: Final = CONTENTS - {
    "oldstring",
    "oldstr",
    "oldtext",
    "message",
    "prompt",
    "query",
    "description",
}
"""Those that end up in a file."""
