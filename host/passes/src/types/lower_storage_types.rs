//! Lowering of types that exist only in memory to bytes.

mod bytes;
mod value;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use chipdock_ir::{
    AttrNode, Buffer, BufferNode, Child, DType, Expr, ExprKind, ForKind, IrModule, Param, PrimFunc, Stmt,
    StmtKind, TargetCapabilities, Var,
};

use crate::PassError;
use crate::simplify;
use crate::walk::try_map_functions;
use bytes::Loops;

const PASS: &str = "lower_storage_types";

type Answer<T> = Result<T, PassError>;

/// Lowers storage types ([`DType::STORAGE`]) to bytes: packed values are shifted and masked, and
/// casts of float8 become integer arithmetic. No later pass and no code generator sees such a type,
/// except in the parameters of a host function, which the argument check needs.
///
/// # Rules
///
/// * **STORAGE-Y1** A value of a storage type is an int8 or a uint8: of an integer its value, of a
///   float8 its bits.
/// * **STORAGE-Y2** Memory that is passed to a function, and a constant, is packed, as rule IR-T5
///   of the IR defines. A store of less than a whole byte loads the byte, changes the element's
///   bits and stores it. Memory that a function allocates has a byte for each element.
/// * **STORAGE-Y3** Elements that share a byte have one writer. A loop that is parallel or
///   vectorized, in which a store writes a part of a byte of packed memory, becomes serial: a byte
///   would be loaded by one iteration while another stores it. If the iterations are threads, such
///   a store is an error.
/// * **STORAGE-Y4** A store writes whole bytes if its index is the sum of a multiple of the
///   elements of a byte and the variable of a serial loop from 0 over that many (or a multiple of
///   that many) of them, with no condition between; a vector store if it writes adjacent elements
///   from such a multiple on.
/// * **STORAGE-Y5** A cast to a float8 rounds once, to nearest, ties to even, whatever the source
///   type is.
///
/// # Before and after
///
/// ```text
/// A: T.Buffer((n,), "int4")             A_1 = T.decl_buffer(((n + 1) // 2,), "uint8", data=A.data)
/// B[i] = T.Cast("float32", A[i])   ->   x = T.Cast("uint32", A_1[i // 2]) >> T.Cast("uint32", i % 2 * 4) & 15
///                                       B[i] = T.Cast("float32", T.Cast("int32", x ^ 8) - 8)
/// ```
///
/// # Requires / # Ensures
///
/// Requires flat buffers. No statement and no expression has a storage type; parameters keep
/// theirs.
///
/// # Errors
///
/// The caller's: threads that store parts of bytes (STORAGE-Y3).
pub fn lower_storage_types(module: &IrModule, _: &TargetCapabilities) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        if !has_storage_types(function) {
            return Ok(function.clone());
        }
        let body = Lowerer::new(function).stmt(&function.body)?;
        Ok(PrimFunc { body, ..function.clone() })
    })
}

fn has_storage_types(function: &PrimFunc) -> bool {
    let of_buffer = |buffer: &Buffer| buffer.dtype.is_storage();
    let mut found = function.params.iter().any(|param| matches!(param, Param::Buffer(b) if of_buffer(b)));
    function.body.walk(&mut |child| match child {
        Child::Expr(e) => e.walk(&mut |e| found |= e.dtype.is_storage()),
        Child::Stmt(stmt) => {
            found |= match &stmt.kind {
                StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                    of_buffer(buffer)
                }
                _ => false,
            };
        }
    });
    found
}

/// The type of a value of a storage type (STORAGE-Y1); another type is unchanged.
fn value_type(dtype: DType) -> DType {
    if !dtype.is_storage() {
        return dtype;
    }
    if dtype.is_int() { DType::INT8 } else { DType::UINT8 }.with_lanes(dtype.lanes)
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    vars: HashMap<Var, Var>,
    buffers: HashMap<Buffer, Buffer>,
    /// Data variables of the buffers that the function allocates.
    allocated: HashSet<Var>,
    /// Data variables of its constants.
    constants: HashSet<Var>,
    loops: Loops,
}

