//! Operators and functions of expressions, as methods; methods for ops with a regular signature are
//! in `op.rs`.

use super::Operand;
use crate::{BinaryOp, DType, Expr, Op};

macro_rules! mixed {
    ($($trait:ident $method:ident;)*) => {
        $(
            impl std::ops::$trait<&Expr> for Expr {
                type Output = Expr;
                fn $method(self, other: &Expr) -> Expr {
                    std::ops::$trait::$method(self, other.clone())
                }
            }
            impl std::ops::$trait<Expr> for &Expr {
                type Output = Expr;
                fn $method(self, other: Expr) -> Expr {
                    std::ops::$trait::$method(self.clone(), other)
                }
            }
        )*
    };
}
mixed! { Add add; Sub sub; Mul mul; Div div; Rem rem; }

macro_rules! binary_methods {
    ($($(#[$doc:meta])* $method:ident $op:ident;)*) => {
        impl Expr {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $method(&self, other: impl Operand) -> Expr {
                    Expr::binary(BinaryOp::$op, self.clone(), other.into_operand(self.dtype))
                }
            )*
        }
    };
}
binary_methods! {
    /// The lesser of two: `T.min`.
    min Min;
    /// The greater of two: `T.max`.
    max Max;
    /// The quotient rounded down: `//`.
    floor_div FloorDiv;
    /// The remainder of [`Expr::floor_div`]: `%` of the script.
    floor_mod FloorMod;
}

macro_rules! unary_calls {
    ($($method:ident $op:ident;)*) => {
        impl Expr {
            $(
                #[doc = concat!("[`Op::", stringify!($op), "`].")]
                #[must_use]
                pub fn $method(&self) -> Expr {
                    let args = vec![self.clone()];
                    let dtype = Op::$op.result_dtype(&args).unwrap_or(self.dtype);
                    Expr::call(Op::$op, args, dtype)
                }
            )*
        }
    };
}
unary_calls! {
    likely Likely; address_of AddressOf; thread_invariant ThreadInvariant;
}

impl Expr {
    /// Returns this times 2 to the power of an int32: [`Op::Ldexp`].
    #[must_use]
    pub fn ldexp(&self, power: impl Operand) -> Expr {
        let power = power.into_operand(DType::INT32.with_lanes(self.dtype.lanes));
        Expr::call(Op::Ldexp, vec![self.clone(), power], self.dtype)
    }

    /// Returns the bits of this, read as another type of the same size: [`Op::Reinterpret`].
    #[must_use]
    pub fn reinterpret(&self, dtype: DType) -> Expr {
        Expr::call(Op::Reinterpret, vec![self.clone()], dtype)
    }

    /// Returns `T.if_then_else` with this as the condition: only one branch is evaluated.
    /// [`Expr::select`] evaluates both.
    #[must_use]
    pub fn then_else(&self, then: impl Into<Expr>, otherwise: impl Operand) -> Expr {
        let then = then.into();
        let (dtype, otherwise) = (then.dtype, otherwise.into_operand(then.dtype));
        Expr::call(Op::IfThenElse, vec![self.clone(), then, otherwise], dtype)
    }
}
