//! Stages that write or read through another buffer over the same memory.

use chipdock_ir::build::Body;
use chipdock_ir::{
    Buffer, BufferNode, DType, Expr, ForKind, IterKind, Op, Stmt, StmtKind, StorageScope, Var,
};

use super::Generator;
use super::body::Target;
use super::facts::{Scope, Size, Tensor};
use super::loops::Nest;

/// Creates another buffer over the memory of `buffer`.
fn over(buffer: &Buffer, name: &str, shape: Vec<Expr>) -> BufferNode {
    BufferNode { name: name.into(), shape, strides: Vec::new(), ..BufferNode::clone(buffer) }
}

fn declare(f: &mut Body, buffer: &Buffer, data: Option<Expr>) {
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data }));
}

impl Generator<'_> {
    /// Computes an `N` by `M` tensor through a view of it.
    pub(crate) fn view(&mut self, f: &mut Body, to: &Buffer) {
        self.reinterpreted(f);
        match self.random.below(if self.options.blocks { 6 } else { 4 }) {
            0 => {
                let view = Buffer::from_node(over(to, "V", vec![self.extent(Size::Product)]));
                declare(f, &view, None);
                self.write_view(f, &view, &[Size::Product]);
            }
            1 => {
                let node = over(to, "V", self.extents(&[Size::M, Size::N]));
                let strides = vec![self.index_number(1), self.extent(Size::M)];
                let view = Buffer::from_node(BufferNode { strides, ..node });
                declare(f, &view, None);
                self.write_view(f, &view, &[Size::M, Size::N]);
            }
            2 if self.never_empty => self.by_pointer(f, to),
            2 | 3 => self.rows(f, to),
            _ => self.matched(f, to),
        }
    }

    fn write_view(&mut self, f: &mut Body, view: &Buffer, shape: &[Size]) {
        let form = self.form();
        let nest = Nest { ordered: false, straight: form.is_straight(), block: self.in_block() };
        self.nest(f, shape, nest, &Scope::default(), &mut |this, f, scope| {
            let at = scope.at.iter().map(|(_, index)| index.clone()).collect();
            let to = Target { buffer: view.clone(), at };
            this.element_body(f, form, &to, scope);
        });
    }

    /// Computes each row through a view that starts there.
    fn rows(&mut self, f: &mut Body, to: &Buffer) {
        let (n, m) = (self.extent(Size::N), self.extent(Size::M));
        let nest = Nest { ordered: false, straight: false, block: false };
        let kind = self.kind(&n, false, nest);
        let form = self.form();
        f.for_loop("i", &n, kind, |f, i| {
            let node = over(to, "row", vec![m.clone()]);
            let row = Buffer::from_node(BufferNode { elem_offset: Some(i.clone() * m.clone()), ..node });
            declare(f, &row, None);
            let scope = Scope::default().with_index(Size::N, i);
            f.for_loop("j", &m, ForKind::Serial, |f, j| {
                let to = Target { buffer: row.clone(), at: vec![j.clone()] };
                self.element_body(f, form, &to, &scope.with_index(Size::M, j));
            });
        });
    }

    /// Computes through a buffer that is declared over an address.
    fn by_pointer(&mut self, f: &mut Body, to: &Buffer) {
        let name = "P";
        let data = Var::pointer(name, to.dtype, StorageScope::GLOBAL);
        let view = Buffer::from_node(BufferNode { data, ..over(to, name, vec![self.extent(Size::Product)]) });
        let address = if self.random.one_in(3) {
            Self::address(to)
        } else if self.random.one_in(2) {
            let (zero, extent) = (self.index_number(0), self.extent(Size::Product));
            let args = vec![super::facts::number(0.0, to.dtype), to.data.expr(), zero, extent, Expr::i32(3)];
            Expr::call(Op::AccessPtr, args, DType::HANDLE)
        } else {
            let moved = vec![to.data.expr(), Expr::int(0, DType::INT64)];
            Expr::call(Op::HandleAddByteOffset, moved, DType::HANDLE)
        };
        declare(f, &view, Some(address));
        self.write_view(f, &view, &[Size::Product]);
    }

    /// Computes through views of regions, in a block for each row.
    fn matched(&mut self, f: &mut Body, to: &Buffer) {
        let (n, m) = (self.extent(Size::N), self.extent(Size::M));
        let nest = Nest { ordered: false, straight: false, block: true };
        let kind = self.kind(&n, false, nest);
        let form = self.form();
        let zero = self.index_number(0);
        let one = self.index_number(1);
        let read = self.tensors.iter().find(|tensor| tensor.shape == [Size::N, Size::M]).cloned();
        f.for_loop("i", &n, kind, |f, i| {
            f.block("part", |f| {
                let row = f.axis("vi", IterKind::Spatial, &n, i);
                let region = |buffer: &Buffer| buffer.region([(&row, &one), (&zero, &m)]);
                let mut scope = Scope::default().with_index(Size::N, row.clone());
                if let Some(tensor) = &read {
                    let view = f.match_buffer("in_row", [&m], region(&tensor.buffer));
                    let tensor = Tensor { buffer: view, shape: vec![Size::M], ..tensor.clone() };
                    scope = scope.with_local(tensor);
                }
                let out = f.match_buffer("out_row", [&one, &m], region(to));
                f.for_loop("j", &m, ForKind::Serial, |f, j| {
                    let to = Target { buffer: out.clone(), at: vec![zero.clone(), j.clone()] };
                    self.element_body(f, form, &to, &scope.with_index(Size::M, j));
                });
            });
        });
    }

    /// Makes the bits of an input readable as another type of the same size.
    fn reinterpreted(&mut self, f: &mut Body) {
        let found = self
            .tensors
            .iter()
            .find(|tensor| tensor.exact && tensor.shape.len() == 1 && tensor.buffer.dtype.is_integer());
        let Some(tensor) = found.cloned() else { return };
        let dtype = tensor.buffer.dtype;
        let list = if dtype.is_int() {
            [DType::UINT8, DType::UINT16, DType::UINT32, DType::UINT64]
        } else {
            [DType::INT8, DType::INT16, DType::INT32, DType::INT64]
        };
        let other =
            list.into_iter().find(|other| other.bits == dtype.bits && self.options.types.contains(other));
        let Some(other) = other else { return };
        let node = over(&tensor.buffer, "bits", tensor.buffer.shape.clone());
        let view = Buffer::from_node(BufferNode { dtype: other, ..node });
        declare(f, &view, None);
        let (lo, hi) = other.integer_range().unwrap_or((0, 1));
        self.tensors.push(Tensor { buffer: view, lo: lo as f64, hi: hi as f64, ..tensor });
    }
}
