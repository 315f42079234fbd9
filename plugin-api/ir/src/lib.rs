//! The IR as a value.
//!
//! (Its specification, numbered, grows on this page.)

mod buffer;
pub mod build;
mod diagnostic;
mod dtype;
pub mod equal;
mod expr;
mod function;
pub mod interpret;
pub mod limits;
pub mod number;
mod op;
pub mod print;
mod scope;
mod stmt;
pub mod subst;
mod target;
#[cfg(test)]
mod testing;
pub mod validate;
mod visit;
pub mod wire;

pub use buffer::{Buffer, BufferNode};
pub use diagnostic::Diagnostic;
pub use dtype::{DType, TypeCode, UnknownDType};
pub use expr::{BinaryOp, Callee, CompareOp, Expr, ExprKind, ExprNode, FloatBits, PointerType, Var, VarNode};
pub use function::{AttrValue, Attrs, IrModule, Param, PrimFunc, Span, attr};
pub use op::{Effect, Op, Signature, StructField};
pub use scope::{StorageRank, StorageScope, ThreadAxis};
pub use stmt::{
    AttrNode, Block, BufferRegion, ForKind, IterKind, IterVar, MatchBufferRegion, Range, Stmt, StmtKind,
    StmtNode,
};
pub use target::{FactOptions, OptionSchema, OptionType, Stage, Target, TargetFacts, TargetKind};
pub use visit::Child;
