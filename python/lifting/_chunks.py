"""Chunks of arrays as images: shared parts of the Zarr and numcodecs codecs."""

import numpy as np

from ._codec import decode, encode
from ._lifting import LiftingError
from ._wavelet import of_text

#: Options of a codec with their defaults; see `lifting.encode`.
DEFAULTS = {
    "wavelet": None,
    "psnr": None,
    "bpp": None,
    "quality": None,
    "levels": 5,
    "passes": 2,
    "fast": 0,
    "components": False,
    "format": "lpc",
    "max_error": None,
}


def checked(options):
    """Options of a codec, completed with defaults."""
    unknown = options.keys() - DEFAULTS.keys()
    if unknown:
        raise LiftingError(f"unknown options {', '.join(sorted(unknown))}: choose from {', '.join(DEFAULTS)}")
    made = DEFAULTS | options
    if made["wavelet"] is not None:
        _wavelet(made["wavelet"])
    return made


def said(options):
    """Options that differ from their defaults; only these are written to a file."""
    return {name: value for name, value in options.items() if value != DEFAULTS[name]}


def _wavelet(text):
    if not isinstance(text, str):
        raise LiftingError(f"a codec's wavelet must be a name or a text of the language, not a {type(text).__name__}")
    return of_text(text)


def to_stream(chunk, options):
    """The stream of a chunk.

    The last two axes are rows and columns; axes before them are further rows. With ``components`` a last axis of
    components follows the columns."""
    chunk = np.asarray(chunk)
    if chunk.dtype.kind not in "iuf":
        raise LiftingError(f"chunks must be integers or floats, not {chunk.dtype}: choose another codec")
    if options["max_error"] is not None or chunk.dtype.kind == "f" or chunk.dtype.itemsize > 2:
        # All axes but the last two become one.
        field = chunk.reshape(-1, *chunk.shape[-2:]) if chunk.ndim > 3 else np.atleast_1d(chunk)
        return encode(field, **said(options))
    options = {name: value for name, value in options.items() if name != "max_error"}
    inner = chunk.shape[-2:] if options.pop("components") else chunk.shape[-1:]
    name = options.pop("wavelet")
    pixels = chunk.reshape(-1, *inner)
    colour = pixels.ndim < 3 or pixels.shape[2] <= 4
    wavelet = _wavelet(name) if name is not None and options["format"] == "lpc" else name
    return encode(pixels, wavelet, colour=colour, **options)


def of_stream(stream, shape, dtype):
    """The chunk of that shape from a stream."""
    picture = decode(stream, max_samples=max(1 << 16, int(np.prod(shape, dtype=int))))
    if picture.size != np.prod(shape, dtype=int) or picture.dtype != np.dtype(dtype).newbyteorder("="):
        found = f"{picture.shape} samples {picture.dtype}"
        raise LiftingError(f"the chunk needs {tuple(shape)} samples {dtype}, but the stream has {found}")
    return picture.reshape(shape)
