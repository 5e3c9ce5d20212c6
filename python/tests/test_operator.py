"""Operators: matrices of `wavedecn` and `waverecn`, exact adjoints, and libraries that take operators."""

import itertools
import pathlib
import re

import lifting
import numpy as np
import pytest
from needs import need

MODES = lifting.Modes.modes
WAVELETS = ["haar", "db3", "bior2.2", "rbio3.1", "coif1"]


def noise(n, dtype="float64", seed=0):
    real, imaginary = np.random.default_rng(seed).normal(size=(2, n))
    return (real + 1j * imaginary if np.dtype(dtype).kind == "c" else real).astype(dtype)


def is_adjoint(operator, bound):
    rows, columns = operator.shape
    x, y = noise(columns, operator.dtype), noise(rows, operator.dtype, seed=1)
    forward, back = operator.matvec(x), operator.rmatvec(y)
    assert forward.shape == (rows,) and back.shape == (columns,)
    assert forward.dtype == back.dtype == operator.dtype
    scale = np.linalg.norm(forward) * np.linalg.norm(y)
    assert abs(np.vdot(forward, y) - np.vdot(x, back)) <= bound * scale


@pytest.mark.filterwarnings("ignore:Level value of .* is too high:UserWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wavelet", WAVELETS)
@pytest.mark.parametrize("synthesis", [False, True])
def test_adjoint(mode, wavelet, synthesis):
    for dims, axes in (
        ((37,), None),
        ((16,), 0),
        ((9, 14), None),
        ((9, 14), 0),
        ((5, 8, 7), (2, 0)),
        ((3, 4, 5), None),
    ):
        for level in (0, 1, 2, None):
            if level == 2 and min(dims) < 16:
                continue
            operator = lifting.WaveletOperator(dims, wavelet, mode, level, axes, synthesis=synthesis)
            is_adjoint(operator, 1e-13)
    for dtype, bound in (("float32", 1e-5), ("complex64", 1e-5), ("complex128", 1e-13)):
        is_adjoint(lifting.WaveletOperator((17, 20), wavelet, mode, 1, dtype=dtype, synthesis=synthesis), bound)


@pytest.mark.parametrize("mode", MODES)
def test_functions(mode):
    for dims, axes in (((40,), None), ((33, 24), None), ((6, 40, 33), (2, 1))):
        x = noise(int(np.prod(dims)))
        operator = lifting.WaveletOperator(dims, "db2", mode, 2, axes)
        expected = lifting.wavedecn(x.reshape(dims), "db2", mode, 2, axes)
        line, _, _ = lifting.ravel_coeffs(expected, axes)
        y = operator.matvec(x)
        assert np.array_equal(y, line) and operator.dims == dims and operator.dimsd == y.shape
        for ours, theirs in zip(operator.coefficients(y)[1:], expected[1:], strict=True):
            assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
        back = lifting.WaveletOperator(dims, "db2", mode, 2, axes, synthesis=True)
        assert back.shape == operator.shape[::-1]
        np.testing.assert_allclose(back.matvec(y), x, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Level value of .* is too high:UserWarning")
def test_transpose():
    """The adjoint's matrix is the transpose of the operator's."""
    for mode, synthesis in itertools.product(MODES, (False, True)):
        operator = lifting.WaveletOperator((5, 4), "bior2.2", mode, 1, synthesis=synthesis)
        rows, columns = operator.shape
        matrix = np.array([operator.matvec(column) for column in np.eye(columns)]).T
        transposed = np.array([operator.rmatvec(column) for column in np.eye(rows)]).T
        np.testing.assert_allclose(transposed, matrix.T, atol=1e-13)


def test_wavelets_and_modes_of_axes():
    for synthesis in (False, True):
        operator = lifting.WaveletOperator(
            (12, 15, 10), ["db3", "haar"], ["reflect", "zero"], 1, (2, 0), synthesis=synthesis
        )
        is_adjoint(operator, 1e-13)


def test_results_are_new_arrays():
    for level, synthesis in itertools.product((0, 1), (False, True)):
        operator = lifting.WaveletOperator((4, 4), "haar", level=level, synthesis=synthesis)
        x = noise(16)
        assert not np.shares_memory(operator.matvec(x), x) and not np.shares_memory(operator.rmatvec(x), x)


def test_solvers():
    linalg = need("scipy.sparse.linalg")
    operator = linalg.aslinearoperator(lifting.WaveletOperator((32, 30), "sym4", "reflect", 2))
    x = noise(960)
    assert np.allclose(linalg.lsqr(operator, operator @ x, atol=1e-12, btol=1e-12)[0], x, atol=1e-8)
    assert np.allclose((operator.H @ (operator @ x)), (operator.H * operator) @ x)


def test_the_example_of_the_readme():
    need("scipy")
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^### Operators\n.*?^```python\n(.*?)^```", text, re.M | re.S)
    exec(section, {})


def test_pylops():
    pylops = need("pylops")
    for synthesis in (False, True):
        operator = pylops.LinearOperator(lifting.WaveletOperator((32, 30), "sym4", "smooth", 2, synthesis=synthesis))
        assert pylops.utils.dottest(operator, *operator.shape, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Level value of .* is too high:UserWarning")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lifting.WaveletOperator(8, "haar", dtype="int32"), "unsupported type int32: choose float32, float64,"),
        (
            lambda: lifting.WaveletOperator((8, 0), "haar", level=1),
            "axis 1 has 0 samples at a level, too few for mode 'zero'",
        ),
        (
            lambda: lifting.WaveletOperator((8, 1), "haar", "reflect", 1),
            "axis 1 has 1 samples at a level, too few for mode 'reflect'",
        ),
        (
            lambda: lifting.WaveletOperator(8, "haar").matvec(np.ones(7)),
            r"shape \(7,\) does not fit an operator of shape",
        ),
        (lambda: lifting.WaveletOperator(8, "haar").coefficients(np.ones(7)), r"\(7,\) does not fit 8 coefficients"),
    ],
)
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()
