"""Plans of several wavelets: equality with `Plan`, order of axes and levels, losslessness, and error messages."""

import lifting
import numpy as np
import pytest


def image(shape, dtype):
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "i":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("shape", [(7,), (9, 14), (3, 1, 10), (5, 4, 6), (0, 6)])
@pytest.mark.parametrize("dtype, wavelet", [("int16", "dd137"), ("int64", "legall53"), ("float32", "cdf97"),
                                            ("complex128", "cdf97")])
def test_one_wavelet_has_the_bits_of_a_plan(dtype, wavelet, shape):
    levels = 3 if shape[0] else [0, 3]
    wavelets = [wavelet if shape[0] or axis else None for axis in range(len(shape))]
    plan = lifting.Plan(shape, wavelet, levels, dtype)
    mixed = lifting.MixedPlan(shape, wavelets, levels, dtype)
    x = image(shape, "float64").astype(dtype) if dtype.startswith("complex") else image(shape, dtype)
    coefficients = mixed.forward(x)
    assert coefficients.tobytes() == plan.forward(x).tobytes()
    assert mixed.subbands == plan.subbands and mixed.levels == plan.levels
    for level in range(3):
        assert mixed.inverse_to(level, coefficients).tobytes() == plan.inverse_to(level, coefficients).tobytes()
    assert mixed.inverse(coefficients).tobytes() == plan.inverse(coefficients).tobytes()


def test_each_axis_and_level_has_its_wavelet():
    """Horizontal levels other than the vertical ones, as VC-2's asymmetric transforms have, against lines by hand."""
    x = image((12, 22), "int16")
    plan = lifting.MixedPlan((12, 22), ["legall53", ["dd137", "s_transform"]], [1, 3], "int16", "edge")
    expected, width = x.copy(), 22
    for level, across in enumerate(["dd137", "s_transform", "s_transform"]):
        rows = 12 if level == 0 else 6
        for y in range(rows):
            line = lifting.Plan(width, across, 1, "int16", "edge").forward(np.ascontiguousarray(expected[y, :width]))
            expected[y, :width] = line
        if level == 0:
            for i in range(width):
                column = np.ascontiguousarray(expected[:, i])
                expected[:, i] = lifting.Plan(12, "legall53", 1, "int16", "edge").forward(column)
        width = (width + 1) // 2
    coefficients = plan.forward(x)
    assert np.array_equal(coefficients, expected)
    assert np.array_equal(plan.inverse(coefficients), x)
    out = np.empty_like(x)
    assert plan.inverse(coefficients, out) is out and np.array_equal(out, x)
    other = lifting.MixedPlan((12, 22), ["legall53", "dd137"], 1, "int16", axis_order=[0, 1])
    first = lifting.Plan((12, 22), "legall53", 1, "int16", axes=[0]).forward(x)
    assert np.array_equal(other.forward(x), lifting.Plan((12, 22), "dd137", 1, "int16", axes=[1]).forward(first))


def test_adjoints():
    plan = lifting.MixedPlan((10, 13), ["cdf97", ["bior2.2", "haar"]], 2, "float64")
    x, y = image((10, 13), "float64"), image((10, 13), "float64")[::-1]
    assert np.vdot(plan.forward(x), y) == pytest.approx(np.vdot(x, plan.adjoint(y)))
    assert np.vdot(plan.inverse(x), y) == pytest.approx(np.vdot(x, plan.inverse_adjoint(y)))


@pytest.mark.parametrize("make, message", [
    (lambda: lifting.MixedPlan((4, 4), "haar"), "one wavelet for each of the 2 axes is needed, found a single one"),
    (lambda: lifting.MixedPlan((4, 4), ["haar"]), "for each of the 2 axes is needed, found 1"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", "dd137"]), "integer and real wavelets do not mix"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", []]), "axis 1 has an empty list"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", None], [1, 1]), "axis 1 has 1 levels, but no wavelet"),
    (lambda: lifting.MixedPlan((4, 4), [None, None]), "give one of them a wavelet"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", "cdf97"], dtype="float16"), "rounded after each axis"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", "cdf97"], axis_order=[0, 0]), "name every transformed axis once"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", "cdf97"]).forward(np.zeros((4, 5), "f4")), "shape (4, 4) is needed"),
    (lambda: lifting.MixedPlan((4, 4), ["haar", "cdf97"]).forward(np.zeros((4, 4))), "takes samples float32"),
])
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError) as error:
        make()
    assert message in str(error.value)
