"""Uses every public name with types, for static type checkers; `test_types.py` runs it, and mypy on it."""

import tempfile
from typing import Any

import lifting
import numpy as np
from numpy.typing import NDArray

x: NDArray[np.float64] = np.arange(16.0)
image: NDArray[np.float64] = np.add.outer(x, x)
wavelet: lifting.Wavelet = lifting.Wavelet("db2")
bank: lifting.Wavelet = lifting.Wavelet("mine", filter_bank=wavelet.filter_bank)

# One level, several levels, and what their coefficients are.
low, high = lifting.dwt(x, "db2", mode="reflect", axis=-1)
back: NDArray[Any] = lifting.idwt(low, high, wavelet, "reflect")
cA, (cH, cV, cD) = lifting.dwt2(image, [wavelet, "haar"])
back = lifting.idwt2((cA, (cH, None, cD)), ["db2", "haar"], ["symmetric", 1])
bands: dict[str, NDArray[Any]] = lifting.dwtn(image.tolist(), bank, axes=(0, 1))
back = lifting.idwtn({"aa": bands["aa"], "ad": None}, bank)
coeffs: list[NDArray[Any]] = lifting.wavedec(x, "db2", level=1)
back = lifting.waverec(coeffs, "db2")
back = lifting.waverec2(lifting.wavedec2(image, "db2", level=1), "db2")
tree: list[Any] = lifting.wavedecn(image, "db2", level=1)
back = lifting.waverecn(tree, "db2")
array, slices = lifting.coeffs_to_array(tree)
tree = lifting.array_to_coeffs(array, slices, output_format="wavedecn")
line, slices, shapes = lifting.ravel_coeffs(tree)
tree = lifting.unravel_coeffs(line, slices, shapes)
size: int = lifting.wavedecn_size(lifting.wavedecn_shapes((16, 16), "db2", level=1))
size = lifting.dwt_max_level(16, "db2") + lifting.dwtn_max_level((16, 16), "db2") + lifting.swt_max_level(16)
size += lifting.dwt_coeff_len(16, wavelet, "zero")
back = lifting.downcoef("a", x, "db2") + lifting.upcoef("d", x, "db2")[:9]
back = lifting.pad(x, (1, 2), "smooth")
separable: lifting.FswavedecnResult = lifting.fswavedecn(image, "haar", levels=(1, 2))
back = lifting.fswaverecn(separable) + separable[0, 0].sum()
names: list[str] = separable.wavelet_names

# Stationary transforms, analyses, thresholds, and packets.
back = lifting.iswt(lifting.swt(x, "db2", level=1), "db2")
back = lifting.iswt2(lifting.swt2(image, "db2", 1, norm=True), "db2", norm=True)
back = lifting.iswtn(lifting.swtn(image, "db2", 1, trim_approx=True), "db2")
back = lifting.imra(lifting.mra(x, "db2", 1))
back = lifting.imra2(lifting.mra2(image, "db2", 1)) + lifting.imran(lifting.mran(image, "db2", 1))
back = lifting.threshold(x, 3.0, "garrote") + lifting.threshold_firm(x, 1.0, 2.0)
packets = lifting.WaveletPacket(x, "db2", maxlevel=2)
node: lifting.BaseNode = packets["a"]
back = packets.reconstruct()
leaves: list[Any] = packets.get_level(2, "freq")
packets_2d, packets_nd = lifting.WaveletPacket2D(image, "db2"), lifting.WaveletPacketND(image, "db2")
kinds: tuple[type[lifting.BaseNode], ...] = (lifting.Node, lifting.Node2D, lifting.NodeND)
leaves = packets_2d.get_level(1) + packets_nd.get_level(1)

# Continuous and complex transforms.
continuous = lifting.ContinuousWavelet("cmor1.5-1.0")
transformed, frequencies = lifting.cwt(x, [1, 2, 4], continuous)
back = lifting.icwt(transformed, [1, 2, 4], continuous)
number: float = lifting.central_frequency("morl")
either: lifting.Wavelet | lifting.ContinuousWavelet = lifting.DiscreteContinuousWavelet("mexh")
scale = lifting.frequency2scale("morl", lifting.scale2frequency("morl", 2.0))
integral = lifting.integrate_wavelet("db2")
pyramid: lifting.Pyramid = lifting.dtcwt(image, level=2)
back = lifting.idtcwt(pyramid)
operator = lifting.WaveletOperator((16, 16), "db2", level=1)
back = operator.rmatvec(operator.matvec(image.ravel()))

# Plans and pictures.
plan = lifting.Plan((16, 16), "cdf97", levels=2, dtype="float64")
plan.band(plan.forward(image), "HL1")[...] = 0
band: lifting.Subband = plan["HL1"]
tiles: list[lifting.Tile] = plan.tiles
shape: tuple[int, ...] = plan.level_shape(1)
mixed = lifting.MixedPlan((16, 16), ("haar", ["db2", "haar"]), levels=2, dtype="float64")
back = mixed.inverse(mixed.forward(image))
stream: bytes = lifting.encode(image.astype("uint8"))
blocks: dict[str, bytes] = lifting.metadata(stream)
picture: NDArray[Any] = lifting.decode(lifting.transcode(lifting.encode(image.astype("uint8"), format="jp2"), "jph"))

# Wavelets.
compiled = lifting.wavelet("wavelet mine { domain integer; odd -= even[0]; even += (odd[0] + 1) >> 1; }")
text: str = compiled.text + lifting.show("db2") + lifting.plot("db2").svg + lifting.factor("db2").text
with tempfile.TemporaryDirectory() as folder:
    paths = lifting.emit("dd137", folder, emit="c")
filters = lifting.orthogonal_filter_bank(lifting.qmf(wavelet.dec_lo))
entries: dict[str, tuple[str, list[str]]] = lifting.catalogue()
names = lifting.families() + lifting.wavelist(kind="discrete") + lifting.Modes.modes
mode: lifting.Modes = lifting.Modes.from_object("symmetric")
signal: Any = lifting.data.camera()
before: int = lifting.set_threads(1)
lifting.set_threads(before)
lifting.clear_cache()
try:
    lifting.Wavelet("db99")
except (lifting.LanguageError, lifting.DeviceError, lifting.LiftingError) as error:
    text = str(error)
old = (lifting.intwave, lifting.centrfrq, lifting.scal2frq, lifting.orthfilt)
