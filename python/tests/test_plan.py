"""Plans: all sample types, strided and foreign arrays, tiles, adjoints, and error messages."""

import threading

import lifting
import numpy as np
import pytest

ml_dtypes = pytest.importorskip("ml_dtypes")
REAL = {"float16": 2e-2, "bfloat16": 0.2, "float32": 1e-5, "float64": 1e-13}
INTEGER = ["int16", "int32", "int64"]


def image(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype in INTEGER:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.normal(size=shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("boundary", ["whole-symmetric", "edge", "zero"])
@pytest.mark.parametrize("dtype", [*REAL, *INTEGER])
def test_round_trips(dtype, boundary):
    plan = lifting.Plan((9, 14), "cdf97" if dtype in REAL else "dd137", 2, dtype, boundary)
    x = image((9, 14), dtype)
    coefficients = plan.forward(x)
    assert coefficients.dtype == x.dtype == plan.dtype and plan.boundary == boundary
    back = plan.inverse(coefficients)
    if dtype in INTEGER:
        assert (back == x).all()
    else:
        assert abs(back.astype(float) - x.astype(float)).max() < REAL[dtype]


def test_views_are_read_and_written_in_place():
    x = image((40, 30, 3), "int32")
    field = x[::-2, 4:, 1]
    plan = lifting.Plan(field.shape, "legall53", 2, "int32")
    expected = plan.forward(field.copy())
    out = np.zeros((3, *field.shape), np.int32).transpose(1, 2, 0)[:, ::-1, 1]
    assert plan.forward(field, out=out) is out
    assert (out == expected).all()
    assert (plan.inverse(out) == field).all()


def test_in_place_and_overlaps():
    x = image((16, 16), "int16")
    plan = lifting.Plan(x.shape, "legall53", 3, "int16")
    expected, data = plan.forward(x), x.copy()
    assert (plan.forward(data, out=data) == expected).all()
    assert (plan.inverse(data, out=data) == x).all()
    with pytest.raises(lifting.LiftingError, match="share memory"):
        plan.forward(data, out=data[::-1])
    frozen = x.copy()
    frozen.flags.writeable = False
    assert (plan.forward(frozen) == expected).all()
    with pytest.raises(lifting.LiftingError, match="the coefficients is read-only"):
        plan.forward(x, out=frozen)


def test_subbands_are_views_by_name():
    plan = lifting.Plan((5, 7), "cdf97", 2)
    assert list(plan.subbands) == ["LL2", "HL2", "LH2", "HH2", "HL1", "LH1", "HH1"]
    coefficients = plan.forward(image((5, 7), "float32"))
    bands = plan.bands(coefficients)
    assert sum(band.size for band in bands.values()) == 35
    bands["HH1"][...] = 0
    assert (coefficients[3:, 4:] == 0).all() and np.shares_memory(bands["LL2"], coefficients)
    interleaved = lifting.Plan((5, 7), "cdf97", 2, layout="interleaved")
    assert (interleaved.band(interleaved.forward(plan.inverse(coefficients)), "LL2").shape) == (2, 2)
    with pytest.raises(KeyError, match="choose one of LL2, HL2"):
        plan["HH3"]


def test_levels_axes_origins_and_profiles():
    x = image((4, 12, 10), "int16")
    plan = lifting.Plan(x.shape, "legall53", 2, "int16", axes=(1, -1))
    assert plan.levels == (0, 2, 2)
    each = lifting.Plan(x.shape[1:], "legall53", 2, "int16")
    assert all((plan.forward(x)[i] == each.forward(x[i])).all() for i in range(4))
    assert plan.inverse_to(1, plan.forward(x)).shape == plan.level_shape(1) == (4, 6, 5)
    tile = lifting.Plan((4, 7), "legall53", dtype="int16", origins=(0, 5))
    assert tile["LL1"].shape == (2, 3)
    vc2 = lifting.Plan((6, 6), "dd97", 2, "int32", profile="vc2", pad=True)
    assert vc2.coefficient_shape == (8, 8)
    assert (vc2.inverse(vc2.forward(image((6, 6), "int16").astype("int32"))) == image((6, 6), "int16")).all()


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_tiles_are_independent(dtype):
    x = image((2, 20, 24), "float64").astype(dtype)
    plan = lifting.Plan(x.shape, "cdf97", 2, dtype, axes=(1, 2), tile=16)
    assert plan.tile == (2, 16, 16) and len(plan.tiles) == 4
    coefficients = plan.forward(x)
    for tile in plan.tiles:
        part = tuple(slice(o, o + n) for o, n in zip(tile.offset, tile.shape))
        alone = lifting.Plan(tile.shape, "cdf97", 2, dtype, axes=(1, 2))
        assert alone.forward(x[part]).tobytes() == coefficients[part].tobytes()
        assert (coefficients[tile.subbands["HH1"].index] == alone.band(coefficients[part], "HH1")).all()
    assert abs(plan.inverse(coefficients) - x).max() < 1e-5
    whole = lifting.Plan((4, 6), "legall53")
    assert whole.tile is None and [tile.shape for tile in whole.tiles] == [(4, 6)]


@pytest.mark.parametrize("boundary", ["whole-symmetric", "half-symmetric", "periodic", "edge", "zero"])
@pytest.mark.parametrize("wavelet", ["cdf97", "db3", "bior3.5"])
def test_adjoints(wavelet, boundary):
    plan = lifting.Plan((8, 12), wavelet, 2, "float64", boundary)
    x, y = image((8, 12), "float64", 1), image((8, 12), "float64", 2)
    assert np.isclose((plan.forward(x) * y).sum(), (x * plan.adjoint(y)).sum(), rtol=1e-12)
    assert np.isclose((plan.inverse(x) * y).sum(), (x * plan.inverse_adjoint(y)).sum(), rtol=1e-12)


def test_gpu_kernels_have_the_same_bits():
    x = image((21, 34), "float32")
    plans = [lifting.Plan(x.shape, "cdf97", 2, device=device) for device in ("cpu", "interpreter")]
    first, second = (plan.forward(x) for plan in plans)
    assert first.tobytes() == second.tobytes()
    assert "interpreter" in plans[1].recipe


def test_other_arrays():
    plan = lifting.Plan(4, "haar", dtype="float64")
    expected = plan.forward(np.array([1.0, 2, 3, 4]))
    for given in ([1, 2, 3, 4], memoryview(np.array([1.0, 2, 3, 4])), Foreign(np.array([1.0, 2, 3, 4]))):
        assert (plan.forward(given) == expected).all()
    with pytest.raises(lifting.LiftingError, match="on a GPU"):
        plan.forward(OnDevice())


class Foreign:
    """An array of another library, with DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice:
    """An array on a GPU, which a plan on the CPU must not access."""

    def __dlpack__(self, **arguments):
        raise AssertionError("the plan must not request a capsule")

    def __dlpack_device__(self):
        return 2, 0


def test_threads_share_a_plan():
    x = image((300, 200), "float32")
    plan = lifting.Plan(x.shape, "cdf97", 3)
    expected, results = plan.forward(x).tobytes(), []
    threads = [threading.Thread(target=lambda: results.append(plan.forward(x).tobytes())) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [expected] * 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lifting.Plan((4, 4), "cdf79"), "unknown wavelet `cdf79`; did you mean cdf97"),
        (lambda: lifting.Plan((4, 4), "cdf97", dtype="int16"), "use f32, f64, f16 or bf16|use i16"),
        (lambda: lifting.Plan((4, 4), "cdf97", dtype="uint8"), "unsupported sample type uint8: choose one of"),
        (lambda: lifting.Plan((4, 4), "cdf97", boundary="mirror"), "unknown border rule `mirror`"),
        (lambda: lifting.Plan((5, 4), "cdf97", boundary="periodic"), "axis 0 has 5 samples"),
        (lambda: lifting.Plan((0, 4), "cdf97"), "axis 0 has length 0"),
        (lambda: lifting.Plan((4, 4), "cdf97", -1), "must not be negative"),
        (lambda: lifting.Plan((4, 4), "cdf97", axes=(0, 0)), "name an axis twice"),
        (lambda: lifting.Plan((4, 4), "cdf97", axes=(2,)), "invalid axis 2: the data has 2"),
        (lambda: lifting.Plan((9, 9), "cdf97", 2, tile=6), "which is not a multiple of 4"),
        (lambda: lifting.Plan((9, 9), "cdf97", tile=(4,)), "a tile has 1 lengths, but the data has 2 axes"),
        (lambda: lifting.Plan((9, 9), "cdf97", tile=-4), "cannot be negative"),
        (lambda: lifting.Plan((4, 4), "cdf97", device="tpu"), "unknown device `tpu`"),
        (lambda: lifting.Plan((4, 4), "cdf97", profile="jpeg"), "unknown profile `jpeg`"),
        (lambda: lifting.Plan((4, 4), "legall53", 1, "int32").adjoint(np.zeros((4, 4), "int32")), "adjoint"),
        (lambda: lifting.Plan((4, 4), "cdf97").forward(np.zeros((4, 5), "float32")), r"must have shape \[4, 4\]"),
        (lambda: lifting.Plan((4, 4), "cdf97").forward(np.zeros((4, 4))), "the array has float64: convert it"),
        (lambda: lifting.Plan((4, 4), "cdf97").inverse_to(2, np.zeros((4, 4), "f")), "invalid level 2"),
    ],
)
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()


def test_missing_device_is_a_device_error():
    try:
        plan = lifting.Plan((8, 8), "cdf97", device="cuda")
    except lifting.DeviceError as error:
        assert str(error)
    else:
        x = image((8, 8), "float32")
        assert plan.forward(x).tobytes() == lifting.Plan((8, 8), "cdf97").forward(x).tobytes()
