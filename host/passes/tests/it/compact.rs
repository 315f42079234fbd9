//! `compact_buffer_allocation` on random programs that use their buffers in parts: on the
//! interpreter, which reports races, accesses out of bounds and what was never written, a program
//! gives the same before and after.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::build::{self, BlockBuilder, Body};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    BinaryOp, Buffer, CompareOp, DType, Expr, ForKind, IrModule, Op, Stage, StmtKind, StorageScope,
    TargetCapabilities, ThreadAxis, print,
};
use chipdock_passes::{PIPELINE, Pass, compact_buffer_allocation};
use chipdock_programs::Random;

use crate::capabilities::{device, host};

const I32: DType = DType::INT32;

/// Elements of the output; each statement that writes it has a part of its own.
const OUTPUT: i32 = 1 << 14;
const THREADS: i32 = 4;
const BLOCKS: i32 = 3;

/// A loop around a statement: its variable, and a bound of its iterations.
type Around = (Expr, i32);

/// The random choices of one program.
struct Maker {
    random: Random,
    a: Buffer,
    b: Buffer,
    n: Expr,
    buffers: Vec<Buffer>,
    /// Whether threads run it; of these, whether code is outside of the loops over `threadIdx.x`.
    is_launch: bool,
    is_outside: bool,
    /// What is used of the output.
    used: i32,
    /// Multiples of the loops by depth, for each axis of each buffer.
    multiples: Vec<Vec<Vec<i32>>>,
}

