//! Expressions.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::{Buffer, ConstantData, DType, Op, Span, StorageScope};

/// A variable. Two variables are equal if they are the same one, whatever their names.
#[derive(Clone)]
pub struct Var(Arc<VarNode>);

/// The fields of a [`Var`].
#[derive(Debug)]
pub struct VarNode {
    /// Name for messages; not unique.
    pub name: Arc<str>,
    /// The type of its value; [`DType::HANDLE`] for pointers.
    pub dtype: DType,
    /// For a typed pointer, the type that it points to.
    pub pointer: Option<PointerType>,
}

/// The target of a typed pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PointerType {
    /// Type of an element.
    pub element: DType,
    /// Memory scope.
    pub scope: StorageScope,
}

impl Var {
    /// Makes a new variable, unequal to every other.
    pub fn new(name: impl Into<Arc<str>>, dtype: DType) -> Self {
        Self(Arc::new(VarNode { name: name.into(), dtype, pointer: None }))
    }

    /// Makes a new pointer to elements of a type.
    pub fn pointer(name: impl Into<Arc<str>>, element: DType, scope: StorageScope) -> Self {
        let pointer = Some(PointerType { element, scope });
        Self(Arc::new(VarNode { name: name.into(), dtype: DType::HANDLE, pointer }))
    }

    /// Returns a number that identifies this variable among all live ones.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Returns the variable as an expression.
    #[must_use]
    pub fn expr(&self) -> Expr {
        Expr::new(ExprKind::Var(self.clone()), self.dtype)
    }
}

impl Deref for Var {
    type Target = VarNode;
    fn deref(&self) -> &VarNode {
        &self.0
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Var {}

impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.dtype)
    }
}

/// An expression: shared, immutable. Equality is structural and ignores positions.
#[derive(Clone)]
pub struct Expr(Arc<ExprNode>);

/// The fields of an [`Expr`].
#[derive(Debug)]
pub struct ExprNode {
    /// The kind of node, with its operands.
    pub kind: ExprKind,
    /// The type of its value.
    pub dtype: DType,
    /// Position in the text from which it was read, for messages.
    pub span: Span,
}

/// A binary operator. Both sides have one type; so has the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinaryOp {
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// Quotient; of integers, rounded towards zero (`T.truncdiv`; `T.Div` of floats is `/`). x / 0
    /// = x.
    Div,
    /// Remainder of [`BinaryOp::Div`], integers only (`T.truncmod`). x mod 0 = 0.
    Mod,
    /// Quotient rounded down (`//`). x // 0 = x.
    FloorDiv,
    /// Remainder of [`BinaryOp::FloorDiv`] (`%`). x % 0 = 0.
    FloorMod,
    /// The lesser: `a < b ? a : b`, so a NaN first operand is dropped.
    Min,
    /// The greater: `a > b ? a : b`, so a NaN first operand is dropped.
    Max,
}

/// A comparison; the result is boolean of as many lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// Returns true if the comparison holds for two values; for a NaN only `!=` holds.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_ir::CompareOp;
    ///
    /// assert!(CompareOp::Le.holds(&1, &1) && !CompareOp::Lt.holds(&1, &1));
    /// ```
    #[must_use]
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
        }
    }
}

/// The callee of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A known op.
    Op(Op),
    /// A function of the same module, by name.
    Global(Arc<str>),
    /// A C function by name, without effect when `pure` (`T.call_pure_extern`, `T.call_extern`).
    Extern {
        /// The function's name.
        name: Arc<str>,
        /// Whether a call may be moved, repeated or dropped.
        pure: bool,
    },
}

