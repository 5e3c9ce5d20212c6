"""Wavelets from text, filter banks and the catalogue; reports, figures and emitted kernels."""

import pickle

import lifting
import numpy as np
import pytest

TEXT = """
/// The Haar wavelet of integers.
wavelet mine {
    domain integer;
    odd  -= even[0];
    even += (odd[0] + 1) >> 1;
}
"""


def test_text_is_compiled_and_errors_have_positions():
    mine = lifting.wavelet(TEXT)
    assert (mine.name, mine.domain, mine.boundary) == ("mine", "integer", "whole-symmetric")
    assert lifting.Plan(4, mine, dtype="int32").forward(np.array([10, 14, 3, 1], "int32")).tolist() == [12, 2, 4, -2]
    with pytest.raises(lifting.LanguageError) as error:
        lifting.wavelet("wavelet mine {\n    odd -= (odd[0] + even[1]) >> 1;\n}")
    assert "reads the phase that is updated" in str(error.value) and "2:" in str(error.value)
    with pytest.raises(lifting.LiftingError, match="choose one with `name`"):
        lifting.wavelet(TEXT + TEXT.replace("mine", "yours"))
    assert lifting.wavelet(TEXT + TEXT.replace("mine", "yours"), "yours").name == "yours"


def test_wavelets_are_pickled():
    for wavelet in [lifting.Wavelet("sym4"), lifting.wavelet(TEXT)]:
        again = pickle.loads(pickle.dumps(wavelet))
        assert (again.name, again.text) == (wavelet.name, wavelet.text)


def test_banks_are_factored():
    db3 = lifting.Wavelet("db3")
    mine = lifting.Wavelet("of my own", filter_bank=db3.filter_bank)
    assert mine.dec_len == 6 and not mine.orthogonal
    x = np.random.default_rng(3).normal(size=37)
    for ours, theirs in zip(lifting.dwt(x, mine, "smooth"), lifting.dwt(x, "db3", "smooth")):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert "lattice {" in lifting.factor(db3, into="lattice").text
    assert lifting.factor("bior4.4", name="nine_seven").name == "nine_seven"
    with pytest.raises(lifting.LiftingError):
        lifting.factor([[1, 2], [1, 2], [1, 2], [1, 2]])
    with pytest.raises(lifting.LiftingError, match="an even number is needed"):
        lifting.factor([[1, 2, 1], [1, -2, 1]])


def test_reports_and_figures(tmp_path):
    assert "vanishing moments" in lifting.show("cdf97", levels=2)
    figure = lifting.plot("cdf97", tmp_path / "cdf97.svg")
    assert figure._repr_svg_() == (tmp_path / "cdf97.svg").read_text() == lifting.Wavelet("cdf97")._repr_svg_()
    assert figure.svg.startswith("<svg")


def test_kernels_are_written(tmp_path):
    files = lifting.emit(lifting.wavelet(TEXT), tmp_path, emit="cuda,c,rust", sample="i16")
    assert {f.suffix for f in files} >= {".c", ".cu", ".rs"} and all(f.exists() for f in files)
    assert "mine" in files[0].read_text()
    with pytest.raises(lifting.LiftingError):
        lifting.emit("cdf97", tmp_path, emit="fortran")


def test_names():
    assert len(lifting.wavelist(kind="discrete")) == 106 and len(lifting.wavelist()) == 127
    assert set(lifting.catalogue()) > {"cdf97", "legall53", "dd137", "fidelity"}
    with pytest.raises(ValueError, match="is continuous"):
        lifting.Wavelet("morl")
    with pytest.raises(ValueError, match="did you mean db4"):
        lifting.Wavelet("dbb4")
