"""Continuous wavelets and transforms: results equal PyWavelets', and the inverse restores signals."""

import copy
import pickle

import lifting
import numpy as np
import pytest
from needs import need
from numpy.exceptions import AxisError

pywt = need("pywt")
#: Wavelets with parameters, in addition to the bare names.
NAMED = ["cmor1.5-1.0", "cmor1.5-1.2", "shan1.5-1.0", "fbsp1-1-0.7", "fbsp3-1.5-1.2", "CMOR3-2."]
NAMES = pywt.wavelist(kind="continuous") + NAMED
SCALES = [np.arange(1, 32), np.geomspace(0.7, 300, 9), np.array([64, 2.5, 1.3]), 4, [3, 100]]
BOUNDS = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-3, "complex64": 1e-3}
pytestmark = pytest.mark.filterwarnings("ignore:.* without parameters:FutureWarning")


def noise(*shape, dtype="float64", seed=0):
    real, imaginary = np.random.default_rng(seed).normal(size=(2, *shape))
    return (real + 1j * imaginary if np.dtype(dtype).kind == "c" else real).astype(dtype)


def close(ours, theirs, bound):
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert abs(ours - theirs).max(initial=0) <= bound * abs(theirs).max(initial=0)


@pytest.mark.parametrize("name", NAMES)
def test_wavelets(name):
    ours, theirs = lifting.ContinuousWavelet(name), pywt.ContinuousWavelet(name)
    for attribute in dir(theirs):
        if not attribute.startswith("_") and attribute != "wavefun":
            assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert ours.dtype == np.float64 and str(ours) == str(theirs)
    assert str(eval(repr(ours))) == str(ours) == str(pickle.loads(pickle.dumps(ours)))
    for dtype, bound in (("float64", 1e-12), ("float32", 1e-6)):
        ours, theirs = (m.ContinuousWavelet(name, np.dtype(dtype).type) for m in (lifting, pywt))
        for arguments in ({}, {"level": 10}, {"length": 1001}):
            for a, b in zip(ours.wavefun(**arguments), theirs.wavefun(**arguments)):
                close(a, b, bound)
        for a, b in zip(lifting.integrate_wavelet(ours, 10), pywt.integrate_wavelet(theirs, 10)):
            close(a, b, 1e-12 if dtype == "float64" else 1e-4)


def test_wavelets_may_be_changed():
    ours, theirs = lifting.ContinuousWavelet("fbsp2-1-0.5"), pywt.ContinuousWavelet("fbsp2-1-0.5")
    for wavelet in (ours, theirs):
        wavelet.lower_bound, wavelet.upper_bound, wavelet.fbsp_order = -6.1, 7.3, 3
        wavelet.bandwidth_frequency, wavelet.center_frequency = 1.3, 0.9
    for wavelet in (ours, copy.copy(ours), pickle.loads(pickle.dumps(ours))):
        close(wavelet.wavefun()[0], theirs.wavefun()[0], 1e-12)
        close(lifting.cwt(noise(50), [2, 7], wavelet)[0], pywt.cwt(noise(50), [2, 7], theirs)[0], 1e-10)
    close(lifting.cwt(noise(50), [2, 7], theirs)[0], pywt.cwt(noise(50), [2, 7], theirs)[0], 1e-10)


@pytest.mark.parametrize("name", [*NAMES, "haar", "db4", "sym8", "coif3", "bior2.4", "rbio3.1"])
def test_frequencies(name):
    for precision in (6, 8, 11):
        assert lifting.central_frequency(name, precision) == pywt.central_frequency(name, precision)
    assert lifting.scale2frequency(name, 3.5, 7) == pywt.scale2frequency(name, 3.5, 7)
    assert lifting.frequency2scale(name, 0.1, 7) == pywt.frequency2scale(name, 0.1, 7)
    assert lifting.scale2frequency(name, [1, 2]).tolist() == [lifting.scale2frequency(name, n) for n in (1, 2)]
    for a, b in zip(lifting.integrate_wavelet(name), pywt.integrate_wavelet(name)):
        close(a, b, 1e-9)


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("method", ["conv", "fft"])
@pytest.mark.parametrize("name", NAMES)
def test_transform(name, method, dtype):
    for count in (1, 2, 7, 100, 700):
        data = noise(count, dtype=dtype, seed=count)
        for scales in SCALES:
            (ours, at), (theirs, expected) = (m.cwt(data, scales, name, 0.5, method) for m in (lifting, pywt))
            close(ours, theirs, BOUNDS[dtype])
            assert at.dtype == expected.dtype and at.tolist() == expected.tolist()


