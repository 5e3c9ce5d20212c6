"""Image codec and JPEG 2000: `encode`, `decode` and `transcode`."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _lifting
from ._arrays import numbers
from ._lifting import LiftingError
from ._types import Array, WaveletLike
from ._wavelet import as_wavelet


# More components than this are asked about: they are more likely the columns of frames.
_MANY = 16


# JPEG 2000: whether the block coder is that of Part 15, and whether the stream is a file.
_JPEG2000 = {"htj2k": (True, False), "jph": (True, True), "j2k": (False, False), "jp2": (False, True)}


def encode(
    image: ArrayLike,
    wavelet: WaveletLike | None = None,
    *,
    psnr: float | None = None,
    bpp: float | None = None,
    quality: float | None = None,
    levels: int | None = None,
    bits: int | None = None,
    passes: int = 2,
    fast: int = 0,
    colour: bool = True,
    layers: int = 1,
    tile: tuple[int, int] | None = None,
    format: Literal['lpc', 'htj2k', 'jph', 'j2k', 'jp2'] = "lpc",
    max_error: float | str | None = None,
    metadata: Mapping[str, bytes] | None = None,
) -> bytes:
    """Compresses a picture of integers of up to 16 bits, of shape ``(height, width)`` or ``(height, width,
    components)``, to a stream (bytes).

    The default is lossless, with an integer wavelet. One of ``psnr``, ``bpp`` and ``quality`` makes it lossy. JPEG 2000
    takes the wavelets ``legall53`` without loss and ``cdf97`` otherwise; ``passes`` and ``fast`` are not for it.

    Parameters
    ----------
    image : array_like
        Picture of integers of up to 16 bits, of shape ``(height, width)`` or ``(height, width, components)``.
    wavelet : str or Wavelet, optional
        Wavelet, an integer one for lossless coding.
    psnr : float, optional
        Peak signal-to-noise ratio in decibels, at least.
    bpp : float, optional
        Bits per pixel, at most.
    quality : float, optional
        Quality from 1 to 100.
    levels : int, optional
        Number of levels, 5 by default.
    bits : int, optional
        Bits of a sample, by default those of its type.
    passes : int, optional
        Passes of the block coder per bitplane.
    fast : int, optional
        Lowest bitplanes, 0 to 32, that are coded in one pass: faster, and a little larger.
    colour : bool, optional
        Whether the first three components are red, green and blue.
    layers : int, optional
        Quality layers. Any prefix of the stream is then a picture, which `decode` returns with ``cut=True``.
    tile : tuple of int, optional
        Height and width of independently coded tiles.
    format : {'lpc', 'htj2k', 'jph', 'j2k', 'jp2'}, optional
        The format of docs/format.md; codestream or file of JPEG 2000 Part 15; codestream or file of Part 1.
    max_error : float or str, optional
        Bound of the absolute error of every sample of an array of floats or integers with one to three axes: a number,
        or a share of the array's range such as ``"0.1%"``. NaN, infinities and -0 come back bit for bit. Arrays of
        floats and of wider integers without a target come back exactly. No other option applies to these arrays.
    metadata : mapping, optional
        Blocks that the stream carries, by name: ``"icc"``, ``"exif"``, ``"xmp"``, and ``"tiff"`` (tags as
        docs/format.md defines them). `metadata` returns them. Only for the format ``"lpc"`` of pictures.

    Returns
    -------
    bytes
        Stream.

    Examples
    --------
    >>> x = np.sin(np.arange(32 * 32 * 32, dtype="float32") / 100).reshape(32, 32, 32)
    >>> stream = encode(x, max_error=1e-3)
    >>> len(stream) < x.nbytes / 5, bool(abs(decode(stream) - x).max() <= 1e-3), bool((decode(encode(x)) == x).all())
    (True, True, True)

    >>> image = np.add.outer(np.arange(100), np.arange(120)).astype("uint8")
    >>> stream = encode(image)
    >>> len(stream) < image.size / 4, bool((decode(stream) == image).all()), decode(stream, level=2).shape
    (True, True, (25, 30))
    """
    image = _whole_numbers(image)
    metadata = {str(name): bytes(block) for name, block in (metadata or {}).items()}
    is_lossy = not (psnr is None and bpp is None and quality is None)
    is_field = image.dtype.kind == "f" or image.dtype.itemsize > 2 or image.ndim == 1
    if max_error is not None or is_field and image.dtype.kind in "iuf" and not is_lossy and bits is None:
        usual = (levels, bits, passes, fast, colour, layers, tile) == (None, None, 2, 0, True, 1, None)
        if is_lossy or wavelet is not None or format != "lpc" or metadata or not usual:
            raise LiftingError(
                f"an array of {image.ndim} axes and samples {image.dtype}, or with max_error, takes no option but "
                "max_error: leave out the others"
            )
        return _encode_field(image, max_error)
    if image.dtype.kind not in "iu" or image.ndim not in (2, 3):
        raise LiftingError(
            f"an image must have integers and two or three axes, not {image.ndim} of {image.dtype}: "
            "use (height, width) or (height, width, components)"
        )
    if not image.size:
        raise LiftingError(f"an image of shape {image.shape} has no samples")
    if not -(2**31) <= int(image.min()) <= int(image.max()) < 2**31:
        raise LiftingError("samples out of range: at most 16 bits are allowed")
    targets = {name: value for name, value in [("psnr", psnr), ("bpp", bpp), ("quality", quality)] if value is not None}
    if len(targets) > 1:
        raise LiftingError(f"{' and '.join(targets)} exclude each other: give one")
    target, value = next(iter(targets.items()), ("lossless", 0.0))
    if image.ndim == 3 and colour and image.shape[2] > (4 if image.shape[0] <= 4 else _MANY):
        raise LiftingError(
            f"{image.shape} means {image.shape[2]} components of each pixel: (height, width, components). If channels "
            "come first, move them: np.moveaxis(a, 0, -1); encode frames one by one; if it is right, colour=False"
        )
    bits = 8 * image.dtype.itemsize if bits is None else int(bits)
    samples = np.array(image.reshape(*image.shape[:2], -1), np.int32, order="C")
    signed = image.dtype.kind == "i"
    tile = None if tile is None else (int(tile[0]), int(tile[1]))
    if metadata and format != "lpc":
        raise LiftingError(f"format={format!r} takes no metadata: use 'lpc'")
    if format in _JPEG2000:
        usual = "cdf97" if targets else "legall53"
        if not (wavelet is None or wavelet == usual) or passes != 2 or fast != 0:
            raise LiftingError(f"format={format!r} takes no wavelet but {usual!r} here, and neither passes nor fast")
        return _lifting.encode_jpeg2000(
            samples, bits, signed, *_JPEG2000[format], None if levels is None else int(levels), target, float(value),
            bool(colour), int(layers), tile,
        )
    if format != "lpc":
        raise LiftingError(f"unknown format {format!r}: use 'lpc', " + ", ".join(map(repr, _JPEG2000)))
    levels = 5 if levels is None else int(levels)
    if bpp is not None and wavelet is None and psnr is None and quality is None:
        # No lossy stream is better than a lossless one that the rate has room for.
        exact = encode(
            image, levels=levels, bits=bits, passes=passes, fast=fast, colour=colour, layers=layers, tile=tile,
            metadata=metadata,
        )
        if 8 * len(exact) <= bpp * image.shape[0] * image.shape[1]:
            return exact
    wavelet = as_wavelet(wavelet or ("cdf97" if targets else "legall53"))
    return _lifting.encode(
        wavelet._scheme, samples, bits, signed, levels, target, float(value), int(passes), int(fast), bool(colour),
        int(layers), tile, image.ndim == 3, metadata,
    )


def _encode_field(array, max_error):
    """The stream of an array within an error bound, or exactly."""
    relative = isinstance(max_error, str)
    try:
        if relative and not max_error.strip().endswith("%"):
            raise ValueError
        bound = None if max_error is None else float(max_error.strip()[:-1]) / 100 if relative else float(max_error)
    except (TypeError, ValueError):
        text = f"invalid max_error {max_error!r}: give a number, or a share of the range as '0.1%'"
        raise LiftingError(text) from None
    # A copy of its own, in this machine's byte order: no other thread changes it.
    samples = np.array(array, array.dtype.newbyteorder("="), order="C", copy=True)
    flat = samples.reshape(-1).view(np.uint8)
    return _lifting.encode_field(flat, samples.dtype.name, samples.shape, bound, relative)


def _whole_numbers(image):
    """A picture as an array. Lists and arrays of objects get the smallest type that holds them."""
    made = np.asarray(image)
    if made.dtype == object and made.ndim:
        made = numbers(made)
    elif isinstance(image, np.ndarray) or hasattr(image, "dtype"):
        return made
    if made.dtype.kind not in "iu" or not made.size:
        return made
    low, high = int(made.min()), int(made.max())
    kinds = ("uint8", "uint16") if low >= 0 else ("int8", "int16")
    fits = [kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max]
    return made.astype(fits[0]) if fits else made


def decode(
    stream: bytes | bytearray | memoryview,
    level: int = 0,
    *,
    layers: int | None = None,
    region: tuple[int, ...] | None = None,
    cut: bool = False,
    components: bool = False,
    max_samples: int = 2**30,
) -> Array:
    """Decompresses a stream of ``encode``, or any JPEG 2000 stream or file, to a picture.

    Parameters
    ----------
    stream : bytes
        Stream of `encode`, or a JPEG 2000 stream or file.
    level : int, optional
        Each level halves height and width.
    layers : int, optional
        Number of quality layers to decode, all by default.
    region : tuple of int, optional
        First row, first column, rows and columns at full size; only the blocks that it depends on are decoded. Of an
        array coded with ``max_error``: the first sample along each axis, then the number of samples along each.
    cut : bool, optional
        Whether a truncated stream gives the picture that it holds, instead of an error.
    components : bool, optional
        Whether pictures of one component have shape ``(height, width, 1)``; by default they have it if they had it.
    max_samples : int, optional
        Pictures with more samples are refused: a stream of a few bytes may claim any size.

    Returns
    -------
    numpy.ndarray
        Picture.

    Examples
    --------
    >>> stream = encode(np.zeros((64, 64), "uint16"), "cdf97", bpp=1.0)
    >>> decode(stream).dtype
    dtype('uint16')
    """
    region = None if region is None else tuple(int(n) for n in region)
    layers = None if layers is None else int(layers)
    stream = bytes(stream)
    half = 0 if region is None else len(region) // 2
    part = None if region is None else (list(region[:half]), list(region[half:]))
    field = _lifting.decode_field(stream, part, int(max_samples))
    if field is not None:
        if level or layers is not None:
            raise LiftingError("the stream has an array without levels and layers: leave out level and layers")
        samples, kind, shape = field
        return np.frombuffer(samples, kind).reshape(shape).copy()
    is_jpeg2000 = stream.startswith((b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP  "))
    native = _lifting.decode_jpeg2000 if is_jpeg2000 else _lifting.decode
    decoded = native(stream, int(level), layers, region, int(max_samples))
    samples, shape, bits, signed, complete, component_axis = decoded
    if not complete and not cut:
        raise LiftingError("the stream is truncated: pass cut=True to decode the data present")
    kind = np.dtype(f"{'i' if signed else 'u'}{1 if bits <= 8 else 2 if bits <= 16 else 4}")
    image = np.frombuffer(samples, np.int32).reshape(shape).astype(kind)
    return image[..., 0] if shape[2] == 1 and not (component_axis or components) else image


def metadata(stream: bytes | bytearray | memoryview) -> dict[str, bytes]:
    """The metadata of a picture's stream of `encode` in the format ``"lpc"``: blocks by name.

    Parameters
    ----------
    stream : bytes
        Stream of `encode`, or of ``liftc encode``.

    Returns
    -------
    dict
        Those of ``"icc"``, ``"exif"``, ``"xmp"`` and ``"tiff"`` that the stream has.

    Examples
    --------
    >>> metadata(encode(np.zeros((64, 64), "uint8"), metadata={"xmp": b"<x/>"}))
    {'xmp': b'<x/>'}
    """
    return _lifting.metadata(bytes(stream))


def transcode(stream: bytes | bytearray | memoryview, format: Literal['htj2k', 'jph', 'j2k', 'jp2'] = "jph") -> bytes:
    """Rewrites a JPEG 2000 stream or file in another ``format`` of JPEG 2000: ``"htj2k"``, ``"jph"``, ``"j2k"`` or
    ``"jp2"``.

    Both decode to the same picture; quality layers become one. Boxes of a file are kept.

    Parameters
    ----------
    stream : bytes
        JPEG 2000 stream or file.
    format : {'htj2k', 'jph', 'j2k', 'jp2'}, optional
        Format of the result.

    Returns
    -------
    bytes
        Stream or file.

    Examples
    --------
    >>> image = np.add.outer(np.arange(60), np.arange(70)).astype("uint8")
    >>> old = encode(image, psnr=45, format="jp2")
    >>> bool((decode(transcode(old)) == decode(old)).all())
    True
    """
    if format not in _JPEG2000:
        raise LiftingError(f"unknown format {format!r}: use " + ", ".join(map(repr, _JPEG2000)))
    return _lifting.transcode_jpeg2000(bytes(stream), *_JPEG2000[format])
