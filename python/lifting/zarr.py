"""A codec for Zarr version 3: chunks as compressed streams, lossless or lossy.

Zarr finds the installed codec by its name, ``lifting``.

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
    """Compresses chunks by `lifting.encode`.

    Chunks of floats, and of integers of more than 16 bits, take the option ``max_error`` only: the largest absolute
    error of a sample, or a share of each chunk's range such as ``"0.1%"``; they are lossless without it. With
    ``max_error``, so do other integers. Chunks of int8, uint8, int16 and uint16 are pictures otherwise:
    ``wavelet``, ``psnr``, ``bpp``, ``quality``, ``levels``, ``passes`` and ``fast`` are its options; the default is
    lossless. The last two axes are rows and columns. With ``components=True``, the last axis holds components, and the
    two axes before it are rows and columns.
    """

    options: tuple
    is_fixed_size = False

    def __init__(self, **options):
        object.__setattr__(self, "options", tuple(_chunks.checked(options).items()))

    @classmethod
    def from_dict(cls, data):
        """The codec of an array's metadata."""
        if data.get("name") != "lifting":
            raise LiftingError(f"the metadata names the codec `{data.get('name')}`, not `lifting`")
        return cls(**(data.get("configuration") or {}))

    def to_dict(self):
        """The name and configuration that an array's metadata stores."""
        said = _chunks.said(dict(self.options))
        return {"name": "lifting", "configuration": said} if said else {"name": "lifting"}

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        """Unsupported: the size is unknown until a chunk is encoded."""
        raise NotImplementedError("the size of a stream is unknown until its chunk is encoded")

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
