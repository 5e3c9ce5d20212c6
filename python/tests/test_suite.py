"""PyWavelets' own test files, with `import pywt` replaced, and the doctests of the package.

The files are those of the installed PyWavelets. docs/pywavelets.md lists the failing tests with reasons, and this test
compares its table with the results. `LIFTING_FULL=1` also runs slow tests.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

pywt = pytest.importorskip("pywt")
HERE = pathlib.Path(__file__).parent
TABLE = HERE.parent.parent / "docs" / "pywavelets.md"
FILES = "test_dwt_idwt test_multidim test_multilevel test_modes test_swt test_wp test_wp2d test_wpnd".split()
FILES += "test_mra test_thresholding test_wavelet test_perfect_reconstruction test_functions test__pywt".split()
FILES += "test_cwt_wavelets test_matlab_compatibility_cwt test_data test_deprecations test_concurrent".split()
#: Deselects slow tests; `tests/test_pywavelets.py` already covers all wavelets.
SLOW = ["-m", "not slow", "-k", "not allwavelets"]


def run(folder, *arguments):
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)


def test_pywavelets_own_tests(tmp_path):
    theirs = pathlib.Path(pywt.__file__).parent / "tests"
    if not theirs.is_dir():
        pytest.skip("PyWavelets was installed without its tests")
    for name in FILES:
        shutil.copy(theirs / f"{name}.py", tmp_path)
    shutil.copytree(theirs / "data", tmp_path / "data")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    is_full = os.environ.get("LIFTING_FULL") == "1"
    quick = [] if is_full else SLOW
    result = run(tmp_path, "-p", "lifting_as_pywt", *quick, *(f"{name}.py" for name in FILES))
    assert result.returncode in (0, 1), result.stdout + result.stderr
    failed = set(re.findall(r"^FAILED (\S+\.py::\w+)", result.stdout, re.M))
    rows = re.findall(r"^\| `(\S+\.py::\w+)`( \(slow\))?", TABLE.read_text(encoding="utf-8"), re.M)
    said = {name for name, is_slow in rows if is_full or not is_slow}
    assert failed == said, result.stdout
    assert int(re.search(r"(\d+) passed", result.stdout)[1]) > 300


def test_doctests():
    import lifting

    folder = pathlib.Path(lifting.__file__).parent
    # Leaves out modules whose libraries are missing; their own tests report a required one.
    absent = [name for name in ("dask", "jax", "numcodecs", "torch", "zarr") if importlib.util.find_spec(name) is None]
    ignored = [f"--ignore-glob=lifting/{file}.py" for name in absent for file in (name, f"_{name}_*")]
    result = run(folder.parent, "--doctest-modules", "lifting", "--import-mode=importlib", *ignored)
    assert result.returncode == 0, result.stdout
