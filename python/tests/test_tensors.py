"""The functions of tensors with ptwt's names, in PyTorch and JAX, compared with those of NumPy."""

import importlib
import pickle

import lifting
import numpy as np
import pytest
from needs import need

rng = np.random.default_rng(5)
x = rng.normal(size=(3, 16, 24, 8))


class Torch:
    def __init__(self):
        self.torch = need("torch")
        self.functions = importlib.import_module("lifting.torch")
        self.of = self.torch.from_numpy

    def gradient(self, function, x):
        given = self.of(x).requires_grad_()
        return self.torch.autograd.grad(function(given).sum(), given)[0].numpy()


class Jax:
    def __init__(self):
        self.jax = need("jax")
        self.functions = importlib.import_module("lifting.jax")
        self.of = lambda x: self.jax.numpy.asarray(x, "float32")

    def gradient(self, function, x):
        return self.jax.grad(self.jax.jit(lambda x: function(x).sum()))(self.of(x))


@pytest.fixture(params=[Torch, Jax])
def library(request):
    return request.param()


def flat(result):
    if isinstance(result, dict):
        return [band for key in sorted(result) for band in flat(result[key])]
    if isinstance(result, (list, tuple)):
        return [band for part in result for band in flat(part)]
    return [np.asarray(result)]


def close(ours, theirs):
    for a, b in zip(flat(ours), flat(theirs), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, atol=1e-12 if a.dtype == np.float64 else 2e-5)


@pytest.mark.filterwarnings("ignore:Level value")
@pytest.mark.parametrize(
    ("name", "theirs", "axes"),
    [
        ("wavedec", "wavedec", {"axis": 1}),
        ("wavedec2", "wavedec2", {"axes": (1, 3)}),
        ("wavedec2", "wavedec2", {"axes": (-1, -3)}),
        ("wavedecn", "wavedecn", {"axes": (3, 1, 2)}),
        ("wavedec3", "wavedecn", {"axes": (-3, -2, -1)}),
        ("fswavedec2", "wavedecn", {"axes": (0, 2)}),
        ("fswavedec3", "wavedecn", {"axes": (1, 2, 3)}),
    ],
)
def test_axes(library, name, theirs, axes):
    ours = getattr(library.functions, name)(library.of(x), "db2", "reflect", 2, **axes)
    close(ours, getattr(lifting, theirs)(x, "db2", "reflect", 2, **axes))
    back = getattr(library.functions, name.replace("dec", "rec"))(ours, "db2", "reflect", **axes)
    close(back[tuple(slice(n) for n in x.shape)], x)


@pytest.mark.parametrize("axis", [-1, 1])
def test_stationary(library, axis):
    lt = library.functions
    coeffs = lt.swt(library.of(x), "db3", 3, axis=axis)
    expected = lifting.swt(x, "db3", 3, axis=axis, trim_approx=True)
    close(coeffs, expected)
    close(lt.iswt(coeffs, "db3", axis=axis), x)
    # The gradient of a sum of bands is their adjoint, of ones.
    line = x[0, 0, :, 0].copy()
    ones = np.array([lifting.swt(row, "db3", 2, trim_approx=True)[1].sum() for row in np.eye(24)])
    close(library.gradient(lambda x: lt.swt(x, "db3", 2)[1], line), ones)
    with pytest.raises(lifting.LiftingError, match="is not a multiple of 2"):
        lt.swt(library.of(x), "db3", 4, axis=axis if axis == -1 else 2)


def test_packets(library):
    lt = library.functions
    ours = lt.WaveletPacket(library.of(x), "db2", maxlevel=2, axis=1)
    theirs = lifting.WaveletPacket(x, "db2", "reflect", 2, axis=1)
    assert ours.get_level(2) == [node.path for node in theirs.get_level(2, "freq")]
    for path in ours.get_level(2, "natural"):
        close(ours[path], theirs[path].data)
    close(ours.reconstruct()[""], x)
    ours = lt.WaveletPacket2D(library.of(x), "db2", maxlevel=2, axes=(1, 2))
    theirs = lifting.WaveletPacket2D(x, "db2", "reflect", 2, axes=(1, 2))
    assert ours.get_level(2) == [[node.path for node in row] for row in theirs.get_level(2, "freq")]
    ours.initialize(ours.get_level(2, "natural"))
    for path in ours.get_level(2, "natural"):
        close(ours[path], theirs[path].data)
    close(ours.reconstruct()[""], x)
    with pytest.raises(lifting.LiftingError, match="paths consist of"):
        ours["ax"]
    with pytest.raises(KeyError, match="below the last level"):
        ours["aaa"]


@pytest.mark.filterwarnings("ignore:Level value")
def test_square_matrices(library):
    lt = library.functions
    rows = lt.MatrixWavedec("db4", 2)(library.of(np.eye(24)))
    matrix = np.concatenate([np.asarray(band) for band in rows], -1)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(24), atol=1e-12 if matrix.dtype == np.float64 else 1e-5)
    close(lt.MatrixWaverec("db4", axis=2)(lt.MatrixWavedec("db4", 2, axis=2)(library.of(x))), x)
    close(lt.MatrixWaverec2("db2", axes=(1, 2))(lt.MatrixWavedec2("db2", 1, axes=(1, 2))(library.of(x))), x)
    close(lt.MatrixWaverec3("db2")(lt.MatrixWavedec3("db2", 1)(library.of(x))), x)
    again = pickle.loads(pickle.dumps(lt.MatrixWavedec("db4", 2)))
    close(again(library.of(x)), lt.MatrixWavedec("db4", 2)(library.of(x)))


def test_wrong_axes(library):
    lt, given = library.functions, library.of(x)
    for call, message in [
        (lambda: lt.wavedec2(given, "haar", axes=(1,)), "1 axes, but the function transforms 2"),
        (lambda: lt.wavedec2(given, "haar", axes=(1, -3)), "name an axis twice"),
        (lambda: lt.wavedec(given, "haar", axis=4), "out of range"),
        (lambda: lt.wavedec3(given[0, 0], "haar"), "invalid number of axes 3"),
        (lambda: lt.waverec([None, None], "haar"), "all bands are None"),
    ]:
        with pytest.raises(lifting.LiftingError, match=message):
            call()


def test_banks_without_steps():
    lt = Torch().functions
    bank = lifting.Wavelet("rounded", np.round(lifting.Wavelet("db2").filter_bank, 3))
    close(lt.wavedec2(Torch().of(x), bank, "smooth", 1), lifting.wavedec2(x, bank, "smooth", 1))
    ones = np.array([lifting.dwt(row, bank, "smooth")[0].sum() for row in np.eye(24)])
    close(Torch().gradient(lambda x: lt.wavedec(x, bank, "smooth", 1)[0], x[0, 0, :, 0].copy()), ones)
