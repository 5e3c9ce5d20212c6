//! Coiflets coif1 to coif17, refined from tables.
//!
//! A coiflet of order K has 2K vanishing moments of the wavelet and 2K − 1 of the scaling function. Daubechies' form
//! (SIAM J. Math. Anal. 24, 1993) has both built in, with c = cos²(ω/2) and s = sin²(ω/2):
//!
//! H(ω)/√2 = c^K·(Σ_{k<K} C(K−1+k, k)·s^k + s^K·f(ω)),   f of 2K taps,
//!
//! and leaves orthogonality to f: 2K quadratic equations, Σ h\[n\]·h\[n+2m\] = 0 for m = K, …, 3K−1 (the others
//! follow). They have many solutions. Six digits of f select PyWavelets' one, and Newton's iteration refines it.

use super::maxflat;
use crate::algebra::float::Float;
use crate::algebra::laurent::Laurent;
use num_rational::BigRational;

/// f to six digits, for each order from 1.
#[rustfmt::skip]
const START: [&[f64]; 17] = [
    &[0.822876, 0.177124],
    &[2.96642, 0.494045, -0.330036, -0.130433],
    &[10.9872, 1.45919, -2.00314, -0.749039, 0.20559, 0.100212],
    &[41.3507, 4.48777, -9.62301, -3.44754, 1.6804, 0.785476, -0.151055, -0.0827182],
    &[157.249, 14.1307, -42.6157, -14.7493, 9.7453, 4.40441, -1.53995, -0.816208, 0.120397, 0.0712094],
    &[602.364, 45.057, -181.594, -61.063, 49.2492, 21.6439, -10.43, -5.37809, 1.46813, 0.84613, -0.100685,
      -0.0629832],
    &[2319.94, 144.35, -757.477, -248.485, 231.646, 99.4026, -59.189, -29.8043, 11.3723, 6.40765, -1.42842,
      -0.874998, 0.0869025, 0.0567647],
    &[8972.32, 461.578, -3118.79, -1001.16, 1043.88, 438.741, -304.752, -150.296, 71.6717, 39.5816, -12.4596,
      -7.49038, 1.40592, 0.902605, -0.0766971, -0.0518717],
    &[34815.8, 1463.27, -12732.5, -4009.12, 4574.96, 1887.92, -1477.11, -715.115, 401.557, 217.81, -86.4282,
      -51.0836, 13.6413, 8.62087, -1.39353, -0.928914, 0.0688196, 0.0479041],
    &[135464.0, 4561.84, -51679.0, -15991.5, 19669.7, 7984.9, -6875.14, -3273.54, 2086.84, 1113.62, -524.179,
      -305.05, 103.358, 64.3801, -14.8912, -9.7945, 1.38745, 0.953978, -0.0625438, -0.044611],
    &[528265.0, 13826.2, -208890.0, -63620.5, 83408.0, 33360.8, -31095.7, -14583.9, 10299.7, 5415.03, -2912.09,
      -1670.7, 675.325, 415.051, -122.428, -79.5304, 16.194, 11.0076, -1.38552, -0.977881, 0.0574187, 0.0418263],
    &[2.06399e+6, 39970.2, -841789.0, -252663.0, 350062.0, 138133.0, -137704.0, -63697.3, 48978.4, 25399.4,
      -15216.5, -8615.29, 3998.81, 2427.18, -857.987, -550.91, 143.637, 96.5891, -17.54, -12.2572, 1.3864, 1.00072,
      -0.053149, -0.0394351],
    &[8.07742e+6, 106113.0, -3.38456e+6, -1.00222e+6, 1.45766e+6, 568075.0, -600104.0, -274077.0, 226513.0,
      115984.0, -76023.0, -42516.3, 22082.3, 13247.9, -5399.09, -3429.05, 1075.33, 715.805, -166.995, -115.608, 18.923,
      13.5409, -1.38925, -1.02257, 0.049533, 0.0373557],
    &[3.16558e+7, 234169.0, -1.35847e+7, -3.97218e+6, 6.03227e+6, 2.32399e+6, -2.58271e+6, -1.16574e+6, 1.02534e+6,
      518846.0, -367119.0, -202964.0, 115797.0, 68712.3, -31449.3, -19769.0, 7170.99, 4727.78, -1330.64, -912.996,
      192.524, 136.634, -20.3383, -14.8566, 1.39349, 1.04354, -0.0464283, -0.0355279],
    &[1.24214e+8, 257858.0, -5.44514e+7, -1.57344e+7, 2.48406e+7, 9.46825e+6, -1.10053e+7, -4.91317e+6, 4.56352e+6,
      2.28387e+6, -1.7265e+6, -944246.0, 583634.0, 342755.0, -172891.0, -107623.0, 43974.3, 28728.3, -9378.46, -6380.46,
      1627.28, 1145.82, -220.246, -159.716, 21.7826, 16.2026, -1.39875, -1.06369, 0.0437314, 0.0339062],
    &[4.8794e+8, -1.40715e+6, -2.18027e+8, -6.23028e+7, 1.01884e+8, 3.84476e+7, -4.65193e+7, -2.05558e+7,
      2.00367e+7, 9.92417e+6, -7.94999e+6, -4.30391e+6, 2.85137e+6, 1.65823e+6, -908870.0, -560540.0, 253102.0, 163918.0,
      -60428.0, -40778.8, 12091.4, 8449.99, -1968.72, -1417.71, 250.188, 184.897, -23.2534, -17.5775, 1.40473, 1.08309,
      -0.0413651, -0.0324561],
    &[1.9186e+9, -1.44428e+7, -8.72259e+8, -2.46639e+8, 4.16504e+8, 1.55706e+8, -1.95339e+8, -8.54878e+7,
      8.70013e+7, 4.26731e+7, -3.59867e+7, -1.92955e+7, 1.35865e+7, 7.82818e+6, -4.61139e+6, -2.81903e+6, 1.38657e+6,
      890557.0, -363637.0, -243494.0, 81705.2, 56687.5, -15385.6, -11005.2, 2358.46, 1732.14, -282.375, -212.219,
      24.7486, 18.9798, -1.41126, -1.10181, 0.0392708, 0.0311502],
];

