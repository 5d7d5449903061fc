"""The wheel: what it holds, that it installs beside dbt, `init` and the demo from it."""

from __future__ import annotations

import functools
import http.server
import importlib.metadata
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import spark_cdc
import wheel
from spark_cdc import cli, packages, parsing, project
from spark_cdc.bootstrap.environment import Environment, variables
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.jinja_bridge import load_macros
from spark_cdc.scaffold import init
from spark_cdc.synthetic import demo

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).resolve().parents[1]
SKILL = (ROOT / "SKILL.md").read_text("utf-8")
PACKAGE = "spark_cdc/dbt_package"


# ---------------------------------------------------------------- version, requirements, agents


def test_the_version_is_the_same_everywhere() -> None:
    of_dbt = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["version"]
    assert of_dbt == spark_cdc.__version__ == load_macros()._version()
    assert cli.parser().prog == "spark-cdc"
    assert importlib.metadata.version("spark-cdc") == spark_cdc.__version__


def _pins(*names: str) -> dict[str, str]:
    """Packages with their versions, of files of requirements."""
    lines = [
        line for name in names for line in (ROOT / "requirements" / name).read_text().split("\n")
    ]
    pairs = [line.split("==") for line in lines if "==" in line and not line.startswith("#")]
    return {canonicalize_name(name.split("[")[0]): version for name, version in pairs}


def test_what_agents_are_told_is_there() -> None:
    """No command is missing; settings, vars and columns' keys are those that the macros know."""
    commands = {name.partition(" ")[0] for name, _ in parsing.commands(cli.parser())}
    assert set(re.findall(r"`spark-cdc ([a-z]+)", SKILL)) == commands
    known = load_macros()._known_settings_table()
    table = SKILL.partition("| Setting | Meaning |")[2].partition("\n\n")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in row.split(", ")]
    assert sorted(name.strip("`") for name in named) == sorted(known["entity"])
    line = SKILL.partition("Each column: ")[2].partition("\n")[0]
    words = set(re.findall(r"`([a-z_]+)`", line)) - {"data_type", "key", "untracked", "control"}
    assert words - {"role"} <= set(known["column"]) and len(words) > 4
    given = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["vars"]
    told = set(re.findall(r"`((?:spark_cdc|business)_\w+)`", SKILL.partition("Vars: ")[2]))
    assert told - {"business_date_type"} <= given.keys()


