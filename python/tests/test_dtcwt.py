"""Dual-tree complex wavelet transforms: values by their definition, of the `dtcwt` package, and properties."""

import itertools
import logging
import pathlib
import pickle
import re
import types

import lifting
import numpy as np
import pytest
from lifting._dtcwt_banks import FIRST, LATER
from needs import need, need_gpu

PLAIN = [bank for bank in (*FIRST, *LATER) if not bank.endswith("_bp")]
#: Every bank at least once.
PAIRS = [(biort, "qshift_a") for biort in FIRST] + [("near_sym_a", qshift) for qshift in LATER if qshift != "qshift_a"]
PLAIN_PAIRS = [pair for pair in PAIRS if set(pair) <= set(PLAIN)]
SHAPES = {1: (26,), 2: (10, 13), 3: (6, 8, 10)}

#: Digests of `integers` with these shapes, 3 levels, by version 0.14.0 of the `dtcwt` package.
DIGESTS = {
    ("antonini", "qshift_a"): (
        *(-33.190017674935 - 17.913214824601j, -50.275851738083 - 10.720671533395j),
        5.008718302236 - 99.423280198418j,
    ),
    ("legall", "qshift_a"): (
        *(-40.086220200648 - 20.584484172997j, -63.99604491634 - 12.022158228642j),
        15.048563270901 - 111.103229778682j,
    ),
    ("near_sym_a", "qshift_a"): (
        *(-37.057763249306 - 17.666720355929j, -52.688718165821 - 11.551937125169j),
        -9.818603266819 - 75.405998432388j,
    ),
    ("near_sym_b", "qshift_a"): (
        *(-30.981052146058 - 15.33849944813j, -46.921883143563 - 14.223062141426j),
        -1.869731507503 - 96.96062262887j,
    ),
    ("near_sym_b_bp", "qshift_a"): (None, -47.869034210124 - 13.393601758381j, None),
    ("near_sym_a", "qshift_06"): (
        *(-37.194669928541 - 18.562291965938j, -50.882746247412 - 8.732580033914j),
        -14.031328975778 - 80.143871684264j,
    ),
    ("near_sym_a", "qshift_b"): (
        *(-37.559493996391 - 16.251744768831j, -55.045585621208 - 11.686764757222j),
        -6.342373618799 - 68.187359544666j,
    ),
    ("near_sym_a", "qshift_c"): (
        *(-11.133350282387 - 0.096716636164j, 1.183371825133 - 5.789005650748j),
        -61.271855236046 + 93.132821813069j,
    ),
    ("near_sym_a", "qshift_d"): (
        *(-37.058814422728 - 15.983026385505j, -55.824283608089 - 12.556562430666j),
        -3.952172360894 - 65.562030448168j,
    ),
    ("near_sym_a", "qshift_b_bp"): (None, -49.364854922744 - 4.406624000857j, None),
}


