//! Products of tiles (`chipdock.tiles`) by the tiles of x86 (AMX), rule LLVM-V15.
//!
//! Tiles are named by number, as LLVM's intrinsics allow: nothing spills them, whatever the
//! optimiser does. Their shape is set once around the outermost loop that calls nothing and does
//! not leave the function, and they are released after it.

use std::collections::HashSet;

use chipdock_ir::analysis::{TILE_SIDE, TileAccess, TileProduct, is_pure};
use chipdock_ir::op::DotProduct;
use chipdock_ir::{AttrValue, Attrs, Callee, Child, DType, Expr, ExprKind, ForKind, Stmt, StmtKind, attr};

use crate::control::Loop;
use crate::types;
use crate::value::Value;
use crate::writer::Writer;

/// The tiles of a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileInstructions {
    /// Whether it multiplies tiles of int8 and uint8 (AMX-INT8).
    pub has_int8: bool,
    /// Whether it multiplies tiles of bfloat16 (AMX-BF16).
    pub has_bf16: bool,
}

impl TileInstructions {
    /// Returns true if this crate writes products of such tiles.
    #[must_use]
    pub fn has(self, dot: DotProduct) -> bool {
        match dot.a {
            DType::INT8 | DType::UINT8 => self.has_int8,
            DType::BFLOAT16 => self.has_bf16,
            _ => false,
        }
    }
}

/// Size in bytes of a row of a tile.
const ROW_BYTES: u16 = 64;
/// The configuration: palette 1, and 16 rows of 64 bytes in each of the 8 tiles.
const SHAPE: (&str, &str) = (
    "@cd.tiles.shape",
    "@cd.tiles.shape = private unnamed_addr constant <{ [16 x i8], [16 x i16], [16 x i8] }> <{ \
     [16 x i8] c\"\\01\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\", \
     [16 x i16] [i16 64, i16 64, i16 64, i16 64, i16 64, i16 64, i16 64, i16 64, \
     i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0], \
     [16 x i8] c\"\\10\\10\\10\\10\\10\\10\\10\\10\\00\\00\\00\\00\\00\\00\\00\\00\" }>, align 64",
);
/// Whether the process may use tiles: 0 not asked yet, 1 yes, 2 no.
const STATE: (&str, &str) = ("@cd.tiles.state", "@cd.tiles.state = internal global i8 0");
/// Asks Linux for permission once, `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`; without
/// it the first tile would end the process.
const MAY_USE: (&str, &str) = (
    "cd.tiles.may_use",
    "define internal i1 @cd.tiles.may_use() #0 {
entry:
  %known = load atomic i8, ptr @cd.tiles.state monotonic, align 1
  %is_known = icmp ne i8 %known, 0
  br i1 %is_known, label %done, label %ask
ask:
  %answer = call i64 (i64, ...) @syscall(i64 158, i64 4131, i64 18)
  %granted = icmp eq i64 %answer, 0
  %state = select i1 %granted, i8 1, i8 2
  store atomic i8 %state, ptr @cd.tiles.state monotonic, align 1
  br label %done
done:
  %now = phi i8 [ %known, %entry ], [ %state, %ask ]
  %may = icmp eq i8 %now, 1
  ret i1 %may
}",
);

/// Whether a loop is marked as a product of tiles.
pub(crate) fn is_marked(annotations: &Attrs) -> bool {
    !matches!(
        annotations.get(attr::TILES),
        None | Some(AttrValue::None | AttrValue::Int(0) | AttrValue::Bool(false))
    )
}

impl<'a> Writer<'a> {
    /// Writes a loop, by tiles as far as it is a product of them.
    pub(crate) fn loop_or_tiles(&mut self, s: &'a Stmt, l: &Loop<'a>) {
        if self.may_use_tiles.is_some() || !self.wants_tiles(s) {
            return self.product_or_loop(s, l);
        }
        for (name, text) in [SHAPE, STATE] {
            self.around.globals.insert(name.to_owned(), text.to_owned());
        }
        self.around.helpers.insert(MAY_USE.0.to_owned(), MAY_USE.1.to_owned());
        self.declare("i64", "syscall", "i64, ...");
        let may = self.compute(DType::BOOL, format_args!("call i1 @{}()", MAY_USE.0));
        self.if_granted(&may, |writer| writer.tile_call("ldtilecfg", "ptr", &format!("ptr {}", SHAPE.0)));
        self.may_use_tiles = Some(may.clone());
        self.product_or_loop(s, l);
        self.may_use_tiles = None;
        self.if_granted(&may, |writer| writer.tile_call("tilerelease", "", ""));
    }

