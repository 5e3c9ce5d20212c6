"""Prepared transforms by their arguments: at most `LIMIT` bytes, the least recently used ones are dropped."""

import collections
import math
import threading

#: Bytes that all cached transforms may hold, as estimated from their shapes.
LIMIT = 256 << 20
#: Estimated bytes of a transform: a constant, and for each sample.
_BASE, _EACH = 1 << 16, 4

_store = collections.OrderedDict()
_lock = threading.Lock()
_held = 0


def cached(shape):
    """A decorator for functions that prepare a transform; ``shape`` gives the transform's shape from the arguments."""

    def decorate(make):
        def find(*arguments):
            global _held
            key = (make, arguments)
            with _lock:
                if key in _store:
                    _store.move_to_end(key)
                    return _store[key][0]
            made = make(*arguments)
            cost = _BASE + _EACH * math.prod(shape(*arguments))
            with _lock:
                if key not in _store:
                    _store[key] = (made, cost)
                    _held += cost
                while _held > LIMIT and len(_store) > 1:
                    _held -= _store.popitem(last=False)[1][1]
            return made

        return find

    return decorate


def clear_cache():
    """Drops the transforms that PyWavelets' functions, `lifting.torch`, `lifting.jax` and `lifting.dask` keep for
    arrays of known shapes. Without it they hold 256 MiB at most, besides the most recent one.

    >>> clear_cache()
    """
    global _held
    with _lock:
        _store.clear()
        _held = 0
