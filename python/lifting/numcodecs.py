"""A codec for numcodecs and Zarr version 2: chunks as compressed streams, lossless or lossy.

>>> import numcodecs, numpy
>>> codec = numcodecs.get_codec({"id": "lifting"})
>>> x = numpy.add.outer(numpy.arange(64), numpy.arange(64)).astype("int16")
>>> stream = codec.encode(x)
>>> len(stream) < x.nbytes / 4, bool((codec.decode(stream).reshape(x.shape) == x).all())
(True, True)
"""

import numcodecs
import numpy as np
from numcodecs.abc import Codec

from . import _chunks
from ._codec import decode

__all__ = ["LiftingCodec"]


class LiftingCodec(Codec):
    """Compresses chunks of integers and floats; options are those of `lifting.zarr.LiftingCodec`."""

    codec_id = "lifting"

    def __init__(self, **options):
        self.options = _chunks.checked(options)

    def encode(self, buf):
        """The stream of a chunk."""
        return _chunks.to_stream(buf, self.options)

    def decode(self, buf, out=None):
        """The chunk of a stream; with ``out``, written there."""
        if out is None:
            return np.ascontiguousarray(decode(bytes(buf)))
        out[...] = _chunks.of_stream(bytes(buf), out.shape, out.dtype)
        return out

    def get_config(self):
        """The configuration that an array's metadata stores."""
        return {"id": self.codec_id, **_chunks.said(self.options)}

    def __repr__(self):
        said = ", ".join(f"{name}={value!r}" for name, value in _chunks.said(self.options).items())
        return f"LiftingCodec({said})"


numcodecs.register_codec(LiftingCodec)