impl Maker {
    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len() as u64) as usize].clone()
    }

    /// The part of an index that the loops around decide.
    fn fixed(&mut self, of: usize, axis: usize, around: &[Around]) -> Expr {
        let mut sum = Expr::i32(0);
        for (depth, (var, _)) in around.iter().enumerate() {
            let usual = self.multiples[of][axis][depth.min(5)];
            let by = if self.one_in(12) { self.pick(&[0, 1, 3, -1]) } else { usual };
            if by != 0 {
                sum = sum + var.clone() * by;
            }
        }
        sum
    }

    /// Gives an index one of several forms.
    fn formed(&mut self, index: Expr) -> Expr {
        match self.random.below(10) {
            0 => index.cast(DType::INT64) + 0,
            1 => (index.clone() + 1).cast(DType::INT64) - Expr::int(1, DType::INT64),
            2 => Expr::binary(BinaryOp::FloorDiv, index * 4 + 3, Expr::i32(4)),
            3 => Expr::binary(BinaryOp::Min, index, Expr::i32(70)),
            _ => index,
        }
    }

    /// The kind of an inner loop.
    fn kind(&mut self, is_whole: bool) -> ForKind {
        let inner = [ForKind::Serial, ForKind::Serial, ForKind::Unrolled, ForKind::Vectorized];
        match self.pick(&inner) {
            _ if self.is_launch => ForKind::Serial,
            // Of a masked load in the buffer, `vectorize` drops the mask, and lanes that nobody
            // uses were never written.
            ForKind::Vectorized if !is_whole => ForKind::Serial,
            kind => kind,
        }
    }

    /// Appends a loop that is `inner`, over threads where it may be.
    fn inner(
        &mut self,
        f: &mut Body,
        (extent, is_whole): (i32, bool),
        around: &[Around],
        inner: impl FnOnce(&mut Self, &mut Body, Expr, &[Around]),
    ) {
        let is_bound = self.is_outside && (extent == THREADS || self.one_in(2));
        let (kind, extent) = match is_bound {
            true => (ForKind::ThreadBinding(ThreadAxis::ThreadX), THREADS),
            false => (self.kind(is_whole), extent),
        };
        f.for_loop("j", extent, kind, |f, j| {
            let around: Vec<Around> = around.iter().cloned().chain([(j.clone(), extent)]).collect();
            inner(self, f, j, &around);
        });
    }

    /// A place of the output for each iteration of the loops around.
    fn place(&mut self, around: &[Around]) -> Expr {
        let mut at = Expr::i32(0);
        let mut size = 1;
        for (var, extent) in around {
            at = at * *extent + var.clone();
            size *= extent;
        }
        let first = self.used;
        self.used += size;
        at + first
    }

    /// Writes a part of a buffer, and then reads it, in another order.
    fn pair(&mut self, f: &mut Body, around: &[Around]) {
        let of = self.random.below(self.buffers.len() as u64) as usize;
        let s = self.buffers[of].clone();
        let extent = if self.is_launch { THREADS } else { 1 + self.random.below(5) as i32 };
        let axes = s.shape.len();
        let fixed: Vec<Expr> = (0..axes).map(|axis| self.fixed(of, axis, around)).collect();
        let by: Vec<i32> = (0..axes).map(|_| self.pick(&[1, 1, 0, 2, -1])).collect();
        let more: Vec<i32> = by.iter().map(|by| if *by < 0 { extent } else { 0 }).collect();
        let shift = if self.one_in(6) { self.random.below(4) as i32 } else { 0 };
        let at = |this: &mut Self, j: &Expr| -> Vec<Expr> {
            let index = |axis: usize| fixed[axis].clone() + j.clone() * by[axis] + (more[axis] + shift);
            (0..axes).map(|axis| this.formed(index(axis))).collect()
        };
        let below = if self.one_in(3) { self.random.below(extent as u64 + 1) as i32 } else { extent };
        let where_ = |j: &Expr| Expr::compare(CompareOp::Lt, j.clone(), Expr::i32(below));
        let is_block = self.is_launch || self.one_in(2);
        let mirrored = self.one_in(2);
        self.inner(f, (extent, below == extent), around, |this, f, j, around| {
            let indices = at(this, &j);
            let number = this.value(around);
            let value = this.a.at([Expr::binary(BinaryOp::FloorMod, number, Expr::i32(64))]);
            this.guarded(f, is_block, (below < extent).then(|| where_(&j)), |f| {
                f.store(&s, indices.clone(), value.clone());
            });
        });
        if self.one_in(4) {
            self.wild(f, around);
        }
        self.inner(f, (extent, below == extent), around, |this, f, j, around| {
            let from = if mirrored { Expr::i32(below - 1) - j.clone() } else { j.clone() };
            let from = if below == 0 { j.clone() } else { from };
            let (indices, place, b) = (at(this, &from), this.place(around), this.b.clone());
            this.guarded(f, is_block, (below < extent).then(|| where_(&j)), |f| {
                f.store(&b, [&place], s.at(indices.clone()));
            });
        });
    }

    /// A number that differs between iterations.
    fn value(&mut self, around: &[Around]) -> Expr {
        let by = self.pick(&[1, 3, 5]);
        around.iter().fold(Expr::i32(self.random.below(64) as i32), |sum, (var, _)| sum * by + var.clone())
    }

    /// A statement under a condition, in a block or not.
    fn guarded(
        &mut self,
        f: &mut Body,
        is_block: bool,
        condition: Option<Expr>,
        inner: impl FnOnce(&mut Body),
    ) {
        match condition {
            _ if is_block => f.block("s", |f: &mut BlockBuilder| {
                if let Some(condition) = condition {
                    f.predicate(condition);
                }
                inner(f);
            }),
            Some(condition) => f.if_then(condition, inner),
            None => inner(f),
        }
    }

    /// An access of another form: one element, a view, a pointer, a number from memory.
    fn wild(&mut self, f: &mut Body, around: &[Around]) {
        let of = self.random.below(self.buffers.len() as u64) as usize;
        let s = self.buffers[of].clone();
        let indices: Vec<Expr> = (0..s.shape.len())
            .map(|axis| self.fixed(of, axis, around) + self.random.below(3) as i32)
            .collect();
        match self.random.below(7) {
            0 => f.store(&s, indices, self.value(around)),
            1 => {
                let place = self.place(around);
                f.store(&self.b, [&place], s.at(indices));
            }
            2 if s.shape.iter().all(|extent| extent.as_int().is_some()) => {
                let size = s.constant_size().unwrap() as i32;
                let all = f.view("V", [size], I32, &s.data);
                let at = Expr::i32(self.random.below(size as u64) as i32);
                let place = self.place(around);
                f.store(&self.b, [&place], all.at([&at]));
            }
            3 => self.through_a_view(f, &s, &indices, around),
            4 => {
                // A bound of memory that changes where it is relied on.
                let at = self.a.at([0]);
                let condition = Expr::compare(CompareOp::Lt, at.clone(), Expr::i32(3));
                f.if_then(condition, |f| {
                    f.store(&self.a, [0], Expr::i32(5));
                    let mut indices = indices.clone();
                    indices[0] = at;
                    f.store(&s, indices, Expr::i32(7));
                    f.store(&self.a, [0], Expr::i32(2));
                });
            }
            5 => {
                let indices =
                    vec![Expr::binary(BinaryOp::FloorMod, self.value(around), Expr::i32(9)); s.shape.len()];
                f.store(&s, indices, self.value(around));
            }
            _ => {
                let address = Expr::call(Op::AddressOf, vec![s.at(indices.clone())], DType::HANDLE);
                let null = Expr::call(Op::Isnullptr, vec![address], DType::BOOL);
                f.if_then(null, |f| f.store(&s, indices, Expr::i32(1)));
            }
        }
    }

    /// A block with a view of a few elements.
    fn through_a_view(&mut self, f: &mut Body, s: &Buffer, indices: &[Expr], around: &[Around]) {
        let extent = 2;
        let region: Vec<(Expr, Expr)> = indices
            .iter()
            .enumerate()
            .map(|(axis, min)| (min.clone(), Expr::i32(if axis + 1 == indices.len() { extent } else { 1 })))
            .collect();
        let place = self.place(around);
        let value = self.value(around);
        f.block("view", |f| {
            let source = s.region(region);
            let view = f.match_buffer("V", [extent], source);
            f.store(&view, [0], value.clone());
            f.store(&view, [1], view.at([0]) + 1);
            f.store(&self.b, [&place], view.at([1]) + view.at([0]));
        });
    }

    /// Statements within loops.
    fn body(&mut self, f: &mut Body, depth: usize, around: &[Around]) {
        for _ in 0..=self.random.below(2) {
            if depth > 0 && self.used < OUTPUT / 4 && !self.one_in(4) {
                self.outer(f, depth - 1, around);
            } else if self.used < OUTPUT / 2 {
                self.pair(f, around);
            }
        }
    }

    /// A loop around statements.
    fn outer(&mut self, f: &mut Body, depth: usize, around: &[Around]) {
        let extent = 1 + self.random.below(4) as i32;
        let (size, bound) = if self.one_in(4) { (self.n.clone(), 4) } else { (Expr::i32(extent), extent) };
        if self.one_in(10) {
            let condition = Expr::compare(CompareOp::Ge, self.n.clone(), Expr::i32(extent));
            return f.if_then(condition, |f| self.body(f, depth, around));
        }
        let kinds = [ForKind::Serial, ForKind::Serial, ForKind::Parallel];
        let kind = if self.is_launch { ForKind::Serial } else { self.pick(&kinds) };
        f.for_loop("i", size, kind, |f, i| {
            let around: Vec<Around> = around.iter().cloned().chain([(i, bound)]).collect();
            self.body(f, depth, &around);
        });
    }

    /// Writes all of a buffer.
    fn filled(&mut self, f: &mut Body, s: &Buffer) {
        let extents = s.shape.clone();
        let value = self.value(&[]);
        let fill = |f: &mut Body| match extents.as_slice() {
            [n] => f.range("i", n.clone(), |f, i| f.store(s, [&i], value.clone())),
            [n, m] => f.range("i", n.clone(), |f, i| {
                f.range("k", m.clone(), |f, k| f.store(s, [i.clone().cast(k.dtype), k], value.clone()));
            }),
            _ => {}
        };
        fill(f);
    }
}

