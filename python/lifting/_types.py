"""Types of arguments and results."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import NDArray


class SupportsFilterBank(Protocol):
    """A wavelet of this package or of PyWavelets."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def filter_bank(self) -> Any:
        """Filters ``dec_lo, dec_hi, rec_lo, rec_hi``."""


Array: TypeAlias = NDArray[Any]
WaveletLike: TypeAlias = str | SupportsFilterBank
#: A wavelet, or one for each axis.
Wavelets: TypeAlias = WaveletLike | Sequence[WaveletLike]
ModeLike: TypeAlias = str | int
#: A mode, or one for each axis.
ModesLike: TypeAlias = ModeLike | Sequence[ModeLike]
#: Bands by key, such as ``ad``.
Bands: TypeAlias = dict[str, Array]
SomeBands: TypeAlias = Mapping[str, Any]
#: Coefficients of a level of a two-dimensional transform.
Level2D: TypeAlias = tuple[Array, tuple[Array, Array, Array]]
Details2D: TypeAlias = tuple[Array, Array, Array]
Format: TypeAlias = Literal["wavedec", "wavedec2", "wavedecn", "swt", "swt2", "swtn"]
