"""`lifting.dask`: chunked results have the bits of whole arrays, on one machine and on several workers."""

import os

import lifting
import numpy as np
import pytest
from needs import need

da = need("dask.array")
import lifting.dask as ld  # noqa: E402


def sample(shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    if dtype.startswith("int"):
        return rng.integers(-1000, 1000, shape, dtype)
    return rng.normal(size=shape).astype(dtype)


def same(coefficients, x, wavelet, levels, boundary=None, axes=None):
    """Whether bands have the bits of a plan for the whole array."""
    axes = tuple(range(x.ndim)) if axes is None else axes
    plan = lifting.Plan(x.shape, wavelet, levels, x.dtype, boundary, axes=axes)
    whole = plan.forward(x)
    bands = {(band.level, band.high): whole[band.index] for band in plan.subbands.values()}
    low, *details = coefficients
    made = {(levels, (False,) * x.ndim): low}
    for number, level in zip(range(levels, 0, -1), details, strict=True):
        for key, band in level.items():
            high = [False] * x.ndim
            for letter, axis in zip(key, axes, strict=True):
                high[axis] = letter == "d"
            made[number, tuple(high)] = band
    assert made.keys() == bands.keys()
    return all(np.asarray(band).tobytes() == bands[at].tobytes() for at, band in made.items())


@pytest.mark.parametrize("boundary", ["whole-symmetric", "half-symmetric", "periodic", "edge", "zero"])
@pytest.mark.parametrize("wavelet", ["haar", "cdf97", "db4", "bior3.5", "sym8", "coif3"])
def test_chunks_have_the_bits_of_the_whole(wavelet, boundary):
    even = boundary == "periodic"
    x = sample((168, 216) if even else (167, 215), "float64")
    for chunks in ((64, 64), (37, 55), (200, 41), (8, 8)):
        given = da.from_array(x, chunks=chunks)
        coefficients = ld.wavedecn(given, wavelet, boundary, 3)
        back = ld.waverecn(coefficients, wavelet, boundary)
        made, back = da.compute(coefficients, back, scheduler="sync")
        assert same(made, x, wavelet, 3, boundary), (chunks, boundary)
        plan = lifting.Plan(x.shape, wavelet, 3, "float64", boundary)
        assert back.tobytes() == plan.inverse(plan.forward(x)).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int16", "int32"])
def test_volumes_and_kinds(dtype):
    wavelet = "dd137" if dtype.startswith("int") else "cdf97"
    x = sample((40, 33, 50), dtype)
    given = da.from_array(x, chunks=(16, 20, 24))
    coefficients = ld.wavedecn(given, wavelet, level=2)
    made, back = da.compute(coefficients, ld.waverecn(coefficients, wavelet), scheduler="threads")
    assert same(made, x, wavelet, 2) and back.dtype == x.dtype
    assert (back == x).all() if dtype.startswith("int") else np.allclose(back, x, atol=1e-4)
    part = ld.wavedecn(given, wavelet, level=1, axes=(2, 0))
    assert same(da.compute(part)[0], x, wavelet, 1, axes=(2, 0))
    assert np.allclose(ld.waverecn(part, wavelet, axes=(2, 0)), x, atol=1e-4)


def test_unaligned_chunks():
    """Chunks from the network may begin between two samples."""
    x = sample((64, 64))
    given = da.from_array(x, chunks=32).map_blocks(displaced, dtype=x.dtype)
    assert not displaced(x).flags.aligned
    assert same(da.compute(ld.wavedecn(given, "cdf97", level=1))[0], x, "cdf97", 1)


def displaced(block):
    memory = np.empty(block.nbytes + 1, np.uint8)[1:]
    memory[:] = np.ascontiguousarray(block).reshape(-1).view(np.uint8)
    return memory.view(block.dtype).reshape(block.shape)


def test_one_and_two_axes():
    x = sample((90, 110))
    given = da.from_array(x, chunks=(32, 48))
    low, high = ld.wavedec(given, "cdf97", level=1)
    assert same([low, {"d": high}], x, "cdf97", 1, axes=(1,))
    assert np.allclose(ld.waverec([low, high], "cdf97"), x, atol=1e-5)
    low, (h, v, d) = ld.wavedec2(given, "cdf97", level=1)
    assert same([low, {"da": h, "ad": v, "dd": d}], x, "cdf97", 1)
    assert np.allclose(ld.waverec2([low, (h, v, d)], "cdf97"), x, atol=1e-5)
    names = [set(level) for level in ld.wavedecn(given, "cdf97")[1:]]
    assert names == [set(level) for level in lifting.wavedecn(x, "cdf97")[1:]]
    assert ld.wavedecn(given, "cdf97", level=0)[0] is given


def test_zarr_in_and_out(tmp_path):
    zarr = need("zarr")
    x = sample((70, 90, 60))
    zarr.create_array(str(tmp_path / "x"), data=x, chunks=(32, 32, 32))
    given = da.from_zarr(str(tmp_path / "x"))
    ld.to_zarr(ld.wavedecn(given, "cdf97", level=2), str(tmp_path / "coefficients"))
    read = ld.from_zarr(str(tmp_path / "coefficients"))
    assert same(read, x, "cdf97", 2)
    assert np.allclose(ld.waverecn(read, "cdf97"), x, atol=1e-4)


def test_several_workers():
    distributed = need("distributed")
    x = sample((96, 130, 64))
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        given = da.from_array(x, chunks=(32, 48, 32))
        coefficients = ld.wavedecn(given, "cdf97", level=2)
        made = client.gather(client.compute(coefficients))
        assert same(made, x, "cdf97", 2)
        back = client.compute(ld.waverecn(coefficients, "cdf97")).result()
        plan = lifting.Plan(x.shape, "cdf97", 2)
        assert back.tobytes() == plan.inverse(plan.forward(x)).tobytes()


@pytest.mark.skipif(os.environ.get("LIFTING_FULL") != "1", reason="LIFTING_FULL=1 runs it: it takes a minute")
def test_a_volume_larger_than_memory(tmp_path):
    """1 GiB from Zarr to Zarr, with two workers of 400 MB each; the transform preserves the energy."""
    distributed = need("distributed")
    need("zarr")
    limit = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "400MB", "dashboard_address": None}
    with distributed.LocalCluster(**limit) as cluster, distributed.Client(cluster):
        x = da.random.default_rng(1).normal(size=(256, 1024, 1024), chunks=128).astype("float32")
        x.to_zarr(str(tmp_path / "x"))
        given = da.from_zarr(str(tmp_path / "x"))
        ld.to_zarr(ld.wavedecn(given, "db2", "periodic", level=2), str(tmp_path / "c"))
        read = ld.from_zarr(str(tmp_path / "c"))
        arrays = [read[0], *(band for level in read[1:] for band in level.values())]
        energy = sum((band.astype("float64") ** 2).sum() for band in arrays)
        expected = (given.astype("float64") ** 2).sum()
        assert np.isclose(*da.compute(energy, expected), rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ld.wavedecn(np.zeros(8), "haar"), "must be a Dask array, not a ndarray"),
        (lambda: ld.wavedecn(da.zeros((8, 8)), "haar", axes=(2,)), "are out of range for data with 2 axes"),
        (lambda: ld.wavedecn(da.zeros((8, 8)), "haar", axes=(0, -2)), "name an axis twice"),
        (lambda: ld.wavedecn(da.zeros((8, 7)), "cdf97", "periodic", 1), "axis 1 has 7 samples"),
        (lambda: ld.wavedecn(da.zeros(8, dtype="uint8"), "haar"), "unsupported sample type uint8"),
        (lambda: ld.wavedecn(da.zeros(8), "haar", "symmetric"), "unknown border rule `symmetric`"),
        (lambda: ld.wavedecn(da.zeros(8), "haar", level=-1), "invalid level -1"),
        (lambda: ld.waverecn([da.zeros(4), {"a": da.zeros(4)}], "haar"), "a level needs the bands d, not a"),
        (lambda: ld.waverec([da.zeros(4), da.zeros(6)], "haar"), "must have shape"),
    ],
)
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()
