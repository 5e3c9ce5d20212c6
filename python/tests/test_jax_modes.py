"""PyWavelets' modes in `lifting.jax`: bits of the NumPy functions, batches, and derivatives."""

import lifting
import numpy as np
import pytest
from bits import same
from needs import need, need_jax_gpu

jax = need("jax")
import lifting.jax as lj  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

#: A wavelet that is exact for small integers.
EXACT = "wavelet exact { domain real; odd -= 1/2*even[0] + 1/2*even[1]; even += 1/4*odd[-1] + 1/2*odd[0]; }"


@pytest.fixture(autouse=True)
def wide():
    """Enables JAX's 64-bit types."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("mode", lifting.Modes.modes)
def test_bits_and_derivatives(mode):
    x = np.random.default_rng(0).normal(size=(2, 9, 12))
    for dims in (1, 2):
        axes = range(3 - dims, 3)
        expected = lifting.wavedecn(x, "db3", mode, 1, axes)
        got = jax.jit(lambda x: lj.wavedecn(x, "db3", mode, 1, dims=dims))(x)  # noqa: B023
        assert same(got[0], expected[0]) and all(same(got[1][key], band) for key, band in expected[1].items())
        assert same(lj.waverecn(got, "db3", mode, dims=dims), lifting.waverecn(expected, "db3", mode, axes))

    def run(x):
        return lj.waverec2(lj.wavedec2(x, "db2", mode, 1), "db2", mode) ** 2

    check_grads(run, (x[:1, :5, :6],), order=2)
    assert np.array_equal(jax.vmap(run)(x), run(x))


@pytest.mark.parametrize("mode", lifting.Modes.modes)
def test_gradients_are_the_transpose(mode):
    rng, wavelet = np.random.default_rng(1), lifting.wavelet(EXACT)
    x = rng.integers(-9, 9, (3, 7, 10)).astype(float)
    bands, back = jax.vjp(lambda x: lj.wavedec2(x, wavelet, mode, 1), x)
    y = jax.tree.map(lambda band: rng.integers(-9, 9, band.shape).astype(float), bands)
    products = jax.tree.map(lambda a, b: (a * b).sum(), bands, y)
    assert sum(jax.tree.leaves(products)) == (x * back(y)[0]).sum()


def test_compiled_gradients_have_the_same_bits():
    """Details of a straight line are zeros of both signs; XLA's arithmetic must not change the signs."""
    x = np.arange(2 * 3 * 33 * 70, dtype="float16").reshape(2, 3, 33, 70) % 64

    def run(x):
        bands = lj.wavedec2(x, "bior2.2", "smooth", 2)
        back, gradient = jax.vjp(lambda bands: lj.waverec2(bands, "bior2.2", "smooth"), bands)
        return bands, back, gradient(back)[0], jax.vjp(lambda x: lj.wavedec2(x, "bior2.2", "smooth", 2), x)[1](bands)[0]

    expected, got = jax.tree.leaves(run(x)), jax.tree.leaves(jax.jit(run)(x))
    assert any((np.signbit(a) & (np.asarray(a) == 0)).any() for a in expected)
    assert all(same(a, b) for a, b in zip(got, expected, strict=True))


def test_types_missing_bands_and_errors():
    x = np.random.default_rng(2).normal(size=(6, 9)).astype("float32")
    z = x + 1j * x[::-1]
    assert same(lj.wavedec(z, "db2", level=1)[1], lifting.wavedec(z, "db2", level=1)[1])
    low, (_, vertical, _) = lj.wavedec2(x, "db2", level=1)
    zeros = np.zeros_like(low)
    some, all_of_them = (lj.waverec2([low, (a, vertical, a)], "db2") for a in (None, zeros))
    assert np.array_equal(some, all_of_them)
    with pytest.raises(lifting.LiftingError, match="unsupported sample type int"):
        lj.wavedec2(np.ones((4, 4), "int32"), "haar")
    with pytest.raises(lifting.LiftingError, match="invalid number of axes 2"):
        lj.wavedec2(np.ones(4), "haar")


@pytest.mark.gpu
@pytest.mark.parametrize("mode", lifting.Modes.modes)
def test_a_gpu_has_the_same_bits(mode):
    gpu = need_jax_gpu(jax)

    def run(x):
        bands = lj.wavedec2(x, "bior2.2", mode, 2)
        back, gradient = jax.vjp(lambda bands: lj.waverec2(bands, "bior2.2", mode), bands)
        return bands, back, gradient(back)[0], jax.vjp(lambda x: lj.wavedec2(x, "bior2.2", mode, 2), x)[1](bands)[0]

    for dtype in ("float32", "float64", "float16"):
        x = np.random.default_rng(3).normal(size=(2, 3, 33, 70)).astype(dtype)
        expected = jax.tree.leaves(run(jax.device_put(x, jax.devices("cpu")[0])))
        for function in (run, jax.jit(run)):
            got = jax.tree.leaves(function(jax.device_put(x, gpu)))
            # Some 16-bit gradients overflow to NaN.
            assert all(a.devices() == {gpu} and same(a, b) for a, b in zip(got, expected, strict=True))
