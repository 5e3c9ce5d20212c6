"""Robustness: forks, pickles, unusual arrays and unusual values."""

import copy
import os
import pickle
import signal

import numpy as np
import pytest

import lifting


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_children_transform():
    data = np.random.default_rng(1).normal(size=(1024, 1024)).astype("float32")
    plan = lifting.Plan(data.shape, "cdf97", levels=3, threads=2)
    picture = np.zeros((256, 256), "uint8")

    def work():
        return plan.forward(data), lifting.wavedec2(data, "db2", level=2)[0], lifting.encode(picture)

    expected = work()
    child = os.fork()
    if child == 0:
        # The signal ends a hanging child; the exit code tells whether the results agree.
        signal.alarm(60)
        found = work()
        agree = all(np.array_equal(a, b) for a, b in zip(found[:2], expected[:2])) and found[2] == expected[2]
        os._exit(0 if agree else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, "the child hung or had other results"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_keep_bits(again):
    data = np.random.default_rng(2).normal(size=(9, 12))
    plan = lifting.Plan(data.shape, "sym6", dtype="float64", levels=[0, 1], boundary="periodic")
    assert np.array_equal(again(plan).forward(data), plan.forward(data))
    bank = lifting.Wavelet("db3").filter_bank
    for wavelet in (lifting.Wavelet("sym6"), lifting.Wavelet("mine", bank)):
        found = again(wavelet)
        assert (found.name, found.filter_bank) == (wavelet.name, wavelet.filter_bank)
        assert np.array_equal(lifting.dwt(data, found)[0], lifting.dwt(data, wavelet)[0])


def test_errors_pickle():
    with pytest.raises(lifting.LiftingError) as caught:
        lifting.Plan((4,), "no such wavelet")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_thresholds_keep_nan():
    for mode, kept in (("soft", 4.0), ("garrote", 4.8)):
        assert np.array_equal(lifting.threshold([np.nan, 5], 1, mode), [np.nan, kept], equal_nan=True)
    assert lifting.threshold([1, 2, 3], 2, "soft", substitute=-9).tolist() == [-9, 0, 1]
    assert lifting.threshold([0.0, -0.5], 1, "soft").tolist() == [0, 0]
    assert lifting.threshold_firm([1, 2, -2, 3], 2, 2).tolist() == [0, 2, -2, 3]


def test_padding_leaves_the_data():
    assert np.array_equal(lifting.pad([np.nan, 1, 2], 2, "zero"), [0, 0, np.nan, 1, 2, 0, 0], equal_nan=True)
    assert lifting.pad([1, np.inf, 2], 1, "smooth")[1:-1].tolist() == [1, np.inf, 2]


def test_lengths_and_names():
    with pytest.raises(ValueError, match="invalid data length -5"):
        lifting.dwt_max_level(-5, 2)
    assert lifting.dwt_max_level(100, "cdf97") == lifting.dwt_max_level(100, lifting.Wavelet("cdf97"))
    assert not lifting.Wavelet("db2", lifting.Wavelet("haar").filter_bank).orthogonal


def test_unusual_arrays():
    shifted = np.zeros(8 * 64 + 1, "uint8")[1:].view("float64")
    shifted[:] = np.arange(64)
    assert not shifted.flags.aligned
    assert np.array_equal(lifting.dwt(shifted, "db2")[0], lifting.dwt(np.arange(64.0), "db2")[0])
    plan = lifting.Plan((64,), "db2", dtype="float64")
    out = np.zeros(8 * 64 + 1, "uint8")[1:].view("float64")
    plan.forward(shifted, out=out)
    assert np.array_equal(out, plan.forward(np.arange(64.0)))
    assert np.array_equal(lifting.dwt(np.array([1, 2, 3, 4], object), "db2")[0], lifting.dwt([1, 2, 3, 4], "db2")[0])
    with pytest.raises(TypeError, match="must be numbers"):
        lifting.dwt(np.array(["a", None, 3, 4], object), "db2")
    low, high = lifting.dwt(np.zeros((0, 8)), "db2")
    assert low.shape == high.shape == (0, 5)
    assert lifting.idwt(low, high, "db2").shape == (0, 8)
    assert lifting.wavedec2(np.zeros((0, 8, 8)), "haar", level=1)[0].shape == (0, 4, 4)


def test_wavelets_of_pywavelets():
    pywt = pytest.importorskip("pywt")
    for name in ("db2", "bior4.4"):
        assert np.array_equal(lifting.dwt([1, 2, 3, 4], pywt.Wavelet(name))[0], lifting.dwt([1, 2, 3, 4], name)[0])


def test_ill_conditioned_borders():
    shape = (21, 17, 23)
    with pytest.raises(lifting.LiftingError, match="ill_conditioned=True"):
        lifting.Plan(shape, "coif2", levels=3, boundary="whole-symmetric")
    plan = lifting.Plan(shape, "coif2", levels=3, boundary="whole-symmetric", ill_conditioned=True)
    assert plan.condition > 1e4
    assert lifting.Plan(shape, "cdf97", levels=3).condition == 1
    assert lifting.Plan((64, 64), "coif2", levels=3, boundary="periodic").condition == 1


def test_many_threads():
    plan = lifting.Plan((8, 6), "cdf97", threads=10**7)
    assert plan.forward(np.ones((8, 6), "float32")).shape == (8, 6)


def test_cache_is_bounded(monkeypatch):
    cache = lifting._cache
    lifting.clear_cache()
    assert cache._held == 0
    monkeypatch.setattr(cache, "LIMIT", 1 << 20)
    for length in range(1000, 1040):
        lifting.dwt(np.zeros(length), "db2")
    assert 0 < cache._held <= cache.LIMIT
    assert len(cache._store) < 20
    lifting.clear_cache()
    assert not cache._store