@pytest.mark.parametrize("name", ["SKILL.md", "llms.txt"])
def test_pages_for_agents_name_what_is_there(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links and [link for link in links if not (ROOT / link).is_file()] == []
    code = re.findall(r"^spark-cdc ([^#&\n]+)", text, re.M)
    for line in code:
        cli.parser().parse_args(line.split())
    described = {
        one.strip("/").split("/")[-1]
        for one in re.findall(r"\]\((docs/[^)]+)\)", (ROOT / "llms.txt").read_text("utf-8"))
    }
    for page in ("configuration.md", "reference.md", "install.md", "undo.md", "replay.md"):
        assert page in described


# ---------------------------------------------------------------- init


def test_init_writes_a_project_that_new_would_have_written(tmp_path: Path) -> None:
    folder = tmp_path / "my_project"
    assert set(init.write(folder)) == {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }
    profile = yaml.safe_load((folder / "profiles.yml").read_text())
    assert yaml.safe_load((folder / "dbt_project.yml").read_text())["profile"] in profile
    assert profile["my_project"]["outputs"]["local"]["schema"] == "my_project"
    entity = yaml.safe_load((folder / "models/invoices/invoices.yml").read_text())
    names = [column["name"] for column in entity["models"][0]["columns"]]
    for file in folder.glob("landing/invoices/*/invoices.csv"):
        assert file.read_text().splitlines()[0].split(",") == names
    assert (folder / ".gitignore").read_text().startswith(".spark_cdc/\n")


@pytest.mark.parametrize("name", ["my-project", "Mine", "1a", "spark_cdc", "dbt_utils"])
def test_init_refuses_names_that_dbt_does_not_take(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"'{name}' is not accepted as the name of a project"):
        init.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_init_leaves_a_folder_with_files_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").touch()
    with pytest.raises(UsageError, match="exists and is not an empty folder"):
        init.write(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["a"]


def test_deps_leads_to_the_package_of_this_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a link of another environment."""
    folder = tmp_path / "mine"
    init.write(folder)
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(folder))
    monkeypatch.setattr(packages, "hub_answers", lambda: False)
    link = folder / packages.LINK
    link.parent.mkdir()
    link.symlink_to(tmp_path / "gone")
    for _ in range(2):
        packages.install()
        assert link.resolve() == project.package()
        assert (folder / "dbt_packages/spark_cdc").resolve() == project.package()
    assert (folder / "dbt_packages/dbt_utils" / packages.MARKER).is_file()


# ---------------------------------------------------------------- the demo's folder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(demo.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"spark_cdc_demo_{os.getuid()}"


def test_the_demos_folder_is_the_users_alone(temporary: Path) -> None:
    assert demo._folder() == demo._folder() == temporary
    assert temporary.stat().st_mode & 0o777 == 0o700
    temporary.chmod(0o770)
    with pytest.raises(SparkCdcError, match="others may write to it"):
        demo._folder()
    temporary.rmdir()
    temporary.symlink_to(temporary.parent)
    with pytest.raises(SparkCdcError, match="belongs to another user"):
        demo._folder()


@pytest.mark.parametrize(
    ("noted", "where"),
    [
        (None, f"=={spark_cdc.__version__}"),
        ({"url": "file:///a/b.whl", "archive_info": {}}, " @ file:///a/b.whl"),
        (
            {"url": "https://host/x.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            " @ git+https://host/x.git@abc",
        ),
    ],
    ids=["registry", "file", "git"],
)
def test_the_demo_installs_what_it_came_from(
    noted: object, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        version, files = spark_cdc.__version__, ()

        def read_text(self, name: str) -> str | None:
            return json.dumps(noted) if noted and name == "direct_url.json" else None

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed())
    assert demo._origin()[0] == f"spark-cdc[dbt,report,server,synthetic]{where}"


def test_an_environment_is_made_only_without_spark_or_java(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(Environment, "works", lambda self: self.folder.is_dir())
    monkeypatch.setattr(Environment, "_create", lambda self: self.folder.mkdir(parents=True))
    monkeypatch.setattr(Environment, "pip", lambda _, name, words: done.append(words[-1]))
    monkeypatch.setattr(Environment, "java", lambda _: done.append("java"))
    monkeypatch.setattr(demo.java, "search", lambda: (object(), []))
    assert demo._python(temporary) == Path(sys.executable) and done == []
    monkeypatch.setattr(demo.java, "search", lambda: (None, []))
    own = temporary / ".venv" / "bin" / "python"
    assert demo._python(temporary) == own
    assert done == [str(temporary / "requirements" / "constraints.txt"), "java"]
    assert demo._python(temporary) == own and len(done) == 2
    (temporary / ".venv" / "demo.stamp").write_text("of another spark_cdc")
    assert demo._python(temporary) == own and len(done) == 4


@pytest.mark.parametrize("module", ["dbt.cli.main", "dbt_common.invocation"])
def test_without_dbt_the_command_that_installs_it_is_named(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(sys.modules, module, None)
    assert cli.main(["tag", "list"]) == 2
    said = capsys.readouterr().err
    assert f"dbt is not installed beside spark-cdc: there is no module '{module}'." in said
    assert said.endswith("next: pip install 'spark-cdc[dbt]'\n")


# ---------------------------------------------------------------- the wheel itself


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.build(tmp_path_factory.mktemp("dist"))[1]


@pytest.mark.integration
def test_the_wheel_holds_the_dbt_package(built: Path, tmp_path: Path) -> None:
    """All that Git has of its parts, and two builds are the same."""
    assert built.name == f"spark_cdc-{spark_cdc.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(built).namelist())
    parts = ("macros", "models", "seeds", "snapshots", "tests/generic", "profiles", "packages")
    known = wheel._git("ls-files", *parts, "examples", "docs", "SKILL.md", "llms.txt").splitlines()
    known += ["dbt_project.yml", "packages.yml", "requirements/constraints.txt", "LICENSE"]
    there = {f"{PACKAGE}/{file}" for file in known if (ROOT / file).is_file()}
    assert there <= names and len(there) > 250
    modules = wheel._git("ls-files", "src/spark_cdc").splitlines()
    assert {file.removeprefix("src/") for file in modules if (ROOT / file).is_file()} <= names
    outside = {f"{PACKAGE}/tests/conftest.py", f"{PACKAGE}/requirements/run.txt"}
    assert not names & outside and not [name for name in names if "__pycache__" in name]
    assert wheel.build(tmp_path / "again")[1].read_bytes() == built.read_bytes()


@pytest.mark.integration
def test_the_description_names_no_file(built: Path) -> None:
    """A registry's page has neither pictures nor pages of the repository."""
    [found] = importlib.metadata.distributions(path=[str(built)])
    text = found.metadata.get_payload() or found.metadata["Description"]
    assert "# spark_cdc" in text and "*(Picture: One row through four loads" in text
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert [link for link in links if not link.startswith(("https:", "#"))] == []


@pytest.mark.integration
def test_what_is_tested_is_within_the_ranges(built: Path) -> None:
    """And nothing is required that the lock lacks, or the other way round."""
    [found] = importlib.metadata.distributions(path=[str(built)])
    required = [Requirement(text) for text in found.requires or []]
    for file, extras in {
        "run.txt": ("", "dbt", "report", "scaffold", "server", "stream", "synthetic"),
        "openlineage.txt": ("openlineage",),
    }.items():
        ranges = {
            canonicalize_name(one.name): one.specifier
            for one in required
            if any(one.marker is None or one.marker.evaluate({"extra": name}) for name in extras)
            and (one.marker is not None or "" in extras)
        }
        pins = _pins(file)
        assert ranges.keys() == pins.keys()
        for name, version in pins.items():
            assert ranges[name].contains(version), name
            assert _pins("constraints.txt")[name] == version


@pytest.mark.integration
def test_commands_of_an_installed_wheel(built: Path, tmp_path: Path) -> None:
    """Unpacked, without its checkout: a project is written, and dbt parses it."""
    site, folder = tmp_path / "site", tmp_path / "my_project"
    zipfile.ZipFile(built).extractall(site)
    environment = {
        **variables(),
        "PYTHONPATH": str(site),
        "DBT_PACKAGE_HUB_URL": "http://127.0.0.1:9/",
    }
    for name in [name for name in environment if name.startswith(("SPARK_CDC", "DBT_PROFILES"))]:
        del environment[name]

    def run(*words: str, cwd: Path = tmp_path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=cwd, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = run("spark_cdc.cli", "init", "my_project")
    assert (
        "stand-in is installed" in said
        and "  spark-cdc load 2024-03-04 --select invoices\n" in said
    )
    assert (folder / packages.LINK).resolve() == site / PACKAGE
    listed = run("dbt.cli.main", "ls", "--resource-type", "model", "--quiet", cwd=folder).split()
    models = {name.removeprefix("my_project.invoices.") for name in listed}
    kinds = ("ledger", "committed", "current", "history", "versions")
    assert models == {f"invoices_{kind}" for kind in kinds} | {
        *("stg_invoices", "spark_cdc.cdc_loads")
    }
    (folder / "orders.csv").write_text("order_id,total\n1,2.50\n")
    run(
        "spark_cdc.cli",
        "new",
        "orders",
        "--from-file",
        "orders.csv",
        "--key",
        "order_id",
        cwd=folder,
    )
    assert (folder / "models/orders/orders_current.sql").is_file()


class _Hub(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package hub with dbt_utils, which is the stand-in."""
    place = tmp_path / "hub"
    (place / "api/v1/dbt-labs").mkdir(parents=True)
    with tarfile.open(place / "dbt_utils.tar.gz", "w:gz") as archive:
        archive.add(ROOT / "packages" / "dbt_utils", "dbt_utils-1.3.0")
    serve = functools.partial(_Hub, directory=str(place))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        version = {
            **{"id": "dbt-labs/dbt_utils/1.3.0", "name": "dbt_utils", "version": "1.3.0"},
            **{"packages": [], "downloads": {"tarball": f"{address}dbt_utils.tar.gz"}},
        }
        known = {"name": "dbt_utils", "namespace": "dbt-labs", "versions": {"1.3.0": version}}
        (place / "api/v1/index.json").write_text('["dbt-labs/dbt_utils"]')
        (place / "api/v1/dbt-labs/dbt_utils.json").write_text(json.dumps(known))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("DBT_PACKAGE_HUB_URL", address)
        yield address
        server.shutdown()


@pytest.mark.integration
def test_dbt_deps_installs_a_tag_of_a_bare_clone(hub: str, tmp_path: Path) -> None:
    bare, folder = tmp_path / "spark_cdc.git", tmp_path / "mine"
    subprocess.run(["git", "clone", "-q", "--bare", str(ROOT), str(bare)], check=True)
    subprocess.run(["git", "tag", "v0.0.0-test", "HEAD"], cwd=bare, check=True)
    init.write(folder)
    given = [{"git": str(bare), "revision": "v0.0.0-test"}]
    (folder / "packages.yml").write_text(yaml.safe_dump({"packages": given}))
    for words in (["deps"], ["parse", "--no-partial-parse"]):
        done = subprocess.run(
            [sys.executable, "-m", "dbt.cli.main", *words],
            cwd=folder,
            env=variables(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout
    assert (folder / "dbt_packages/dbt_utils/dbt_project.yml").is_file()
    lock = yaml.safe_load((folder / "package-lock.yml").read_text())["packages"]
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=bare, capture_output=True, text=True)
    assert head.stdout.strip() in [one.get("revision") for one in lock]


# ---------------------------------------------------------------- from the registries


def _environment(folder: Path) -> Environment:
    own = Environment(folder, folder.parent / f"{folder.name}.log")
    own.prepare()
    return own


def _frozen(own: Environment) -> set[str]:
    done = subprocess.run(
        [str(own.python), "-m", "pip", "freeze"], check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines())


@pytest.mark.full
def test_a_description_that_the_registry_takes(built: Path, tmp_path: Path) -> None:
    own = _environment(tmp_path / "tools")
    own.pip("twine", ["twine"])
    files = [str(path) for path in built.parent.iterdir()]
    assert len(files) == 2
    subprocess.run([str(own.python), "-m", "twine", "check", "--strict", *files], check=True)


@pytest.mark.full
@pytest.mark.parametrize(
    "installed",
    [
        ["dbt-core~=1.11.0", "dbt-spark[PyHive]"],
        ["dbt-core~=1.11.0", "dbt-spark[PyHive]", "dbt-duckdb"],
        ["dbt-core~=1.11.0", "dbt-postgres"],
        ["dbt-core==1.12.0", "dbt-core-experimental-parser==2.0.0a4", "dbt-spark"],
    ],
    ids=["spark", "spark and duckdb", "postgres", "dbt 1.12"],
)
def test_an_install_beside_dbt_changes_none_of_its_packages(
    installed: list[str], built: Path, tmp_path: Path
) -> None:
    own = _environment(tmp_path / "users")
    own.pip("dbt", installed)
    before = _frozen(own)
    own.pip("spark_cdc", [str(built)])
    assert before < _frozen(own)
    added = {line.split("==")[0].lower() for line in _frozen(own) - before}
    assert "pyspark" not in added and len(added) < 15
    subprocess.run([str(own.python), "-m", "pip", "check"], check=True)
    done = subprocess.run([str(own.folder / "bin/spark-cdc"), "--version"], capture_output=True)
    assert done.stdout.decode().strip() == f"spark-cdc {spark_cdc.__version__}"
    refused = subprocess.run(
        [str(own.folder / "bin/spark-cdc"), "server", "start"],
        cwd=ROOT,
        env={**os.environ, "SPARK_CDC_STATE_DIR": str(tmp_path / "state"), "SPARK_CDC_PORT": "0"},
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert "spark-cdc server needs psutil and pyspark" in refused.stderr
    assert refused.stderr.endswith("next: pip install 'spark-cdc[server]'\n")


@pytest.mark.full
def test_the_demo_and_a_first_load_on_an_empty_machine(built: Path, tmp_path: Path) -> None:
    """From the wheel and the registries: no PySpark, no Java, no checkout."""
    own = _environment(tmp_path / "empty")
    own.pip("spark_cdc", [str(built)])
    assert not [line for line in _frozen(own) if re.match("(?i)dbt|pyspark", line)]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = variables() | {"SPARK_CDC_JAVA": "bundled", "SPARK_CDC_PORT": port}
    environment |= {"TMPDIR": str(tmp_path / "tmp"), "SPARK_CDC_MEMORY": "2g"}
    environment.pop("DBT_PROFILES_DIR", None)
    (tmp_path / "tmp").mkdir()

    def run(program: Path, *words: str, cwd: Path = tmp_path) -> str:
        done = subprocess.run(
            [str(program), *words], cwd=cwd, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = run(own.folder / "bin/spark-cdc", "demo")
    folder = tmp_path / "tmp" / f"spark_cdc_demo_{os.getuid()}"
    assert f"The demo runs in {folder}\n" in said
    bin_folder = folder / ".venv" / "bin"
    environment["PATH"] = f"{bin_folder}:{os.environ['PATH']}"
    run(bin_folder / "spark-cdc", "server", "stop", cwd=folder)
    assert "ERROR=0" in said and Path(said.partition("for the browser: ")[2].split()[0]).is_file()
    assert not re.search("make (test|stop)", said)

    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    block = page.partition("# a project of your own, in four commands\n")[2].partition("\n\n")[0]
    then = page.partition("After the four commands above:\n\n")[2].partition("\n\n")[0]
    lines = [line.strip() for line in f"{block}\n{then}".splitlines()]
    lines = [line.partition(" && ")[0] for line in lines if "orders.csv" not in line]
    shown = []
    for line in lines:
        place = tmp_path if "init" in line else tmp_path / "my_project"
        shown.append(run(Path("/bin/sh"), "-c", line, cwd=place))
    run(bin_folder / "spark-cdc", "server", "stop", cwd=tmp_path / "my_project")
    assert "4 rows in, I 1, U 1, D 1, N 2, X 0" in shown[-2]
    assert len(re.findall(r"2024-000\d", shown[-1])) == 5
    shutil.rmtree(folder)
