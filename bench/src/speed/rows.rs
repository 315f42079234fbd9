//! The rows of the tables: kernels of `bench/kernels` or of `examples/kernels`, the work of each,
//! its goals, its peers and its judge.

use std::path::{Path, PathBuf};

use chipdock_interpret::Arg;
use chipdock_ir::PrimFunc;
use chipdock_test_backends::cases::{self, CASES, Case, Sizes, symbols};

use super::report::TVM;
use crate::Result;
use crate::options::Set;

/// Work of a call, and with it the limit of the machine that a row is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Streams of equal length that are read and written once.
    Streams {
        /// Number of streams that are read.
        reads: usize,
        /// Number of streams that are written.
        writes: usize,
        /// Bytes of one stream.
        bytes: usize,
    },
    /// Multiply-adds of float32.
    MultiplyAdds(f64),
    /// Multiply-adds of uint8 and int8.
    ByteMultiplyAdds(f64),
    /// Multiply-adds of bfloat16.
    Bf16MultiplyAdds(f64),
    /// Bytes that are read or written once, by streams of unequal length: no limit.
    Bytes(f64),
    /// A call that does almost nothing: no limit.
    Call,
    /// Compiling, from a module in memory to a function: no limit.
    Compile,
    /// The first build of a process, beyond a later one: no limit.
    FirstBuild,
    /// A parallel region of the thread pool, launched as compiled code does: no limit.
    Launch,
}

impl Work {
    /// Returns the amount of work of a call and the unit of its rate: bytes and `GB/s`, or
    /// operations and `GFLOP/s`.
    #[must_use]
    pub fn amount(&self) -> (f64, &'static str) {
        match *self {
            Self::Streams { reads, writes, bytes } => (((reads + writes) * bytes) as f64, "GB/s"),
            Self::Bytes(bytes) => (bytes, "GB/s"),
            Self::MultiplyAdds(count) | Self::Bf16MultiplyAdds(count) => (2.0 * count, "GFLOP/s"),
            Self::ByteMultiplyAdds(count) => (2.0 * count, "GOP/s"),
            Self::Call | Self::Compile | Self::FirstBuild | Self::Launch => (0.0, ""),
        }
    }
}

/// Judge of the results of a row.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// The interpreter, on the first and on the last rows: the kernel with this extent replaced by
    /// a smaller one.
    Rows(&'static str, &'static str),
    /// The reference in float64 of `bench/speed_peers.py`, on everything.
    Float64,
    /// The interpreter, as that example needs it.
    Example(&'static Case),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Set that it is of.
    pub set: Set,
    /// Name.
    pub name: &'static str,
    /// File in `bench/kernels` and its function, if it is no example.
    pub file: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// Work of a call.
    pub work: Work,
    /// Operations of a call as they stand in the kernel, for the plot; 0 for a row that is not
    /// plotted.
    pub operations: f64,
    /// Goal: this many times the speed of the best peer.
    pub faster: Option<f64>,
    /// Goals against one peer each: at most this many times its time.
    pub at_most: &'static [(&'static str, f64)],
    /// Goal: at most so many nanoseconds.
    pub at_most_ns: Option<f64>,
    /// Goal: this share of the limit.
    pub share: Option<f64>,
    /// The only number of threads that it is measured with; `None` for a row of any.
    pub threads: Option<usize>,
    /// Judge of its results.
    pub by: By,
    /// Peers that have the function, where they can be the best.
    pub peers: &'static [&'static str],
}

const MI: usize = 1 << 20;
/// Every peer that is a library.
pub const PEERS: &[&str] = &[TVM, "numpy", "torch", "numba", "onnxruntime"];
const ALL: &[&str] = &["tvm", "numpy", "torch"];
const LIBRARIES: &[&str] = &["numpy", "torch"];

const fn row(name: &'static str, title: &'static str, work: Work, faster: f64, by: By) -> Row {
    let operations = match work {
        Work::MultiplyAdds(count) | Work::ByteMultiplyAdds(count) | Work::Bf16MultiplyAdds(count) => {
            2.0 * count
        }
        _ => 0.0,
    };
    Row {
        set: Set::Speed,
        name,
        file: name,
        title,
        work,
        operations,
        faster: Some(faster),
        at_most: &[],
        at_most_ns: None,
        share: None,
        threads: None,
        by,
        peers: ALL,
    }
}