/// A program of a seed, with its arguments.
fn program(seed: u64) -> (IrModule, Vec<Arg>) {
    let mut f = build::function("f");
    let n = f.size("n");
    let a = f.buffer("A", [64], I32);
    let b = f.buffer("B", [OUTPUT], I32);
    f.buffer("N", [n.clone()], I32);
    let mut random = Random::new(seed);
    let is_launch = random.below(2) == 0;
    let mut maker = Maker {
        random,
        a,
        b,
        n: n.clone(),
        buffers: Vec::new(),
        is_launch,
        is_outside: false,
        used: 0,
        multiples: Vec::new(),
    };
    let scopes: &[&str] = if is_launch { &["shared", "shared", "local"] } else { &["global", "local"] };
    for number in 0..=maker.random.below(2) {
        let wide = maker.pick(&[I32, I32, DType::INT64]);
        let extents: Vec<Expr> = (0..=maker.random.below(2))
            .map(|_| {
                let extent = maker.pick(&[6, 24, 40, 100]);
                let is_symbolic = !is_launch && wide == I32 && maker.one_in(6);
                if is_symbolic { n.clone() * 16 } else { Expr::int(extent, wide) }
            })
            .collect();
        let scope = StorageScope::parse(maker.pick(scopes));
        let axes = extents.len();
        maker.buffers.push(f.block_alloc(format!("S{number}"), extents, I32, scope));
        let multiples = (0..axes)
            .map(|_| (0..6).map(|_| maker.pick(&[0, 0, 0, 1, 2, 3, 4, 5, 8, 16])).collect())
            .collect();
        maker.multiples.push(multiples);
    }
    let is_filled = maker.one_in(3);
    let depth = 1 + maker.random.below(3) as usize;
    if is_launch {
        maker.is_outside = maker.one_in(2);
        f.thread_binding("bx", BLOCKS, ThreadAxis::BlockX, |f, bx| {
            if maker.is_outside {
                return maker.body(f, depth, &[(bx, BLOCKS)]);
            }
            f.thread_binding("tx", THREADS, ThreadAxis::ThreadX, |f, tx| {
                maker.body(f, depth, &[(bx, BLOCKS), (tx, THREADS)]);
            });
        });
    } else {
        if is_filled {
            for s in maker.buffers.clone() {
                maker.filled(&mut f, &s);
            }
        }
        maker.body(&mut f, depth, &[]);
    }
    let numbers: Vec<i128> = (0..64).map(|i| (i * 7 + 2) % 64).collect();
    let size = 1 + maker.random.below(4) as usize;
    let args = vec![
        Arg::Tensor(Array::from_int(I32, &[64], &numbers)),
        Arg::Tensor(Array::zeros(I32, &[OUTPUT as usize])),
        Arg::Tensor(Array::zeros(I32, &[size])),
    ];
    (build::module([f.finish()]), args)
}

