"""PyWavelets' functions: results equal PyWavelets' in all modes, for all its wavelets."""

import warnings

import lifting
import numpy as np
import pytest
from bits import same
from lifting import _dwt
from needs import need

pywt = pytest.importorskip("pywt")
MODES = pywt.Modes.modes
#: PyWavelets' filter does not reconstruct; the catalogue's does, and differs from it.
NAMES = [name for name in pywt.wavelist(kind="discrete") if name != "dmey"]
#: PyWavelets' table of sym20 has 11 correct digits.
EXACT = {"sym20": 1e-9}
SOME = ["haar", "db2", "db5", "sym8", "coif2", "bior1.3", "bior4.4", "rbio3.1"]


def noise(*shape, dtype=float, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def close(ours, theirs, bound=1e-9):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    scale = max(1.0, abs(theirs).max(initial=0))
    assert abs(ours - theirs).max(initial=0) <= bound * scale


@pytest.mark.parametrize("name", NAMES)
def test_wavelets(name):
    ours, theirs = lifting.Wavelet(name), pywt.Wavelet(name)
    for a, b in zip(ours.filter_bank, theirs.filter_bank):
        close(a, b, EXACT.get(name, 1e-10))
    for attribute in (
        "name dec_len rec_len orthogonal biorthogonal symmetry family_name short_family_name "
        "vanishing_moments_psi vanishing_moments_phi"
    ).split():
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute


@pytest.mark.parametrize("name", NAMES)
def test_lines_in_all_modes(name):
    bound = EXACT.get(name, 1e-10)
    for mode in MODES:
        for n in (2, 3, 17, 64):
            x = noise(n, seed=n)
            ours, theirs = lifting.dwt(x, name, mode), pywt.dwt(x, name, mode)
            for a, b in zip(ours, theirs):
                close(a, b, bound)
            close(lifting.idwt(*theirs, name, mode), pywt.idwt(*theirs, name, mode), bound)
            close(lifting.idwt(None, theirs[1], name, mode), pywt.idwt(None, theirs[1], name, mode), bound)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SOME)
def test_arrays(name, mode):
    for dtype, bound in [("float32", 1e-4), ("float64", 1e-9), ("complex128", 1e-9)]:
        x = noise(13, 18, dtype=dtype)
        if dtype == "complex128":
            x = x + 1j * noise(13, 18, seed=1)
        (a, details), (b, expected) = lifting.dwt2(x, name, mode), pywt.dwt2(x, name, mode)
        for ours, theirs in zip((a, *details), (b, *expected)):
            close(ours, theirs, bound)
        close(lifting.idwt2((b, expected), name, mode), pywt.idwt2((b, expected), name, mode), bound)
        for axis in (0, -1):
            for ours, theirs in zip(lifting.dwt(x, name, mode, axis), pywt.dwt(x, name, mode, axis)):
                close(ours, theirs, bound)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SOME)