@pytest.mark.parametrize("method", ["conv", "fft"])
@pytest.mark.parametrize("axis", range(-3, 3))
def test_axes(axis, method):
    for dtype in BOUNDS:
        for name in ("gaus3", "cmor1.5-1.0"):
            data = noise(3, 40, 5, dtype=dtype)[:, ::2]
            ours, theirs = (m.cwt(data, [1, 2.5, 30], name, method=method, axis=axis)[0] for m in (lifting, pywt))
            close(ours, theirs, BOUNDS[dtype])


@pytest.mark.parametrize("method", ["conv", "fft"])
def test_blocks(method):
    for dtype in ("float64", "complex128"):
        data = noise(2, 21_000, dtype=dtype)
        for name in ("mexh", "cmor1.5-1.0"):
            arguments = ([1, 40, 8, 300], name, 1.0, method)
            close(lifting.cwt(data, *arguments)[0], pywt.cwt(data, *arguments)[0], 1e-10)
            close(lifting.cwt(data, *arguments, precision=8)[0], pywt.cwt(data, *arguments, precision=8)[0], 1e-10)


def test_other_types_of_data():
    for data in ([1, 5, 2, 7], np.arange(9, dtype="uint8"), noise(9).astype("float16"), noise(9).astype(">f8")):
        (ours, _), (theirs, _) = (m.cwt(data, [1, 2], "morl") for m in (lifting, pywt))
        close(ours, theirs.astype(theirs.dtype.newbyteorder("=")), 1e-6)
    assert lifting.cwt([1.0, 2, 3], [], "mexh")[0].shape == (0, 3)
    # Small integers as scales: PyWavelets takes their root in half precision.
    scales = np.array([2, 3], "uint8")
    close(lifting.cwt([1.0, 2, 3], scales, "mexh")[0], pywt.cwt([1.0, 2, 3], [2, 3], "mexh")[0], 1e-10)


def test_nan_reaches_only_neighbours():
    data = noise(5000)
    clean = lifting.cwt(data, [1, 30], "mexh")[0]
    data[1000] = np.nan
    coefficients = lifting.cwt(data, [1, 30], "mexh")[0]
    assert np.isnan(coefficients).sum(1).tolist() == [18, 482]
    finite = np.isfinite(coefficients)
    np.testing.assert_allclose(coefficients[finite], clean[finite], atol=1e-12)


def test_kernels_longer_than_the_data():
    scales = [1e4, 1e11]
    assert np.isfinite(lifting.cwt([1.0, 2, 3], scales, "cmor1.5-1.0")[0]).all()


