"""Writes filters/cdf.lift: the spline family of Cohen, Daubechies and Feauveau by lifting, in exact arithmetic.

The analysis wavelet of (p, q) is the p-th difference. Euclid's algorithm on its two phases gives the first steps, each of
which removes the outermost taps; the last step, an update of q taps, is the solution of the q moment conditions of the
synthesis wavelet. See Daubechies and Sweldens, "Factoring wavelet transforms into lifting steps" (1998), section 7;
Uytterhoeven, Roose and Bultheel, "Wavelet transforms using the lifting scheme" (1997), has tables.

    python tests/reference/spline_family.py > filters/cdf.lift
"""

from fractions import Fraction as F
from math import comb

PAIRS = [(1, 1), (1, 3), (1, 5), (2, 2), (2, 4), (2, 6), (2, 8), (3, 1), (3, 3), (3, 5), (3, 7), (3, 9),
         (4, 2), (4, 4), (4, 6), (5, 1), (5, 3), (5, 5), (6, 2), (6, 4), (6, 6)]
# Those that PyWavelets has as biorp.q, with the sign of its high band relative to the p-th difference that is positive at
# position 1; the others keep the sign of a plain prediction residual.
PYWAVELETS = {1: -1, 2: -1, 3: +1}


def product(a, b):
    """Of Laurent polynomials {exponent: coefficient}."""
    out = {}
    for i, x in a.items():
        for j, y in b.items():
            out[i + j] = out.get(i + j, F(0)) + x * y
    return {k: v for k, v in out.items() if v}


def add(a, b):
    out = dict(a)
    for k, v in b.items():
        out[k] = out.get(k, F(0)) + v
    return {k: v for k, v in out.items() if v}


