//! The rows of the table: kernels of `bench/kernels`, the work of each, its goals, its peers and
//! its judge.

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
    /// A call that does almost nothing, beside a bare call of the same loop: no limit.
    Call,
    /// Compiling, from a module in memory to a function: no limit.
    Compile,
}

impl Work {
    /// Returns true if memory is what limits the row.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        matches!(self, Self::Streams { .. })
    }

    /// Returns the amount of work of a call and the unit of its rate: bytes and `GB/s`, or
    /// operations and `GFLOP/s`.
    #[must_use]
    pub fn amount(&self) -> (f64, &'static str) {
        match *self {
            Self::Streams { reads, writes, bytes } => (((reads + writes) * bytes) as f64, "GB/s"),
            Self::MultiplyAdds(count) | Self::Bf16MultiplyAdds(count) => (2.0 * count, "GFLOP/s"),
            Self::ByteMultiplyAdds(count) => (2.0 * count, "GOP/s"),
            Self::Call | Self::Compile => (0.0, ""),
        }
    }
}

/// Judge of the results of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The interpreter, on the first and on the last rows: the kernel with this extent replaced by
    /// a smaller one.
    Rows(&'static str, &'static str),
    /// The reference in float64 of `bench/speed_peers.py`, on everything.
    Float64,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name.
    pub name: &'static str,
    /// File in `bench/kernels` and its function.
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
    /// Goals beside one peer each: at most this many times its time.
    pub at_most: &'static [(&'static str, f64)],
    /// Goal: this share of the limit.
    pub share: Option<f64>,
    /// Judge of its results.
    pub by: By,
    /// Peers that have the function, where they can be the best.
    pub peers: &'static [&'static str],
}

const MI: usize = 1 << 20;
const ALL: &[&str] = &["tvm", "numpy", "torch"];
const LIBRARIES: &[&str] = &["numpy", "torch"];

const fn row(name: &'static str, title: &'static str, work: Work, faster: f64, by: By) -> Row {
    let operations = match work {
        Work::MultiplyAdds(count) | Work::ByteMultiplyAdds(count) | Work::Bf16MultiplyAdds(count) => {
            2.0 * count
        }
        _ => 0.0,
    };
    let faster = Some(faster);
    Row { name, file: name, title, work, operations, faster, at_most: &[], share: None, by, peers: ALL }
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
    let peers = &["tvm"];
    Row { file, faster: None, at_most, peers, ..row(name, title, work, 0.0, By::Rows("16", "16")) }
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

/// Goals of a packed call.
const CALL: &[(&str, f64)] = &[("tvm", 0.52), (BARE, 2.2)];

/// Least speed-up by a second thread of a row that computes, and of one that moves memory.
pub const TWO_OVER_ONE: [f64; 2] = [1.85, 1.6];

/// Most that target `c` may take over `llvm`.
pub const C_OVER_LLVM: f64 = 1.3;

/// Share of the limit that is enough whatever the peers do.
pub const SHARE_ENOUGH: f64 = 0.95;

impl Row {
    /// Returns the goal of two threads over one; none for a row that is measured with one.
    #[must_use]
    pub fn over_one(&self) -> Option<f64> {
        let [compute, memory] = TWO_OVER_ONE;
        match self.work {
            Work::Call | Work::Compile => None,
            Work::Streams { .. } => Some(memory),
            _ => Some(compute),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chipdock_ir::Param;
    use chipdock_test_backends::cases::{shape, symbols};

    use super::*;

    /// What a row moves is what its kernel's tensors hold, but for small ones.
    #[test]
    fn streams_are_as_long_as_the_tensors() {
        for row in ROWS {
            let path = super::super::run::kernels().join(format!("{}.py", row.file));
            let module = chipdock_test_backends::cases::read_module(&path).expect(row.name);
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
        let names: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), ROWS.len());
        let files: BTreeSet<String> = ROWS.iter().map(|row| format!("{}.py", row.file)).collect();
        let folder = std::fs::read_dir(super::super::run::kernels()).expect("the kernels").flatten();
        let found: BTreeSet<String> =
            folder.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(files, found);
    }
}
