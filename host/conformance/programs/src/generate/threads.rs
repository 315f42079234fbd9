//! Stages that are executed by threads.

use std::sync::Arc;

use chipdock_ir::build::{self, Body};
use chipdock_ir::{
    AttrNode, BinaryOp, Buffer, CompareOp, DType, Expr, ForKind, Op, Reducer, Stmt, StmtKind, StorageScope,
    ThreadAxis, Var,
};

use super::body::Target;
use super::facts::{Scope, Size, Val, number};
use super::{Generator, inner, op};

/// Kind of work of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Each thread computes its own element.
    Own,
    /// Through shared memory, with barriers as statements.
    Shared,
    /// Through shared memory, in blocks whose order is sufficient.
    SharedBlocks,
    /// A reduction over the threads of a block.
    Reduce,
    /// Warp shuffles.
    Shuffle,
    /// Atomic additions to elements that other threads add to as well.
    Atomic,
    /// `tvm_thread_allreduce`.
    Allreduce,
}

const WORKS: [Work; 7] =
    [Work::Own, Work::Shared, Work::SharedBlocks, Work::Reduce, Work::Shuffle, Work::Atomic, Work::Allreduce];

/// Number of threads of a block that shuffles: one warp or several. With as many for each size of
/// warps a program has the same tensors, and thus the same choices after it.
const SHUFFLING: u8 = 32;

fn sync(scope: &str) -> Stmt {
    Stmt::new(StmtKind::Evaluate(Expr::call(Op::StorageSync, vec![Expr::str(scope)], DType::HANDLE)))
}

/// Position in a block of threads: the indices of the thread and of its element.
struct ThreadPosition {
    block: Expr,
    thread: Expr,
    n_threads: i64,
}

