//! Gives printed modules to real TVM, which must read them, and find them equal to the original.
//!
//! Requires a Python with apache-tvm 0.27, named by `CHIPDOCK_TVM_PYTHON`; without it, the test
//! reports the skipped parts. The first line of a corpus file may state an exception:
//! `# tvm: accepted (why)` where TVM's reading differs, `# tvm: refused (why)` where only this
//! project takes the file, `# tvm: printed (why)` where TVM takes the printed form and not the
//! file.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use chipdock_ir::{DType, Op, print};
use chipdock_programs::Options;
use chipdock_test_support::{CorpusFile, bless, corpus, filetests, skipped};

/// Number of generated programs that TVM is given.
const PROGRAMS: u64 = 90;

/// Returns the expected handling of a file by TVM.
fn mode(file: &CorpusFile) -> &'static str {
    let first = file.text.lines().next().unwrap_or_default();
    match first.strip_prefix("# tvm: ").unwrap_or_default().split(' ').next() {
        Some("accepted") => "accepted",
        Some("refused") => "refused",
        Some("printed") => "printed",
        _ => "equal",
    }
}

#[test]
fn tvm_reads_printed_functions_like_the_originals() {
    let files = corpus().unwrap();
    let Ok(python) = std::env::var("CHIPDOCK_TVM_PYTHON") else {
        skipped(&format!("{} files not given to TVM: CHIPDOCK_TVM_PYTHON is not set", files.len()));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut pairs = String::new();
    for (index, file) in files.iter().enumerate() {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        let printed = folder.path().join(format!("printed{index}.py"));
        std::fs::write(&printed, print::module(&module)).unwrap();
        writeln!(pairs, "{}\t{}\t{}\t{}", mode(file), file.name, file.path.display(), printed.display())
            .unwrap();
    }
    let refused = refused(&python, folder.path(), &pairs);
    assert!(refused.is_empty(), "of {} files TVM says:\n{}", files.len(), refused.join("\n"));
}

/// Returns the objections of TVM to the pairs of files, a line each.
fn refused(python: &str, folder: &Path, pairs: &str) -> Vec<String> {
    let list = folder.join("pairs");
    std::fs::write(&list, pairs).unwrap();
    let output = Command::new(python).arg(filetests().join("tests/tvm_check.py")).arg(list).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<String> = out.lines().map(str::to_owned).collect();
    assert_eq!(output.status.success(), lines.is_empty(), "the script ended early:\n{out}{err}");
    lines
}

/// Refusals of generated programs by TVM 0.27: its words, and the reason why the printed text is
/// not at fault.
const REFUSALS: &[(&str, &str)] = &[
    (
        "without a prior DeclBuffer",
        "its own regions of a block that states none name what lives in the block",
    ),
    ("Invalid use of undefined variable", "the same, of variables bound in the block"),
    ("multiple definitions of variable", "it takes no expression with a Let in two places, which IR-E5 does"),
    ("is used inside the non-opaque", "its blocks use loops by their axes alone"),
    ("indices.size()", "its Shuffle gives no more lanes than it takes"),
    ("Shift amount must be", "it folds constant shifts, and refuses those that IR-N4 takes modulo the width"),
    ("exceeds range of", "it folds constants, and refuses what IR-N1 wraps"),
    ("dtype.lanes() == 1", "it asks vectors of constants whether they are finite as if they were scalars"),
    ("Divide by zero", "it folds constant divisions, and refuses those that IR-N2 defines"),
];

/// Generated programs, a third of them with threads.
#[test]
fn tvm_takes_generated_programs_as_printed() {
    let Ok(python) = std::env::var("CHIPDOCK_TVM_PYTHON") else {
        skipped(&format!("{PROGRAMS} generated programs not given to TVM: CHIPDOCK_TVM_PYTHON is not set"));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut pairs = String::new();
    for seed in 0..PROGRAMS {
        // It takes no bare `return` and has no `dot_add`; a bfloat16 is no float to its `pow` and
        // `isfinite`.
        let mut without =
            [Op::Isnan, Op::Isinf, Op::Isfinite, Op::Pow].map(|op| (op, DType::BFLOAT16)).to_vec();
        without.push((Op::DotAdd, DType::INT32));
        let options = Options { threads: seed % 3 == 0, exits: false, without, ..Options::default() };
        let case = chipdock_programs::arbitrary(seed, &options);
        let printed = folder.path().join(format!("program{seed}.py"));
        std::fs::write(&printed, print::module(&case.module)).unwrap();
        let printed = printed.display();
        writeln!(pairs, "accepted\tprogram {seed}\t{printed}\t{printed}").unwrap();
    }
    let (known, unknown): (Vec<String>, Vec<String>) = refused(&python, folder.path(), &pairs)
        .into_iter()
        .partition(|line| REFUSALS.iter().any(|(words, _)| line.contains(words)));
    assert!(unknown.is_empty(), "TVM says:\n{}", unknown.join("\n"));
    let mut counts = format!("Of {PROGRAMS} generated programs TVM refuses {}.\n", known.len());
    for (words, why) in REFUSALS {
        let n = known.iter().filter(|line| line.contains(words)).count();
        writeln!(counts, "{n}: \"{words}\": {why}").unwrap();
    }
    bless(&filetests().join("golden/refused_by_tvm.txt"), &counts).unwrap_or_else(|error| panic!("{error}"));
}