/// A row of streams, with the operations of an element as they stand in the kernel.
const fn memory(
    name: &'static str,
    title: &'static str,
    (reads, writes, bytes): (usize, usize, usize),
    (each, elements): (f64, f64),
    faster: f64,
    by: By,
) -> Row {
    let work = Work::Streams { reads, writes, bytes };
    Row { operations: each * elements, ..row(name, title, work, faster, by) }
}

const fn matmul(name: &'static str, title: &'static str, [m, n, k]: [usize; 3]) -> Row {
    let work = Work::MultiplyAdds((m * n * k) as f64);
    Row { peers: LIBRARIES, ..row(name, title, work, 1.0, By::Float64) }
}

/// A row that is compared with named peers, and has no limit.
const fn figure(
    name: &'static str,
    file: &'static str,
    title: &'static str,
    work: Work,
    at_most: &'static [(&'static str, f64)],
) -> Row {
    Row {
        file,
        faster: None,
        at_most,
        threads: Some(1),
        peers: &[TVM],
        ..row(name, title, work, 0.0, By::Rows("16", "16"))
    }
}

const M: f64 = MI as f64;
const GI: f64 = 1024.0 * M;
const CONV: f64 = (64 * 56 * 56 * 64 * 9) as f64;
/// Both products; exp is not counted.
const ATTENTION: f64 = (2 * 8 * 512 * 512 * 64) as f64;

/// 4 M elements from one tensor to another, from two to one, and 4096 rows of 1024 by the first of
/// them.
const MAP: (usize, usize, usize) = (1, 1, 16 * MI);
const MAP_OF_TWO: (usize, usize, usize) = (2, 1, 16 * MI);
const CAST: (usize, usize, usize) = (1, 2, 32 * MI);
const FEW: By = By::Rows("4194304", "4096");
const FEW_OF_16_M: By = By::Rows("16777216", "4096");
const FEW_ROWS: By = By::Rows("4096", "4");

/// Name of the call of a loop that the system's compiler made, as a contender.
pub const BARE: &str = "bare call";

/// Every row.
pub const ROWS: &[Row] = &[
    Row { share: Some(0.93), ..memory("exp", "exp of 4 M", MAP, (1.0, 4.0 * M), 1.0, FEW) },
    // TVM's tanh is less exact than the IR's contract, and its tensors of bfloat16 do not come from
    // numpy.
    Row {
        share: Some(0.93),
        peers: LIBRARIES,
        ..memory("tanh", "tanh of 4 M", MAP, (1.0, 4.0 * M), 1.0, FEW)
    },
    Row { share: Some(0.93), ..memory("gelu", "gelu(erf) of 4 M", MAP, (5.0, 4.0 * M), 1.0, FEW) },
    memory("sum", "sum of 16 M", (1, 0, 64 * MI), (1.0, 16.0 * M), 0.97, By::Float64),
    memory("layernorm", "layernorm 4096 x 1024", MAP, (8.0, 4.0 * M), 0.97, FEW_ROWS),
    memory("softmax", "softmax 4096 x 1024", MAP, (5.0, 4.0 * M), 0.97, FEW_ROWS),
    Row {
        share: Some(0.95),
        ..memory("add", "add of 3 x 64 MiB", (2, 1, 64 * MI), (1.0, 16.0 * M), 1.4, FEW_OF_16_M)
    },
    memory("cast_f16_f32", "float16 to float32, 16 M", CAST, (1.0, 16.0 * M), 1.8, FEW_OF_16_M),
    Row {
        peers: LIBRARIES,
        ..memory("cast_bf16_f32", "bfloat16 to float32, 16 M", CAST, (1.0, 16.0 * M), 1.8, FEW_OF_16_M)
    },
    memory("transpose", "transpose 4096 x 4096", (1, 1, 64 * MI), (1.0, 16.0 * M), 2.0, By::Float64),
    matmul("matmul_1024", "matmul 1024^3", [1024; 3]),
    matmul("matmul_2048", "matmul 2048^3", [2048; 3]),
    matmul("matmul_512", "matmul 512^3", [512; 3]),
    matmul("matmul_1000_777_333", "matmul 1000 x 777 x 333", [1000, 777, 333]),
    Row {
        peers: &["torch"],
        ..row("matmul_u8s8", "u8 x s8 -> s32 matmul 1024^3", Work::ByteMultiplyAdds(GI), 1.0, By::Float64)
    },
    Row {
        peers: &["torch"],
        ..row("matmul_bf16", "bf16 matmul 1024^3", Work::Bf16MultiplyAdds(GI), 1.0, By::Float64)
    },
    row("conv2d", "convolution 3x3, 64 -> 64, 56 x 56", Work::MultiplyAdds(CONV), 0.9, By::Float64),
    row("attention", "attention 1x8x512x64", Work::MultiplyAdds(ATTENTION), 1.1, By::Float64),
    memory("bias_gelu_residual", "bias + gelu + residual, 4 M", MAP_OF_TWO, (7.0, 4.0 * M), 2.0, FEW_ROWS),
    figure("packed_call", "add_16", "packed call of a 16-element add", Work::Call, CALL),
    figure("compile_add", "add", "compile add, IR to callable", Work::Compile, &[("tvm", 0.4)]),
    figure("compile_matmul", "matmul_1024", "compile matmul 1024^3", Work::Compile, &[("tvm", 1.0)]),
];

