"""The build of the wheel: imports move into one package, and nothing in the program depends on where it lies."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.test_house import FILES, FOLDERS, ROOT, statements

#: A module of ours in a string, as `importlib` or a child process would take it.
MODULE = re.compile(rf"((?:{'|'.join(FOLDERS)})(?:\.[a-z_]+)+)(?::\w+)?")
#: The one function that takes such strings.
TRANSLATOR = "module_name"
PROGRAM = ROOT / "app" / "base" / "program.py"
MODULES = [*FILES, ROOT / "touchline.py"]


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = spec_from_file_location("touchline_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from app.hub import feed", "from touchline.app.hub import feed"),
        ("from app import hub", "from touchline.app import hub"),
        ("import app.hub as h, os, camera as c", "import touchline.app.hub as h, os, touchline.camera as c"),
        ("if x:\n  from app import (\n    a,\n  )", "if x:\n  from touchline.app import (\n    a,\n  )"),
        ("'é'; from app import a; import app as b", "'é'; from touchline.app import a; import touchline.app as b"),
        ("from .app import a", None),
        ("from apple import a\nimport camera_tools", None),
        ("x = 'from app import a'\n# from app import b\n'''\nfrom app import c\n'''", None),
        ("app = 1\nprint(app.x, from_app)", None),
    ],
)  # fmt: skip
def test_imports_and_nothing_else_are_moved(build, source: str, expected: str | None):
    assert build.moved(source, {"app", "camera"}) == (expected or source)


@pytest.mark.parametrize("source", ["import app.hub", "import os, app", "from  app import hub"])
def test_an_import_that_cannot_be_moved_is_refused_with_its_line(build, source: str):
    with pytest.raises(build.ImportFormError, match="line 2: write `from"):
        build.moved(f"x = 1\n{source}", {"app"})


def test_every_module_can_be_moved(build):
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        moved = build.moved(source, set(FOLDERS))
        ours = [node for node in statements(ast.parse(moved)) if isinstance(node, ast.ImportFrom | ast.Import)]
        names = [node.module or "" for node in ours if isinstance(node, ast.ImportFrom)]
        names += [alias.name for node in ours if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in names if name.partition(".")[0] in FOLDERS], path
        assert moved.replace("touchline.", "") == source.replace("touchline.", ""), path


def test_no_string_names_a_module_as_a_checkout_has_it():
    """In a wheel it has another name: derive it from ``__name__``, or ask ``app.base.program.module_name``."""
    found = {
        str(path.relative_to(ROOT)): names
        for path in MODULES
        if path != PROGRAM and (names := _named(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert not found


def _named(tree: ast.Module) -> list[str]:
    """Strings that name an existing module of ours, apart from arguments of the translator."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Constant)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    translated = {id(a) for call in calls if getattr(call.func, "id", "") == TRANSLATOR for a in call.args}
    strings = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    matches = [MODULE.fullmatch(s.value) for s in strings if id(s) not in translated]
    return [m[0] for m in matches if m and (ROOT / f"{m[1].replace('.', '/')}.py").is_file()]


def test_a_string_that_names_a_module_is_found():
    assert _named(ast.parse("x = 'app.base.program:commit'; y = module_name('app.base.files')")) == [
        "app.base.program:commit"
    ]


def test_only_one_module_knows_where_the_program_lies():
    """Apart from the entry of ``spark-submit``, which climbs by ``os.path`` before it may import anything else."""
    climbing = re.compile(r"__file__.*\.parents\[|__file__.*\.parent\.parent")
    found = {path for path in MODULES if climbing.search(path.read_text(encoding="utf-8"))}
    assert found == {PROGRAM}


def test_every_file_beside_the_modules_is_packed():
    """A detector reads its weights where it lies, and fails for the whole match without them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = {
        file
        for package, patterns in project["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for file in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    files = [file for name in FOLDERS for file in (ROOT / name).rglob("*") if file.is_file()]
    data = [file for file in files if file.suffix != ".py" and "__pycache__" not in file.parts]
    assert not [file for file in data if file not in packed]
    assert len(packed) > 100


def test_the_change_log_begins_with_this_version():
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", log, re.M)[0] == version
    assert f"touchline-{version}/touchline" in (ROOT / "README.md").read_text(encoding="utf-8"), "the README's bundle"


PLAY = ["live", "--duration", "20", "--no-dashboard", "--no-camera", "--json"]


@pytest.mark.slow
@pytest.mark.spark
def test_a_wheel_installs_one_name_and_plays_a_match(tmp_path: Path):
    """The environment sees the libraries of this one, but not its packages of the project."""
    import site

    wheel = _wheel(tmp_path / "wheels")
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
        assert "touchline/patterns/brace.touchline" in archive.namelist()
    assert top == {"touchline", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}
    environment, work = tmp_path / "venv", tmp_path / "work"
    work.mkdir()
    _run([sys.executable, "-m", "venv", environment])
    library = next(environment.glob("lib/python3*/site-packages"))
    before = {path.name for path in library.iterdir()}
    python = environment / "bin" / "python"
    _run([python, "-m", "pip", "install", "--no-deps", "--no-index", wheel])
    assert {path.name for path in library.iterdir()} - before == top
    # Packages of this environment by their folders: its own .pth files, which lead to the checkout, are not read.
    (library / "libraries.pth").write_text("\n".join([*site.getsitepackages(), *_linked()]))
    command = environment / "bin" / "touchline"
    modules = _run([python, "-c", "import touchline.app.cli.main as m, sys; print(m.__file__); import app"], work, 1)
    assert str(library) in modules.stdout
    assert "No module named 'app'" in modules.stderr
    assert re.fullmatch(r"touchline \S+ \(\S+\)\n", _run([command, "--version"], work).stdout)
    _run([command, *PLAY, "--engine", "inprocess", "--speed", "max", "--store", "inprocess"], work)
    _run([command, *PLAY, "--speed", "4", "--store", "spark"], work)
    for store in ("inprocess", "spark"):
        events = _run([command, "events", store, "--format", "csv"], work).stdout.splitlines()
        assert len(events) > 50, store
    assert {path.name for path in work.iterdir()} == {"inprocess", "spark"}


def _linked() -> list[str]:
    """Folders of libraries that this environment links to, without the checkout."""
    return [entry for entry in sys.path if entry.endswith("site-packages")]


def _wheel(out: Path) -> Path:
    _run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", out, ROOT])
    (wheel,) = out.glob("*.whl")
    return wheel


def _run(command: list, cwd: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == code, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done
