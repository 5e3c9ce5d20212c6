"""The image codec: lossless round trips, targets, layers, tiles, regions and errors."""

import lifting
import numpy as np
import pytest


def picture(shape, dtype, bits):
    rows, columns = np.indices(shape[:2])
    whole = (np.sin(rows / 9) + np.cos(columns / 7) + 2) / 4 * (2**bits - 1)
    image = np.stack([whole * (1 - 0.2 * i) for i in range(shape[2])], -1) if len(shape) == 3 else whole
    return (image - (2 ** (bits - 1) if np.dtype(dtype).kind == "i" else 0)).astype(dtype)


@pytest.mark.parametrize("wavelet", ["legall53", "dd137", "s_transform"])
@pytest.mark.parametrize("shape", [(40, 50), (33, 47, 3), (20, 21, 2)])
@pytest.mark.parametrize(("dtype", "bits"), [("uint8", 8), ("uint16", 12), ("int16", 16), ("int8", 8), ("int32", 10)])
def test_lossless(wavelet, shape, dtype, bits):
    image = picture(shape, dtype, bits)
    stream = lifting.encode(image, wavelet, bits=bits, levels=3)
    back = lifting.decode(stream)
    assert isinstance(stream, bytes) and len(stream) < image.size * bits / 8
    assert (back == image).all() and back.dtype.itemsize == (1 if bits <= 8 else 2)
    assert lifting.decode(stream, 1).shape[:2] == tuple(-(-n // 2) for n in shape[:2])


def test_targets():
    image = picture((120, 130), "uint8", 8)
    back = lifting.decode(lifting.encode(image, psnr=45))
    assert 10 * np.log10(255**2 / np.mean((back.astype(float) - image) ** 2)) >= 45
    assert len(lifting.encode(image, bpp=0.5)) <= 0.5 * image.size / 8
    assert len(lifting.encode(image, "bior4.4", quality=20)) < len(lifting.encode(image, "bior4.4", quality=90))


def test_layers_tiles_and_regions():
    image = picture((200, 230), "uint8", 8)
    image += np.random.default_rng(1).integers(0, 9, image.shape, "uint8")
    stream = lifting.encode(image, layers=5, tile=(64, 128))
    assert (lifting.decode(stream) == image).all()
    assert (lifting.decode(stream, region=(60, 100, 70, 50)) == image[60:130, 100:150]).all()
    errors = [np.mean((lifting.decode(stream, layers=n).astype(float) - image) ** 2) for n in range(1, 6)]
    assert errors == sorted(errors, reverse=True) and errors[0] > errors[4] == 0
    assert lifting.decode(stream, 1, layers=3, region=(64, 0, 10, 230)).shape == (5, 115)
    for make, message in [
        (lambda: lifting.encode(image, tile=(50, 64)), "tiles of 50 × 64"),
        (lambda: lifting.encode(image, layers=0), "invalid number of quality layers 0"),
        (lambda: lifting.decode(stream, layers=6), "invalid number of layers 6: 1 to 5"),
        (lambda: lifting.decode(stream, region=(0, 0, 201, 1)), "lie within a picture of 200 × 230 pixels"),
    ]:
        with pytest.raises(lifting.LiftingError, match=message):
            make()


def test_truncated_streams_and_errors():
    image = picture((64, 64), "uint8", 8)
    stream = lifting.encode(image)
    with pytest.raises(lifting.LiftingError, match="is truncated"):
        lifting.decode(stream[: len(stream) // 2])
    assert lifting.decode(stream[: len(stream) // 2], cut=True).shape == image.shape
    for make, message in [
        (lambda: lifting.decode(b"nothing"), "stream"),
        (lambda: lifting.encode(image.astype(float), psnr=40), "must have integers"),
        (lambda: lifting.encode(image, psnr=40, bpp=1), "exclude each other"),
        (lambda: lifting.encode(image, "cdf97"), "lossless"),
        (lambda: lifting.encode(image, bits=4), "4 bits"),
        (lambda: lifting.encode(image, passes=5), "invalid number of passes 5"),
        (lambda: lifting.encode(image, fast=33), "invalid number of fast planes 33"),
        (lambda: lifting.decode(stream, 9), "level 9"),
    ]:
        with pytest.raises(lifting.LiftingError, match=message):
            make()


def test_axes_in_another_order_are_asked_about():
    image = np.zeros((3, 40, 50), "uint8")
    with pytest.raises(lifting.LiftingError, match="moveaxis"):
        lifting.encode(image)
    with pytest.raises(lifting.LiftingError, match="one by one"):
        lifting.encode(np.zeros((100, 40, 50), "uint8"))
    assert (lifting.decode(lifting.encode(np.moveaxis(image, 0, -1))) == 0).all()
    assert lifting.decode(lifting.encode(image, colour=False)).shape == image.shape


def test_a_generous_rate_is_lossless():
    image = np.add.outer(np.arange(64), np.arange(80)).astype("uint8")
    assert lifting.encode(image, bpp=8) == lifting.encode(image)
    noise = np.random.default_rng(3).integers(0, 256, (64, 80), "uint8")
    assert len(lifting.encode(noise, bpp=2)) <= 2 * noise.size / 8


def test_claimed_samples_are_limited():
    stream = lifting.encode(np.zeros((64, 64), "uint8"))
    assert lifting.decode(stream, max_samples=4096).shape == (64, 64)
    with pytest.raises(lifting.LiftingError, match="4096"):
        lifting.decode(stream, max_samples=4095)


class TestJpeg2000:
    """JPEG 2000 and HTJ2K behind the same functions."""

    formats = ["htj2k", "jph", "j2k", "jp2"]

    @pytest.mark.parametrize("format", formats)
    def test_lossless(self, format):
        rng = np.random.default_rng(3)
        for dtype, shape in [("uint8", (40, 51)), ("uint16", (33, 20, 3)), ("int16", (17, 64)), ("int8", (9, 9, 2))]:
            info = np.iinfo(dtype)
            image = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
            stream = lifting.encode(image, format=format, levels=2, tile=(16, 32))
            back = lifting.decode(stream)
            assert back.dtype == image.dtype and (back == image).all()
            for other in self.formats:
                assert (lifting.decode(lifting.transcode(stream, other)) == image).all()

    def test_targets(self):
        image = (np.add.outer(np.arange(100), np.arange(120)) % 251).astype("uint8")
        for format in self.formats:
            back = lifting.decode(lifting.encode(image, psnr=40, format=format)).astype(float)
            assert 10 * np.log10(255**2 / ((back - image) ** 2).mean()) >= 40
            assert len(lifting.encode(image, bpp=1, format=format)) <= image.size / 8 + 100
        stream = lifting.encode(image, format="jp2", layers=3)
        assert lifting.decode(stream, layers=1).shape == image.shape
        assert lifting.decode(stream, level=1).shape == (50, 60)
        assert (lifting.decode(stream, region=(10, 20, 30, 40)) == image[10:40, 20:60]).all()

    def test_errors(self):
        image = np.zeros((20, 20), "uint8")
        for options, text in [
            ({"format": "jxl"}, "unknown format 'jxl'"),
            ({"format": "jph", "wavelet": "dd137"}, "takes no wavelet but 'legall53'"),
            ({"format": "jph", "passes": 3}, "neither passes nor fast"),
            ({"format": "jph", "layers": 2}, "coder of Part 1"),
            ({"format": "jph", "quality": 101}, "choose 1 to 100"),
        ]:
            with pytest.raises(lifting.LiftingError, match=text):
                lifting.encode(image, **options)
        stream = lifting.encode(image, format="jph")
        with pytest.raises(lifting.LiftingError, match="levels 0 .full size. to 4"):
            lifting.decode(stream, level=5)
        with pytest.raises(lifting.LiftingError, match="truncated"):
            lifting.decode(stream[:-10])
        assert lifting.decode(stream[:-2], cut=True).shape == (20, 20)
        with pytest.raises(lifting.LiftingError, match="not JPEG 2000"):
            lifting.transcode(b"something else", "jph")
        with pytest.raises(lifting.LiftingError, match="unknown format 'lpc'"):
            lifting.transcode(stream, "lpc")


class TestFields:
    """Arrays within an error bound, or exactly."""

    @pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", "uint8", "int16", "uint32", "int64", "uint64"])
    @pytest.mark.parametrize("shape", [(300,), (33, 40), (9, 20, 31)])
    def test_bounds(self, shape, dtype):
        x = (np.sin(np.arange(np.prod(shape)) / 30) * 50 + 60).reshape(shape).astype(dtype)
        for max_error, most in [(2.5, 2.5), ("1%", float(np.ptp(x)) * 0.01)]:
            back = lifting.decode(lifting.encode(x, max_error=max_error))
            assert back.dtype == x.dtype.newbyteorder("=") and back.shape == x.shape
            assert abs(back.astype(float) - x.astype(float)).max() <= most
        assert (lifting.decode(lifting.encode(x, max_error=0)) == x).all()

    def test_floats_come_back_exactly(self):
        x = np.random.default_rng(1).standard_normal((20, 30, 40)).astype("float32")
        x[0, 0, :6] = [np.nan, np.inf, -np.inf, -0.0, 1e-45, 0.0]
        stream = lifting.encode(x)
        assert lifting.decode(stream).tobytes() == x.tobytes()
        assert lifting.decode(stream, region=(3, 4, 5, 6, 7, 8)).tobytes() == x[3:9, 4:11, 5:13].tobytes()
        back = lifting.decode(lifting.encode(x, max_error=0.1))
        assert back[0, 0, :4].tobytes() == x[0, 0, :4].tobytes()
        finite = np.isfinite(x)
        assert abs(back[finite] - x[finite]).max() <= 0.1

    def test_errors(self):
        x = np.zeros((4, 5), "float32")
        for make, message in [
            (lambda: lifting.encode(x, max_error=-1), "at least 0"),
            (lambda: lifting.encode(x, max_error="1"), "invalid max_error '1'"),
            (lambda: lifting.encode(x, max_error=[1]), "invalid max_error"),
            (lambda: lifting.encode(x, max_error=1, psnr=40), "no option but max_error"),
            (lambda: lifting.encode(x, levels=3), "no option but max_error"),
            (lambda: lifting.encode(x.reshape(2, 2, 5, 1), max_error=1), "one to three axes"),
            (lambda: lifting.encode(x.astype("float16")), "unsupported samples float16"),
            (lambda: lifting.decode(lifting.encode(x), 1), "without levels and layers"),
            (lambda: lifting.decode(lifting.encode(x), region=(0, 0, 5, 5)), "invalid region"),
            (lambda: lifting.decode(lifting.encode(x), max_samples=19), "more than the limit of 19"),
            (lambda: lifting.decode(lifting.encode(x)[:-1]), "truncated"),
        ]:
            with pytest.raises(lifting.LiftingError, match=message):
                make()


def test_metadata_comes_back():
    """Blocks of metadata, and their limits."""
    image = np.arange(70 * 80).reshape(70, 80).astype("uint8")
    blocks = {"icc": b"profile" * 50, "tiff": b"\x2e\x87\x0c\x00\x00\x00\x00\x00"}
    stream = lifting.encode(image, metadata=blocks)
    assert lifting.metadata(stream) == blocks
    assert lifting.metadata(lifting.encode(image)) == {}
    assert (lifting.decode(stream) == image).all()
    with pytest.raises(lifting.LiftingError, match="unknown metadata `gps`"):
        lifting.encode(image, metadata={"gps": b""})
    with pytest.raises(lifting.LiftingError, match="takes no metadata"):
        lifting.encode(image, metadata=blocks, format="jph")