def test_errors_of_names():
    for name in ("gaus9", "gaus", "morl1", "mexh ", "db2", "qwertz", ""):
        with pytest.raises(ValueError, match="wavelist"):
            lifting.ContinuousWavelet(name)
    for name in ("cmord", "cmor1.0", "cmorB-C", "shan1-1-1", "shan.5-1", "cmor1.5-1x", "fbsp1-1", "fbspM-B-C"):
        with pytest.raises(ValueError, match="must have the form"):
            lifting.DiscreteContinuousWavelet(name)
    for name in ("fbsp1.5-1-1", "fbsp0-1-1"):
        with pytest.raises(ValueError, match="must be an integer of at least 1"):
            lifting.ContinuousWavelet(name)
    with pytest.raises(ValueError, match="must be positive"):
        lifting.ContinuousWavelet("cmor0-1")
    for dtype in ("complex64", "int64", "float16"):
        with pytest.raises(ValueError, match="choose float32 or float64"):
            lifting.ContinuousWavelet("mexh", dtype)
    for name in (None, 5):
        with pytest.raises(TypeError):
            lifting.ContinuousWavelet(name)
    with pytest.raises(TypeError, match="a name or a filter bank"):
        lifting.DiscreteContinuousWavelet()
    with pytest.raises(ValueError, match="at least 1"):
        lifting.ContinuousWavelet("mexh").wavefun(length=0)
    for wavelet in ("morl", lifting.ContinuousWavelet("morl"), pywt.ContinuousWavelet("morl")):
        with pytest.raises(ValueError, match="is continuous"):
            lifting.dwt([1.0, 2, 3, 4], wavelet)


@pytest.mark.parametrize("name", ["cmor", "shan", "fbsp"])
def test_bare_names_warn(name):
    for make in (lifting.ContinuousWavelet, lifting.DiscreteContinuousWavelet):
        with pytest.warns(FutureWarning, match=rf"write {name}[\w-]+-C, here {name}\d"):
            bare = make(name)
    told = {"shan": "shan0.5-1.0", "fbsp": "fbsp2-1.0-0.5", "cmor": "cmor1.0-0.5"}[name]
    close(bare.wavefun()[0], lifting.ContinuousWavelet(told).wavefun()[0], 0)


@pytest.mark.parametrize("method", ["conv", "fft"])
def test_errors_of_the_transform(method):
    data = noise(32)
    for scales in (0, [1, 0], [-1, -2], [np.nan], np.inf, [[1, 2]], ["1"], 1j):
        with pytest.raises(ValueError, match="scales must be"):
            lifting.cwt(data, scales, "morl", method=method)
    with pytest.raises(ValueError, match="scale 0.01 is too small for mexh: it must be above 0.0625"):
        lifting.cwt(data, 0.01, "mexh", method=method)
    assert not lifting.cwt(np.zeros(32), 0.1, "mexh", method=method)[0].any()
    with pytest.raises(ValueError, match="'db2' is discrete"):
        lifting.cwt(data, 1, "db2", method=method)
    for axis in (2, -3, "0", None, (0,)):
        with pytest.raises(AxisError):
            lifting.cwt(data.reshape(4, 8), 1, "morl", method=method, axis=axis)
    for empty in (np.ones((3, 0)), []):
        with pytest.raises(ValueError, match="has no samples"):
            lifting.cwt(empty, 1, "morl", method=method)
    with pytest.raises(ValueError):
        lifting.cwt(1.0, 1, "morl", method=method)
    with pytest.raises(ValueError, match="choose conv or fft"):
        lifting.cwt(data, 1, "morl", method="auto")
    for precision in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            lifting.cwt(data, 1, "morl", method=method, precision=precision)
    flat = lifting.ContinuousWavelet("mexh")
    flat.upper_bound = -8
    with pytest.raises(ValueError, match="upper_bound"):
        lifting.cwt(data, 1, flat, method=method)


def band(count=4096, low=0.01, high=0.1):
    """Noise with frequencies from ``low`` to ``high`` cycles per sample, which fades at both ends."""
    f = np.fft.rfftfreq(count)
    spectrum = np.where((f > low) & (f < high), np.fft.rfft(noise(count)), 0)
    return np.fft.irfft(spectrum) * np.exp(-((np.linspace(-6, 6, count)) ** 2))


#: Relative error of the inverse: the wavelets' means are 0, nearly 0, or not quite.
INVERSES = {f"gaus{n}": 1e-13 for n in range(1, 9)} | {f"cgau{n}": 1e-13 for n in range(1, 9)} | {"mexh": 1e-13}
INVERSES |= {"morl": 1e-7, "cmor1.5-1.0": 1e-7, "fbsp3-1-1": 1e-5}
INVERSES |= {"cmor1.0-0.5": 1e-3, "shan0.5-1.0": 1e-3, "fbsp2-1.0-0.5": 1e-3}