def difference(p):
    """The p-th difference around position 1 (even p) or 1/2 (odd p), positive at 1: its even and its odd taps."""
    first = 1 - p // 2 if p % 2 == 0 else -(p // 2)
    taps = {first + i: F((-1) ** i * comb(p, i)) for i in range(p + 1)}
    sign = 1 if taps[1] > 0 else -1
    even = {n // 2: sign * c for n, c in taps.items() if n % 2 == 0}
    odd = {(n - 1) // 2: sign * c for n, c in taps.items() if n % 2}
    return even, odd


def euclid(even, odd):
    """Steps (target, taps subtracted) after which the high band is one odd sample times a constant."""
    steps = []
    while even or len(odd) > 1:
        # The phase with the outermost taps loses them: the other phase's samples take over what they stand for.
        lo_e, hi_e = min(2 * k for k in even) if even else 99, max(2 * k for k in even) if even else -99
        lo_o, hi_o = min(2 * k + 1 for k in odd), max(2 * k + 1 for k in odd)
        e_low, e_high = lo_e < lo_o, hi_e > hi_o
        if e_low and e_high:
            target, keep, lose = "odd", odd, even
        elif not e_low and not e_high:
            target, keep, lose = "even", even, odd
        else:
            # Half-sample symmetric: the longer reach to the left goes first, alone.
            target, keep, lose = ("odd", odd, even) if e_low else ("even", even, odd)
        # target' = target − Σ u·other, so target = target' + Σ u·other, and `lose` becomes lose + keep·u.
        u = {}
        left, right = min(lose), max(lose)
        u[left - min(keep)] = -lose[left] / keep[min(keep)]
        if e_low == e_high or len(keep) == 1 or right - max(keep) > left - min(keep):
            other = right - max(keep)
            if other not in u:
                u[other] = -lose[right] / keep[max(keep)]
        lose = add(lose, product(keep, u))
        if target == "odd":
            even, odd = lose, keep
        else:
            even, odd = keep, lose
        steps.append((target, u))
        assert len(steps) < 20
    return steps, odd


def run(steps, x):
    """The steps on a line from position 0 in exact arithmetic; reads beyond it find nothing (the caller keeps away)."""
    e, o = x[0::2], x[1::2]
    for target, u in steps:
        t, s = (e, o) if target == "even" else (o, e)
        for k in range(len(t)):
            t[k] -= sum((c * s[k + j] for j, c in u.items() if 0 <= k + j < len(s)), F(0))
    return e, o


def low_filter(steps):
    """Taps of the low band around even position 2·m: read off from impulses."""
    m, n = 40, 160
    taps = {}
    for i in range(n):
        x = [F(0)] * n
        x[i] = F(1)
        value = run(steps, x)[0][m]
        if value:
            taps[i - 2 * m] = value
    return taps


def high_at_odd(steps):
    """What one odd sample contributes to its own high coefficient through all steps."""
    m, n = 40, 160
    x = [F(0)] * n
    x[2 * m + 1] = F(1)
    return run(steps, x)[1][m]


def solve(rows, rhs):
    n = len(rows)
    a = [list(r) + [b] for r, b in zip(rows, rhs)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if a[r][i])
        a[i], a[pivot] = a[pivot], a[i]
        a[i] = [v / a[i][i] for v in a[i]]
        for r in range(n):
            if r != i and a[r][i]:
                a[r] = [v - a[r][i] * w for v, w in zip(a[r], a[i])]
    return [row[n] for row in a]


def update(steps, q, p):
    """The last step of q taps: Σ (−1)^n n^k low[n] = 0 for k < q."""
    base = low_filter(steps)
    offsets = range(-q // 2, q // 2) if p % 2 == 0 else range(-(q // 2), q // 2 + 1)
    moment = lambda taps, k: sum((-1) ** (n % 2) * F(n) ** k * c for n, c in taps.items())
    columns = []
    for j in offsets:
        with_tap = low_filter(steps + [("even", {j: F(-1)})])
        columns.append({n: with_tap.get(n, F(0)) - base.get(n, F(0)) for n in {*with_tap, *base}})
    rows = [[moment(c, k) for c in columns] for k in range(q)]
    u = solve(rows, [-moment(base, k) for k in range(q)])
    return ("even", {j: -c for j, c in zip(offsets, u) if c})


def design(p, q):
    even, odd = difference(p)
    steps, _ = euclid(even, odd)
    steps.append(update(steps, q, p))
    gain = sum(low_filter(steps).values())
    return steps, gain


def ratio(c):
    return str(c) if c.denominator == 1 else f"{c.numerator}/{c.denominator}"


def text(target, u):
    """One step, taps of equal size together."""
    phase = "odd" if target == "even" else "even"
    groups = {}
    for j, c in sorted(u.items()):
        groups.setdefault(abs(c), []).append((j, c > 0))
    distance = lambda group: min(abs(2 * j + (target == "even")) for j, _ in group[1])
    groups = sorted(groups.items(), key=distance)
    op = "-=" if groups[0][1][0][1] else "+="
    out = ""
    for size, members in groups:
        flip = op == "+="
        signs = [positive != flip for _, positive in members]
        lead = signs[0]
        inner = ""
        for (j, _), positive in zip(members, signs):
            same = positive == lead
            inner += (" + " if same else " - ") if inner else ""
            inner += f"{phase}[{j}]"
        inner = inner if len(members) == 1 else f"({inner})"
        weight = "" if size == 1 else f"{ratio(size)}*"
        out += (" + " if lead else " - ") if out else ("" if lead else "-")
        out += weight + (inner if weight or len(members) == 1 else inner[1:-1] if len(groups) == 1 else inner)
    return f"    {target:4} {op} {out};"


HEAD = """\
// The biorthogonal spline family of Cohen, Daubechies and Feauveau, "Biorthogonal bases of compactly supported wavelets",
// Comm. Pure Appl. Math. 45 (1992), section 6.A, and the family's most used relative, (9,7).
//
// In cdfP_Q the analysis wavelet is the P-th difference (P vanishing moments), the synthesis wavelet has Q. The low band's
// gain at DC is √2. Steps as in Uytterhoeven, Roose and Bultheel, "Wavelet transforms using the lifting scheme" (1997),
// computed by tests/reference/spline_family.py in exact arithmetic.
"""

TAIL = """
/// Cohen–Daubechies–Feauveau (9,7) in PyWavelets' normalisation: bior4.4.
///
/// The filter of `cdf97`, with gain √2 at DC in the low band and PyWavelets' sign in the high band. The constants are the
/// roots of the factorisation in Daubechies and Sweldens, "Factoring wavelet transforms into lifting steps" (1998),
/// section 7.8, to more digits.
wavelet bior4_4 {{
    domain real;

    const alpha = {alpha};
    const beta  = {beta};
    const gamma =  {gamma};
    const delta =  {delta};
    const zeta  =  {zeta};

    odd  += alpha*(even[0] + even[1]);
    even += beta*(odd[-1] + odd[0]);
    odd  += gamma*(even[0] + even[1]);
    even += delta*(odd[-1] + odd[0]);
    even *= zeta;
    odd  *= -1/zeta;
}}"""


def constants97():
    """The factorisation of CDF (9,7) from its definition, in high precision."""
    from mpmath import mp, polyroots, mpf, sqrt
    mp.dps = 60
    # |H|² of a maximally flat pair of order 8: Σ_{k<4} C(3+k, k) y^k = (real root) · (complex pair).
    roots = polyroots([mpf(20), mpf(10), mpf(4), mpf(1)], maxsteps=500, extraprec=500)
    real = min(roots, key=lambda r: abs(r.imag)).real
    # y = (2 − z − 1/z)/4. The 7-tap synthesis low-pass holds the real root, the 9-tap analysis one the pair.
    def poly(factors):
        out = {0: mpf(1)}
        for f in factors:
            new = {}
            for i, x in out.items():
                for j, y in f.items():
                    new[i + j] = new.get(i + j, mpf(0)) + x * y
            out = new
        return out
    y = {-1: mpf(-1) / 4, 0: mpf(1) / 2, 1: mpf(-1) / 4}
    half = {-1: mpf(1) / 4, 0: mpf(1) / 2, 1: mpf(1) / 4}  # 1 − y: two zeros at −1
    pair = [r for r in roots if abs(r.imag) > mpf(10) ** -30]
    modulus, twice = abs(pair[0]) ** 2, 2 * pair[0].real
    y2 = poly([y, y])
    quadratic = {k: (y2.get(k, 0) - twice * y.get(k, 0) + (modulus if k == 0 else 0)) / modulus for k in range(-2, 3)}
    linear = {k: ((1 if k == 0 else 0) - y.get(k, 0) / real) for k in range(-1, 2)}
    low = poly([half, half, quadratic])          # 9 taps, gain 1 at DC
    other = poly([half, half, linear])           # 7 taps
    high = {1 + n: (-1) ** n * c for n, c in other.items()}   # analysis high-pass around position 1
    ee, eo = {n // 2: c for n, c in low.items() if n % 2 == 0}, {(n - 1) // 2: c for n, c in low.items() if n % 2}
    oe, oo = {n // 2: c for n, c in high.items() if n % 2 == 0}, {(n - 1) // 2: c for n, c in high.items() if n % 2}
    # The 9-tap filter's ends are its even taps: odd −= w·even first does not touch low; peel the last update off first.
    def peel(big, small):
        """big = rest + small·u, u two equal taps that make the ends of rest vanish."""
        u = big[max(big)] / small[max(small)]
        shift = max(big) - max(small)
        taps = {shift: u, shift - 1: u} if min(big) - min(small) == shift - 1 else None
        assert taps, (big, small)
        rest = dict(big)
        for i, x in small.items():
            for j, v in taps.items():
                rest[i + j] = rest.get(i + j, mpf(0)) - x * v
        return u, {k: v for k, v in rest.items() if abs(v) > mpf(10) ** -40}
    delta_raw, ee1 = peel(ee, oe)
    _, eo1 = peel(eo, oo)
    gamma_raw, oo1 = peel(oo, eo1)
    _, oe1 = peel(oe, ee1)
    beta_raw, ee2 = peel(ee1, oe1)
    eo2 = {k: eo1.get(k, 0) - sum(oo1.get(k - j, 0) * beta_raw for j in (-1, 0)) for k in range(-3, 4)}
    assert max(abs(v) for v in eo2.values()) < mpf(10) ** -40
    # What is left: low = ke·even, high = ko·(odd + alpha(even + even)).
    ke, ko = ee2[0], oo1[0]
    alpha = oe1[0] / ko
    # Move the scalings behind the steps.
    beta, gamma, delta = beta_raw * ko / ke, gamma_raw * ke / ko, delta_raw * ko / ke
    return dict(alpha=alpha, beta=beta, gamma=gamma, delta=delta, zeta=ke * sqrt(mpf(2)))


def main():
    print(HEAD, end="")
    for p, q in PAIRS:
        steps, gain = design(p, q)
        bior = p in PYWAVELETS
        print(f"\n/// CDF ({p},{q})" + (f": PyWavelets' bior{p}.{q}." if bior else "."))
        print(f"wavelet cdf{p}_{q} {{\n    domain real;\n")
        for target, u in steps:
            print(text(target, u))
        scale = "sqrt(2)" if gain == 1 else f"{ratio(1 / gain)}*sqrt(2)"
        sign = PYWAVELETS.get(p, 1)
        # The determinant of the steps is 1, so biorthogonality asks for the reciprocal.
        inverse = F(1, 2) * gain * sign
        print(f"    even *= {scale};")
        print(f"    odd  *= {ratio(inverse)}*sqrt(2);")
        print("}")
    digits = {name: _digits(value) for name, value in constants97().items()}
    print(TAIL.format(**digits))


def _digits(value):
    from mpmath import nstr
    return nstr(value, 30)


if __name__ == "__main__":
    main()