def noise(*shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def integers(*shape):
    i = np.arange(np.prod(shape))
    return ((7 * i * i + 3 * i) % 23 - 11.0).reshape(shape)


def close(ours, theirs, bound=1e-12):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert abs(ours - theirs).max(initial=0) <= bound * max(1, abs(theirs).max(initial=0))


def close_pyramids(ours, theirs, bound=1e-12):
    close(ours.lowpass, theirs.lowpass, bound)
    for a, b in zip((*ours.highpasses, *ours.scales), (*theirs.highpasses, *(theirs.scales or ())), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            close(a, b, bound)


# The definition, sample by sample.


def at(line, position):
    """A sample of the half-sample symmetric extension."""
    position %= 2 * len(line)
    return line[min(position, 2 * len(line) - 1 - position)]


def first(line, bank, band):
    """A band of the first level along a line."""
    if len(line) % 2:
        line = [*line, line[-1]]
    taps = FIRST[bank]["lhd".index(band)]
    reach = len(taps) - 1
    return [sum(taps[reach - abs(k)] * at(line, i + k) for k in range(-reach, reach + 1)) for i in range(len(line))]


def later(line, bank, band):
    """A band of a later level along a line: even and odd samples are two trees."""
    if len(line) % 4:
        line = [line[0], *line, line[-1]]
    low, *diagonal = LATER[bank]
    m = len(low)
    h0a, h1a = low, [(-1) ** k * low[m - 1 - k] for k in range(m)]
    taps = {"l": h0a, "h": h1a, "d": diagonal[0] if diagonal else None}[band]
    pairs = []
    for i in range(len(line) // 4):
        even = sum(taps[m - 1 - j] * at(line, 4 * i + m - 2 * j) for j in range(m))
        odd = sum(taps[j] * at(line, 4 * i + m - 2 * j + 1) for j in range(m))
        pairs += [even, odd] if band == "l" else [odd, even]
    return pairs


def combined(y):
    """Complex sub-bands of a real band: Selesnick, Baraniuk and Kingsbury 2005; Chen and Kingsbury, IEEE Trans. Image
    Process. 21 (2012), equations 6 to 9."""
    if y.ndim == 1:
        return [y[0::2] + 1j * y[1::2]]
    if y.ndim == 2:
        a, b, c, d = y[0::2, 0::2], y[0::2, 1::2], y[1::2, 0::2], y[1::2, 1::2]
        p, q = (a + 1j * b) / 2**0.5, (d - 1j * c) / 2**0.5
        return [p - q, p + q]
    a, e, b, f, c, g, d, h = (y[i::2, j::2, k::2] for i, j, k in itertools.product((0, 1), repeat=3))
    return [
        ((a - g - d - f) + 1j * (b - h + c + e)) / 2,
        ((a - g + d + f) + 1j * (-b + h + c + e)) / 2,
        ((a + g + d - f) + 1j * (b + h - c + e)) / 2,
        ((a + g - d + f) + 1j * (-b - h - c + e)) / 2,
    ]


def definition(x, level, biort, qshift):
    """Coefficients of all axes."""
    highpasses, scales = [], []
    for number in range(level):
        bank, filtered = (qshift, later) if number else (biort, first)

        def band(key):
            y = x
            for axis, letter in enumerate(key):
                y = np.apply_along_axis(filtered, axis, y, bank, letter)  # noqa: B023
            return y

        if x.ndim == 2:
            diagonal = combined(band("dd" if bank.endswith("_bp") else "hh"))
            horizontal, vertical = combined(band("hl")), combined(band("lh"))
            made = [horizontal[0], diagonal[0], *vertical, diagonal[1], horizontal[1]]
        else:
            keys = ["h"] if x.ndim == 1 else ["lhl", "hll", "hhl", "llh", "lhh", "hlh", "hhh"]
            made = [z for key in keys for z in combined(band(key))]
        highpasses.append(made[0] if x.ndim == 1 else np.stack(made, -1))
        x = band("l" * x.ndim)
        scales.append(x)
    return lifting.Pyramid(x, tuple(highpasses), tuple(scales))


@pytest.mark.parametrize(("biort", "qshift"), PAIRS)
@pytest.mark.parametrize("dims", SHAPES)
def test_definition(dims, biort, qshift):
    if dims != 2 and (biort, qshift) not in PLAIN_PAIRS:
        pytest.skip("banks with a filter for diagonals are for two axes")
    x = noise(*SHAPES[dims])
    close_pyramids(lifting.dtcwt(x, 3, biort, qshift, include_scale=True), definition(x, 3, biort, qshift))


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (4,), (6,), (62,), (64,), (67,), (1, 1), (2, 5), (3, 36)])
def test_definition_of_other_sizes(shape):
    x = noise(*shape)
    for level in (1, 2, 5):
        made = lifting.dtcwt(x, level, "near_sym_b", "qshift_d", include_scale=True)
        close_pyramids(made, definition(x, level, "near_sym_b", "qshift_d"))


@pytest.mark.parametrize(("biort", "qshift"), DIGESTS)
def test_recorded_values(biort, qshift):
    for shape, expected in zip(SHAPES.values(), DIGESTS[biort, qshift], strict=True):
        if expected is not None:
            made = lifting.dtcwt(integers(*shape), 3, biort, qshift)
            parts = [x.ravel() for x in (made.lowpass, *made.highpasses)]
            digest = sum((x * np.cos(np.arange(len(x)))).sum() for x in parts)
            assert abs(digest - expected) < 1e-10


# The package.


@pytest.fixture
def dtcwt(monkeypatch):
    """The `dtcwt` package, with the functions of NumPy 1 that it needs."""

    def asfarray(x, dtype=None):
        return np.asarray(x, dtype if dtype is not None and np.issubdtype(dtype, np.inexact) else np.float64)

    monkeypatch.setattr(np, "asfarray", asfarray, raising=False)
    monkeypatch.setattr(np, "issubsctype", np.issubdtype, raising=False)
    package = need("dtcwt")
    # Odd sizes are reported.
    monkeypatch.setattr(logging, "warn", lambda *_: None, raising=False)
    return package


def theirs(dtcwt, x, level, *banks, **options):
    """Coefficients and reconstruction of the package, with our axes."""
    transform = (dtcwt.Transform1d, dtcwt.Transform2d, dtcwt.Transform3d)[x.ndim - 1](*banks)
    # Transforms in 3-D write to the data.
    made = transform.forward(x.copy(), nlevels=level, include_scale=True, **options)
    back = transform.inverse(made)
    if x.ndim == 1:
        columns = ([z[:, 0] for z in zs] for zs in (made.highpasses, made.scales))
        return lifting.Pyramid(made.lowpass[:, 0], *map(tuple, columns)), back
    return made, back


@pytest.mark.parametrize(("biort", "qshift"), PAIRS)
@pytest.mark.parametrize(
    "shape", [(64,), (38,), (4096,), (32, 32), (33, 50), (7, 100), (512, 512), (16, 8, 12), (34, 6, 10)]
)
def test_package(dtcwt, shape, biort, qshift):
    if len(shape) != 2 and (biort, qshift) not in PLAIN_PAIRS:
        pytest.skip("banks with a filter for diagonals are for two axes")
    x = noise(*shape)
    for level in (1, 2, 4):
        expected, back = theirs(dtcwt, x, level, biort, qshift)
        made = lifting.dtcwt(x, level, biort, qshift, include_scale=True)
        close_pyramids(made, expected)
        close(lifting.idtcwt(made, biort, qshift), back)
        close(lifting.idtcwt(expected, biort, qshift), back)


def test_package_options(dtcwt):
    x = noise(16, 20, 12)
    # The package's inverse fails without the first level.
    expected = dtcwt.Transform3d().forward(x.copy(), 3, include_scale=True, discard_level_1=True)
    made = lifting.dtcwt(x, include_scale=True, discard_level_1=True)
    assert made.highpasses[0] is None
    close_pyramids(made, expected)
    zeros = np.zeros((8, 10, 6, 28), complex)
    close(lifting.idtcwt(made), lifting.idtcwt((made.lowpass, [zeros, *made.highpasses[1:]])))
    x = noise(64, 36, dtype="float32")
    expected, back = theirs(dtcwt, x, 4)
    close_pyramids(lifting.dtcwt(x, 4, include_scale=True), expected, 1e-6)
    close(lifting.idtcwt(lifting.dtcwt(x, 4)), back, 1e-6)
    x = np.arange(24).reshape(4, 6)
    close_pyramids(lifting.dtcwt(x, include_scale=True), theirs(dtcwt, x, 3)[0])


# Properties.


@pytest.mark.parametrize(("biort", "qshift"), list(itertools.product(FIRST, LATER)))
def test_perfect_reconstruction(biort, qshift):
    if not {biort, qshift} <= set(PLAIN):
        pytest.skip("banks with a filter for diagonals have no exact inverse")
    shapes = [(n,) for n in (*range(1, 41), 255, 1000)]
    shapes += [(1, 1), (2, 3), (8, 8), (13, 22), (40, 64), (1, 2, 3), (4, 4, 4), (9, 12, 14)]
    for shape in shapes:
        x = noise(*shape)
        for level in (0, 1, 2, 3, 6):
            made = lifting.dtcwt(x, level, biort, qshift)
            assert len(made.highpasses) == level
            back = lifting.idtcwt(made, biort, qshift)
            assert all(m == n + (n % 2 if level else 0) for m, n in zip(back.shape, shape, strict=True))
            close(back[tuple(map(slice, shape))], x, 1e-9)


def test_shift_invariance():
    """The energy of a level changes by at most 12 % when an impulse moves; that of an orthogonal wavelet by 590 %."""

    def spread(energies):
        return np.max(energies, 0) / np.min(energies, 0)

    impulses = np.eye(256)[120:136]
    dual = [[(abs(z) ** 2).sum() for z in lifting.dtcwt(x, 4, "near_sym_b", "qshift_b").highpasses] for x in impulses]
    single = [[(z**2).sum() for z in lifting.wavedec(x, "sym7", "periodization", 4)[:0:-1]] for x in impulses]
    assert spread(dual).max() < 1.12 and spread(single).max() > 5


@pytest.mark.parametrize("frequency", [0.8, 0.9])
def test_directions(frequency):
    """Stripes at an angle, counterclockwise from the horizontal, are in the sub-band of that angle."""
    y, x = np.mgrid[:64, :64]
    for i, degrees in enumerate((15, 45, 75, 105, 135, 165)):
        angle = np.radians(degrees)
        radians = frequency * np.pi / 2 * (1.2 if i in (1, 4) else 1)
        stripes = np.cos(radians * (np.sin(angle) * x + np.cos(angle) * y))
        energies = (abs(lifting.dtcwt(stripes, 2).highpasses[1][4:-4, 4:-4]) ** 2).sum((0, 1))
        assert energies.argmax() == i and energies[i] > 0.8 * energies.sum()


def test_axes_and_batches():
    x = noise(3, 14, 10, 12)
    for axes in ([1], [-1], [1, 3], [3, 1], (0, 2), [1, 2, 3], [3, 0, 2]):
        made = lifting.dtcwt(x, 3, axes=axes, include_scale=True)
        rest = [axis for axis in range(4) if axis not in np.mod(axes, 4)]
        back = lifting.idtcwt(made, axes=axes)
        moved, moved_back, low, scale = (
            np.moveaxis(z, axes, range(-len(axes), 0)) for z in (x, back, made.lowpass, made.scales[0])
        )
        directions = len(axes) > 1
        highs = [
            np.moveaxis(z, [*np.mod(axes, 4), 4][: len(axes) + directions], range(-len(axes) - directions, 0))
            for z in made.highpasses
        ]
        for i in itertools.product(*(range(x.shape[axis]) for axis in rest)):
            one = lifting.dtcwt(moved[i], 3, include_scale=True)
            close_pyramids(lifting.Pyramid(low[i], tuple(z[i] for z in highs)), one._replace(scales=()))
            close(scale[i], one.scales[0])
            close(moved_back[i][tuple(map(slice, moved[i].shape))], moved[i])
    assert lifting.dtcwt(x, 2, axes=1).highpasses[0].shape == (3, 7, 10, 12)
    empty = lifting.dtcwt(np.zeros((0, 8, 8)), 2, axes=(1, 2))
    assert empty.highpasses[1].shape == (0, 2, 2, 6) and lifting.idtcwt(empty, axes=(1, 2)).shape == (0, 8, 8)


def test_types_and_forms():
    x = noise(12, 16, dtype="float32")
    made = lifting.dtcwt(x)
    assert made.lowpass.dtype == np.float32 and {z.dtype for z in made.highpasses} == {np.dtype("complex64")}
    assert lifting.idtcwt(made).dtype == np.float32 and lifting.dtcwt(x.astype("float16")).lowpass.dtype == np.float32
    close_pyramids(lifting.dtcwt(x[::-1, ::2]), lifting.dtcwt(x[::-1, ::2].copy()), 0)
    close_pyramids(lifting.dtcwt(x.astype(">f8")), lifting.dtcwt(x.astype("f8")), 0)
    close_pyramids(lifting.dtcwt(np.arange(9)), lifting.dtcwt(list(range(9))), 0)
    close_pyramids(pickle.loads(pickle.dumps(made)), made, 0)
    back = lifting.idtcwt(made)
    alike = types.SimpleNamespace(lowpass=made.lowpass, highpasses=list(made.highpasses))
    for form in (tuple(made), made[:2], alike):
        close(lifting.idtcwt(form), back, 0)
    for i in range(3):
        some = [None if i == j else z for j, z in enumerate(made.highpasses)]
        zeros = [np.zeros_like(z) if i == j else z for j, z in enumerate(made.highpasses)]
        close(lifting.idtcwt((made.lowpass, some)), lifting.idtcwt((made.lowpass, zeros)), 1e-6)
    # Results share no memory with the data.
    for level in (0, 2):
        made = lifting.dtcwt(x, level)
        assert not np.shares_memory(made.lowpass, x)
        assert not np.shares_memory(lifting.idtcwt(made), made.lowpass)


def test_nan_reaches_only_neighbours():
    x = noise(1000)
    clean = lifting.dtcwt(x, 1).highpasses[0]
    x[500] = np.nan
    high = lifting.dtcwt(x, 1).highpasses[0]
    reached = np.flatnonzero(np.isnan(high))
    assert 0 < len(reached) < 32
    np.testing.assert_allclose(np.delete(high, reached), np.delete(clean, reached), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lifting.dtcwt(noise(8), 2, "haar"), "unknown bank 'haar' of the first level; choose one of antonini,"),
        (lambda: lifting.dtcwt(noise(8), 2, "qshift_a"), "unknown bank 'qshift_a' of the first level"),
        (lambda: lifting.dtcwt(noise(8), 2, qshift="db4"), "unknown bank 'db4' of the levels after the first"),
        (lambda: lifting.dtcwt(noise(8), 2, "near_sym_b_bp"), "diagonals of two axes, .*: choose 'near_sym_b'"),
        (lambda: lifting.dtcwt(noise(8), -1), "invalid level count -1: it must be at least 0"),
        (lambda: lifting.dtcwt(noise(8), 1.5), "a level count must be an integer, not float"),
        (lambda: lifting.dtcwt(noise(8) + 1j), "the data is complex: transform its real and imaginary parts"),
        (lambda: lifting.dtcwt(noise(4, 0)), r"data of shape \(4, 0\) has no samples along axis 1"),
        (lambda: lifting.dtcwt(3.0), "the data has no axes"),
        (lambda: lifting.dtcwt(noise(2, 2, 2, 2)), "4 axes to transform: choose 1 to 3 of the 4 with `axes`"),
        (lambda: lifting.dtcwt(noise(4, 4), axes=[]), "0 axes to transform: choose 1 to 3 of the 2 with `axes`"),
        (lambda: lifting.dtcwt(noise(4, 4), axes=(1, -1)), r"axes \(1, 1\) name an axis twice"),
        (lambda: lifting.idtcwt(3), "a pyramid must be a result of `dtcwt`, not a int"),
        (lambda: lifting.idtcwt((noise(4) + 1j, [])), "lowpass is complex"),
        (lambda: lifting.idtcwt((noise(4, 4), [noise(2, 2)])), r"highpasses\[0\] of shape \(2, 2\) does not fit"),
        (lambda: lifting.idtcwt((noise(4, 4), [noise(3, 2, 6)])), r"does not fit low-pass .* of shape \(4, 4\)"),
        (
            lambda: lifting.idtcwt((noise(5), [None])),
            r"low-pass coefficients of shape \(5,\) have an odd length along 1",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of range for data with 2 dimensions"):
        lifting.dtcwt(noise(4, 4), axes=(0, 2))


def test_the_example_of_the_readme():
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## Dual-tree complex wavelets\n.*?^```python\n(.*?)^```", text, re.M | re.S)
    exec(section, {})


# PyTorch.


@pytest.fixture
def lt():
    """`lifting.torch`."""
    torch = need("torch")
    torch.manual_seed(1)
    return need("lifting.torch")


def coefficients(made):
    return [made.lowpass, *(z for z in made.highpasses if z is not None), *made.scales]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_torch_values(lt, dims):
    torch = need("torch")
    for (biort, qshift), shape in itertools.product([("near_sym_a", "qshift_a"), ("antonini", "qshift_c")], SHAPES):
        x = noise(2, 3, *SHAPES[3][: shape - 1], 9)[..., -9:] if dims < shape else noise(2, 13, 14, 9)
        axes = range(x.ndim - dims, x.ndim)
        for options in ({"include_scale": True}, {"discard_level_1": True}):
            made = lt.dtcwt(torch.tensor(x), 3, biort, qshift, dims=dims, **options)
            expected = lifting.dtcwt(x, 3, biort, qshift, axes, **options)
            close_pyramids(made, expected)
            back = lt.idtcwt(made, biort, qshift, dims=dims)
            close(back, lifting.idtcwt(expected, biort, qshift, axes))
    made = lt.dtcwt(torch.tensor(x, dtype=torch.float32), dims=dims)
    assert made.lowpass.dtype == torch.float32 and made.highpasses[0].dtype == torch.complex64
    close_pyramids(made, lifting.dtcwt(x.astype("float32"), axes=axes), 1e-5)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_torch_gradients(lt, dims):
    torch = need("torch")
    banks = ("near_sym_b_bp", "qshift_b_bp") if dims == 2 else ("legall", "qshift_06")
    x = torch.randn(2, *(3, 4, 6)[-dims:], dtype=torch.float64, requires_grad=True)

    def forward(x):
        return tuple(coefficients(lt.dtcwt(x, 2, *banks, dims=dims, include_scale=True)))

    assert torch.autograd.gradcheck(forward, x, fast_mode=dims == 3)
    assert torch.autograd.gradgradcheck(forward, x, fast_mode=True)
    made = lt.dtcwt(x.detach(), 2, *banks, dims=dims)
    leaves = [z.requires_grad_() for z in coefficients(made)]

    def inverse(low, *highs):
        return lt.idtcwt((low, highs), *banks, dims=dims)

    assert torch.autograd.gradcheck(inverse, leaves, fast_mode=True)
    # The adjoint of real and imaginary parts.
    y = [torch.randn_like(z) for z in coefficients(made)]
    outputs = lt.dtcwt(x, 2, *banks, dims=dims)
    (gradient,) = torch.autograd.grad(coefficients(outputs), x, y)
    products = sum((a.conj() * b).real.sum() for a, b in zip(coefficients(outputs), y, strict=True))
    assert torch.allclose(products, (x * gradient).sum())


def test_torch_graphs_batches_and_modes(lt):
    torch = need("torch")

    def run(x):
        low, highs, _ = lt.dtcwt(x, 3)
        return lt.idtcwt((low.tanh(), [highs[0], None, highs[2] * 0.5]))

    x = torch.randn(3, 10, 24)
    given = x.clone().requires_grad_()
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    expected, got = (torch.autograd.grad(function(given).sum(), given)[0] for function in (run, compiled))
    assert torch.allclose(compiled(x), run(x), atol=1e-6) and torch.allclose(got, expected, atol=1e-6)
    assert torch.allclose(torch.vmap(run)(x), run(x), atol=1e-6)
    assert torch.vmap(lambda x: lt.dtcwt(x, 2))(x).highpasses[1].shape == (3, 3, 6, 6)
    _, tangent = torch.func.jvp(run, (x,), (x,))
    assert torch.allclose(tangent, torch.autograd.functional.jvp(run, x, x)[1], atol=1e-5)
    with torch.inference_mode():
        lt.dtcwt(x.double(), 2, "legall", "qshift_d")
    lt.dtcwt(given.double(), 2, "legall", "qshift_d").highpasses[1].abs().sum().backward()
    with torch.autocast("cpu", torch.bfloat16):
        assert lt.dtcwt(x).lowpass.dtype == torch.float32
    assert lt.dtcwt(x.to("meta")).highpasses[0].shape == (3, 5, 12, 6)


@pytest.mark.gpu
def test_torch_gpu(lt):
    torch = need("torch")
    need_gpu(torch)
    for dims, shape in ((1, (3, 101)), (2, (2, 61, 130)), (3, (2, 17, 20, 33))):
        for dtype, bound in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            x = torch.randn(shape, dtype=dtype, device="cuda")
            made = lt.dtcwt(x, 3, dims=dims)
            assert all(z.is_cuda for z in coefficients(made))
            on_cpu = lt.dtcwt(x.cpu(), 3, dims=dims)
            for a, b in zip(coefficients(made), coefficients(on_cpu), strict=True):
                close(a.cpu(), b, bound)
            close(lt.idtcwt(made, dims=dims).cpu(), lt.idtcwt(on_cpu, dims=dims), bound)


def test_torch_errors(lt):
    torch = need("torch")
    made = lt.dtcwt(torch.zeros(8, 8))
    for run, message in (
        (lambda: lt.dtcwt(np.zeros((4, 4))), "the data must be a tensor, not a ndarray"),
        (lambda: lt.dtcwt(torch.zeros(4)), "invalid dims=2: this tensor allows 1 to 1"),
        (lambda: lt.dtcwt(torch.zeros(4, 4, dtype=torch.int32)), "unsupported sample type torch.int32: choose torch.f"),
        (lambda: lt.dtcwt(torch.zeros(4, 0)), "has no samples along axis 1"),
        (lambda: lt.dtcwt(torch.zeros(4, 4), biort="haar"), "unknown bank 'haar'"),
        (lambda: lt.idtcwt((made.lowpass.double(), made.highpasses)), r"highpasses\[0\] is of torch.complex64: with"),
        (lambda: lt.idtcwt((made.lowpass, made.highpasses[:2])), r"highpasses\[1\] of shape \(2, 2, 6\) does not fit"),
    ):
        with pytest.raises(lifting.LiftingError, match=message):
            run()


# JAX.


@pytest.fixture
def lj():
    """`lifting.jax`, with types of 64 bits."""
    jax = need("jax")
    with jax.enable_x64(True):
        yield need("lifting.jax")


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_jax(lj, dims):
    jax = need("jax")
    check_grads = need("jax.test_util").check_grads
    banks = ("near_sym_b_bp", "qshift_b_bp") if dims == 2 else ("antonini", "qshift_c")
    x = noise(2, 11, 10, 7)
    axes = range(4 - dims, 4)

    def forward(x):
        return lj.dtcwt(x, 2, *banks, dims=dims, include_scale=True)

    expected = lifting.dtcwt(x, 2, *banks, axes, include_scale=True)
    made = jax.jit(jax.vmap(forward))(x)
    close_pyramids(made, expected)
    back = jax.jit(lambda made: lj.idtcwt(made, *banks, dims=dims))(made)
    close(back, lifting.idtcwt(expected, *banks, axes))

    def flat(x):
        return jax.tree.leaves(lj.dtcwt(x, 2, *banks, dims=dims))

    # Products of a Jacobian in both modes.
    x, v = x[:1, :3, :4, :5], noise(1, 3, 4, 5, seed=1)
    values = [noise(*z.shape) for z in jax.eval_shape(flat, x)]
    y = [z * (1 + 0.5j if i else 1) for i, z in enumerate(values)]
    (gradient,) = jax.jit(lambda x, y: jax.vjp(flat, x)[1](y))(x, y)
    tangents = jax.jit(lambda x, v: jax.jvp(flat, (x,), (v,))[1])(x, v)
    expected = lifting.dtcwt(v, 2, *banks, axes)
    close_pyramids(lifting.Pyramid(tangents[0], tangents[1:]), expected)
    close((gradient * v).sum(), sum((a * b).sum().real for a, b in zip(y, tangents, strict=True)))
    if dims == 1:

        def loss(x):
            low, highs, _ = lj.dtcwt(x, 2, dims=1)
            return lj.idtcwt((jax.numpy.tanh(low), [highs[0], None]), dims=1)

        check_grads(jax.jit(loss), (x,), order=2)
        assert jax.jit(jax.grad(lambda x: sum(abs(z).sum() for z in flat(x))))(x).shape == x.shape
    single = lj.dtcwt(x.astype("float32"), 1, dims=dims)
    assert single.lowpass.dtype == np.float32 and single.highpasses[0].dtype == np.complex64


def test_jax_errors(lj):
    for run, message in (
        (lambda: lj.dtcwt(np.zeros((4, 4), "int32")), "unsupported sample type int32: choose float32 or float64"),
        (lambda: lj.dtcwt(np.zeros(4)), "invalid dims=2: this array allows 1 to 1"),
        (lambda: lj.dtcwt(np.zeros((4, 4)), qshift="haar"), "unknown bank 'haar'"),
    ):
        with pytest.raises(lifting.LiftingError, match=message):
            run()