/// The kinds of expression. `dtype` of the node is the type of the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A variable.
    Var(Var),
    /// An integer or boolean constant, in range of the node's type.
    Int(i128),
    /// A float constant, as the bits of a float64, exactly representable in the node's type.
    Float(FloatBits),
    /// A string; only as an argument of some ops and in messages. Its node's type is `handle`.
    Str(Arc<str>),
    /// A pointer to the bytes of a constant; only as the data of a declared buffer (IR-B8). Its
    /// node's type is `handle`.
    ConstantData(ConstantData),
    /// A conversion to the node's type, lane by lane: float to integer truncates and saturates, NaN
    /// gives 0; integer to integer wraps; to a float rounds to nearest even; to `bool` is `!= 0`.
    Cast(Expr),
    /// A binary operator.
    Binary(BinaryOp, Expr, Expr),
    /// A comparison.
    Compare(CompareOp, Expr, Expr),
    /// Conjunction of booleans; the second is evaluated only if the first is true.
    And(Expr, Expr),
    /// Disjunction of booleans; the second is evaluated only if the first is false.
    Or(Expr, Expr),
    /// Negation of a boolean.
    Not(Expr),
    /// (condition, then, otherwise) lane by lane: both are evaluated.
    Select(Expr, Expr, Expr),
    /// An element of a buffer. One index per axis; the last may be a vector.
    Load {
        /// The buffer.
        buffer: Buffer,
        /// The indices, one per axis.
        indices: Vec<Expr>,
        /// The lanes that are read; others give 0.
        predicate: Option<Expr>,
    },
    /// The vector base, base + stride, ...
    Ramp {
        /// The first lane.
        base: Expr,
        /// The step.
        stride: Expr,
        /// The number of lanes, at least 2.
        lanes: u16,
    },
    /// The vector of one value.
    Broadcast {
        /// The value, a scalar.
        value: Expr,
        /// The number of lanes, at least 2.
        lanes: u16,
    },
    /// Lanes selected by constant index from the concatenation of vectors.
    Shuffle {
        /// The vectors, which have one lane type.
        vectors: Vec<Expr>,
        /// The selected lanes.
        indices: Vec<u16>,
    },
    /// `value` bound to `var` within `body`.
    Let {
        /// The variable.
        var: Var,
        /// Its value.
        value: Expr,
        /// The scope of the variable.
        body: Expr,
    },
    /// A call.
    Call {
        /// The callee.
        callee: Callee,
        /// The arguments.
        args: Vec<Expr>,
    },
}

impl BinaryOp {
    /// Every binary operator.
    pub const ALL: &'static [Self] = &[
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Mod,
        Self::FloorDiv,
        Self::FloorMod,
        Self::Min,
        Self::Max,
    ];
}

impl CompareOp {
    /// Every comparison.
    pub const ALL: &'static [Self] = &[Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];
}

/// A float64 that is compared and hashed by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatBits(pub u64);

impl FloatBits {
    /// Converts a value to its bits.
    #[must_use]
    pub fn new(value: f64) -> Self {
        Self(value.to_bits())
    }

    /// Returns the value.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for FloatBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value())
    }
}

impl Expr {
    /// Makes a node of a kind and a type, without a position. Nothing is checked:
    /// [`crate::validate`] does that.
    #[must_use]
    pub fn new(kind: ExprKind, dtype: DType) -> Self {
        Self(Arc::new(ExprNode { kind, dtype, span: Span::NONE }))
    }

