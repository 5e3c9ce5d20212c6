//! Grid size of a launch: a kernel's grid expressions, evaluated. The runtime and the interpreter share this.

use super::*;
use thiserror::Error;

/// Reasons for which a grid cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GridError {
    /// The numbers of scalar arguments and scalar parameters differ.
    #[error("{given} scalar arguments for {expected} scalar parameters")]
    Arguments {
        /// Number of scalar parameters.
        expected: usize,
        /// Number of arguments.
        given: usize,
    },
    /// An argument does not fit the type of its parameter.
    #[error("{value} does not fit parameter `{param}` of type {scalar}", scalar = .scalar.name())]
    Fit {
        /// Parameter.
        param: String,
        /// Its type.
        scalar: Scalar,
        /// The argument.
        value: i64,
    },
    /// An operation of the expression overflowed or divided by zero.
    #[error("the grid's {axis} dimension overflows its type or divides by zero")]
    Arithmetic {
        /// `x`, `y` or `z`.
        axis: char,
    },
    /// A dimension outside the limits of a launch: at most 2³¹ − 1 blocks in x, and 65535 in y and z.
    #[error("the grid's {axis} dimension is {value}, outside 0..={limit}")]
    Limit {
        /// `x`, `y` or `z`.
        axis: char,
        /// The computed dimension.
        value: i64,
        /// The largest allowed dimension.
        limit: i64,
    },
}

/// The grid of a launch, in blocks. There is one argument for each scalar parameter, in order; pointers are left out.
/// Arguments of float parameters are ignored, since grids cannot depend on them. Arithmetic is checked.
///
/// A dimension of 0 means an empty launch.
///
/// # Errors
/// See [`GridError`].
pub fn grid(kernel: &Kernel, scalars: &[i64]) -> Result<[u64; 3], GridError> {
    let mut values = vec![None; kernel.params.len()];
    let mut given = scalars.iter();
    let expected = kernel.params.iter().filter(|p| matches!(p.kind, ParamKind::Scalar(_))).count();
    if expected != scalars.len() {
        return Err(GridError::Arguments { expected, given: scalars.len() });
    }
    for (value, param) in values.iter_mut().zip(&kernel.params) {
        if let ParamKind::Scalar(scalar) = param.kind
            && let Some(&v) = given.next()
            && scalar.is_integer()
        {
            if !scalar.holds(v) {
                return Err(GridError::Fit { param: param.name.clone(), scalar, value: v });
            }
            *value = Some((v, scalar));
        }
    }
    let mut grid = [0; 3];
    for (i, (axis, limit)) in [('x', i64::from(i32::MAX)), ('y', 65535), ('z', 65535)].into_iter().enumerate() {
        let (value, _) = evaluate(&kernel.launch.grid[i], &values).ok_or(GridError::Arithmetic { axis })?;
        grid[i] =
            u64::try_from(value).ok().filter(|_| value <= limit).ok_or(GridError::Limit { axis, value, limit })?;
    }
    Ok(grid)
}

/// Whether an expression may define a grid: `i32` and `i64` parameters, literals and arithmetic.
pub(super) fn is_grid_expr(kernel: &Kernel, e: &Expr) -> bool {
    use BinOp::*;
    match e {
        Expr::Lit(Literal::Int(_, Scalar::I32 | Scalar::I64)) => true,
        Expr::Param(p) => matches!(
            kernel.params.get(p.0 as usize).map(|p| p.kind),
            Some(ParamKind::Scalar(Scalar::I32 | Scalar::I64))
        ),
        Expr::Unary(UnOp::Neg, a) => is_grid_expr(kernel, a),
        Expr::Binary(Add | Sub | Mul | Div | Rem | Min | Max | Shl | Shr, a, b) => {
            is_grid_expr(kernel, a) && is_grid_expr(kernel, b)
        }
        Expr::Cast(Scalar::I32 | Scalar::I64, a) => is_grid_expr(kernel, a),
        _ => false,
    }
}

type Typed = (i64, Scalar);

fn evaluate(e: &Expr, params: &[Option<Typed>]) -> Option<Typed> {
    use BinOp::*;
    let fit = |v: i64, s: Scalar| s.holds(v).then_some((v, s));
    match e {
        Expr::Lit(Literal::Int(v, s)) => Some((*v, *s)),
        Expr::Param(p) => *params.get(p.0 as usize)?,
        Expr::Unary(UnOp::Neg, a) => {
            let (v, s) = evaluate(a, params)?;
            fit(v.checked_neg()?, s)
        }
        Expr::Binary(op, a, b) => {
            let ((a, s), (b, _)) = (evaluate(a, params)?, evaluate(b, params)?);
            let bits = s.bytes() as i64 * 8;
            let v = match op {
                Add => a.checked_add(b)?,
                Sub => a.checked_sub(b)?,
                Mul => a.checked_mul(b)?,
                Div => a.checked_div(b)?,
                Rem => a.checked_rem(b)?,
                Min => a.min(b),
                Max => a.max(b),
                Shl if (0..bits).contains(&b) => a.checked_mul(1i64.checked_shl(b as u32).filter(|v| *v > 0)?)?,
                Shr if (0..bits).contains(&b) => a >> b,
                _ => return None,
            };
            fit(v, s)
        }
        Expr::Cast(to, a) => fit(evaluate(a, params)?.0, *to),
        _ => None,
    }
}
