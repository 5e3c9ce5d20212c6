"""Codecs for Zarr 3 and numcodecs: lookup by name, lossless by default, and error messages."""

import importlib.metadata

import lifting
import numpy as np
import pytest
from needs import need

zarr, numcodecs = need("zarr"), need("numcodecs")
import lifting.numcodecs  # noqa: E402
import lifting.zarr  # noqa: E402


def sample(shape, dtype):
    info = np.iinfo(dtype)
    return np.random.default_rng(3).integers(info.min, info.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_zarr_3_is_lossless(dtype, tmp_path):
    for shape, chunks in (((70, 90), (32, 40)), ((5, 40, 33), (2, 32, 32)), ((300,), (128,))):
        x = sample(shape, dtype)
        codec = lifting.zarr.LiftingCodec(levels=3)
        path = tmp_path / f"{len(shape)}"
        zarr.create_array(path, data=x, chunks=chunks, serializer=codec, compressors=None, filters=None)
        read = zarr.open_array(path, mode="r")
        assert (read[:] == x).all()
        assert read.metadata.codecs[0].to_dict() == {"name": "lifting", "configuration": {"levels": 3}}


def test_zarr_3_with_loss_and_components(tmp_path):
    y, x = np.mgrid[:128, :128]
    picture = np.stack([128 + 100 * np.sin(x / k) * np.cos(y / 9) for k in (5, 7, 9)], -1).astype("uint8")
    codec = lifting.zarr.LiftingCodec(psnr=45, components=True, wavelet="cdf97")
    array = zarr.create_array(
        tmp_path, data=picture, chunks=(64, 64, 3), serializer=codec, compressors=None, filters=None
    )
    error = ((array[:].astype(float) - picture) ** 2).mean()
    assert 10 * np.log10(255**2 / error) > 44 and array.nbytes_stored() < picture.nbytes / 4


def test_numcodecs():
    x = sample((40, 50), "uint16")
    codec = numcodecs.get_codec({"id": "lifting", "wavelet": "dd137"})
    stream = codec.encode(x)
    out = np.empty_like(x)
    assert codec.decode(stream, out) is out and (out == x).all() and (codec.decode(stream) == x).all()
    assert codec.get_config() == {"id": "lifting", "wavelet": "dd137"}
    assert repr(codec) == "LiftingCodec(wavelet='dd137')"
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, data=x, chunks=(16, 50), zarr_format=2, compressors=codec, filters=None)
    assert (zarr.open_array(store)[:] == x).all()


def test_jpeg2000():
    x = np.add.outer(np.arange(60), np.arange(70)).astype("uint16")
    for format in ["htj2k", "jp2"]:
        codec = lifting.numcodecs.LiftingCodec(format=format)
        stream = codec.encode(x)
        assert (codec.decode(stream) == x).all() and codec.get_config() == {"id": "lifting", "format": format}


def test_error_bounds():
    x = np.sin(np.arange(4 * 10 * 12 * 14) / 20).reshape(4, 10, 12, 14).astype("float32")
    codec = lifting.numcodecs.LiftingCodec(max_error=0.01)
    assert codec.get_config() == {"id": "lifting", "max_error": 0.01}
    stream = codec.encode(x)
    assert len(stream) < x.nbytes / 3 and abs(codec.decode(stream, np.empty_like(x)) - x).max() <= 0.01
    exact = lifting.numcodecs.LiftingCodec()
    assert (exact.decode(exact.encode(x), np.empty_like(x)) == x).all()
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(
        store, data=x, chunks=(1, 10, 12, 7), serializer=lifting.zarr.LiftingCodec(max_error=0.01), compressors=None,
        filters=None
    )
    assert abs(zarr.open_array(store)[:] - x).max() <= 0.01 and array.nbytes_stored() < x.nbytes / 2


def test_codecs_are_found_by_name():
    try:
        points = importlib.metadata.distribution("lifting").entry_points
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed, but run from its folder")
    found = {(point.group, point.name): point.load() for point in points}
    assert found["zarr.codecs", "lifting"] is lifting.zarr.LiftingCodec
    assert found["numcodecs.codecs", "lifting"] is lifting.numcodecs.LiftingCodec


def test_errors():
    with pytest.raises(lifting.LiftingError, match="unknown options speed: choose from wavelet, psnr"):
        lifting.zarr.LiftingCodec(speed=1)
    with pytest.raises(lifting.LiftingError, match="did you mean cdf97"):
        lifting.numcodecs.LiftingCodec(wavelet="cdf79")
    with pytest.raises(lifting.LiftingError, match="not complex64: choose another codec"):
        lifting.numcodecs.LiftingCodec().encode(np.zeros((4, 4), "complex64"))
    stream = lifting.numcodecs.LiftingCodec().encode(np.zeros((4, 4), "uint8"))
    with pytest.raises(lifting.LiftingError, match="the chunk needs"):
        lifting.numcodecs.LiftingCodec().decode(stream, np.zeros((4, 5), "uint8"))
