//! Distribution of the elements of warp memory among the threads of the warp.

use chipdock_ir::{BinaryOp, Buffer, Child, Expr, PrimFunc, Stmt, StmtKind};

use super::place::WarpContext;
use super::{misuse, own};

/// Maximum number of elements of one thread.
const PART_MAX: i128 = 4096;

/// Maps an index to the thread that owns its element.
pub(super) trait OwnerMap {
    /// The lane of the owner within its warp.
    fn lane(&self, index: &Expr) -> Expr;
    /// The position among the owner's elements.
    fn within(&self, index: &Expr) -> Expr;
}

/// Adjacent elements of one thread, then those of the next; after a whole warp, the first thread
/// again.
#[derive(Clone, Copy)]
struct Turns {
    warp: i128,
    neighbours: i128,
}

impl OwnerMap for Turns {
    fn lane(&self, index: &Expr) -> Expr {
        let int = |value: i128| Expr::int(value, index.dtype);
        let group = Expr::binary(BinaryOp::FloorDiv, index.clone(), int(self.neighbours));
        Expr::binary(BinaryOp::FloorMod, group, int(self.warp))
    }

    fn within(&self, index: &Expr) -> Expr {
        let int = |value: i128| Expr::int(value, index.dtype);
        let turn = Expr::binary(BinaryOp::FloorDiv, index.clone(), int(self.neighbours * self.warp));
        turn * int(self.neighbours) + Expr::binary(BinaryOp::FloorMod, index.clone(), int(self.neighbours))
    }
}

/// The layout of one buffer.
pub(super) struct Layout {
    /// Local buffer of a thread's own elements.
    pub(super) own: Buffer,
    /// Number of elements of that buffer.
    pub(super) size: i128,
    turns: Turns,
}

impl OwnerMap for Layout {
    fn lane(&self, index: &Expr) -> Expr {
        self.turns.lane(index)
    }

    fn within(&self, index: &Expr) -> Expr {
        self.turns.within(index)
    }
}

impl Layout {
    /// Finds the layout in which each thread stores only its own elements; the error says what is
    /// wrong with the buffer.
    pub(super) fn find(function: &PrimFunc, buffer: &Buffer, warp: i128) -> Result<Self, String> {
        let name = &buffer.name;
        let only = "expected memory of a warp to be loaded and stored element by element";
        if !buffer.dtype.is_scalar() {
            return Err(format!("{only}, which are scalars; found buffer {name} of {}", buffer.dtype));
        }
        if let Some(found) = misuse(function, buffer) {
            return Err(format!("{only}; found {found}, buffer {name}"));
        }
        let size = match buffer.constant_size() {
            Some(n) if n > 0 && n % warp == 0 && n / warp <= PART_MAX => n / warp,
            _ => {
                return Err(format!(
                    "expected memory of a warp to have as many elements for each of its {warp} threads, at most {PART_MAX}, a \
                     constant number; found another size of buffer {name}"
                ));
            }
        };
        let mut stores = Stores { buffer, place: WarpContext::new(warp), found: Vec::new() };
        stores.stmt(&function.body);
        let fitting = (1..=size).filter(|neighbours| size % neighbours == 0).find(|&neighbours| {
            let turns = Turns { warp, neighbours };
            stores.found.iter().all(|(index, place)| place.is_own(&turns, index))
        });
        match fitting {
            Some(neighbours) => Ok(Self { own: own(buffer, size), size, turns: Turns { warp, neighbours } }),
            None => Err(format!(
                "expected each thread of a warp to store elements of its own, `lane * m` and the {} behind, for one m, a \
                 constant, perhaps a multiple of {warp} * m further, where the lane is the thread's number within its warp of \
                 {warp}; found a store to buffer {name} at another index",
                "m - 1"
            )),
        }
    }
}

/// The stores to a buffer, each index with the facts known at the store.
struct Stores<'a> {
    buffer: &'a Buffer,
    place: WarpContext,
    found: Vec<(Expr, WarpContext)>,
}

impl Stores<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Store { buffer, indices, .. } = &stmt.kind
            && buffer.data == self.buffer.data
            && let [index] = indices.as_slice()
        {
            self.found.push((index.clone(), self.place.clone()));
        }
        let threads = self.place.enter(stmt);
        stmt.for_each_child(&mut |child| {
            if let Child::Stmt(stmt) = child {
                self.stmt(stmt);
            }
        });
        self.place.leave(threads);
    }
}