@pytest.mark.parametrize("name", INVERSES)
def test_inverse(name):
    signal, center = band(), lifting.central_frequency(name, 12)
    spaced = np.geomspace(center / 0.25, center / 0.004, 100)
    for scales in (spaced, np.linspace(spaced[0], spaced[-1], 300), np.random.default_rng(0).permutation(spaced)):
        again = lifting.icwt(lifting.cwt(signal, scales, name)[0], scales, name)
        assert again.dtype == np.float64 and again.shape == signal.shape
        assert np.linalg.norm(again - signal) < INVERSES[name] * np.linalg.norm(signal)


def test_inverse_of_arrays():
    scales = np.geomspace(1, 100, 60)
    for dtype, bound in (("float64", 1e-7), ("float32", 1e-5), ("complex128", 1e-7), ("complex64", 1e-5)):
        signal = np.stack([band(1024, 0.04), band(1024, 0.04)[::-1]])
        data = (signal * (1 + 2j) if np.dtype(dtype).kind == "c" else signal).astype(dtype)
        for axis in (0, 1, -1, -2):
            given = data.T if axis in (0, -2) else data
            coefficients, _ = lifting.cwt(given, scales, "mexh", axis=axis)
            again = lifting.icwt(coefficients, scales, "mexh", axis=axis)
            close(again, given, bound)
    again = lifting.icwt(lifting.cwt(data.real, scales, "cmor1.5-1.0")[0], scales, "cmor1.5-1.0")
    assert again.dtype == np.float32 and again.shape == data.shape


def test_inverse_loses_the_mean_only():
    signal, scales = band() + 3, np.geomspace(1, 100, 80)
    again = lifting.icwt(lifting.cwt(signal, scales, "mexh")[0], scales, "mexh")
    middle = slice(1500, -1500)
    assert abs(again[middle].mean()) < 0.1
    changed, expected = (x[middle] - x[middle].mean() for x in (again, signal))
    assert np.linalg.norm(changed - expected) < 0.05 * np.linalg.norm(expected)


def test_inverse_from_few_scales():
    wave = np.cos(0.3 * np.arange(2000)) * np.exp(-(np.linspace(-6, 6, 2000) ** 2))
    for scales in ([1, 2, 4, 8, 16], [5], [5, 5], 5):
        again = lifting.icwt(lifting.cwt(wave, scales, "mexh")[0], scales, "mexh")
        assert np.linalg.norm(again - wave) < 1e-6 * np.linalg.norm(wave)


def test_errors_of_the_inverse():
    coefficients = lifting.cwt(noise(32), [1, 2, 3], "mexh")[0]
    for given, scales in ((coefficients, [1, 2]), (coefficients[0], np.arange(1, 33)), (coefficients, [])):
        with pytest.raises(ValueError, match="do not fit"):
            lifting.icwt(given, scales, "mexh")
    with pytest.raises(ValueError, match="scales must be"):
        lifting.icwt(coefficients, [0, 1, 2], "mexh")
    with pytest.raises(ValueError, match="those of cmor1.5-1.0 are complex"):
        lifting.icwt(coefficients, [1, 2, 3], "cmor1.5-1.0")
    with pytest.raises(ValueError, match="is discrete"):
        lifting.icwt(coefficients, [1, 2, 3], "haar")
    with pytest.raises(AxisError):
        lifting.icwt(coefficients[:, np.newaxis], [1, 2, 3], "mexh", axis=2)


def test_names():
    assert lifting.wavelist() == pywt.wavelist() and lifting.families(False) == pywt.families(False)
    for kind in ("all", "continuous", "discrete"):
        assert lifting.wavelist(kind=kind) == pywt.wavelist(kind=kind)
    for family in pywt.families():
        assert lifting.wavelist(family, kind="discrete") == pywt.wavelist(family, kind="discrete")
    for name in pywt.wavelist(kind="discrete"):
        assert lifting.Wavelet(name).number == pywt.Wavelet(name).family_number
    assert lifting.Wavelet("mine", pywt.Wavelet("db2")).family_number is None