impl Generator<'_> {
    /// Computes a tensor by a launch of threads.
    pub(crate) fn thread_stage(&mut self, f: &mut Body, at: usize) {
        let work = loop {
            let work = *self.random.pick(&WORKS);
            let has_blocks = self.options.blocks || !matches!(work, Work::SharedBlocks | Work::Reduce);
            if has_blocks && (self.options.warps.is_some() || work != Work::Shuffle) {
                break work;
            }
        };
        self.written = None;
        let dtype = match work {
            Work::Atomic => self.atomic_type(),
            Work::Allreduce => self.typed(|dtype| !dtype.is_bool()).unwrap_or(DType::INT32),
            _ => self.any_type(),
        };
        let n_threads: u8 = match work {
            Work::Shuffle => SHUFFLING,
            _ => *self.random.pick(&[2, 4, 8, 3]),
        };
        let shape = match work {
            Work::Own => vec![Size::N],
            Work::Reduce | Work::Allreduce => vec![Size::Const(3)],
            Work::Atomic => vec![Size::M],
            _ => vec![Size::Const(3), Size::Const(n_threads)],
        };
        let to = self.output(format!("B{at}"), &shape, dtype);
        let n_threads = i64::from(n_threads);
        self.in_threads = true;
        match work {
            Work::Own => self.own_elements(f, &to, n_threads),
            Work::Reduce => self.reduce_threads(f, &to, n_threads),
            _ => self.blocks_of_threads(f, n_threads, &mut |this, f, place| match work {
                Work::Shared => this.shared(f, &to, place),
                Work::SharedBlocks => this.shared_blocks(f, &to, place),
                Work::Shuffle => this.shuffles(f, &to, place),
                Work::Atomic => this.atomic_threads(f, &to, place),
                _ => this.allreduce(f, &to, place),
            }),
        }
        self.in_threads = false;
        self.finish_stage(to, shape);
    }

    /// Creates three blocks of threads, by bound loops or by launched axes.
    fn blocks_of_threads(
        &mut self,
        f: &mut Body,
        n_threads: i64,
        body: &mut dyn FnMut(&mut Self, &mut Body, &ThreadPosition),
    ) {
        let (blocks, threads) = (self.index_number(3), self.index_number(n_threads));
        let launched = self.random.one_in(3);
        let axes = if self.random.one_in(4) {
            [ThreadAxis::BlockY, ThreadAxis::ThreadX]
        } else {
            [ThreadAxis::BlockX, ThreadAxis::ThreadX]
        };
        let [block, thread] = ["bx", "tx"].map(|name| Var::new(name, self.index));
        let place = ThreadPosition { block: block.expr(), thread: thread.expr(), n_threads };
        let mut stmt = inner(|f| body(self, f, &place));
        for (var, extent, axis) in [(thread, threads, axes[1]), (block, blocks, axes[0])] {
            stmt = if launched {
                Stmt::new(StmtKind::LaunchThread { var, axis, extent, body: stmt })
            } else {
                Stmt::for_loop(var, extent, ForKind::ThreadBinding(axis), stmt)
            };
        }
        f.push(stmt);
    }

    fn thread_scope(&self, place: &ThreadPosition) -> Scope {
        Scope::default()
            .with_index(Size::Const(3), place.block.clone())
            .with_index(Size::Const(place.n_threads as u8), place.thread.clone())
    }

    fn small(&mut self, dtype: DType, scope: &Scope) -> Val {
        let value = self.value(dtype, scope, 2);
        if dtype.is_float() { value.clamp(-50.0, 50.0) } else { value }
    }

    /// Computes with as many threads as needed, of which those past the end do nothing; also uses
    /// virtual threads.
    fn own_elements(&mut self, f: &mut Body, to: &Buffer, n_threads: i64) {
        let n = self.n.clone();
        let threads = self.index_number(n_threads);
        let more = n.clone() + self.index_number(n_threads - 1);
        let blocks = Expr::binary(BinaryOp::FloorDiv, more, threads.clone());
        let inner_axis = if self.random.one_in(4) { ThreadAxis::VirtualX } else { ThreadAxis::ThreadX };
        let form = self.form();
        let block = self.in_block();
        let ends = self.random.one_in(3) && !block;
        f.for_loop("bx", blocks, ForKind::ThreadBinding(ThreadAxis::BlockX), |f, bx| {
            f.for_loop("tx", threads.clone(), ForKind::ThreadBinding(inner_axis), |f, tx| {
                let i = bx * threads + tx;
                let inside = Expr::compare(CompareOp::Lt, i.clone(), n.clone());
                let body = |this: &mut Self, f: &mut Body, i: Expr| {
                    let target = Target { buffer: to.clone(), at: vec![i.clone()] };
                    this.element_body(f, form, &target, &Scope::default().with_index(Size::N, i));
                };
                if block {
                    f.block("B", |f| {
                        let v = f.spatial("v", &n, &i);
                        f.predicate(inside);
                        body(self, f, v);
                    });
                } else if ends {
                    let end = Expr::call(Op::ThreadReturn, Vec::new(), DType::HANDLE);
                    f.if_then(inside.logical_not(), |f| f.evaluate(end));
                    body(self, f, i);
                } else {
                    f.if_then(inside, |f| body(self, f, i));
                }
            });
        });
    }

    /// Makes each thread write its element of shared memory and read another thread's.
    fn shared(&mut self, f: &mut Body, to: &Buffer, place: &ThreadPosition) {
        let dtype = self.any_type();
        let scope = self.thread_scope(place);
        let dynamic = StorageScope::parse("shared.dyn");
        let kind = if self.random.one_in(3) { dynamic } else { StorageScope::SHARED };
        let barrier = if kind == StorageScope::SHARED { "shared" } else { "shared.dyn" };
        let s = f.alloc("S", self.index_number(place.n_threads), dtype, kind);
        let first = self.small(dtype, &scope);
        let known = Val { expr: Expr::bool(true), ..first.clone() };
        f.store(&s, [&place.thread], first.expr);
        f.push(sync(barrier));
        let other = self.other_thread(place);
        let taken = Val { expr: s.at([&other]), ..known };
        let rounds = self.random.between(0, 2);
        if rounds > 0 {
            let t = f.alloc("t", [1], dtype, StorageScope::LOCAL);
            f.range("r", self.index_number(rounds), |f, _| {
                f.store(&t, [0], s.at([&other]));
                f.push(sync(barrier));
                f.store(&s, [&place.thread], t.at([0]));
                f.push(sync(barrier));
            });
        }
        self.put(f, to, place, taken, &scope);
    }

    fn other_thread(&mut self, place: &ThreadPosition) -> Expr {
        let n = self.index_number(place.n_threads);
        match self.random.below(3) {
            0 => n - self.index_number(1) - place.thread.clone(),
            1 => Expr::binary(BinaryOp::FloorMod, place.thread.clone() + self.index_number(1), n),
            _ => {
                let other = self.random.between(0, place.n_threads - 1);
                self.index_number(other)
            }
        }
    }

    /// Stores a result computed from a value.
    fn put(&mut self, f: &mut Body, to: &Buffer, place: &ThreadPosition, value: Val, scope: &Scope) {
        let made = self.value(to.dtype, &scope.with(value.clone()), 2);
        let value = op::convert(value, to.dtype, &mut self.random);
        let value = if to.dtype.is_bool() { value } else { op::binary(BinaryOp::Add, value, made) };
        let target = Target { buffer: to.clone(), at: vec![place.block.clone(), place.thread.clone()] };
        self.store(f, &target, value);
    }

    /// Uses shared memory in blocks: a statement sees the writes of earlier ones by any thread.
    fn shared_blocks(&mut self, f: &mut Body, to: &Buffer, place: &ThreadPosition) {
        let dtype = self.any_type();
        let n = self.index_number(place.n_threads);
        let s = f.alloc("S", &n, dtype, StorageScope::SHARED);
        let scope = self.thread_scope(place);
        let first = self.small(dtype, &scope);
        f.block("load", |f| {
            let v = f.spatial("v", &n, &place.thread);
            f.store(&s, [&v], first.expr.clone());
        });
        let other = self.other_thread(place);
        f.block("use", |f| {
            let b = f.spatial("vb", self.index_number(3), &place.block);
            let t = f.spatial("vt", &n, &place.thread);
            let taken = Val { expr: s.at([&other]), ..first };
            let inside = ThreadPosition { block: b, thread: t, n_threads: place.n_threads };
            let scope = self.thread_scope(&inside);
            self.put(f, to, &inside, taken, &scope);
        });
    }

    /// Computes one sum for each block of threads, with one term for each thread.
    fn reduce_threads(&mut self, f: &mut Body, to: &Buffer, n_threads: i64) {
        let (blocks, threads) = (self.index_number(3), self.index_number(n_threads));
        f.for_loop("bx", &blocks, ForKind::ThreadBinding(ThreadAxis::BlockX), |f, bx| {
            f.for_loop("tx", &threads, ForKind::ThreadBinding(ThreadAxis::ThreadX), |f, tx| {
                f.block("R", |f| {
                    let spatial = f.spatial("vs", &blocks, bx);
                    let reduced = f.reduce("vr", &threads, tx);
                    let scope = Scope::default()
                        .with_index(Size::Const(3), spatial.clone())
                        .with_index(Size::Const(n_threads as u8), reduced);
                    f.init(|f| f.store(to, [&spatial], number(0.0, to.dtype)));
                    let term = self.small(to.dtype, &scope).expr;
                    let own = to.at([&spatial]);
                    let sum = if to.dtype.is_bool() { own.or(term) } else { own + term };
                    f.store(to, [&spatial], sum);
                });
            });
        });
        self.written = Some((-500.0, 500.0, false));
        if !to.dtype.is_float() {
            let any = Val::any(number(0.0, to.dtype));
            self.written = Some((any.lo, any.hi, true));
        }
    }

    /// Exchanges values between the lanes of a warp.
    fn shuffles(&mut self, f: &mut Body, to: &Buffer, place: &ThreadPosition) {
        let warp = i64::from(self.options.warps.unwrap_or(SHUFFLING));
        let dtype = self.any_type();
        let scope = self.thread_scope(place);
        let first = self.small(dtype, &scope);
        let mine = f.bind("mine", first.expr.clone());
        let mask = if self.random.one_in(2) {
            f.bind("mask", Expr::call(Op::WarpActivemask, Vec::new(), DType::UINT32))
        } else {
            Expr::int((1 << warp) - 1, DType::UINT32)
        };
        let width = *self.random.pick(&[warp / 4, warp / 2, warp]);
        let int = |value: i64| Expr::int(value.into(), DType::INT32);
        let (op, lane) = *self.random.pick(&[
            (Op::WarpShuffle, 3),
            (Op::WarpShuffleUp, 1),
            (Op::WarpShuffleDown, 2),
            (Op::WarpShuffleXor, 4),
        ]);
        let args = vec![mask, mine, Expr::i32(lane), int(width), int(warp)];
        let taken = f.bind("taken", Expr::call(op, args, dtype));
        self.put(f, to, place, Val { expr: taken, ..first }, &scope);
    }

    fn atomic_threads(&mut self, f: &mut Body, to: &Buffer, place: &ThreadPosition) {
        let scope = self.thread_scope(place);
        self.add_atomically(f, to, Size::M, &scope);
        self.written = Some((-2000.0, 2000.0, false));
    }

    /// Computes one value for each block of threads, from the values of all its threads.
    fn allreduce(&mut self, f: &mut Body, to: &Buffer, place: &ThreadPosition) {
        let dtype = to.dtype;
        let scope = self.thread_scope(place);
        let value = self.small(dtype, &scope);
        let t = f.alloc("t", [1], dtype, StorageScope::LOCAL);
        let [x, y] = ["x0", "y0"].map(|name| Var::new(name, dtype));
        let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Max]);
        let identity = match (op, dtype.integer_range()) {
            (BinaryOp::Add, _) => number(0.0, dtype),
            (_, Some((low, _))) => Expr::int(low, dtype),
            (_, None) => Expr::float(-999.0, dtype),
        };
        let reducer = Reducer {
            result: vec![Expr::binary(op, x.expr(), y.expr())],
            lhs: vec![x],
            rhs: vec![y],
            identity: vec![identity],
        };
        let count = Expr::int(1, DType::UINT32);
        let args = vec![count, value.expr, Expr::bool(true), t.at([0]), place.thread.clone()];
        let call = Expr::call(Op::ThreadAllreduce, args, DType::HANDLE);
        f.push(Stmt::new(StmtKind::Attr {
            node: AttrNode::Reducer(Arc::new(reducer)),
            key: "reduce_scope".into(),
            value: Expr::int(0, DType::INT32),
            body: Stmt::new(StmtKind::Evaluate(call)),
        }));
        let first = Expr::compare(CompareOp::Eq, place.thread.clone(), self.index_number(0));
        f.if_then(first, |f: &mut build::Body| f.store(to, [&place.block], t.at([0])));
        self.written = Some(if dtype.is_float() {
            (-999.0, 999.0, false)
        } else {
            let any = Val::any(number(0.0, dtype));
            (any.lo, any.hi, true)
        });
    }
}
