"""A codec for Zarr, version 3: chunks as streams of few bytes, lossless or not.

Where this package is installed, Zarr finds it by its name, ``lifting``.

>>> import numpy, zarr, lifting.zarr
>>> x = numpy.add.outer(numpy.arange(200), numpy.arange(100)).astype("uint16")
>>> store = zarr.storage.MemoryStore()
>>> array = zarr.create_array(
...     store, data=x, chunks=(64, 64), serializer=lifting.zarr.LiftingCodec(), compressors=None, filters=None
... )
>>> bool((zarr.open_array(store)[:] == x).all()), array.nbytes_stored() < x.nbytes / 4
(True, True)
"""

from dataclasses import dataclass

from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

from . import _chunks
from ._lifting import LiftingError

__all__ = ["LiftingCodec"]


@dataclass(frozen=True, init=False)
class LiftingCodec(ArrayBytesCodec):
    """Chunks of int8, uint8, int16 or uint16 as streams of `lifting.encode`.

    ``wavelet``, ``psnr``, ``bpp``, ``quality``, ``levels``, ``passes`` and ``fast`` are as there: lossless if nothing is
    said. The last two axes are rows and columns; with ``components=True`` they are the two before the last one.
    """

    options: tuple
    is_fixed_size = False

    def __init__(self, **options):
        object.__setattr__(self, "options", tuple(_chunks.checked(options).items()))

    @classmethod
    def from_dict(cls, data):
        """The codec of an array's metadata."""
        if data.get("name") != "lifting":
            raise LiftingError(f"the codec `lifting` is asked for, and not `{data.get('name')}`")
        return cls(**(data.get("configuration") or {}))

    def to_dict(self):
        """What stands in an array's metadata."""
        said = _chunks.said(dict(self.options))
        return {"name": "lifting", "configuration": said} if said else {"name": "lifting"}

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        """Not known before a chunk is encoded."""
        raise NotImplementedError("streams have no size that is known before")

    def _encode_sync(self, chunk_array, chunk_spec):
        stream = _chunks.to_stream(chunk_array.as_numpy_array(), dict(self.options))
        return chunk_spec.prototype.buffer.from_bytes(stream)

    def _decode_sync(self, chunk_bytes, chunk_spec):
        dtype = chunk_spec.dtype.to_native_dtype()
        chunk = _chunks.of_stream(chunk_bytes.to_bytes(), chunk_spec.shape, dtype)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(chunk)

    async def _encode_single(self, chunk_array, chunk_spec):
        return self._encode_sync(chunk_array, chunk_spec)

    async def _decode_single(self, chunk_bytes, chunk_spec):
        return self._decode_sync(chunk_bytes, chunk_spec)


register_codec("lifting", LiftingCodec)
