"""LRU cache of prepared transforms: keyed by arguments, at most `LIMIT` bytes."""

import collections
import math
import threading

#: Bound on the bytes of all cached transforms, estimated from their shapes.
LIMIT = 256 << 20
#: Estimated bytes of a transform: a constant, and the bytes per sample.
_BASE, _EACH = 1 << 16, 4

_store = collections.OrderedDict()
_lock = threading.Lock()
_held = 0


def cached(shape):
    """A decorator for functions that prepare a transform; ``shape`` maps the arguments to the transform's shape."""

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
    """Drops the cached transforms of PyWavelets' functions, `lifting.torch`, `lifting.jax` and `lifting.dask`.

    The cache holds at most 256 MiB, or only the most recent transform if that one is larger.

    >>> clear_cache()
    """
    global _held
    with _lock:
        _store.clear()
        _held = 0
