"""Type stubs of the native extension; the modules that wrap it document it."""

from collections.abc import Sequence
from typing import Any

__version__: str

_Band = tuple[str, int, list[bool], list[int], list[int], list[int]]

class LiftingError(ValueError): ...
class LanguageError(LiftingError): ...
class DeviceError(RuntimeError): ...

def clear_scratch() -> None: ...
def encode(
    scheme: Scheme,
    samples: Any,
    bits: int,
    signed: bool,
    levels: int,
    target: str,
    value: float,
    passes: int,
    fast: int,
    colour: bool,
    layers: int,
    tile: tuple[int, int] | None,
    component_axis: bool,
    metadata: dict[str, bytes],
) -> bytes: ...
def metadata(stream: bytes) -> dict[str, bytes]: ...
def decode(
    stream: bytes, level: int, layers: int | None, region: tuple[int, int, int, int] | None, most: int
) -> tuple[bytes, tuple[int, int, int], int, bool, bool, bool]: ...
def encode_field(samples: Any, kind: str, shape: tuple[int, ...], bound: float | None, relative: bool) -> bytes: ...
def decode_field(
    stream: bytes, region: tuple[list[int], list[int]] | None, most: int
) -> tuple[bytes, str, list[int]] | None: ...
def encode_jpeg2000(
    samples: Any,
    bits: int,
    signed: bool,
    is_ht: bool,
    is_file: bool,
    levels: int | None,
    target: str,
    value: float,
    colour: bool,
    layers: int,
    tile: tuple[int, int] | None,
) -> bytes: ...
def decode_jpeg2000(
    stream: bytes, level: int, layers: int | None, region: tuple[int, int, int, int] | None, most: int
) -> tuple[bytes, tuple[int, int, int], int, bool, bool, bool]: ...
def transcode_jpeg2000(stream: bytes, is_ht: bool, is_file: bool) -> bytes: ...
def xla_handlers(platform: str) -> dict[str, Any]: ...
def xla_scratch_bytes(
    transform: str,
    wavelet: str,
    rank: int,
    levels: int,
    boundary: str,
    shape: tuple[int, ...],
    sample: str,
    complex: bool,
    gpu: int,
) -> int: ...
def command_line(arguments: list[str]) -> None: ...

class Scheme:
    @staticmethod
    def find(name: str) -> Scheme: ...
    @staticmethod
    def compile(text: str, name: str) -> list[Scheme]: ...
    @staticmethod
    def catalogue() -> list[tuple[str, str, list[str]]]: ...
    name: str
    domain: str
    boundary: str
    docs: str
    profiles: list[str]
    text: str
    filter_length: int
    reach: int
    def filters(self) -> list[tuple[int, list[float]]]: ...
    def condition(self, boundary: str, n: int, origin: int, levels: int) -> float: ...
    def moments(self) -> tuple[int, int, float]: ...
    def show(self, levels: int) -> str: ...
    def svg(self, millimetres: float) -> str: ...

class Bank:
    def __new__(cls, filters: Sequence[Sequence[float]]) -> Bank: ...
    filter_length: int

class Plan:
    def __init__(
        self,
        scheme: Scheme,
        shape: tuple[int, ...],
        levels: list[int],
        dtype: str,
        *,
        boundary: str | None = None,
        axis_order: list[int] | None = None,
        origins: list[int] | None = None,
        profile: str | None = None,
        layout: str = "mallat",
        pad: bool = False,
        tile: list[int] | None = None,
        device: str = "cpu",
        threads: int | None = None,
    ) -> None: ...
    shape: list[int]
    coefficient_shape: list[int]
    boundary: str
    device: str
    def level_shape(self, level: int) -> list[int]: ...
    def subbands(self) -> list[_Band]: ...
    def tiles(self) -> list[tuple[list[int], list[int], list[_Band]]]: ...
    def recipe(self) -> str: ...
    gpu: int | None
    def scratch_bytes(self, name: str, level: int) -> int: ...
    def run(
        self, name: str, source: Any, target: Any, level: int = 0, stream: int | None = None, scratch: int = 0
    ) -> None: ...

class StationaryLevel:
    def __new__(cls, scheme: Scheme, dtype: str) -> StationaryLevel: ...
    def forward(self, data: Any, bands: Any, lines: list[int], gain: float, threads: int) -> None: ...
    def inverse(self, bands: Any, data: Any, lines: list[int], gain: float, threads: int) -> None: ...

class BankStationaryLevel:
    def __new__(cls, bank: Bank, dtype: str) -> BankStationaryLevel: ...
    def forward(self, data: Any, bands: Any, lines: list[int], gain: float, threads: int) -> None: ...
    def inverse(self, bands: Any, data: Any, lines: list[int], gain: float, threads: int) -> None: ...

class BankLevel:
    def __new__(
        cls, bank: Bank, shape: tuple[int, ...], modes: tuple[str | None, ...], dtype: str, of_bands: bool
    ) -> BankLevel: ...
    band_shape: list[int]
    extended_shape: list[int]
    restored_shape: list[int]
    first: list[int]
    offsets: list[list[int]]
    def forward(self, data: Any, target: Any) -> None: ...
    def inverse(self, bands: list[Any], target: Any) -> None: ...
    def adjoint(self, bands: list[Any], target: Any) -> None: ...
    def inverse_adjoint(self, data: Any, target: Any) -> None: ...

class Level:
    def __init__(
        self,
        scheme: Scheme,
        shape: tuple[int, ...],
        modes: tuple[str | None, ...],
        dtype: str,
        of_bands: bool = False,
        threads: int = 1,
    ) -> None: ...
    band_shape: list[int]
    extended_shape: list[int]
    restored_shape: list[int]
    first: list[int]
    offsets: list[list[int]]
    def forward(self, data: Any, target: Any) -> None: ...
    def inverse(self, bands: list[Any], target: Any) -> None: ...
    def adjoint(self, bands: list[Any], target: Any) -> None: ...
    def inverse_adjoint(self, data: Any, target: Any) -> None: ...
