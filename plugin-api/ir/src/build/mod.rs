//! Builders of kernels in Rust, whose code reads much like the script.
//!
//! | script | here |
//! |---|---|
//! | `n = T.int32()`, `A: T.Buffer((n, 8), "float32")` | `let n = f.size("n")`, `f.buffer("A", (&n, 8), DType::FLOAT32)` |
//! | `A[vi, 0] = B[vi, 0] + 1.0` | `f.store(&a, (&vi, 0), b.at((&vi, 0)) + 1.0)` |
//! | `for i, k in T.grid(n, 8):` | <code>f.grid(\["i", "k"\], (&n, 8), \|f, \[i, k\]\| …)</code> |
//! | `with T.sblock("B"):` | <code>f.block("B", \|f\| …)</code> |
//! | `vi, vk = T.axis.remap("SR", [i, k])` | `let [vi, vk] = f.remap([S, R], ["vi", "vk"], [&i, &k])` |
//! | `T.max(x, 0.0)`, `T.exp(x)`, `T.Cast("int32", x)` | `x.max(0.0)`, `x.exp()`, `x.cast(DType::INT32)` |
//! | `x // 2`, `x % 2`, `x < 2` | `x.floor_div(2)`, `x.floor_mod(2)`, `x.lt(2)` |
//! | `T.if_then_else(c, x, 0.0)`, `T.Select(c, x, y)` | `c.then_else(x, 0.0)`, `Expr::select(c, x, y)` |
//!
//! A Rust number takes the type of the expression that it is combined with ([`Operand`]). Nothing
//! is checked here: [`crate::validate`] checks the result and reports positions.
//!
//! # Examples
//!
//! A reduction:
//!
//! ```
//! use chipdock_ir::build::{self, R, S};
//! use chipdock_ir::{DType, Stage, print, validate::validate};
//!
//! let mut f = build::function("row_max");
//! let n = f.size("n");
//! let a = f.buffer("A", (&n, 8), DType::FLOAT32);
//! let b = f.buffer("B", &n, DType::FLOAT32);
//! f.grid(["i", "k"], (&n, 8), |f, [i, k]| {
//!     f.block("B", |f| {
//!         let [vi, vk] = f.remap([S, R], ["vi", "vk"], [&i, &k]);
//!         f.init(|f| f.store(&b, &vi, f32::MIN));
//!         f.store(&b, &vi, b.at(&vi).max(a.at((&vi, &vk))));
//!     });
//! });
//! let module = build::module([f.finish()]);
//! validate(&module, Stage::Blocks).unwrap();
//! assert_eq!(
//!     print::function(&module.functions[0]),
//!     r#"# from tvm.script import tirx as T
//!
//! @T.prim_func(s_tir=True)
//! def row_max(A: T.Buffer(("n", 8), "float32"), B: T.Buffer((n,), "float32")):
//!     n = T.int32()
//!     ## with T.sblock("root"):
//!     for i, k in T.grid(n, 8):
//!         with T.sblock("B"):
//!             vi, vk = T.axis.remap("SR", [i, k])
//!             with T.init():
//!                 B[vi] = T.float32(-3.402823466e38)
//!             B[vi] = T.max(B[vi], A[vi, vk])
//! "#
//! );
//! ```
//!
//! A kernel of threads, which reverses an array of 256 through shared memory:
//!
//! ```
//! use chipdock_ir::{DType, Stage, StorageScope, ThreadAxis, build, validate::validate};
//!
//! let mut f = build::function("reverse");
//! let a = f.buffer("A", 256, DType::FLOAT32);
//! let b = f.buffer("B", 256, DType::FLOAT32);
//! f.thread_binding("tx", 256, ThreadAxis::ThreadX, |f, tx| {
//!     let s = f.alloc("S", 256, DType::FLOAT32, StorageScope::SHARED);
//!     f.store(&s, &tx, a.at(&tx));
//!     f.barrier("shared");
//!     f.store(&b, &tx, s.at(255 - &tx));
//! });
//! validate(&build::module([f.finish()]), Stage::Scheduled).unwrap();
//! ```

mod block;
mod body;
mod operand;
mod ops;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

pub use block::BlockBuilder;
pub use body::{Body, Loop};
pub use operand::{Exprs, List, Operand};

use crate::{
    AttrValue, Attrs, Buffer, DType, Expr, IrModule, IterKind, Param, PrimFunc, Stmt, StorageScope, Var, attr,
};