fn run(module: &IrModule, args: &[Arg]) -> Result<Vec<Arg>, String> {
    let mut args = args.to_vec();
    Interpreter::new(module).run("f", &mut args).map_err(|error| error.to_string())?;
    Ok(args)
}

fn capabilities(is_launch: bool) -> TargetCapabilities {
    if !is_launch {
        return host();
    }
    device().with(|it| it.memory.shared_memory_bytes_max = Some(1 << 20))
}

/// The number of elements that are allocated, as far as it is known.
fn allocated(module: &IrModule) -> i128 {
    let size = |buffers: &[Buffer]| buffers.iter().filter_map(|buffer| buffer.constant_size()).sum::<i128>();
    let mut sum = 0;
    for function in &module.functions {
        sum += size(&function.alloc_buffers);
        function.body.walk(&mut |child| {
            if let chipdock_ir::Child::Stmt(stmt) = child
                && let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind
            {
                sum += size(std::slice::from_ref(buffer));
            }
        });
    }
    sum
}

fn is_launch(module: &IrModule) -> bool {
    let mut is = false;
    module.functions[0].body.walk(&mut |child| {
        is |= matches!(child, chipdock_ir::Child::Stmt(stmt)
            if matches!(stmt.kind, StmtKind::For { kind: ForKind::ThreadBinding(_), .. }));
    });
    is
}

