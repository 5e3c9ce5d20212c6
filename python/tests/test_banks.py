"""Filter banks of any kind: PyWavelets' functions by steps of the catalogue or by convolution."""

import copy
import pickle
import warnings

import lifting
import numpy as np
import pytest

pywt = pytest.importorskip("pywt")
rng = np.random.default_rng(47)


def bank_of(name, change=lambda f: f):
    return [change(np.array(f)) for f in pywt.Wavelet(name).filter_bank]


#: Kingsbury's q-shift filter of 14 taps, with nine digits; its bank is orthogonal within these digits only.
Q_SHIFT = [0.00325314, -0.00388321, 0.03466035, -0.03887280, -0.11720389, 0.27529538, 0.75614564]
Q_SHIFT += [0.56881042, 0.01186609, -0.10671180, 0.02382538, 0.01702522, -0.00543948, -0.00455690]

BANKS = {
    "db4": bank_of("db4"),
    "sym20": bank_of("sym20"),
    "db38": bank_of("db38"),
    "float32": bank_of("db6", lambda f: f.astype("float32")),
    "few digits": bank_of("sym5", lambda f: f.round(4)),
    "padded": bank_of("db3", lambda f: np.pad(f, 2)),
    "odd": [[0.1, 0.7, 0.3], [0.2, -0.5, 0.4], [1, 2, 3], [4, -5, 6]],
    "two taps": [[1, 2], [3, 4], [5, 6], [7, 8]],
    "q-shift": pywt.orthogonal_filter_bank(Q_SHIFT),
    "dmey": bank_of("dmey"),
    "bior6.8": bank_of("bior6.8"),
    "noise": rng.normal(size=(4, 10)),
}


def pair(name):
    return lifting.Wavelet(name, BANKS[name]), pywt.Wavelet(name, [list(map(float, f)) for f in BANKS[name]])


def arrays(result):
    """All arrays of nested results, in order."""
    if isinstance(result, dict):
        return [array for key in sorted(result) for array in arrays(result[key])]
    if isinstance(result, (list, tuple)):
        return [array for part in result for array in arrays(part)]
    return [result]


def close(ours, theirs):
    """Compares nested results of both packages, relative to the largest number."""
    ours, theirs = arrays(ours), arrays(theirs)
    largest = max(1, *(abs(array).max(initial=0) for array in theirs))
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        tolerance = 1e-10 if b.dtype in (np.float64, np.complex128) else 2e-5
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * largest)


