//! Each operation on each type, over a table of operands.

use std::sync::{Arc, Mutex, PoisonError};

use chipdock_interpret::{Arg, Outcome};
use chipdock_ir::{BinaryOp, DType, Op, PrimFunc};

use crate::batch::{self, Described, Kernel};
use crate::execute::Found;
use crate::ops::cases::Operation;
use crate::ops::judge::{arguments, first_wrong};
use crate::ops::table::{Table, Tables};
use crate::ops::{Case, cases as operations};
use crate::{Cases, Group, Profile, Stop, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut all = operations();
    // Neighbouring cases share a module, so cases of one type are adjacent.
    all.sort_by_key(|case| (profiles(case), case.operands[0]));
    batch::add(cases, Group::Op, all.iter().map(|case| described(case.clone(), None)).collect());
    all.retain(is_vectorized_too);
    batch::add(cases, Group::Op, all.into_iter().map(|case| described(case, Some(LANES))).collect());
}

/// Number of lanes of the vectorized loops.
const LANES: u16 = 4;

/// Returns true if an operation is also tested in a vectorized loop, because vector code for it
/// differs.
fn is_vectorized_too(case: &Case) -> bool {
    let common = |dtype: &DType| matches!(*dtype, DType::FLOAT32 | DType::INT32);
    match &case.operation {
        Operation::Binary(_) | Operation::Compare(_) | Operation::Select => true,
        Operation::And | Operation::Or | Operation::Not => true,
        Operation::Cast => common(&case.operands[0]) || common(&case.result),
        Operation::Op(
            Op::Likely | Op::ThreadInvariant | Op::IfThenElse | Op::Reinterpret | Op::Dp4a | Op::DotAdd,
        ) => false,
        Operation::Op(_) => case.parameters.is_empty(),
    }
}

/// Returns the profile that computing on a type needs, if any.
pub(super) fn profile(dtype: DType) -> Option<Profile> {
    match dtype.scalar() {
        DType::FLOAT16 => Some(Profile::Float16),
        DType::BFLOAT16 => Some(Profile::Bfloat16),
        DType::FLOAT64 => Some(Profile::Float64),
        DType::INT64 | DType::UINT64 => Some(Profile::Int64),
        _ => None,
    }
}

/// Returns the profiles that computing on these types needs, each once.
pub(crate) fn profiles_of(dtypes: impl IntoIterator<Item = DType>) -> Vec<Profile> {
    let mut all: Vec<Profile> = dtypes.into_iter().filter_map(profile).collect();
    all.sort();
    all.dedup();
    all
}

fn profiles(case: &Case) -> Vec<Profile> {
    let types = case.operands.iter().copied().chain([case.result]);
    let vectors = case.operands.iter().any(|dtype| !dtype.is_scalar()).then_some(Profile::Vectors);
    profiles_of(types).into_iter().chain(vectors).collect()
}

fn described(case: Case, lanes: Option<u16>) -> Described {
    let mut profiles = profiles(&case);
    let mut name = name(&case);
    if let Some(lanes) = lanes {
        profiles.push(Profile::Vectors);
        name.push_str(&format!("/vectorized-{lanes}"));
    }
    Described { name, clause: clause(&case), profiles, kernel: Box::new(OverTable { case, lanes }) }
}

/// Returns the name of a case: `floor_div/int8`, `cast/float32-to-int8`,
/// `q_multiply_shift/int32/31.3`.
fn name(case: &Case) -> String {
    let mut operation = String::new();
    for letter in case.op().chars() {
        if letter.is_ascii_uppercase() && !operation.is_empty() {
            operation.push('_');
        }
        operation.push(letter.to_ascii_lowercase());
    }
    let last = case.operands.last().copied().unwrap_or(DType::BOOL);
    let types = match &case.operation {
        Operation::Cast | Operation::Op(Op::Reinterpret) => {
            format!("{}-to-{}", case.operands[0], case.result)
        }
        Operation::Op(Op::Ldexp) => case.operands[0].to_string(),
        Operation::Op(Op::DotAdd) => {
            format!("{}-{}", case.operands[1].scalar(), case.operands[2].scalar())
        }
        _ => last.to_string(),
    };
    let parameters: Vec<String> = case.parameters.iter().map(i32::to_string).collect();
    let constant = if parameters.is_empty() { String::new() } else { format!("/{}", parameters.join(".")) };
    format!("{operation}/{types}{constant}")
}

fn clause(case: &Case) -> &'static str {
    let float = case.operands.iter().any(|dtype| dtype.is_float());
    match &case.operation {
        Operation::Cast => "C.12",
        Operation::Compare(_) | Operation::Binary(BinaryOp::Min | BinaryOp::Max) if float => "C.11",
        Operation::Op(Op::Round | Op::Nearbyint) => "C.11",
        _ if float && !matches!(case.operation, Operation::Op(Op::Reinterpret)) => "C.10",
        _ => "C.9",
    }
}

/// One operation over its table of operands.
struct OverTable {
    case: Case,
    /// Number of rows at once, for a vectorized loop.
    lanes: Option<u16>,
}

/// Tables of operands, which are the same for every plugin and made once per process.
static TABLES: Mutex<Option<Tables>> = Mutex::new(None);

impl OverTable {
    fn table(&self) -> Arc<Table> {
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        tables.get_or_insert_default().shared(self.case.table.0, self.case.table.1)
    }
}

impl Kernel for OverTable {
    fn functions(&self, name: &str, _: u8) -> Result<Vec<PrimFunc>, String> {
        let n_rows = self.table().n_rows();
        Ok(vec![match self.lanes {
            None => self.case.kernel(name, n_rows),
            Some(lanes) => self.case.vectorized(name, n_rows, lanes),
        }])
    }

    fn args(&self, _: u8) -> Result<Vec<Arg>, String> {
        Ok(arguments(&self.case, &self.table()).into_iter().map(Arg::Tensor).collect())
    }

    fn hold(&self, expected: &Outcome, found: &Found) -> Verdict {
        let place = self.case.operands.len();
        let (Some(output), Some(array)) = (expected.outputs.get(place), found.tensors.get(place)) else {
            return Err(Stop::suite("no result to compare"));
        };
        match first_wrong(&self.case, &self.table(), output, array) {
            None => Ok(()),
            Some(wrong) => Err(Stop::failed(
                format!("{} of {} = {}", self.case.name(), wrong.operands, wrong.expected),
                &wrong.found,
            )
            .note(format!("row {}; {} of {} rows are off", wrong.row, wrong.n_wrong, wrong.n_rows))),
        }
    }
}
