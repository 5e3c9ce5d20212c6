"""Robustness: forks, pickles, unusual arrays and unusual values."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import lifting

RNG = np.random.default_rng(5)


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


def test_wavelets_of_pywavelets():
    pywt = pytest.importorskip("pywt")
    for name in ("db2", "bior4.4"):
        assert np.array_equal(lifting.dwt([1, 2, 3, 4], pywt.Wavelet(name))[0], lifting.dwt([1, 2, 3, 4], name)[0])


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
    # Conditions of plans are results, without samples.
    lifting.Plan((33, 47), "cdf97", 2)
    assert 0 < cache._held < 1 << 16
    lifting.clear_cache()
    assert not cache._store


def in_child(work):
    """Runs work in a forked child, which has ten seconds; its exit status is 0 if it returned true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
class TestFork:
    image = RNG.normal(size=(256, 256)).astype("float32")
    picture = np.add.outer(np.arange(256), np.arange(300)).astype("uint8")

    def test_functions(self):
        before = lifting.set_threads(2)
        expected = lifting.wavedec2(self.image, "db2")[0]
        assert in_child(lambda: (lifting.wavedec2(self.image, "db2")[0] == expected).all()) == 0
        assert in_child(lambda: in_child(lambda: (lifting.wavedec2(self.image, "db2")[0] == expected).all()) == 0) == 0
        lifting.set_threads(before)

    def test_plans_made_before(self):
        plan = lifting.Plan((256, 256), "cdf97", 3, threads=2)
        expected = plan.forward(self.image)
        assert in_child(lambda: (plan.forward(self.image) == expected).all()) == 0

    def test_plans_first_used_in_the_child(self):
        program = (
            "import lifting, numpy, os, signal\n"
            "x = numpy.ones((256, 256), 'float32')\n"
            "plan = lifting.Plan(x.shape, 'cdf97', 3, threads=2)\n"
            "child = os.fork()\n"
            "signal.alarm(10)\n"
            "plan.forward(x)\n"
            "os._exit(0) if child == 0 else None\n"
            "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False).returncode == 0

    def test_codec(self):
        expected = lifting.encode(self.picture)
        assert in_child(lambda: lifting.encode(self.picture) == expected) == 0
        assert in_child(lambda: (lifting.decode(expected) == self.picture).all()) == 0


def test_factored_banks_say_how_far_off_they_are():
    made = lifting.Wavelet("mine", np.pad(lifting.Wavelet("coif17").filter_bank, ((0, 0), (1, 1))))
    with pytest.warns(RuntimeWarning, match="differ from the given ones"):
        lifting.Plan(64, made)
    assert "by convolution" in repr(made) and made.residual == 0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_everything_keep_bits(again):
    x = RNG.normal(size=(17, 30)).astype("float32")
    for plan in [
        lifting.Plan(x.shape, "cdf97", 2, threads=1, origins=[1, 0]),
        lifting.Plan(x.shape, "cdf97", 1, tile=8, boundary="edge"),
        lifting.Plan(x.shape, "sym6", [0, 1], "float64", "periodic"),
        lifting.Plan(x.shape, lifting.Wavelet("mine", lifting.Wavelet("bior2.2").filter_bank), [0, 2]),
    ]:
        other, y = again(plan), x.astype(plan.dtype)
        assert other.forward(y).tobytes() == plan.forward(y).tobytes() and repr(other) == repr(plan)
    for wavelet in [lifting.Wavelet("db5"), lifting.Wavelet("db2", lifting.Wavelet("bior2.2").filter_bank)]:
        other = again(wavelet)
        assert other.text == wavelet.text and other.filter_bank == wavelet.filter_bank
        assert (lifting.dwt(x, other)[0] == lifting.dwt(x, wavelet)[0]).all()
        assert (other.name, other.orthogonal, other.symmetry) == (wavelet.name, wavelet.orthogonal, wavelet.symmetry)
    for kind in (lifting.LiftingError, lifting.LanguageError, lifting.DeviceError):
        error = again(kind("why"))
        assert type(error) is kind and error.args == ("why",)


def unaligned(x):
    """A copy of an array that begins between two samples."""
    memory = np.zeros(x.nbytes + 1, "uint8")
    view = memory[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    assert not view.flags.aligned
    return view


def test_unaligned_arrays_are_copied():
    x = RNG.normal(size=(9, 14))
    assert (lifting.wavedec2(unaligned(x), "db2")[0] == lifting.wavedec2(x, "db2")[0]).all()
    bands = lifting.dwt(x, "db2")
    assert (lifting.idwt(*map(unaligned, bands), "db2") == lifting.idwt(*bands, "db2")).all()
    plan = lifting.Plan(x.shape, "cdf97", 2, "float64")
    out = unaligned(np.zeros_like(x))
    assert plan.forward(unaligned(x), out=out) is out and (out == plan.forward(x)).all()
    picture = np.arange(60, dtype="uint16").reshape(6, 10)
    assert lifting.encode(unaligned(picture)) == lifting.encode(picture)


def test_objects_and_lists_are_numbers():
    x = [[1, 2, 3, 4], [5, 6, 7, 9]]
    objects = np.array(x, dtype=object)
    assert (lifting.dwt2(objects, "haar")[0] == lifting.dwt2(x, "haar")[0]).all()
    plan = lifting.Plan((2, 4), "legall53", dtype="int16")
    assert (plan.forward(objects) == plan.forward(x)).all() and plan.forward(x).dtype == np.int16
    assert lifting.decode(lifting.encode(x)).tolist() == x == lifting.decode(lifting.encode(objects)).tolist()
    assert lifting.imra([x[0], x[1]]).tolist() == [6, 8, 10, 13]
    for function in (lambda x: lifting.threshold(x, 2), lambda x: lifting.pad(x, 1, "reflect")):
        assert (function(objects) == function(np.array(x))).all() and function(objects).dtype != object
    for wrong in (["a", 1], [None, 3]):
        with pytest.raises(TypeError, match="must be numbers"):
            lifting.dwt(np.array(wrong, dtype=object), "haar")


@pytest.mark.filterwarnings("ignore:Level value")
def test_batches_without_elements():
    x = np.zeros((0, 9, 3), "float32")
    bands = lifting.wavedec(x, "db2", level=2, axis=1)
    assert [band.shape for band in bands] == [(0, 4, 3), (0, 4, 3), (0, 6, 3)]
    assert lifting.waverec(bands, "db2", axis=1).shape == (0, 10, 3)
    assert lifting.wavedec2(np.zeros((0, 8, 8)), "haar", level=1)[0].shape == (0, 4, 4)
    assert lifting.idwt(*lifting.dwt(np.zeros((0, 8)), "db2"), "db2").shape == (0, 8)
    plan = lifting.Plan(x.shape, "cdf97", 2, axes=[1])
    assert plan.shape == plan.forward(x).shape == plan.inverse(x).shape == (0, 9, 3)
    assert plan.inverse_to(1, x).shape == plan.level_shape(1) == (0, 5, 3)
    assert plan["L2"].shape == (0, 3, 3)
    with pytest.raises(lifting.LiftingError, match=r"\(0, 9, 3\)"):
        plan.forward(np.zeros((1, 9, 3), "float32"))
    with pytest.raises(lifting.LiftingError):
        lifting.Plan(x.shape, "cdf97", 2)


def test_a_single_component_comes_back_as_it_was():
    picture = np.arange(60, dtype="uint8").reshape(6, 10, 1)
    assert lifting.decode(lifting.encode(picture)).shape == (6, 10, 1)
    assert lifting.decode(lifting.encode(picture, quality=90), level=1).shape == (3, 5, 1)
    stream = lifting.encode(picture[..., 0])
    assert lifting.decode(stream).shape == (6, 10)
    assert lifting.decode(stream, components=True).shape == picture.shape


class TestCondition:
    def test_borders_that_suit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for wavelet in ("cdf97", "bior4.4", "haar"):
                assert lifting.Plan((33, 47), wavelet, 2).condition < 100
            assert lifting.Plan((32, 48), "db4", 2, boundary="periodic").condition == 1
            assert lifting.Plan((33, 47), "legall53", 2).condition == 1

    def test_borders_that_amplify_are_warned_of(self):
        with pytest.warns(RuntimeWarning, match="periodic.*wavedec"):
            plan = lifting.Plan(1001, "db4", 5, boundary="whole-symmetric")
        assert 100 < plan.condition < 1e4

    def test_borders_that_leave_no_digits_are_refused(self):
        for shape, wavelet, levels in [((21, 17, 23), "db31", 1), (1001, "coif2", 5)]:
            with pytest.raises(lifting.LiftingError, match="periodic.*wavedec.*ill_conditioned=True"):
                lifting.Plan(shape, wavelet, levels, boundary="whole-symmetric")
            plan = lifting.Plan(shape, wavelet, levels, boundary="whole-symmetric", ill_conditioned=True)
            assert plan.condition > 1e4
            assert pickle.loads(pickle.dumps(plan)).shape == plan.shape


def test_short_axes_are_extended_one_by_one():
    x = RNG.normal(size=(5, 8, 5))
    for mode in ("symmetric", "zero", "periodic", "reflect", "constant", "smooth", "antisymmetric"):
        bands = lifting.dwtn(x, "dmey", mode)
        alone = {"": x}
        for axis in (2, 1, 0):
            halves = {key: lifting.dwt(band, "dmey", mode, axis) for key, band in alone.items()}
            alone = {letter + key: half for key, pair in halves.items() for letter, half in zip("ad", pair)}
        assert all((bands[key] == alone[key]).all() for key in bands)
        assert np.allclose(lifting.idwtn(bands, "dmey", mode)[:5, :8, :5], x, atol=1e-6)
        some = {"aad": bands["aad"]}
        zeros = {key: np.zeros_like(band) for key, band in bands.items()}
        assert (lifting.idwtn(some, "dmey", mode) == lifting.idwtn(zeros | some, "dmey", mode)).all()


def peak(program):
    """Most memory that a program needs, in MiB. `ru_maxrss` would include this process's, from before `exec`."""
    end = "\nprint([int(l.split()[1]) >> 10 for l in open('/proc/self/status') if l.startswith('VmHWM')][0])"
    done = subprocess.run([sys.executable, "-c", program + end], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory are read from Linux's /proc")
def test_short_axes_need_little_memory():
    assert peak("import lifting, numpy; lifting.dwtn(numpy.zeros((5, 8, 5, 1)), 'dmey')") < 300


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory are read from Linux's /proc")
def test_scratch_is_bounded():
    program = (
        "import lifting, numpy\n"
        "for n in range(200):\n"
        "    lifting.idwt(None, lifting.dwt(numpy.zeros(1_000_000 + 2 * n, 'float32'), 'db2')[1], 'db2')\n"
    )
    # It varies between 440 and 470 from run to run.
    assert peak(program) < 550


def test_short_memory_is_an_error():
    plan = lifting.Plan((8, 6), "db2", dtype="float32", boundary="periodic", threads=10**7)
    assert (plan.inverse(plan.forward(np.ones((8, 6), "float32"))).round(5) == 1).all()
    whole = lifting.Plan((1 << 20, 1 << 17), "cdf97", pad=True, tile=None)
    wrong = np.lib.stride_tricks.as_strided(np.zeros(1, "float32"), whole.shape, (0, 0))
    with pytest.raises(lifting.LiftingError, match="overlap|read-only"):
        whole.forward(wrong, out=wrong)


def test_errors_are_pythons():
    plan = lifting.Plan((8, 6), "cdf97")
    mistakes = [
        lambda: lifting.Plan((8, 7), "cdf97", 2, boundary="periodic"),
        lambda: lifting.Plan((8, 6), "cdf98"),
        lambda: lifting.Plan((8, 6), "cdf97", dtype="int16"),
        lambda: lifting.Plan((8, 6), "cdf97", profile="vc2"),
        lambda: lifting.Plan((8, 6), "cdf97", profile="h264"),
        lambda: lifting.Plan((8, 6), "cdf97", 99),
        lambda: lifting.Plan((8, 6), "cdf97", boundary="half"),
        lambda: lifting.Plan((8, 6), "cdf97", tile=3),
        lambda: lifting.Plan((0, 6), "cdf97"),
        lambda: lifting.Plan((8, 6), "cdf97", layout="wide"),
        lambda: lifting.Plan((8, 6), "cdf97", device="tpu"),
        lambda: lifting.Plan((8, 6), "cdf97", device="cuda:99"),
        lambda: lifting.Plan((8, 6), "legall53").adjoint(np.zeros((8, 6), "int32")),
        lambda: lifting.Plan((7, 6), "cdf97", pad=True).adjoint(np.zeros((8, 6), "float32")),
        lambda: lifting.Plan((7, 5), "cdf97", pad=True).forward(x := np.zeros((7, 5), "float32"), out=x),
        lambda: plan.forward(np.zeros((8, 7), "float32")),
        lambda: plan.inverse_to(7, np.zeros((8, 6), "float32")),
        lambda: plan["LL9"],
        lambda: lifting.encode(np.zeros((4, 4))),
        lambda: lifting.encode(np.zeros((4, 4), "uint8"), "cdf97"),
        lambda: lifting.encode(np.zeros((4, 4), "uint8"), psnr=-1),
        lambda: lifting.encode(np.zeros((4, 4), "uint8"), levels=99),
        lambda: lifting.encode(np.zeros((0, 4), "uint8")),
        lambda: lifting.decode(b"none"),
        lambda: lifting.decode(lifting.encode(np.zeros((4, 4), "uint8")), 77),
        lambda: lifting.decode(lifting.encode(np.zeros((4, 4), "uint8")), region=(0, 0, 9, 9)),
        lambda: lifting.wavelet("wavelet x {"),
        lambda: lifting.wavelet("wavelet x { domain real; odd -= even[0] }"),
        lambda: lifting.dwt([1.0, 2], "legall53"),
        lambda: lifting.idwt([1.0], [1.0], "db20"),
        lambda: lifting.factor([[1.0, 2], [3.0, 4]]),
        lambda: lifting.factor([[1.0, 2], [2.0, 4]]),
        lambda: lifting.factor("db2", into="stairs"),
        lambda: lifting.Wavelet("x", [[1.0, 1]] * 3),
        lambda: lifting.emit("db2", "/proc/none", emit="cobol"),
    ]
    for number, mistake in enumerate(mistakes):
        try:
            mistake()
        except Exception as error:  # noqa: BLE001
            text = str(error)
        else:
            continue
        for foreign in ("liftc", "::", "Device", "Pad", "Schedule", "`.", "--", "&slice", "Rust"):
            assert foreign not in text, f"{number}: {text}"


def test_arrays_of_the_other_byte_order():
    """Plans take them as all other functions do."""
    data = np.arange(64.0).reshape(8, 8)
    plan = lifting.Plan((8, 8), "cdf97", dtype="float64")
    assert (plan.forward(data.astype(">f8")) == plan.forward(data)).all()


def test_shapes_are_checked_before_results_are_allocated():
    with pytest.raises(lifting.LiftingError, match="the data must have shape"):
        lifting.Plan((200_000, 200_000), "cdf97").forward(np.zeros((4, 4), "f4"))


def test_lengths_and_widths():
    class Other:
        """A wavelet of PyWavelets' class."""

        name, filter_bank = "db2", lifting.Wavelet("db2").filter_bank

    assert lifting.dwt_max_level(64, Other()) == lifting.dwt_max_level(64, "db2") == 4
    assert lifting.dwt_coeff_len(64, Other(), "zero") == 33
    with pytest.raises(ValueError, match="invalid data length -5"):
        lifting.dwtn_max_level((-5, 8), "db2")
    with pytest.raises(ValueError, match="too large"):
        lifting.pad(np.zeros(3), 2**62, "zero")
    with pytest.raises(lifting.LiftingError, match="has no samples"):
        lifting.encode(np.zeros((0, 8), "uint8"))


@pytest.mark.parametrize("mode", lifting.Modes.modes)
@pytest.mark.parametrize("shape", [(2,), (5,), (6,), (4, 7), (3, 2, 5)])
def test_padding_is_that_of_pywavelets(shape, mode):
    pywt = pytest.importorskip("pywt")
    for widths in (1, (3, 2), (30, 17), (0, 4)):
        if mode in ("smooth", "antisymmetric") and widths == (0, 4):
            # PyWavelets cannot extend one side alone.
            continue
        for dtype in ("float64", "int32", "complex128"):
            x = (10 * RNG.normal(size=shape)).astype(dtype)
            ours, theirs = lifting.pad(x, widths, mode), pywt.pad(x, widths, mode)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, atol=1e-11)


def test_small_calls_notice_what_changes():
    x = RNG.normal(size=64)
    for _ in range(2):
        low, high = lifting.dwt(x, "db2")
        assert (lifting.idwt(low, high, "db2") == lifting.idwt(low, high, lifting.Wavelet("db2"), 1)).all()
        assert (lifting.dwt(x.reshape(4, 16), "db2", axis=0)[0][:, 0] == lifting.dwt(x[::16], "db2")[0]).all()
        assert (lifting.dwt(unaligned(x), "db2")[0] == low).all()
        assert (lifting.dwt(x.astype(">f8"), "db2")[1] == high).all()
        assert lifting.dwt(x.astype("f4"), "db2")[0].dtype == np.float32
        with pytest.warns(DeprecationWarning, match="sym is deprecated"):
            lifting.dwt(x, "db2", "sym")
        with pytest.raises(ValueError, match="bands of one level must have one shape"):
            lifting.idwt(low, high[1:], "db2")
        lifting.set_threads(lifting.set_threads(1))
        lifting.clear_cache()


def test_imports_are_few():
    program = "import sys, numpy.exceptions; before = set(sys.modules); import lifting; "
    program += "print(*set(sys.modules) - before)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    others = {name.partition(".")[0] for name in result.stdout.split()} - {"lifting", "numpy"}
    assert others <= {"copy", "dataclasses", "threading", "_thread"}
    assert "numpy.polynomial" not in result.stdout.split()
