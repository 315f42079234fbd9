//! The rows of the table: kernels of `bench/kernels`, the work of each, its goals, its peers and its judge.

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
}

impl Work {
    /// Returns true if memory is what limits the row.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        matches!(self, Self::Streams { .. })
    }

    /// Returns the amount of work of a call and the unit of its rate: bytes and `GB/s`, or operations and `GFLOP/s`.
    #[must_use]
    pub fn amount(&self) -> (f64, &'static str) {
        match *self {
            Self::Streams { reads, writes, bytes } => (((reads + writes) * bytes) as f64, "GB/s"),
            Self::MultiplyAdds(count) | Self::Bf16MultiplyAdds(count) => (2.0 * count, "GFLOP/s"),
            Self::ByteMultiplyAdds(count) => (2.0 * count, "GOP/s"),
        }
    }
}

/// Judge of the results of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The interpreter, on the first and on the last rows: the kernel with this extent replaced by a smaller one.
    Rows(&'static str, &'static str),
    /// The reference in float64 of `bench/speed_peers.py`, on everything.
    Float64,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name: that of the file and of its function.
    pub name: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// Work of a call.
    pub work: Work,
    /// Goal: this many times the speed of the best peer.
    pub faster: f64,
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

const fn streams(reads: usize, writes: usize, bytes: usize) -> Work {
    Work::Streams { reads, writes, bytes }
}

const fn row(name: &'static str, title: &'static str, work: Work, faster: f64, by: By) -> Row {
    Row { name, title, work, faster, share: None, by, peers: ALL }
}

const fn matmul(name: &'static str, title: &'static str, [m, n, k]: [usize; 3]) -> Row {
    let work = Work::MultiplyAdds((m * n * k) as f64);
    Row { peers: LIBRARIES, ..row(name, title, work, 1.0, By::Float64) }
}

/// Every row that is a kernel.
pub const ROWS: &[Row] = &[
    Row {
        share: Some(0.93),
        ..row("exp", "exp of 4 M", streams(1, 1, 16 * MI), 1.0, By::Rows("4194304", "4096"))
    },
    Row {
        share: Some(0.93),
        ..row("tanh", "tanh of 4 M", streams(1, 1, 16 * MI), 1.0, By::Rows("4194304", "4096"))
    },
    Row {
        share: Some(0.93),
        ..row("gelu", "gelu(erf) of 4 M", streams(1, 1, 16 * MI), 1.0, By::Rows("4194304", "4096"))
    },
    row("sum", "sum of 16 M", streams(1, 0, 64 * MI), 0.97, By::Float64),
    row("layernorm", "layernorm 4096 x 1024", streams(1, 1, 16 * MI), 0.97, By::Rows("4096", "4")),
    row("softmax", "softmax 4096 x 1024", streams(1, 1, 16 * MI), 0.97, By::Rows("4096", "4")),
    Row {
        share: Some(0.95),
        ..row("add", "add of 3 x 64 MiB", streams(2, 1, 64 * MI), 1.4, By::Rows("16777216", "4096"))
    },
    row(
        "cast_f16_f32",
        "float16 to float32, 16 M",
        streams(1, 2, 32 * MI),
        1.8,
        By::Rows("16777216", "4096"),
    ),
    row(
        "cast_bf16_f32",
        "bfloat16 to float32, 16 M",
        streams(1, 2, 32 * MI),
        1.8,
        By::Rows("16777216", "4096"),
    ),
    row("transpose", "transpose 4096 x 4096", streams(1, 1, 64 * MI), 2.0, By::Float64),
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
    row(
        "bias_gelu_residual",
        "bias + gelu + residual, 4 M",
        streams(2, 1, 16 * MI),
        2.0,
        By::Rows("4096", "4"),
    ),
];

const GI: f64 = (1024 * 1024 * 1024) as f64;
const CONV: f64 = (64 * 56 * 56 * 64 * 9) as f64;
/// Both products; exp is not counted.
const ATTENTION: f64 = (2 * 8 * 512 * 512 * 64) as f64;

/// Least speed-up by a second thread of a row that computes, and of one that moves memory.
pub const TWO_OVER_ONE: [f64; 2] = [1.85, 1.6];

/// Most that target `c` may take over `llvm`.
pub const C_OVER_LLVM: f64 = 1.3;

/// Share of the limit that is enough whatever the peers do.
pub const SHARE_ENOUGH: f64 = 0.95;