/// The reconstruction lowpass of coifK, 1 ≤ K ≤ 17: 6K taps.
pub(super) fn coiflet(k: usize) -> Vec<Float> {
    let start = START[k - 1];
    let quarter =
        |c: [i64; 3]| Laurent::new(-1, c.map(|n| Float::from_rational(&BigRational::new(n.into(), 4.into()))).to_vec());
    let (c, s) = (quarter([1, 2, 1]), quarter([-1, 2, -1]));
    let power = |p: &Laurent<Float>, n: usize| (0..n).fold(Laurent::one(), |product, _| p.times(&product));
    let mut fixed = Laurent::zero();
    let mut s_power = Laurent::one();
    for coefficient in maxflat::<Float>(k as u32) {
        fixed = fixed.plus(&s_power.scaled(&coefficient));
        s_power = s_power.times(&s);
    }
    let c_power = power(&c, k);
    fixed = fixed.times(&c_power);
    let free = s_power.times(&c_power);
    // The product has the exponents −2K to 4K − 1: f on 0 to 2K − 1, `free` on −2K to 2K.
    let low = -2 * k as i64;
    let taps = |f: &[Float]| {
        let h = fixed.plus(&free.times(&Laurent::new(0, f.to_vec())));
        (low..low + 6 * k as i64).map(|n| h.at(n)).collect::<Vec<Float>>()
    };
    let spread = free.coefficients();
    let mut f: Vec<Float> = start.iter().map(|&x| Float::from_f64(x).unwrap_or_else(Float::zero)).collect();
    // The six digits double in every round: eight rounds exceed the precision.
    for _ in 0..8 {
        let h = taps(&f);
        let product = |m: usize| {
            let pairs = h.iter().zip(&h[2 * m..]);
            pairs.fold(Float::zero(), |sum, (a, b)| &sum + &(a * b))
        };
        let slope = |m: usize, i: usize| {
            spread.iter().enumerate().fold(Float::zero(), |sum, (j, x)| {
                let at = i + j;
                let above = h.get(at + 2 * m).map(|y| x * y);
                let below = at.checked_sub(2 * m).map(|n| x * &h[n]);
                [above, below].into_iter().flatten().fold(sum, |sum, term| &sum + &term)
            })
        };
        let shifts = k..3 * k;
        let rows: Vec<Vec<Float>> =
            shifts.map(|m| (0..2 * k).map(|i| slope(m, i)).chain([product(m)]).collect()).collect();
        for (x, dx) in f.iter_mut().zip(solve(rows)) {
            *x = &*x - &dx;
        }
    }
    let root2 = Float::integer(2).sqrt().expect("2 is positive");
    taps(&f).iter().map(|x| x * &root2).collect()
}

/// Solves the linear equations whose rows hold the coefficients and then the right-hand side, by elimination with
/// row pivots. The matrix must not be singular.
pub(super) fn solve(mut rows: Vec<Vec<Float>>) -> Vec<Float> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n).max_by_key(|&r| rows[r][column].abs()).unwrap_or(column);
        rows.swap(column, pivot);
        let (done, rest) = rows.split_at_mut(column + 1);
        let head = &done[column];
        for row in rest {
            let factor = &row[column] / &head[column];
            for (x, y) in row[column..].iter_mut().zip(&head[column..]) {
                *x = &*x - &(&factor * y);
            }
        }
    }
    let mut x = vec![Float::zero(); n];
    for r in (0..n).rev() {
        let known = (r + 1..n).fold(rows[r][n].clone(), |sum, j| &sum - &(&rows[r][j] * &x[j]));
        x[r] = &known / &rows[r][r];
    }
    x
}
