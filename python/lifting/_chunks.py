"""Chunks of arrays as pictures: what the codecs for Zarr have in common."""

import numpy as np

from ._codec import decode, encode
from ._lifting import LiftingError
from ._wavelet import of_text

#: What a codec may be told, and what it is if nothing is said; see `lifting.encode`.
DEFAULTS = {
    "wavelet": None,
    "psnr": None,
    "bpp": None,
    "quality": None,
    "levels": 5,
    "passes": 2,
    "fast": 0,
    "components": False,
}


def checked(options):
    """The options of a codec, all of them."""
    unknown = options.keys() - DEFAULTS.keys()
    if unknown:
        raise LiftingError(f"unknown options {', '.join(sorted(unknown))}; there are {', '.join(DEFAULTS)}")
    made = DEFAULTS | options
    if made["wavelet"] is not None:
        _wavelet(made["wavelet"])
    return made


def said(options):
    """Those that are not the default: what is written to a file."""
    return {name: value for name, value in options.items() if value != DEFAULTS[name]}


def _wavelet(text):
    if not isinstance(text, str):
        raise LiftingError(f"a codec's wavelet is a name or a text of the language, not a {type(text).__name__}")
    return of_text(text)


def to_stream(chunk, options):
    """The stream of a chunk. Its last two axes are rows and columns; those before are more rows. With ``components``
    there is one axis more, the last one."""
    chunk = np.asarray(chunk)
    if chunk.dtype.kind not in "iu" or chunk.dtype.itemsize > 2:
        raise LiftingError(f"chunks can be int8, uint8, int16 or uint16, not {chunk.dtype}: choose another codec")
    options = dict(options)
    inner = chunk.shape[-2:] if options.pop("components") else chunk.shape[-1:]
    name = options.pop("wavelet")
    return encode(chunk.reshape(-1, *inner), None if name is None else _wavelet(name), **options)


def of_stream(stream, shape, dtype):
    """The chunk of that shape that a stream has."""
    picture = decode(stream)
    if picture.size != np.prod(shape, dtype=int) or picture.dtype != np.dtype(dtype).newbyteorder("="):
        found = f"{picture.shape} samples {picture.dtype}"
        raise LiftingError(f"the chunk should have {tuple(shape)} samples {dtype}, and the stream has {found}")
    return picture.reshape(shape)