impl<'a> Lowerer<'a> {
    fn new(function: &'a PrimFunc) -> Self {
        let (mut allocated, mut constants) = (HashSet::new(), HashSet::new());
        function.body.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            if let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind {
                allocated.insert(buffer.data.clone());
            } else if let Some((buffer, _)) = stmt.as_constant() {
                constants.insert(buffer.data.clone());
            }
        });
        let (vars, buffers) = (HashMap::new(), HashMap::new());
        Self { function, vars, buffers, allocated, constants, loops: Loops::of(function) }
    }

    /// Returns true if several elements of the buffer share a byte of memory (STORAGE-Y2).
    fn is_packed(&self, buffer: &Buffer) -> bool {
        buffer.dtype.is_sub_byte() && !self.allocated.contains(&buffer.data)
    }

    /// Returns a variable, a new one if the old one had a storage type.
    fn var(&mut self, var: &Var) -> Var {
        let allocated = self.allocated.contains(var);
        let is_constant = self.constants.contains(var);
        let new = || match &var.pointer {
            Some(pointer) if is_constant && pointer.element.is_sub_byte() => {
                Var::pointer(var.name.clone(), DType::UINT8, pointer.scope.clone())
            }
            Some(pointer) if is_constant && pointer.element.is_storage() => {
                Var::pointer(var.name.clone(), value_type(pointer.element), pointer.scope.clone())
            }
            Some(pointer) if allocated && pointer.element.is_storage() => {
                Var::pointer(var.name.clone(), value_type(pointer.element), pointer.scope.clone())
            }
            None if var.dtype.is_storage() => Var::new(var.name.clone(), value_type(var.dtype)),
            _ => var.clone(),
        };
        self.vars.entry(var.clone()).or_insert_with(new).clone()
    }

    fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        if let Some(new) = self.buffers.get(buffer) {
            return new.clone();
        }
        let data = self.var(&buffer.data);
        let new = if !buffer.dtype.is_storage() && data == buffer.data {
            buffer.clone()
        } else {
            let packed = self.is_packed(buffer);
            let shape =
                buffer.shape.iter().map(|e| if packed { bytes::count(e, buffer.dtype) } else { e.clone() });
            let dtype = if packed { DType::UINT8 } else { value_type(buffer.dtype) };
            Buffer::from_node(BufferNode { data, dtype, shape: shape.collect(), ..BufferNode::clone(buffer) })
        };
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    fn expr(&mut self, e: &Expr) -> Answer<Expr> {
        let kind = match &e.kind {
            ExprKind::Var(var) => ExprKind::Var(self.var(var)),
            ExprKind::Float(bits) if e.dtype.is_storage() => {
                ExprKind::Int(chipdock_ir::number::float8_bits(bits.value(), e.dtype).into())
            }
            ExprKind::Let { var, value, body } => {
                let value = self.expr(value)?;
                ExprKind::Let { var: self.var(var), value, body: self.expr(body)? }
            }
            ExprKind::Cast(value) if e.dtype.is_storage() || value.dtype.is_storage() => {
                let from = value.dtype;
                return Ok(value::cast(self.expr(value)?, from, e.dtype).with_span(e.span));
            }
            ExprKind::Load { buffer, indices, predicate } => {
                let mut parts = Vec::with_capacity(indices.len());
                for index in indices {
                    parts.push(self.expr(index)?);
                }
                let predicate = predicate.as_ref().map(|predicate| self.expr(predicate)).transpose()?;
                let new = self.buffer(buffer);
                if self.is_packed(buffer) {
                    let index = self.flat(buffer, &parts)?;
                    return Ok(bytes::load(&new, buffer.dtype, index, predicate).with_span(e.span));
                }
                ExprKind::Load { buffer: new, indices: parts, predicate }
            }
            _ => e.try_map_children(&mut |child| self.expr(child))?.kind.clone(),
        };
        Ok(Expr::new(kind, value_type(e.dtype)).with_span(e.span))
    }

    fn flat<'i>(&self, buffer: &Buffer, indices: &'i [Expr]) -> Answer<&'i Expr> {
        match indices {
            [index] => Ok(index),
            _ => {
                let message =
                    format!("expected a flat buffer, found {} of {} axes", buffer.name, indices.len());
                Err(PassError::bug(PASS, &self.function.name, message))
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        if let StmtKind::Store { buffer, indices, value, predicate } = &stmt.kind
            && self.is_packed(buffer)
        {
            return self.packed_store(stmt, buffer, (indices, value, predicate.as_ref()));
        }
        let depth = self.loops.enter(stmt);
        let this = RefCell::new(&mut *self);
        let mapped =
            stmt.try_map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))?;
        let is_split = self.loops.leave(depth);
        let kind = match &mapped.kind {
            StmtKind::For {
                var,
                min,
                extent,
                step,
                annotations,
                body,
                kind: ForKind::Parallel | ForKind::Vectorized,
            } if is_split => StmtKind::For {
                var: var.clone(),
                min: min.clone(),
                extent: extent.clone(),
                kind: ForKind::Serial,
                step: step.clone(),
                annotations: annotations.clone(),
                body: body.clone(),
            },
            StmtKind::Bind { var, value } => StmtKind::Bind { var: self.var(var), value: value.clone() },
            StmtKind::Store { buffer, indices, value, predicate } => StmtKind::Store {
                buffer: self.buffer(buffer),
                indices: indices.clone(),
                value: value.clone(),
                predicate: predicate.clone(),
            },
            StmtKind::AllocBuffer { buffer, annotations } => {
                StmtKind::AllocBuffer { buffer: self.buffer(buffer), annotations: annotations.clone() }
            }
            StmtKind::DeclBuffer { buffer, data } => {
                StmtKind::DeclBuffer { buffer: self.buffer(buffer), data: data.clone() }
            }
            StmtKind::Attr { node, key, value, body } => {
                let node = match node {
                    AttrNode::Buffer(buffer) => AttrNode::Buffer(self.buffer(buffer)),
                    AttrNode::Var(var) => AttrNode::Var(self.var(var)),
                    other => other.clone(),
                };
                StmtKind::Attr { node, key: key.clone(), value: value.clone(), body: body.clone() }
            }
            _ => return Ok(mapped),
        };
        Ok(Stmt::new(kind).with_span(mapped.span))
    }

    fn packed_store(
        &mut self,
        stmt: &Stmt,
        buffer: &Buffer,
        (indices, value, predicate): (&[Expr], &Expr, Option<&Expr>),
    ) -> Answer<Stmt> {
        let index = self.flat(buffer, indices)?;
        let is_whole = predicate.is_none() && self.loops.writes_whole_bytes(buffer.dtype, index);
        if !is_whole && self.loops.part_of_byte() {
            let per = 8 / buffer.dtype.bits;
            let message = format!(
                "{} has elements of {} bits, and two threads may store into one byte of it: let each thread store all {} \
                 elements of a byte, in a serial loop over them, as {}[i * {} + j] for j in range({})",
                buffer.name, buffer.dtype.bits, per, buffer.name, per, per
            );
            return Err(PassError::caller(PASS, &self.function.name, message).at(stmt.span));
        }
        self.loops.changes_byte();
        let index = simplify::expr(&self.expr(index)?);
        let value = self.expr(value)?;
        let predicate = predicate.map(|predicate| self.expr(predicate)).transpose()?;
        let new = self.buffer(buffer);
        let stored = bytes::store(&new, buffer.dtype, (index, value, predicate));
        Ok(stored.with_span(stmt.span))
    }
}