    fn if_granted(&mut self, may: &Value, write: impl FnOnce(&mut Self)) {
        let (yes, done) = (self.label("tiles"), self.label("done"));
        self.branch(may, &yes, &done);
        self.start(&yes);
        write(self);
        self.jump(&done);
        self.start(&done);
    }

    /// Whether the shape of tiles is set around this loop: there is a product in it, and nothing
    /// that calls or leaves.
    fn wants_tiles(&self, s: &'a Stmt) -> bool {
        if !self.facts.tiles
            || self.target.tiles() == TileInstructions::default()
            || !self.diagnostics.is_empty()
        {
            return false;
        }
        let (mut has_product, mut is_calm) = (false, true);
        s.walk(&mut |child| match child {
            Child::Stmt(stmt) => match &stmt.kind {
                StmtKind::For { annotations, kind, .. } => {
                    has_product |= is_marked(annotations) && self.product(stmt).is_some();
                    is_calm &= matches!(kind, ForKind::Serial | ForKind::Unrolled | ForKind::Vectorized);
                }
                StmtKind::Return(_) | StmtKind::Assert { .. } | StmtKind::LaunchThread { .. } => {
                    is_calm = false
                }
                _ => {}
            },
            Child::Expr(e) => is_calm &= is_pure(e) && !calls_functions(e),
        });
        has_product && is_calm
    }