def test_levels(name, mode):
    x = noise(40, 50, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = lifting.wavedecn(x, name, mode, 2, axes=(1, 0))
        theirs = pywt.wavedecn(x, name, mode, 2, axes=(1, 0))
        shapes = pywt.wavedecn_shapes(x.shape, name, mode, 2, (1, 0))
        assert shapes == lifting.wavedecn_shapes(x.shape, name, mode, 2, (1, 0))
        line, expected = lifting.wavedec(x[:, 0, 0], name, mode, 3), pywt.wavedec(x[:, 0, 0], name, mode, 3)
    close(ours[0], theirs[0])
    for a, b in zip(ours[1:], theirs[1:]):
        assert list(a) == list(b)
        [close(a[key], b[key]) for key in a]
    close(lifting.waverecn(theirs, name, mode, (1, 0)), pywt.waverecn(theirs, name, mode, (1, 0)))
    [close(a, b) for a, b in zip(line, expected)]
    close(lifting.waverec(expected, name, mode), pywt.waverec(expected, name, mode))


@pytest.mark.parametrize("name", SOME)
def test_stationary(name):
    x = noise(16, 24)
    for norm in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = (m.swtn(x, name, 3, norm=norm) for m in (lifting, pywt))
            for a, b in zip(ours, theirs):
                [close(a[key], b[key]) for key in b]
            close(lifting.iswtn(theirs, name, norm=norm), x, 1e-10)
            ours, theirs = (m.swt(x, name, 2, 1, axis=0, trim_approx=True, norm=norm) for m in (lifting, pywt))
        [close(a, b) for a, b in zip(ours, theirs)]


def test_wavelets_and_modes_may_differ_by_axis():
    x = noise(9, 12, 7, dtype="float32")
    wavelets, modes = ("db2", "haar", "bior2.2"), ("smooth", "periodization", "antireflect")
    ours, theirs = (m.dwtn(x, wavelets, modes, (2, 0, 1)) for m in (lifting, pywt))
    [close(ours[key], theirs[key], 1e-5) for key in theirs]
    close(lifting.idwtn(theirs, wavelets, modes, (2, 0, 1)), pywt.idwtn(theirs, wavelets, modes, (2, 0, 1)), 1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_padding(mode):
    for shape in [(7,), (4, 5), (1,), (2,)]:
        x = noise(*shape)
        if not (mode in ("reflect", "antireflect", "smooth") and min(shape) < 2):
            close(lifting.pad(x, 6, mode), pywt.pad(x, 6, mode))


def test_packets_thresholds_and_coefficient_arrays():
    x = noise(64)
    for order in ("natural", "freq"):
        ours, theirs = (m.WaveletPacket(x, "db3", "symmetric").get_level(3, order) for m in (lifting, pywt))
        assert [n.path for n in ours] == [n.path for n in theirs]
        [close(a.data, b.data) for a, b in zip(ours, theirs)]
    for mode in ("soft", "hard", "garrote", "greater", "less"):
        close(lifting.threshold(x, 0.7, mode, 0.1), pywt.threshold(x, 0.7, mode, 0.1))
    close(lifting.threshold_firm(x, 0.3, 1), pywt.threshold_firm(x, 0.3, 1))
    for ours, theirs in zip(lifting.mra(x, "sym4", 3), pywt.mra(x, "sym4", 3)):
        close(ours, theirs)
    for name in ("db3", "bior2.4"):
        for ours, theirs in zip(lifting.Wavelet(name).wavefun(5), pywt.Wavelet(name).wavefun(5)):
            close(ours, theirs)
    coeffs = pywt.wavedecn(noise(12, 9), "db2", level=2)
    (a, slices), (b, expected) = lifting.coeffs_to_array(coeffs), pywt.coeffs_to_array(coeffs)
    close(a, b)
    assert slices == expected


def test_errors():
    with pytest.raises(lifting.LiftingError, match="has no expansive modes"):
        lifting.dwt([1, 2, 3, 4], "legall53")
    with pytest.raises(ValueError, match="but `db4` makes at least 4"):
        lifting.idwt([1, 2, 3], [1, 2, 3], "db4")
    with pytest.raises(ValueError, match="axis 0 has one sample"):
        lifting.dwt([1.0], "db2", "reflect")
    with pytest.raises(lifting.LiftingError, match="is a Tensor on a GPU: .* take CuPy arrays"):
        lifting.dwt2(type("Tensor", (), {"__cuda_array_interface__": {}, "ndim": 2})(), "db2")


@pytest.mark.parametrize("mode", MODES)
def test_plans_of_devices_have_the_same_bits(mode, monkeypatch):
    x = noise(3, 9, 7, dtype="float32")
    z = x + 1j * x[::-1]
    one, some = "db2", {"level": 1, "axes": (2, 0)}
    expected = [lifting.wavedecn(data, one, mode, **some) for data in (x, z)]
    back = [lifting.waverecn([coeffs[0], {"dd": coeffs[1]["dd"]}], one, mode, (2, 0)) for coeffs in expected]
    # The interpreter of GPU kernels takes arrays in host memory.
    monkeypatch.setattr(_dwt, "_device", lambda array: "interpreter")
    for data, coeffs, restored in zip((x, z), expected, back):
        got = lifting.wavedecn(data, one, mode, **some)
        assert same(got[0], coeffs[0]) and all(same(got[1][key], coeffs[1][key]) for key in coeffs[1])
        assert same(lifting.waverecn([coeffs[0], {"dd": coeffs[1]["dd"]}], one, mode, (2, 0)), restored)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_cupy_arrays(mode):
    cupy = need("cupy")
    x = noise(4, 33, 40, dtype="float32")
    for data in (x, x.astype("float64") + 1j * x[::-1], x.T[::2]):
        axes = (0, -1)
        expected, got = (lifting.wavedecn(array, "bior2.2", mode, 2, axes) for array in (data, cupy.asarray(data)))
        assert isinstance(got[0], cupy.ndarray) and same(cupy.asnumpy(got[0]), expected[0])
        for ours, theirs in zip(got[1:], expected[1:]):
            assert all(same(cupy.asnumpy(ours[key]), theirs[key]) for key in theirs)
        for wanted in (slice(None), slice(1)):
            back, restored = (lifting.waverecn(coeffs[wanted], "bior2.2", mode, axes) for coeffs in (got, expected))
            assert same(cupy.asnumpy(back), restored)
    line, low = cupy.asarray(x[0, 0]), lifting.dwt(cupy.asarray(x[0, 0]), "db2", mode)[0]
    assert same(cupy.asnumpy(low), lifting.dwt(x[0, 0], "db2", mode)[0])
    assert len(lifting.wavedec(line, "db2", mode)) == len(lifting.wavedec(x[0, 0], "db2", mode))
    with pytest.raises(lifting.LiftingError, match="unsupported ndarray on a GPU"):
        lifting.swt(line, "db2")


@pytest.mark.parametrize("mode", ["symmetric", "smooth", "periodization"])
def test_long_filters_on_short_axes(mode):
    data = np.random.default_rng(7).normal(size=(5, 8, 5, 1))
    bands = lifting.dwtn(data, "db20", mode)
    back = lifting.idwtn(bands, "db20", mode)
    expected = pywt.dwtn(data, "db20", mode)
    assert bands.keys() == expected.keys()
    for key, band in bands.items():
        np.testing.assert_allclose(band, expected[key], atol=1e-7)
    np.testing.assert_allclose(back[:5, :8, :5, :1], data, atol=1e-7)