/// A figure of the set `examples`, which its name describes.
const fn example_figure(name: &'static str, threads: usize, work: Work, by: By) -> Row {
    let row = row(name, name, work, 0.0, by);
    Row { set: Set::Examples, faster: None, threads: Some(threads), peers: &[TVM], ..row }
}

/// The figures of the set `examples`; Chipdock may run both tasks of a parallel loop on the caller
/// if no other thread begins.
const FIGURES: &[Row] = &[
    Row {
        at_most_ns: Some(13e6),
        ..example_figure("compile vector_add, IR to callable", 1, Work::Compile, By::Example(&CASES[0]))
    },
    example_figure(
        "first build of a process, beyond a later one",
        1,
        Work::FirstBuild,
        By::Example(&CASES[0]),
    ),
    Row {
        file: "add_16",
        ..example_figure("packed call of a 16-element add", 1, Work::Call, By::Rows("16", "16"))
    },
    Row {
        at_most_ns: Some(1e3),
        peers: &[],
        ..example_figure("fork and join of two threads, hot", 2, Work::Launch, By::Float64)
    },
    Row {
        file: "parallel_2",
        ..example_figure("packed call of a parallel loop of two", 2, Work::Call, By::Rows("64", "64"))
    },
];

/// Returns every row of the set `examples`: the figures, and the example kernels, no slower than
/// TVM's.
///
/// # Errors
///
/// A kernel cannot be read.
pub fn examples() -> Result<Vec<Row>> {
    let example = |case: &'static Case| {
        let module = case.module(&example_kernels())?;
        let function =
            module.function(case.function).ok_or_else(|| format!("no function {}", case.function))?;
        let amount = case.amount(function, case.time);
        let work = match case.work {
            cases::Work::Bytes => Work::Bytes(amount),
            cases::Work::MultiplyAdds(..) => Work::MultiplyAdds(amount / 2.0),
        };
        let row = row(case.name, case.name, work, 0.0, By::Example(case));
        Ok(Row { set: Set::Examples, faster: None, at_most: &[(TVM, 1.0)], peers: PEERS, ..row })
    };
    FIGURES.iter().map(|row| Ok(*row)).chain(CASES.iter().map(example)).collect()
}

/// Returns the folder of the example kernels.
#[must_use]
pub fn example_kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels")
}

/// Goals of a packed call.
const CALL: &[(&str, f64)] = &[("tvm", 0.52), (BARE, 2.2)];

/// Least speed-up by a second thread of a row that computes, and of one that moves memory.
pub const TWO_OVER_ONE: [f64; 2] = [1.85, 1.6];

/// Most that target `c` may take over `llvm`.
pub const C_OVER_LLVM: f64 = 1.3;

/// Share of the limit that is enough whatever the peers do.
pub const SHARE_ENOUGH: f64 = 0.95;

