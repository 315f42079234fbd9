//! Programs that are expected to be refused, or to differ, with the reasons.

/// The project that must fix it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Not ours: TVM's own fault, or what its user would agree cannot be.
    Theirs,
    /// Ours, and not done yet.
    #[expect(dead_code, reason = "there is none now; the next one stands on the list as this")]
    Ours,
}

/// An entry: these programs on these targets end with this message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) names: &'static [&'static str],
    pub(crate) targets: &'static [&'static str],
    pub(crate) words: &'static str,
    pub(crate) whose: Whose,
    pub(crate) reason: &'static str,
}

/// Programs that TVM itself could not make: the operator, words of its error, and the reason.
pub(crate) const NOT_MADE: &[(&str, &str, &str)] = &[
    ("topi.nn.dense_pack", "get_const_tuple", "a name that its module does not import"),
    ("topi.nn.batch_to_space_nd", "TVM died of it", "a crash in C++"),
    ("topi.nn.conv2d_winograd_weight_transform", "AssertionError", "its cache takes no type of this TVM"),
    ("topi.nn.conv3d_winograd_weight_transform", "AssertionError", "the same"),
    ("relax.ewise_fma", "is not legalised", "it has no legalisation"),
    ("relax.multinomial_from_uniform", "is not legalised", "the same, for this target"),
    (
        "relax.nn.pixel_shuffle",
        "no attribute 'pixel_shuffle'",
        "its legalisation calls what TOPI does not have",
    ),
];

const ALL: &[&str] = &["*"];

/// Programs that are refused, or differ.
pub(crate) const EXPECTED: &[Expected] = &[
    Expected {
        names: &[
            "topi.sort",
            "topi.argsort",
            "topi.topk",
            "relax.sort",
            "relax.argsort",
            "relax.topk",
            "relax.median",
        ],
        targets: &["opencl", "cuda", "metal", "vulkan", "webgpu"],
        words: "runs on the host",
        whose: Whose::Theirs,
        reason: "TVM's sorts for a processor call a function of the host",
    },
    Expected {
        names: ALL,
        targets: &["metal", "webgpu"],
        words: "has no float64",
        whose: Whose::Theirs,
        reason: "the language has no float64",
    },
    Expected {
        names: ALL,
        targets: &["tvm"],
        words: "unknown intrinsic",
        whose: Whose::Theirs,
        reason: "TVM calls no C function for halves",
    },
    Expected {
        names: &["topi.atanh", "relax.atanh"],
        targets: &["tvm"],
        words: "off by",
        whose: Whose::Theirs,
        reason: "TVM loses everything near 0: 0.5 log((1 + x) / (1 - x))",
    },
    Expected {
        names: &["topi.tanh", "relax.tanh"],
        targets: &["tvm"],
        words: "off by",
        whose: Whose::Theirs,
        reason: "TVM loses everything near 0: (1 - exp(-2x)) / (1 + exp(-2x))",
    },
    Expected {
        names: &["topi.slice_scatter", "relax.slice_scatter"],
        targets: &["tvm"],
        words: "out of bounds",
        whose: Whose::Theirs,
        reason: "TOPI's program reads past its buffer, and drops what it read",
    },
    Expected {
        names: &[
            "relax.nn.adaptive_avg_pool1d",
            "relax.nn.adaptive_avg_pool2d",
            "relax.nn.adaptive_avg_pool3d",
        ],
        targets: &["tvm"],
        words: "outside of its domain",
        whose: Whose::Theirs,
        reason: "TVM's block names a domain that its values are not in",
    },
];