    /// The product that a marked loop computes, if the target has it, and nothing else is in the
    /// memory of its sums.
    fn product(&self, s: &'a Stmt) -> Option<TileProduct<'a>> {
        let product = TileProduct::from_stmt(s).filter(|product| self.target.tiles().has(product.dot))?;
        let [sum, rows, columns] =
            [&product.sum, &product.rows, &product.columns].map(|access| access.buffer.data.address());
        (self.facts.is_private(sum) && rows != sum && columns != sum).then_some(product)
    }

    fn product_or_loop(&mut self, s: &'a Stmt, l: &Loop<'a>) {
        let product = if is_marked(l.annotations) { self.product(s) } else { None };
        let (Some(product), Some(may)) = (product, self.may_use_tiles.clone()) else {
            return self.for_loop(s, l);
        };
        let (tiles, plain, done) = (self.label("tiles"), self.label("plain"), self.label("done"));
        self.branch(&may, &tiles, &plain);
        self.start(&plain);
        self.for_loop(s, l);
        self.jump(&done);
        self.start(&tiles);
        self.tiled(&product);
        self.jump(&done);
        self.start(&done);
        self.known = vec![Default::default()];
    }

    /// Writes a product: the sums stay in tiles from the first step to the last.
    fn tiled(&mut self, product: &TileProduct<'a>) {
        for var in &product.inner {
            self.know(var, Value::new("0", var.dtype));
        }
        let [rows, columns] = product.tiles;
        let of_sum = move |i: i64, j: i64| i * columns + j;
        let of_row = move |i: i64| rows * columns + i;
        let of_column = move |j: i64| rows * columns + rows + j;
        let all: Vec<[i64; 2]> = (0..rows).flat_map(|i| (0..columns).map(move |j| [i, j])).collect();
        let sums = self.first_of(&product.sum);
        for [i, j] in &all {
            self.tile_access("tileloadd64", of_sum(*i, *j), &product.sum, &sums, [*i, *j]);
        }
        self.each_step(product, |writer| {
            let row = writer.first_of(&product.rows);
            for i in 0..rows {
                writer.tile_access("tileloadd64", of_row(i), &product.rows, &row, [i, 0]);
            }
            let column = writer.first_of(&product.columns);
            for j in 0..columns {
                writer.tile_access("tileloadd64", of_column(j), &product.columns, &column, [0, j]);
            }
            for [i, j] in &all {
                let tiles =
                    [of_sum(*i, *j), of_row(*i), of_column(*j)].map(|tile| format!("i8 {tile}")).join(", ");
                writer.tile_call(instruction(product), "i8, i8, i8", &tiles);
            }
        });
        for [i, j] in &all {
            self.tile_access("tilestored64", of_sum(*i, *j), &product.sum, &sums, [*i, *j]);
        }
    }

    /// Writes the loop over steps, which may have none.
    fn each_step(&mut self, product: &TileProduct<'a>, body: impl FnOnce(&mut Self)) {
        self.known = vec![Default::default()];
        let dtype = product.step.dtype;
        let (start, extent) = (self.value(product.min), self.value(product.extent));
        let (within, done) = (self.label("steps"), self.label("done"));
        let before = self.block();
        let runs = self.compute(DType::BOOL, format_args!("icmp sgt {}, 0", extent.typed()));
        self.branch(&runs, &within, &done);
        self.start(&within);
        let (count, next) = (self.temporary(), self.temporary());
        let llvm_type = types::register(dtype);
        let (from, own) = (before.name(), within.name());
        self.effect(format_args!("{count} = phi {llvm_type} [ 0, {from} ], [ {next}, {own} ]"));
        let step = self.compute(dtype, format_args!("add {}, {count}", start.typed()));
        self.know(product.step, step);
        self.known = vec![Default::default()];
        body(self);
        self.effect(format_args!("{next} = add nuw nsw {llvm_type} {count}, 1"));
        let ends = self.compute(DType::BOOL, format_args!("icmp eq {llvm_type} {next}, {}", extent.text));
        // A step takes far longer than the jump after it.
        let disable = self.around.metadata("!{!\"llvm.loop.unroll.disable\"}".to_owned());
        let own = self.around.metadata.len();
        self.around.metadata(format!("distinct !{{!{own}, !{disable}}}"));
        self.terminate(format_args!(
            "br i1 {}, {}, {}, !llvm.loop !{own}",
            ends.text,
            done.operand(),
            within.operand()
        ));
        self.start(&done);
        self.known = vec![Default::default()];
    }

    /// A pointer to the first row of the first tile.
    fn first_of(&mut self, access: &TileAccess<'a>) -> Value {
        self.known = vec![Default::default()];
        self.first_address(access.buffer, access.indices)
    }

    /// Loads or stores the tile that is so many tiles after the first along rows and columns.
    fn tile_access(&mut self, name: &str, tile: i64, access: &TileAccess<'a>, first: &Value, at: [i64; 2]) {
        let size = access.buffer.dtype.size_bytes() as i64;
        let offset = (access.row_stride * i64::from(TILE_SIDE) * at[0] + access.column_stride * at[1]) * size;
        let pointer = match offset {
            0 => first.text.clone(),
            _ => self.instruction(format_args!("getelementptr i8, {}, i64 {offset}", first.typed())),
        };
        let stride = access.row_stride * size;
        self.tile_call(name, "i8, ptr, i64", &format!("i8 {tile}, ptr {pointer}, i64 {stride}"));
    }

    fn tile_call(&mut self, name: &str, params: &str, args: &str) {
        let callee = self.declare("void", &format!("llvm.x86.{name}"), params);
        self.effect(format_args!("call void {callee}({args})"));
    }
}

/// The instruction for the types of a product's rows and columns.
fn instruction(product: &TileProduct<'_>) -> &'static str {
    match product.dtypes() {
        [DType::UINT8, DType::INT8] => "tdpbusd",
        [DType::INT8, DType::UINT8] => "tdpbsud",
        [DType::INT8, DType::INT8] => "tdpbssd",
        [DType::UINT8, DType::UINT8] => "tdpbuud",
        _ => "tdpbf16ps",
    }
}

/// Whether an expression calls a function, of the module or of C: it might use tiles itself.
fn calls_functions(e: &Expr) -> bool {
    let (mut left, mut seen) = (vec![e], HashSet::new());
    while let Some(e) = left.pop() {
        if !seen.insert(e.address()) {
            continue;
        }
        if matches!(e.kind, ExprKind::Call { callee: Callee::Global(_) | Callee::Extern { .. }, .. }) {
            return true;
        }
        e.for_each_child(&mut |child| left.push(child));
    }
    false
}

const _: () = assert!(
    ROW_BYTES == 4 * TILE_SIDE,
    "a row of sums, of 16 groups and of 16 columns fills a row of a tile"
);
