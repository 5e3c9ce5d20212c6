"""LRU cache of prepared transforms and of results about them: keyed by arguments, at most `LIMIT` bytes."""

import collections
import math
import threading

from . import _lifting

#: Bytes that all cached objects may hold, as estimated from their shapes.
LIMIT = 256 << 20
#: Estimated bytes of a transform: a constant, and the bytes per sample.
_BASE, _EACH = 1 << 16, 4
#: Estimated bytes of an object without samples.
_SMALL = 1 << 10

#: Objects by the arguments of calls, at most 256, for look-ups that should take no time.
quick = {}

_store = collections.OrderedDict()
_lock = threading.Lock()
_held = 0


def cached(shape=None):
    """A decorator for functions that prepare a transform; ``shape`` maps the arguments to the transform's shape.

    Without ``shape``, the function returns a small object.
    """

    def decorate(make):
        def find(*arguments):
            global _held
            key = (make, arguments)
            with _lock:
                if key in _store:
                    _store.move_to_end(key)
                    return _store[key][0]
            made = make(*arguments)
            cost = _SMALL if shape is None else _BASE + _EACH * math.prod(shape(*arguments))
            with _lock:
                if key not in _store:
                    _store[key] = (made, cost)
                    _held += cost
                while _held > LIMIT and len(_store) > 1:
                    _held -= _store.popitem(last=False)[1][1]
            return made

        return find

    return decorate


def remember(key, made):
    """Stores an object in `quick`."""
    if len(quick) >= 256:
        quick.clear()
    quick[key] = made


def clear_cache() -> None:
    """Frees cached transforms of PyWavelets' functions, `lifting.torch`, `lifting.jax` and `lifting.dask`.

    Conditions of plans and sub-bands of tensors are in the same cache.

    The cache holds at most 256 MiB, besides the latest transform. Scratch memory is bounded as well: 256 MiB for all
    transforms together, and 256 MiB for each thread that has called a function; that of other threads is freed at
    their end. Transforms of JAX on GPUs stay, as compiled functions refer to them.

    >>> clear_cache()
    """
    global _held
    with _lock:
        _store.clear()
        _held = 0
    quick.clear()
    _lifting.clear_scratch()
