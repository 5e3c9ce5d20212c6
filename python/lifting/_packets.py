"""Wavelet packets: trees that also decompose details."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._dwt import as_samples, dwt, dwt_max_level, dwtn, idwt, idwtn
from ._types import ModeLike, ModesLike, WaveletLike, Wavelets
from ._wavelet import as_wavelet


def _gray(level, low, high):
    """Paths of a level in order of frequency."""
    paths = [""]
    for _ in range(level):
        paths = [low + path for path in paths] + [high + path for path in reversed(paths)]
    return paths


class BaseNode:
    """A node of a packet tree: its data and its child nodes, which are made on demand.

    ``node[path]`` is the node at a path, ``del node[path]`` removes it, and ``node[path] = data`` sets its data.

    Parameters
    ----------
    parent : BaseNode or None
        Parent; None for the root.
    data : array_like or None
        Data.
    node_name : str
        Last step of the path.
    """

    #: Names of the child nodes.
    PARTS: tuple[str, ...] = ()
    #: Number of letters in a step of a path.
    PART_LEN = 1

    def __init__(self, parent: "BaseNode | None", data: ArrayLike | None, node_name: str) -> None:
        self._nodes = {}
        self.parent = parent
        self.data: Any = data
        self._data_shape = None if data is None else np.shape(data)
        if parent is None:
            self.wavelet = self.mode = self.axes = self._maxlevel = None
            self.path: str = ""
            self.level: int = 0
        else:
            self.wavelet, self.mode, self.axes = parent.wavelet, parent.mode, parent.axes
            self._maxlevel = parent.maxlevel
            self.path, self.level = parent.path + node_name, parent.level + 1

    def __getattr__(self, name: str) -> Any:
        # Children are attributes, None until they are made.
        if name in type(self).PARTS:
            return self.__dict__.get("_nodes", {}).get(name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def _keys(self):
        """Map from child names to the keys of `dwtn`."""
        raise NotImplementedError

    def _new(self, part, data):
        """A new child node, of the class for all nodes except the root."""
        raise NotImplementedError

    def _check(self, part):
        if part not in self.PARTS:
            raise ValueError(f"child nodes must be named {', '.join(self.PARTS)}, not {part!r}")

    @property
    def node_name(self) -> str:
        """The last step of the path."""
        return self.path[len(self.path) - self.PART_LEN :] if self.path else ""

    @property
    def path_tuple(self) -> tuple[str, ...]:
        """The path as a tuple of steps."""
        return tuple(self.path[i : i + self.PART_LEN] for i in range(0, len(self.path), self.PART_LEN))

    @property
    def is_empty(self) -> bool:
        """Whether the node has no data."""
        return self.data is None

    @property
    def has_any_subnode(self) -> bool:
        """Whether the node has children."""
        return bool(self._nodes)

    @property
    def maxlevel(self) -> Any:
        """The largest level of the tree."""
        if self._maxlevel is None:
            self._maxlevel = self._find_maxlevel(up=True)
        if self._maxlevel is None:
            self._maxlevel = self._find_maxlevel(up=False)
        return self._maxlevel

    def _find_maxlevel(self, up):
        if self._maxlevel is not None:
            return self._maxlevel
        if self.data is not None:
            return self.level + dwt_max_level(min(np.shape(self.data)), self.wavelet)
        others = ([self.parent] if self.parent is not None else []) if up else self._nodes.values()
        found = (other._find_maxlevel(up) for other in others)
        return next((level for level in found if level is not None), None)

    def _axes(self):
        return (self.axes,) if np.isscalar(self.axes) else self.axes

    def decompose(self) -> tuple[Any, ...]:
        """Makes the children by one level of analysis and returns them."""
        if self.maxlevel is not None and self.level >= self.maxlevel:
            raise ValueError(f"node {self.path!r} cannot be decomposed: it is at the last level, {self.maxlevel}")
        bands, axes = {}, self._axes()
        if not self.is_empty:
            if len(axes) == 1:
                bands = dict(zip("ad", dwt(self.data, self.wavelet, self.mode, axes[0])))
            else:
                bands = dwtn(self.data, self.wavelet, self.mode, axes)
        for part, key in self._keys().items():
            self._nodes[part] = self._new(part, bands.get(key))
        return tuple(self._nodes[part] for part in self.PARTS)

    def reconstruct(self, update: bool = False) -> Any:
        """The node's data, by synthesis from its children if it has any; ``update`` also stores the result.

        Parameters
        ----------
        update : bool, optional
            Whether the node also stores the result.

        Returns
        -------
        numpy.ndarray
            Data.
        """
        if not self.has_any_subnode:
            return self.data
        bands = {key: self._nodes[part].reconstruct() for part, key in self._keys().items() if part in self._nodes}
        bands = {key: band for key, band in bands.items() if band is not None}
        if not bands:
            raise ValueError(f"node {self.path!r} cannot be reconstructed: none of its children has data")
        axes = self._axes()
        if len(axes) == 1:
            data = idwt(bands.get("a"), bands.get("d"), self.wavelet, self.mode, axes[0])
        else:
            data = idwtn(bands, self.wavelet, self.mode, axes)
        if self._data_shape is not None and data.shape != self._data_shape:
            data = data[tuple(slice(n) for n in self._data_shape)]
        if update:
            self.data = data
        return data

    def get_subnode(self, part: str, decompose: bool = True) -> Any:
        """The child of that name; None if it has not been made and ``decompose`` is false.

        Parameters
        ----------
        part : str
            Name of the child.
        decompose : bool, optional
            Whether missing nodes are made.

        Returns
        -------
        BaseNode or None
            The child.
        """
        self._check(part)
        if part not in self._nodes and decompose and not self.is_empty:
            self.decompose()
        return self._nodes.get(part)

    def _split(self, path):
        if isinstance(path, tuple) and all(isinstance(step, str) for step in path):
            path = "".join(path)
        if not isinstance(path, str):
            raise TypeError(f"a path must be a string or a tuple of strings, not {path!r}")
        return path[: self.PART_LEN], path[self.PART_LEN :]

    def __getitem__(self, path: str | tuple[str, ...]) -> Any:
        part, rest = self._split(path)
        if not part:
            return self
        if self.maxlevel is not None and len(part + rest) > self.maxlevel * self.PART_LEN:
            raise IndexError(f"path {part + rest!r} goes below the last level, {self.maxlevel}")
        node = self.get_subnode(part)
        if node is None:
            raise TypeError(f"node {self.path + part!r} is missing: it was removed, or its parent has no data")
        return node[rest]

    def __setitem__(self, path: str | tuple[str, ...], data: Any) -> None:
        part, rest = self._split(path)
        if part:
            if self.maxlevel is not None and len(self.path + part + rest) > self.maxlevel * self.PART_LEN:
                raise IndexError(f"path {self.path + part + rest!r} goes below the last level, {self.maxlevel}")
            self._check(part)
            if part not in self._nodes:
                self._nodes[part] = self._new(part, None)
            self._nodes[part][rest] = data
            return
        self.data = as_samples(data.data if isinstance(data, BaseNode) else data)

    def __delitem__(self, path: str | tuple[str, ...]) -> None:
        node = self[path]
        parent, node.parent = node.parent, None
        if parent is not None and node.node_name:
            del parent._nodes[node.node_name]

    def get_leaf_nodes(self, decompose: bool = False) -> list[Any]:
        """Nodes without children, from left to right; with ``decompose``, all nodes of the last level.

        Parameters
        ----------
        decompose : bool, optional
            Whether missing nodes are made.

        Returns
        -------
        list of BaseNode
            Nodes.
        """
        leaves = []

        def collect(node):
            last = node.level == node.maxlevel and not node.is_empty
            if last or (not decompose and not node.has_any_subnode):
                leaves.append(node)
                return False
            return True

        self.walk(collect, decompose=decompose)
        return leaves

    def _below(self, decompose):
        if self.level < self.maxlevel:
            nodes = (self.get_subnode(part, decompose) for part in self.PARTS)
            yield from (node for node in nodes if node is not None)

    def walk(
        self,
        func: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        decompose: bool = True,
    ) -> None:
        """Calls ``func(node, *args, **kwargs)`` for every node, parents first; descends only where it returns True.

        Parameters
        ----------
        func : callable
            Function of a node and of the further arguments.
        args : sequence, optional
            Further arguments.
        kwargs : dict, optional
            Further keyword arguments.
        decompose : bool, optional
            Whether missing nodes are made.
        """
        if func(self, *args, **(kwargs or {})):
            for node in self._below(decompose):
                node.walk(func, args, kwargs, decompose)

    def walk_depth(
        self,
        func: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        decompose: bool = True,
    ) -> None:
        """Calls ``func(node, *args, **kwargs)`` for every node, children first.

        Parameters
        ----------
        func : callable
            Function of a node and of the further arguments.
        args : sequence, optional
            Further arguments.
        kwargs : dict, optional
            Further keyword arguments.
        decompose : bool, optional
            Whether missing nodes are made.
        """
        for node in self._below(decompose):
            node.walk_depth(func, args, kwargs, decompose)
        func(self, *args, **(kwargs or {}))

    def __str__(self):
        return f"{self.path}: {self.data}"


class Node(BaseNode):
    """A node along one axis, with children ``a`` and ``d``."""

    A, D = PARTS = ("a", "d")

    def _keys(self):
        return {"a": "a", "d": "d"}

    def _new(self, part, data):
        return Node(self, data, part)


class Node2D(BaseNode):
    """A node along two axes, with children ``a``, ``h``, ``v``, ``d``."""

    LL, HL, LH, HH = PARTS = ("a", "h", "v", "d")

    def _keys(self):
        return {"a": "aa", "h": "da", "v": "ad", "d": "dd"}

    def _new(self, part, data):
        return Node2D(self, data, part)

    def expand_2d_path(self, path: str) -> tuple[str, ...]:
        """The path split into row and column frequencies: ``l`` or ``h`` for each step.

        Parameters
        ----------
        path : str
            Path.

        Returns
        -------
        tuple of str
            Rows and columns.
        """
        letters = {"a": "ll", "h": "hl", "v": "lh", "d": "hh"}
        return tuple("".join(letters[step][i] for step in path) for i in (0, 1))


class NodeND(BaseNode):
    """A node along several axes; a child's name has a letter ``a`` or ``d`` per axis.

    Parameters
    ----------
    parent : BaseNode or None
        Parent; None for the root.
    data : array_like or None
        Data.
    node_name : str
        Last step of the path.
    ndim : int
        Number of axes.
    ndim_transform : int
        Number of transformed axes.
    """

    def __init__(
        self, parent: "BaseNode | None", data: ArrayLike | None, node_name: str, ndim: int, ndim_transform: int
    ) -> None:
        self.ndim = ndim
        self.ndim_transform = ndim_transform
        self.PART_LEN = ndim_transform
        self.PARTS = tuple("".join(key) for key in itertools.product("ad", repeat=ndim_transform))
        super().__init__(parent, data, node_name)

    def _keys(self):
        return {part: part for part in self.PARTS}

    def _new(self, part, data):
        return NodeND(self, data, part, self.ndim, self.ndim_transform)


class _Tree:
    """Extra methods of a root node."""

    def _begin(self, data, wavelet, mode, maxlevel, axes):
        self.wavelet, self.mode, self.axes = as_wavelet(wavelet), mode, axes
        self.data_size = None
        if data is not None:
            shape = np.shape(data)
            self.data_size = shape
            if maxlevel is None:
                maxlevel = dwt_max_level(min(shape[axis] for axis in self._axes()), self.wavelet)
        self._maxlevel = maxlevel

    def reconstruct(self, update: bool = True) -> Any:
        """The data, by synthesis from the tree if it has nodes.

        Parameters
        ----------
        update : bool, optional
            Whether the tree also stores the result.

        Returns
        -------
        numpy.ndarray
            Data.
        """
        data = super().reconstruct(False)
        if self.has_any_subnode:
            if self.data_size is not None and data.shape != self.data_size:
                data = data[tuple(slice(n) for n in self.data_size)]
            if update:
                self.data = data
        return data

    def _collect(self, level, decompose):
        if level > self.maxlevel:
            raise ValueError(f"invalid level {level}: the tree has at most {self.maxlevel}")
        nodes = []

        def collect(node):
            if node.level == level:
                nodes.append(node)
            return node.level != level

        self.walk(collect, decompose=decompose)
        return nodes

    def __reduce__(self):
        return (type(self), (self.data, self.wavelet, self.mode, self.maxlevel, self.axes))


def _order(order):
    if order not in ("natural", "freq"):
        raise ValueError(f"unknown order {order!r}; choose natural or freq")
    return order


class WaveletPacket(_Tree, Node):
    """Wavelet packets of data along an axis.

    Parameters
    ----------
    data : array_like or None
        Data, or None for an empty tree.
    wavelet : str or Wavelet
        Wavelet.
    mode : str or int, optional
        Extension of the data at its ends, one of `Modes.modes`.
    maxlevel : int, optional
        Largest level, by default the largest useful one.
    axis : int, optional
        Axis to transform.

    Examples
    --------
    >>> packets = WaveletPacket([1, 2, 3, 4, 5, 6, 7, 8], "db1")
    >>> packets["aa"].data.round(6).tolist(), [node.path for node in packets.get_level(2, "freq")]
    ([5.0, 13.0], ['aa', 'ad', 'dd', 'da'])
    """

    def __init__(
        self,
        data: ArrayLike | None,
        wavelet: WaveletLike,
        mode: ModeLike = "symmetric",
        maxlevel: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(None, data, "")
        if data is not None:
            ndim = np.ndim(data)
            if not -ndim <= axis < ndim:
                raise ValueError(f"axis {axis} is out of range for data with {ndim} dimensions")
            axis %= ndim
        self._begin(data, wavelet, mode, maxlevel, axis)

    def _axes(self):
        return (self.axes,)

    def get_level(self, level: int, order: Literal['natural', 'freq'] = "natural", decompose: bool = True) -> list[Any]:
        """Nodes of a level, in the order of paths or of frequencies; ``decompose`` makes missing ones.

        Parameters
        ----------
        level : int
            Level; 0 is the root.
        order : {'natural', 'freq'}, optional
            Order of paths, or of frequencies.
        decompose : bool, optional
            Whether missing nodes are made.

        Returns
        -------
        list
            Nodes.
        """
        order = _order(order)
        nodes = self._collect(level, decompose)
        if order == "natural":
            return nodes
        by_path = {node.path: node for node in nodes}
        return [by_path[path] for path in _gray(level, "a", "d") if path in by_path]


class WaveletPacket2D(_Tree, Node2D):
    """Wavelet packets of data along two axes.

    Parameters
    ----------
    data : array_like or None
        Data, or None for an empty tree.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    maxlevel : int, optional
        Largest level, by default the largest useful one.
    axes : pair of int, optional
        The two axes to transform.
    """

    def __init__(
        self,
        data: ArrayLike | None,
        wavelet: Wavelets,
        mode: ModesLike = "smooth",
        maxlevel: int | None = None,
        axes: Sequence[int] = (-2, -1),
    ) -> None:
        super().__init__(None, data, "")
        axes = tuple(axes)
        if len(axes) != 2 or len(set(axes)) != 2:
            raise ValueError(f"expected two different axes, not {axes}")
        if data is not None and np.ndim(data) < 2:
            raise ValueError(f"data must have at least two axes, not {np.ndim(data)}")
        self._begin(data, wavelet, mode, maxlevel, axes)

    def get_level(self, level: int, order: Literal['natural', 'freq'] = "natural", decompose: bool = True) -> list[Any]:
        """Nodes of a level: a list in the order of paths, or a list of rows in the order of frequencies.

        Parameters
        ----------
        level : int
            Level; 0 is the root.
        order : {'natural', 'freq'}, optional
            Order of paths, or of frequencies.
        decompose : bool, optional
            Whether missing nodes are made.

        Returns
        -------
        list
            Nodes.
        """
        order = _order(order)
        nodes = self._collect(level, decompose)
        if order == "natural":
            return nodes
        by_path = {self.expand_2d_path(node.path): node for node in nodes}
        paths = _gray(level, "l", "h")
        rows = [[by_path[row, column] for column in paths if (row, column) in by_path] for row in paths]
        return [row for row in rows if row]


class WaveletPacketND(_Tree, NodeND):
    """Wavelet packets of data along several axes.

    Parameters
    ----------
    data : array_like or None
        Data, or None for an empty tree.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    maxlevel : int, optional
        Largest level, by default the largest useful one.
    axes : sequence of int, optional
        Axes to transform, all by default.
    """

    def __init__(
        self,
        data: ArrayLike | None,
        wavelet: Wavelets,
        mode: ModesLike = "smooth",
        maxlevel: int | None = None,
        axes: int | Sequence[int] | None = None,
    ) -> None:
        if data is None and axes is None:
            raise ValueError("data and axes are both None: give at least one of them")
        if data is not None and np.ndim(data) == 0:
            raise ValueError("data must have at least one axis")
        axes = tuple(range(np.ndim(data)) if axes is None else (axes,) if np.isscalar(axes) else axes)
        if len(set(axes)) != len(axes):
            raise ValueError(f"axes {axes} name an axis twice")
        if data is not None and np.ndim(data) < len(axes):
            raise ValueError(f"{len(axes)} axes for data with {np.ndim(data)} dimensions")
        super().__init__(None, data, "", len(axes) if data is None else np.ndim(data), len(axes))
        self._begin(data, wavelet, mode, maxlevel, axes)

    def get_level(self, level: int, decompose: bool = True) -> list[Any]:
        """Nodes of a level, in the order of paths; ``decompose`` makes missing ones.

        Parameters
        ----------
        level : int
            Level; 0 is the root.
        decompose : bool, optional
            Whether missing nodes are made.

        Returns
        -------
        list
            Nodes.
        """
        return self._collect(level, decompose)