    /// Returns the same expression with a position.
    #[must_use]
    pub fn with_span(self, span: Span) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(node) => Self(Arc::new(ExprNode { span, ..node })),
            Err(shared) => Self(Arc::new(ExprNode { kind: shared.kind.clone(), dtype: shared.dtype, span })),
        }
    }

    /// Makes a pointer to the bytes of a constant, for [`crate::StmtKind::DeclBuffer`].
    #[must_use]
    pub fn constant_data(data: ConstantData) -> Self {
        Self::new(ExprKind::ConstantData(data), DType::HANDLE)
    }

    /// Makes an integer constant, wrapped to its type.
    #[must_use]
    pub fn int(value: i128, dtype: DType) -> Self {
        let one = Self::new(ExprKind::Int(dtype.scalar().wrap(value)), dtype.scalar());
        one.broadcast(dtype.lanes)
    }

    /// Makes an int32 constant.
    #[must_use]
    pub fn i32(value: i32) -> Self {
        Self::int(value.into(), DType::INT32)
    }

    /// Makes a float constant, rounded to its type.
    #[must_use]
    pub fn float(value: f64, dtype: DType) -> Self {
        let rounded = crate::number::round_to(value, dtype.scalar());
        let one = Self::new(ExprKind::Float(FloatBits::new(rounded)), dtype.scalar());
        one.broadcast(dtype.lanes)
    }

    /// Makes the constant `true` or `false`.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self::int(value.into(), DType::BOOL)
    }

    /// Makes a string.
    #[must_use]
    pub fn str(value: impl Into<Arc<str>>) -> Self {
        Self::new(ExprKind::Str(value.into()), DType::HANDLE)
    }

    /// Makes a constant of a numeric type, from the converted value.
    #[must_use]
    pub fn constant(value: i64, dtype: DType) -> Self {
        if dtype.is_float() { Self::float(value as f64, dtype) } else { Self::int(value.into(), dtype) }
    }

    /// Returns this value in every lane; the value itself if `lanes` is 1.
    #[must_use]
    pub fn broadcast(self, lanes: u16) -> Self {
        if lanes == 1 {
            return self;
        }
        let dtype = self.dtype.with_lanes(lanes);
        Self::new(ExprKind::Broadcast { value: self, lanes }, dtype)
    }

    /// Returns the vector of `lanes` values that starts with this one.
    #[must_use]
    pub fn ramp(self, stride: Expr, lanes: u16) -> Self {
        let dtype = self.dtype.with_lanes(lanes);
        Self::new(ExprKind::Ramp { base: self, stride, lanes }, dtype)
    }

    /// Makes a binary operation; the result has the type of the left side.
    #[must_use]
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Self {
        let dtype = left.dtype;
        Self::new(ExprKind::Binary(op, left, right), dtype)
    }

    /// Makes a comparison.
    #[must_use]
    pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Self {
        let dtype = DType::BOOL.with_lanes(left.dtype.lanes);
        Self::new(ExprKind::Compare(op, left, right), dtype)
    }

    /// Converts this to a type; returns it unchanged if it has that type already.
    #[must_use]
    pub fn cast(self, dtype: DType) -> Self {
        if self.dtype == dtype { self } else { Self::new(ExprKind::Cast(self), dtype) }
    }

    /// Returns the conjunction of this and another.
    #[must_use]
    pub fn and(self, other: Expr) -> Self {
        let dtype = self.dtype;
        Self::new(ExprKind::And(self, other), dtype)
    }

    /// Returns the disjunction of this and another.
    #[must_use]
    pub fn or(self, other: Expr) -> Self {
        let dtype = self.dtype;
        Self::new(ExprKind::Or(self, other), dtype)
    }

    /// Returns the negation of this boolean.
    #[must_use]
    pub fn logical_not(self) -> Self {
        let dtype = self.dtype;
        Self::new(ExprKind::Not(self), dtype)
    }

    /// Makes a selection lane by lane.
    #[must_use]
    pub fn select(condition: Expr, then: Expr, otherwise: Expr) -> Self {
        let dtype = then.dtype;
        Self::new(ExprKind::Select(condition, then, otherwise), dtype)
    }

    /// Makes a call of an op with a result type.
    #[must_use]
    pub fn call(op: Op, args: Vec<Expr>, dtype: DType) -> Self {
        Self::new(ExprKind::Call { callee: Callee::Op(op), args }, dtype)
    }

    /// Makes a load; its type is that of the buffer, with the lanes of the last index.
    #[must_use]
    pub fn load(buffer: &Buffer, indices: Vec<Expr>) -> Self {
        let lanes = indices.last().map_or(1, |index| index.dtype.lanes);
        let dtype = buffer.dtype.with_lanes(buffer.dtype.lanes.saturating_mul(lanes));
        Self::new(ExprKind::Load { buffer: buffer.clone(), indices, predicate: None }, dtype)
    }

    /// Returns the value of an integer or boolean constant.
    #[must_use]
    pub fn as_int(&self) -> Option<i128> {
        match self.kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the name of the function of the module that this node calls, directly or as the body
    /// of [`Op::ParallelLaunch`].
    #[must_use]
    pub fn called(&self) -> Option<&Arc<str>> {
        let ExprKind::Call { callee, args } = &self.kind else { return None };
        match (callee, args.first().map(|arg| &arg.kind)) {
            (Callee::Global(name), _) => Some(name),
            (Callee::Op(Op::ParallelLaunch), Some(ExprKind::Str(name))) => Some(name),
            _ => None,
        }
    }

    /// Returns true if both are the same node, not only equal ones.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies this node among all live ones.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl Deref for Expr {
    type Target = ExprNode;
    fn deref(&self) -> &ExprNode {
        &self.0
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.same(other) || (self.dtype == other.dtype && self.kind == other.kind)
    }
}
impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype.hash(state);
        self.kind.hash(state);
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $op:ident;)*) => {
        $(
            impl std::ops::$trait for Expr {
                type Output = Expr;
                fn $method(self, other: Expr) -> Expr {
                    Expr::binary(BinaryOp::$op, self, other)
                }
            }
            impl std::ops::$trait for &Expr {
                type Output = Expr;
                fn $method(self, other: &Expr) -> Expr {
                    Expr::binary(BinaryOp::$op, self.clone(), other.clone())
                }
            }
        )*
    };
}
// As in Rust, `/` and `%` of integers round towards zero; the script's operators are `floor_div`
// and `floor_mod`.
arithmetic! { Add add Add; Sub sub Sub; Mul mul Mul; Div div Div; Rem rem Mod; }

impl std::ops::Neg for Expr {
    type Output = Expr;
    /// Returns this times −1, as the script does.
    fn neg(self) -> Expr {
        let minus = Expr::constant(-1, self.dtype);
        self * minus
    }
}
impl std::ops::Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        -self.clone()
    }
}