impl Row {
    /// Returns the file of its kernel.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self.by {
            By::Example(case) => example_kernels().join(format!("{}.py", case.file)),
            _ => Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("kernels/{}.py", self.file)),
        }
    }

    /// Returns the name of the function in its file.
    #[must_use]
    pub fn function(&self) -> &'static str {
        if let By::Example(case) = self.by { case.function } else { self.file }
    }

    /// Returns the title, with the sizes of an example.
    #[must_use]
    pub fn title(&self) -> String {
        match (self.work, self.by) {
            (Work::Bytes(_) | Work::MultiplyAdds(_), By::Example(case)) if !case.time.is_empty() => {
                format!("{} ({})", self.title, sizes(case.time))
            }
            _ => self.title.to_owned(),
        }
    }

    /// Returns the arguments of its function.
    ///
    /// # Errors
    ///
    /// An extent is more than sums and products.
    pub fn arguments(&self, function: &PrimFunc) -> Result<Vec<Arg>> {
        match self.by {
            By::Example(case) => case.arguments(function, case.time),
            _ => cases::arguments(function, &symbols(&[])),
        }
    }

    /// Returns true if the row is measured with that number of threads.
    #[must_use]
    pub fn is_for(&self, threads: usize) -> bool {
        self.threads.is_none_or(|only| only == threads)
    }

    /// Returns the goal of two threads over one; none for a row that is measured with one.
    #[must_use]
    pub fn over_one(&self) -> Option<f64> {
        let [compute, memory] = TWO_OVER_ONE;
        match self.work {
            _ if self.set == Set::Examples || self.threads.is_some() => None,
            Work::Streams { .. } => Some(memory),
            _ => Some(compute),
        }
    }
}

/// Formats the sizes of an example.
#[must_use]
pub fn sizes(sizes: Sizes) -> String {
    sizes.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chipdock_ir::Param;
    use chipdock_test_backends::cases::shape;

    use super::*;

    /// What a row moves is what its kernel's tensors hold, but for small ones.
    #[test]
    fn streams_are_as_long_as_the_tensors() {
        for row in ROWS {
            let module = cases::read_module(&row.path()).expect(row.name);
            let function = module.function(row.file).expect(row.name);
            let Work::Streams { reads, writes, bytes } = row.work else { continue };
            let size = |param: &Param| match param {
                Param::Buffer(buffer) => {
                    let extents = shape(buffer, &symbols(&[])).expect("fixed");
                    extents.iter().product::<i64>() as usize * buffer.dtype.size_bytes()
                }
                Param::Var(_) => 0,
            };
            let all: usize = function.params.iter().map(size).sum();
            let streamed = (reads + writes) * bytes;
            assert!(all >= streamed && all - streamed <= 8192, "{}: {all} and {streamed} bytes", row.name);
        }
    }

    #[test]
    fn each_row_has_a_name_of_its_own_and_each_kernel_a_row() {
        let examples = examples().expect("readable");
        for rows in [ROWS, &examples] {
            let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
            assert_eq!(names.len(), rows.len());
        }
        let in_bench = |row: &&Row| !matches!(row.by, By::Example(_)) && row.work != Work::Launch;
        let rows = ROWS.iter().chain(FIGURES).filter(in_bench);
        let files: BTreeSet<PathBuf> = rows.map(Row::path).collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let found = std::fs::read_dir(folder).expect("the kernels").flatten();
        assert_eq!(files, found.map(|entry| entry.path()).collect());
    }

    #[test]
    fn examples_are_as_fast_as_tvm_and_figures_have_their_goals() {
        let rows = examples().expect("readable");
        assert_eq!(rows.len(), FIGURES.len() + CASES.len());
        for row in &rows[FIGURES.len()..] {
            assert_eq!((row.at_most, row.over_one()), (&[(TVM, 1.0)][..], None), "{}", row.name);
            assert!(row.work.amount().0 > 0.0 && row.is_for(1) && row.is_for(2), "{}", row.name);
        }
        let goals: Vec<f64> = rows.iter().filter_map(|row| row.at_most_ns).collect();
        assert_eq!(goals, [13e6, 1e3]);
        let softmax = rows.iter().find(|row| row.name == "softmax").expect("a row");
        assert_eq!(softmax.title(), "softmax (n 2048, d 512)");
        assert_eq!(rows[0].title(), "compile vector_add, IR to callable");
    }
}