/// A spatial axis, in `remap`.
pub const S: IterKind = IterKind::Spatial;
/// A reduction axis, in `remap`.
pub const R: IterKind = IterKind::Reduce;

impl From<bool> for AttrValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for AttrValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for AttrValue {
    fn from(value: &str) -> Self {
        Self::Str(value.into())
    }
}

/// Makes a module of these functions.
pub fn module(functions: impl IntoIterator<Item = PrimFunc>) -> IrModule {
    IrModule { functions: functions.into_iter().collect(), attrs: Attrs::new() }
}

/// Starts a function of blocks.
pub fn function(name: impl Into<Arc<str>>) -> FunctionBuilder {
    FunctionBuilder {
        function: PrimFunc {
            name: name.into(),
            params: Vec::new(),
            ret: None,
            attrs: Attrs::new(),
            s_tir: true,
            alloc_buffers: Vec::new(),
            body: Stmt::nop(),
        },
        body: Body::default(),
    }
}

/// A function under construction; also a [`Body`].
#[derive(Debug)]
pub struct FunctionBuilder {
    function: PrimFunc,
    body: Body,
}

impl FunctionBuilder {
    /// Adds a symbolic size, bound by the first parameter whose shape has it.
    pub fn size(&mut self, name: impl Into<Arc<str>>) -> Expr {
        Var::new(name, DType::INT32).expr()
    }

    /// Adds several symbolic sizes.
    pub fn sizes<const N: usize>(&mut self, names: [&str; N]) -> [Expr; N] {
        names.map(|name| self.size(name))
    }

    /// Adds a tensor parameter, compact and in global memory.
    pub fn buffer(&mut self, name: impl Into<Arc<str>>, shape: impl List, dtype: DType) -> Buffer {
        self.param(Buffer::new(name, shape.list(), dtype, StorageScope::GLOBAL))
    }

    /// Adds a tensor parameter of any form, with strides, an offset or an alignment.
    pub fn param(&mut self, buffer: Buffer) -> Buffer {
        self.function.params.push(Param::Buffer(buffer.clone()));
        buffer
    }

    /// Adds a scalar parameter.
    pub fn scalar(&mut self, name: impl Into<Arc<str>>, dtype: DType) -> Expr {
        let var = Var::new(name, dtype);
        self.function.params.push(Param::Var(var.clone()));
        var.expr()
    }

    /// Adds a pointer parameter, as device functions have them.
    pub fn pointer(&mut self, name: impl Into<Arc<str>>, element: DType, scope: StorageScope) -> Var {
        let var = Var::pointer(name, element, scope);
        self.function.params.push(Param::Var(var.clone()));
        var
    }

    /// Allocates a buffer of the root block: `T.sblock_alloc_buffer` at the top of the function.
    pub fn block_alloc(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl List,
        dtype: DType,
        scope: StorageScope,
    ) -> Buffer {
        let buffer = Buffer::new(name, shape.list(), dtype, scope);
        self.function.alloc_buffers.push(buffer.clone());
        buffer
    }

    /// Declares that buffers of different parameters do not overlap.
    pub fn noalias(&mut self) {
        self.annotate(attr::NOALIAS, true);
    }

    /// Adds an attribute of the function: `T.func_attr({name: value})`.
    pub fn annotate(&mut self, name: impl Into<Arc<str>>, value: impl Into<AttrValue>) {
        self.function.attrs.insert(name.into(), value.into());
    }

    /// Sets the type of the function's result.
    pub fn returns(&mut self, dtype: DType) {
        self.function.ret = Some(dtype);
    }

    /// Declares that the function has no root block, as after lowering.
    pub fn lowered(&mut self) {
        self.function.s_tir = false;
    }

    /// Returns the function.
    #[must_use]
    pub fn finish(mut self) -> PrimFunc {
        self.function.body = self.body.finish();
        self.function
    }
}

impl From<PrimFunc> for FunctionBuilder {
    /// Continues a function: what is appended comes after its body.
    fn from(function: PrimFunc) -> Self {
        let body = Body::new(function.body.clone());
        Self { function, body }
    }
}

impl Deref for FunctionBuilder {
    type Target = Body;
    fn deref(&self) -> &Body {
        &self.body
    }
}

impl DerefMut for FunctionBuilder {
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}
