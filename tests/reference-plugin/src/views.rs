//! Runs functions whose tensors overlap, are strided or have an offset. The interpreter takes only
//! compact tensors that do not overlap, so such a function is rewritten to take pieces of memory,
//! of which its tensors are views (IR-B2, IR-B3 of the IR).

use std::ops::Range;
use std::sync::Arc;

use chipdock_ir::{
    Buffer, DType, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt, StmtKind, StorageScope, Var,
};

use crate::launch::{Argument, Space};
use crate::memory::Block;

/// Pieces start at multiples of this size, so that aligned tensors stay aligned.
const ALIGNMENT_BYTES: usize = 64;

/// A piece of memory that contains some tensors.
pub(crate) struct Piece {
    pub(crate) block: Arc<Block>,
    pub(crate) range: Range<usize>,
}

/// A parameter of the rewritten function.
pub(crate) enum Source {
    Piece(usize),
    Int(i128),
    Float(f64),
}

/// The rewritten function with its arguments.
pub(crate) struct Rewritten {
    pub(crate) module: IrModule,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) sources: Vec<Source>,
}

fn overlap(a: &Space, b: &Space) -> bool {
    a.is_same_block(b) && a.range.start < b.range.end && b.range.start < a.range.end
}

/// Returns true if the function can be run unchanged.
pub(crate) fn is_plain(function: &PrimFunc, arguments: &[Argument]) -> bool {
    let is_view = |param: &Param| match param {
        Param::Buffer(buffer) => !buffer.strides.is_empty() || buffer.elem_offset.is_some(),
        Param::Var(_) => false,
    };
    let spaces: Vec<&Space> = arguments.iter().filter_map(Argument::space).collect();
    let overlaps = || spaces.iter().enumerate().any(|(i, a)| spaces[i + 1..].iter().any(|b| overlap(a, b)));
    let has_null = arguments.iter().any(|argument| matches!(argument, Argument::Pointer(None)));
    !has_null && !function.params.iter().any(is_view) && !overlaps()
}

/// Returns pieces of memory that contain the spaces and do not overlap, and the index of the piece
/// of each space.
fn pieces(spaces: &[&Space]) -> (Vec<Piece>, Vec<usize>) {
    let mut pieces: Vec<Piece> = Vec::new();
    for space in spaces {
        let start = space.range.start / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        let mut range = start..space.range.end;
        pieces.retain(|piece| {
            let meets = Arc::ptr_eq(&piece.block, &space.block)
                && piece.range.start < range.end
                && range.start < piece.range.end;
            if meets {
                range = range.start.min(piece.range.start)..range.end.max(piece.range.end);
            }
            !meets
        });
        pieces.push(Piece { block: Arc::clone(&space.block), range });
    }
    let holds = |piece: &Piece, space: &Space| {
        Arc::ptr_eq(&piece.block, &space.block)
            && piece.range.start <= space.range.start
            && space.range.end <= piece.range.end
    };
    let homes = spaces.iter().map(|space| pieces.iter().position(|piece| holds(piece, space)).unwrap_or(0));
    let homes = homes.collect();
    (pieces, homes)
}

/// Returns the values of the sizes in the tensors' extents, strides and offsets.
fn sizes(function: &PrimFunc, arguments: &[Argument]) -> Vec<(Var, i128)> {
    let scalars: Vec<&Var> = function
        .params
        .iter()
        .filter_map(|param| if let Param::Var(var) = param { Some(var) } else { None })
        .collect();
    let mut sizes: Vec<(Var, i128)> = Vec::new();
    let mut bind = |expr: &Expr, value: i128| {
        if let ExprKind::Var(var) = &expr.kind
            && !scalars.contains(&var)
            && !sizes.iter().any(|(known, _)| known == var)
        {
            sizes.push((var.clone(), value));
        }
    };
    for (param, argument) in function.params.iter().zip(arguments) {
        let (Param::Buffer(buffer), Argument::Tensor(space)) = (param, argument) else { continue };
        for (extent, value) in buffer.shape.iter().zip(&space.shape) {
            bind(extent, *value as i128);
        }
        for (stride, value) in buffer.strides.iter().zip(&space.strides) {
            bind(stride, i128::from(*value));
        }
        if let Some(offset) = &buffer.elem_offset {
            bind(offset, (space.byte_offset / buffer.dtype.size_bytes().max(1)) as i128);
        }
    }
    sizes
}

fn declare(buffer: &Buffer, data: Expr) -> Stmt {
    Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: Some(data) })
}

/// Rewrites the function for these arguments.
pub(crate) fn rewrite(module: &IrModule, function: &PrimFunc, arguments: &[Argument]) -> Rewritten {
    let spaces: Vec<&Space> = arguments.iter().filter_map(Argument::space).collect();
    let (pieces, homes) = pieces(&spaces);
    let pointers: Vec<Var> = (0..pieces.len())
        .map(|piece| Var::pointer(format!("piece_{piece}"), DType::UINT8, StorageScope::GLOBAL))
        .collect();
    let mut homes = homes.into_iter();
    let mut params: Vec<Param> = pointers.iter().cloned().map(Param::Var).collect();
    let mut sources: Vec<Source> = (0..pieces.len()).map(Source::Piece).collect();
    let mut body = Vec::new();
    for (var, value) in sizes(function, arguments) {
        params.push(Param::Var(var));
        sources.push(Source::Int(value));
    }
    for (param, argument) in function.params.iter().zip(arguments) {
        let pointer = argument.space().and_then(|space| {
            let home = homes.next()?;
            let offset = space.pointer as i128 - pieces[home].range.start as i128;
            let args = vec![pointers[home].expr(), Expr::int(offset, DType::INT64)];
            Some(Expr::call(Op::HandleAddByteOffset, args, DType::HANDLE))
        });
        match (param, argument) {
            (Param::Buffer(buffer), _) => body.extend(pointer.map(|pointer| declare(buffer, pointer))),
            (Param::Var(var), Argument::Int(value)) => {
                params.push(Param::Var(var.clone()));
                sources.push(Source::Int(*value));
            }
            (Param::Var(var), Argument::Float(value)) => {
                params.push(Param::Var(var.clone()));
                sources.push(Source::Float(*value));
            }
            (Param::Var(var), _) => {
                let zero = Expr::int(0, DType::UINT64);
                let null = || Expr::call(Op::Reinterpret, vec![zero], DType::HANDLE);
                let value = pointer.unwrap_or_else(null);
                body.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            }
        }
    }
    body.push(function.body.clone());
    let rewritten = PrimFunc { params, body: Stmt::seq(body), ..function.clone() };
    let functions = module
        .functions
        .iter()
        .map(|other| if other.name == function.name { rewritten.clone() } else { other.clone() });
    Rewritten {
        module: IrModule { functions: functions.collect(), attrs: module.attrs.clone() },
        pieces,
        sources,
    }
}