@pytest.mark.parametrize("name", BANKS)
def test_attributes_are_those_of_the_bank(name):
    ours, theirs = pair(name)
    assert ours.filter_bank == tuple(theirs.filter_bank)
    assert ours.inverse_filter_bank == theirs.inverse_filter_bank
    for attribute in ("dec_len", "rec_len", "orthogonal", "biorthogonal", "symmetry", "family_name", "name"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    close(ours.wavefun(3), theirs.wavefun(3))


@pytest.mark.parametrize("mode", pywt.Modes.modes)
@pytest.mark.parametrize("name", BANKS)
def test_levels(name, mode):
    ours, theirs = pair(name)
    for n in (1, 2, 5, 30, 64, 301, 1000) if mode not in ("reflect", "antireflect") else (2, 5, 30, 64, 301, 1000):
        x = rng.normal(size=n)
        close(lifting.dwt(x, ours, mode), pywt.dwt(x, theirs, mode))
        bands = rng.normal(size=(2, max(n, ours.dec_len // 2)))
        close(lifting.idwt(*bands, ours, mode), pywt.idwt(*bands, theirs, mode))
        close(lifting.idwt(None, bands[1], ours, mode), pywt.idwt(None, bands[1], theirs, mode))
    for shape in ((20, 300), (130, 3)):
        for dtype in ("float64", "float32", "complex128"):
            x = rng.normal(size=shape).astype(dtype)
            close(lifting.dwtn(x, ours, mode), pywt.dwtn(x, theirs, mode))
            # Of the size of the data: `smooth` makes coefficients of short axes that single precision cannot invert.
            coeffs = pywt.dwt2(x, theirs, "periodization")
            mode = mode if min(coeffs[0].shape) >= ours.dec_len // 2 else "periodization"
            close(lifting.idwt2(coeffs, ours, mode), pywt.idwt2(coeffs, theirs, mode))


@pytest.mark.parametrize("name", BANKS)
def test_all_functions(name):
    ours, theirs = pair(name)
    line, image, volume = rng.normal(size=256), rng.normal(size=(16, 40)), rng.normal(size=(4, 8, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for x, forward, inverse in [
            (line, "wavedec", "waverec"),
            (image, "wavedec2", "waverec2"),
            (volume, "wavedecn", "waverecn"),
        ]:
            coeffs = getattr(pywt, forward)(x, theirs, level=3)
            close(getattr(lifting, forward)(x, ours, level=3), coeffs)
            close(getattr(lifting, inverse)(coeffs, ours), getattr(pywt, inverse)(coeffs, theirs))
        for x, forward, inverse in [(line, "swt", "iswt"), (image, "swt2", "iswt2"), (volume, "swtn", "iswtn")]:
            for norm in (False, True):
                coeffs = getattr(pywt, forward)(x, theirs, level=2, norm=norm)
                close(getattr(lifting, forward)(x, ours, level=2, norm=norm), coeffs)
                back = getattr(pywt, inverse)(coeffs, theirs, norm=norm)
                close(getattr(lifting, inverse)(coeffs, ours, norm=norm), back)
        for mra, x in [("mra", line), ("mra2", image), ("mran", volume)]:
            close(getattr(lifting, mra)(x, ours, 2), getattr(pywt, mra)(x, theirs, 2))
        close(lifting.upcoef("d", line, ours, 2), pywt.upcoef("d", line, theirs, 2))
        close(lifting.downcoef("a", line, ours, "smooth", 2), pywt.downcoef("a", line, theirs, "smooth", 2))
        close(lifting.fswavedecn(image, ours).coeffs, pywt.fswavedecn(image, theirs).coeffs)
        for kind, x in [("WaveletPacket", line), ("WaveletPacket2D", image), ("WaveletPacketND", volume)]:
            made, known = (getattr(p, kind)(x, w, "reflect", 2) for p, w in ((lifting, ours), (pywt, theirs)))
            for a, b in zip(made.get_level(2), known.get_level(2)):
                close(a.data, b.data)
            # PyWavelets cannot cut volumes.
            if kind != "WaveletPacketND":
                close(made.reconstruct(False), known.reconstruct(False))
        # Several wavelets at once.
        close(lifting.dwtn(volume, [ours, "db2", ours]), pywt.dwtn(volume, [theirs, "db2", theirs]))


@pytest.mark.filterwarnings("ignore:Level value")
@pytest.mark.parametrize("name", ["few digits", "noise", "odd"])
@pytest.mark.parametrize("mode", pywt.Modes.modes)
def test_adjoints_are_transposes(name, mode):
    for synthesis in (False, True):
        for shape in ((7, 40), (150,)):
            operator = lifting.WaveletOperator(shape, pair(name)[0], mode, 2, synthesis=synthesis)
            x, y = rng.normal(size=operator.shape[1]), rng.normal(size=operator.shape[0])
            scale = np.linalg.norm(operator.matvec(x)) * np.linalg.norm(y)
            assert abs(operator.matvec(x) @ y - x @ operator.rmatvec(y)) < 1e-12 * scale


def test_the_way_of_execution_is_told():
    near, far = pair("db4")[0], pair("few digits")[0]
    assert repr(near).endswith("# as db4, whose taps differ by up to 2e-16") and 0 < near.residual < 1e-15
    assert repr(far).endswith("# by convolution") and far.residual == 0
    assert eval(repr(far), {"lifting": lifting}).filter_bank == far.filter_bank


@pytest.mark.parametrize("name", BANKS)
def test_copies_keep_the_bits(name):
    wavelet = pair(name)[0]
    wavelet.orthogonal = True
    x = rng.normal(size=100)
    pickled = pickle.loads(pickle.dumps(wavelet))
    for again in (copy.copy(wavelet), copy.deepcopy(wavelet), pickled, lifting.Wavelet(wavelet)):
        assert (again.name, again.filter_bank, again.orthogonal) == (wavelet.name, wavelet.filter_bank, True)
        for a, b in zip(lifting.dwt(x, again), lifting.dwt(x, wavelet)):
            assert a.tobytes() == b.tobytes()


def test_objects_of_pywavelets():
    x = rng.normal(size=90)
    for name in pywt.wavelist(kind="discrete"):
        close(lifting.dwt(x, pywt.Wavelet(name)), pywt.dwt(x, name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lifting.swt(x[:64], pywt.Wavelet("dmey"), 1, norm=True)


def test_plans_factor_the_bank():
    bank = lifting.Wavelet("mine", lifting.Wavelet("bior2.2").filter_bank)
    x = rng.normal(size=32)
    np.testing.assert_allclose(*(lifting.Plan(32, w, dtype=float).forward(x) for w in (bank, "bior2.2")), atol=1e-12)
    with pytest.raises(lifting.LiftingError):
        lifting.Plan(32, lifting.Wavelet("none", BANKS["two taps"]))


def test_gpus_need_steps():
    engine = pair("noise")[0]._engine
    level = lifting._dwt._prepare(engine, (8,), ("zero",), "f64", False, 1)
    with pytest.raises(lifting.LiftingError, match=r"pass `lifting.factor\(bank\)`"):
        lifting._dwt._plan(level.level, "interpreter")
    factored = lifting.factor(lifting.Wavelet("padded", BANKS["padded"]).filter_bank)
    assert isinstance(factored._engine, lifting._lifting.Scheme)


@pytest.mark.parametrize(
    ("bank", "error"),
    [
        ([[1, 2]] * 3, "not 3"),
        ([[1, 2], [1, 2], [1, 2], [1, 2, 3]], "not 2, 2, 2, 3"),
        ([[]] * 4, "at least 1"),
        ([[1, np.nan]] * 4, "finite"),
        ([[1, 2j]] * 4, "real"),
        ([["a", "b"]] * 4, "real"),
        ([[[1, 2]]] * 4, "sequences"),
        (3, "numbers"),
    ],
)
def test_invalid_banks(bank, error):
    with pytest.raises(lifting.LiftingError, match=error):
        lifting.Wavelet("wrong", bank)