def test_public_names_and_attributes():
    public = {name for name in dir(pywt) if not name.startswith("_")}
    assert public - set(dir(lifting)) == {"test", "version"}
    makers = [
        lambda m: m.Wavelet("db2"),
        lambda m: m.ContinuousWavelet("mexh"),
        lambda m: m.WaveletPacket([1.0, 2], "haar"),
        lambda m: m.WaveletPacket2D(np.ones((2, 2)), "haar"),
        lambda m: m.WaveletPacketND(np.ones((2, 2)), "haar"),
        lambda m: m.Modes,
        lambda m: m.data,
    ]
    for make in makers:
        for name in dir(make(pywt)):
            assert name.startswith("_") or hasattr(make(lifting), name), (type(make(pywt)), name)
    assert lifting.Node.A + lifting.Node.D + lifting.Node2D.LL + lifting.Node2D.HL == "ada" + "h"


def test_old_names_warn():
    for old, new, arguments in (
        ("intwave", "integrate_wavelet", ("db3",)),
        ("centrfrq", "central_frequency", ("mexh",)),
        ("scal2frq", "scale2frequency", ("mexh", 3)),
        ("orthfilt", "orthogonal_filter_bank", ([1.0, 2],)),
    ):
        with pytest.warns(DeprecationWarning, match=f"{old} is deprecated.* use {new}"):
            made = getattr(lifting, old)(*arguments)
        np.testing.assert_array_equal(made, getattr(lifting, new)(*arguments))
    with pytest.warns(DeprecationWarning, match="use filter_bank"):
        assert lifting.Wavelet("db2").get_filters_coeffs() == lifting.Wavelet("db2").filter_bank
    with pytest.warns(DeprecationWarning, match="use symmetric"):
        assert lifting.Modes.sym == lifting.Modes.symmetric
    with pytest.raises(AttributeError):
        lifting.Modes.mirror
    with pytest.warns(DeprecationWarning, match="numpy.cumsum"):
        integral, _ = lifting.integrate_wavelet(([0, 1, 2], [0.0, 0.5, 1.0]))
    assert integral.tolist() == [0, 0.5, 1.5]


@pytest.mark.parametrize("name", pywt.data.demo_signal("list"))
def test_demo_signals(name):
    # PyWavelets fails for most lengths of Riemann, and multiples of 5 of the last two.
    lengths = [None] if name in ("Gabor", "sineoneoverx") else [256, 1024, 4096]
    for n in lengths:
        ours, theirs = lifting.data.demo_signal(name.lower(), n), pywt.data.demo_signal(name, n)
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * abs(theirs).max())
    if lengths[0]:
        assert all(len(lifting.data.demo_signal(name, n)) == n for n in (20, 49, 103, 500))
        with pytest.raises(ValueError, match="needs its number of samples"):
            lifting.data.demo_signal(name)
        for n in (0, -3, 2.5):
            with pytest.raises(ValueError, match="invalid number of samples"):
                lifting.data.demo_signal(name, n)
    else:
        with pytest.raises(ValueError, match="has a fixed length"):
            lifting.data.demo_signal(name, 512)


def test_stand_ins_of_recordings():
    for name in ("aero", "ascent", "camera", "ecg", "nino"):
        for ours, theirs in zip(*(np.atleast_2d(getattr(m.data, name)()) for m in (lifting, pywt))):
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    for ours, theirs in zip(lifting.data.nino(), pywt.data.nino()):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose([ours.mean(), ours.std()], [theirs.mean(), theirs.std()], atol=1e-9)
    with pytest.raises(ValueError, match="unknown signal 'sawtooth'"):
        lifting.data.demo_signal("sawtooth", 8)
