//! Buffers: typed views of memory.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::{DType, Expr, StorageScope, Var};

/// A buffer: a typed view of memory. Two buffers are equal if they are the same one.
#[derive(Clone, Debug)]
pub struct Buffer(Arc<BufferNode>);

/// The fields of a [`Buffer`].
#[derive(Clone, Debug)]
pub struct BufferNode {
    /// Name for messages; for a parameter, also the name that callers use.
    pub name: Arc<str>,
    /// Type of an element.
    pub dtype: DType,
    /// Extents in elements, outermost first.
    pub shape: Vec<Expr>,
    /// Strides in elements, one per axis; empty when compact and row-major.
    pub strides: Vec<Expr>,
    /// Offset of the first element, in elements from `data`; `None` is 0.
    pub elem_offset: Option<Expr>,
    /// The pointer to its memory. Buffers with one data variable are views of one memory.
    pub data: Var,
    /// Memory scope of the buffer.
    pub scope: StorageScope,
    /// Alignment of the address of `data`, in bytes; 0 if only that of an element is known.
    pub data_alignment_bytes: u32,
    /// A number that `elem_offset` is a multiple of; 0 if none is known.
    pub offset_factor: u32,
}

impl Buffer {
    /// Makes a new buffer, unequal to every other.
    #[must_use]
    pub fn from_node(node: BufferNode) -> Self {
        Self(Arc::new(node))
    }

    /// Makes a new compact buffer in a scope, with its own data variable.
    pub fn new(name: impl Into<Arc<str>>, shape: Vec<Expr>, dtype: DType, scope: StorageScope) -> Self {
        let name = name.into();
        let data = Var::pointer(Arc::clone(&name), dtype, scope.clone());
        Self::from_node(BufferNode {
            name,
            dtype,
            shape,
            strides: Vec::new(),
            elem_offset: None,
            data,
            scope,
            data_alignment_bytes: 0,
            offset_factor: 0,
        })
    }

    /// Returns the number of elements, if the shape is constant.
    #[must_use]
    pub fn constant_size(&self) -> Option<i128> {
        self.shape.iter().try_fold(1_i128, |size, extent| size.checked_mul(extent.as_int()?))
    }

    /// Returns a number that identifies this buffer among all live ones.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl Deref for Buffer {
    type Target = BufferNode;
    fn deref(&self) -> &BufferNode {
        &self.0
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Buffer {}

impl Hash for Buffer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}
