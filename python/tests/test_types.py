"""Types and documentation of every public name."""

import dataclasses
import inspect
import os
import pathlib
import re
import subprocess
import sys

import lifting
import pytest

PROGRAM = pathlib.Path(__file__).parent / "typed.py"


def functions():
    """Public functions, methods, and getters of properties, with their names."""
    for name in lifting.__all__:
        item = getattr(lifting, name)
        if inspect.isclass(item) and not issubclass(item, BaseException):
            for method, entry in vars(item).items():
                function = getattr(entry, "fget", None) or getattr(entry, "func", None) or entry
                function = getattr(function, "__func__", function)
                # Plans make the objects of data classes.
                is_made = method == "__init__" and not dataclasses.is_dataclass(item)
                if inspect.isfunction(function) and (is_made or not method.startswith("_")):
                    yield f"{name}.{method}", function, item if is_made else entry
        elif inspect.isfunction(item):
            yield name, item, item
    for name in lifting.data.__all__:
        yield f"data.{name}", getattr(lifting.data, name), getattr(lifting.data, name)


ENTRIES = [pytest.param(*entry, id=entry[0]) for entry in functions()]


@pytest.mark.parametrize(("name", "function", "documented"), ENTRIES)
def test_names_have_types_and_parameters(name, function, documented):
    signature = inspect.signature(function)
    parameters = {key: p for key, p in signature.parameters.items() if key != "self" and not key.startswith("_")}
    assert all(p.annotation is not p.empty for p in parameters.values()), f"{name} lacks types"
    assert signature.return_annotation is not signature.empty, f"{name} lacks the type of its result"
    text = inspect.getdoc(documented) or ""
    assert text, f"{name} lacks documentation"
    given = [key for key, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n[A-Z]|\Z)", text, re.S)
    said = re.findall(r"^(\w[\w, ]*?) : ", section[1], re.M) if section else []
    assert [key for names in said for key in names.split(", ")] == given, f"{name} documents other parameters"


def test_every_name_is_used_with_types():
    text = PROGRAM.read_text(encoding="utf-8")
    missing = [name for name in lifting.__all__ if f"lifting.{name}" not in text]
    assert not missing
    assert {name for name in dir(lifting) if not name.startswith("_")} >= set(lifting.__all__)


def test_the_program_runs():
    program = [sys.executable, "-W", "ignore::UserWarning", str(PROGRAM)]
    subprocess.run(program, check=True, env=os.environ, timeout=300)


def test_mypy_accepts_the_program():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(PROGRAM)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=PROGRAM.parent, check=False)
    assert result.returncode == 0, result.stdout


def test_pyright_accepts_the_program():
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", str(PROGRAM)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