/// The same results after the pass, and after all that come before kernels are split off.
fn check(module: &IrModule, args: &[Arg], expected: &[Arg]) -> Result<bool, String> {
    let capabilities = capabilities(is_launch(module));
    let compact = compact_buffer_allocation(module, &capabilities).unwrap();
    let mut path = String::from("compact_buffer_allocation");
    let same = |path: &str, after: &IrModule| match run(after, args) {
        Ok(found) if found == expected => Ok(()),
        found => Err(format!(
            "after {path}: {}\n{}\n{}",
            found.err().unwrap_or_else(|| "other results".to_owned()),
            print::module(module),
            print::module(after)
        )),
    };
    if let Err(problems) = validate(&compact, Stage::Scheduled) {
        return Err(format!("{problems:?}\n{}", print::module(&compact)));
    }
    same(&path, &compact)?;
    let mut after = compact.clone();
    for (_, name, pass) in passes() {
        path = format!("{path} {name}");
        after = match pass(&after, &capabilities) {
            Ok(after) => after,
            // What is refused without the pass is refused with it.
            Err(_) if refused(module, &capabilities) => return Ok(false),
            Err(error) => return Err(format!("{path}: {error}\n{}", print::module(module))),
        };
    }
    same(&path, &after)?;
    Ok(allocated(&compact) < allocated(module))
}

/// The passes of kernels but this one, and those that schedule.
fn passes() -> impl Iterator<Item = &'static (Stage, &'static str, Pass)> {
    let left_out = ["default_schedule", "split_reductions", "verify_memory", "compact_buffer_allocation"];
    let all = PIPELINE.iter().take_while(|(_, name, _)| *name != "split_host_device");
    all.filter(move |(_, name, _)| !left_out.contains(name))
}

/// Whether a pass refuses the module if it is not made compact.
fn refused(module: &IrModule, capabilities: &TargetCapabilities) -> bool {
    let all = passes().try_fold(module.clone(), |module, (_, _, pass)| pass(&module, capabilities));
    all.is_err()
}

/// PASS-L3. A program that is wrong before, which the interpreter says, is left out.
#[test]
fn programs_compute_the_same_with_compact_buffers() {
    let (mut n_right, mut n_shorter, mut n_launches) = (0, 0, 0);
    let mut wrong = Vec::new();
    for seed in 0..PROGRAMS {
        let (module, args) = program(seed);
        if validate(&module, Stage::Scheduled).is_err() {
            continue;
        }
        let Ok(expected) = run(&module, &args) else { continue };
        n_right += 1;
        n_launches += usize::from(is_launch(&module));
        match check(&module, &args, &expected) {
            Ok(is_shorter) => n_shorter += usize::from(is_shorter),
            Err(why) => wrong.push(format!("seed {seed}, {why}")),
        }
    }
    let shown = wrong.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} programs are wrong:\n{shown}", wrong.len());
    println!(
        "{n_right} of {PROGRAMS} programs are right, {n_launches} with threads; {n_shorter} have shorter buffers"
    );
    assert!(n_right * 5 > PROGRAMS as usize, "only {n_right} of {PROGRAMS} programs are right");
    assert!(n_shorter * 4 > n_right, "only {n_shorter} of {n_right} have shorter buffers");
}

const PROGRAMS: u64 = 1500;
