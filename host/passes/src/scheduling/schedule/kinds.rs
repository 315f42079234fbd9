//! Kinds of loops.

use chipdock_ir::{ForKind, PrimFunc, StmtKind};

use super::args::Args;
use super::independent::may_run_at_once;
use super::nest::{StmtPath, expect_plain};
use super::{LoopRef, Made, Schedule, ScheduleError};
use crate::scheduling::default_schedule::nest::with_body;
use crate::walk::any_stmt;

impl Schedule {
    /// Runs the iterations of a loop on several threads.
    ///
    /// # Errors
    ///
    /// The loop is not serial, is annotated, is left by `break`, `continue` or `return`, or its
    /// iterations may not run at once (SCHED-7).
    pub fn parallel(&mut self, of: &LoopRef) -> Result<(), ScheduleError> {
        self.set_kind("parallel", of, ForKind::Parallel)
    }

    /// Makes the iterations of a loop the lanes of vectors.
    ///
    /// # Errors
    ///
    /// As for [`Schedule::parallel`], and if the extent is not constant.
    pub fn vectorize(&mut self, of: &LoopRef) -> Result<(), ScheduleError> {
        self.set_kind("vectorize", of, ForKind::Vectorized)
    }

    /// Writes the iterations of a loop out, one after the other.
    ///
    /// # Errors
    ///
    /// The loop is not serial, is annotated, is left by `break` or `continue`, or its extent is not
    /// constant.
    pub fn unroll(&mut self, of: &LoopRef) -> Result<(), ScheduleError> {
        self.set_kind("unroll", of, ForKind::Unrolled)
    }

    fn set_kind(&mut self, op: &'static str, of: &LoopRef, kind: ForKind) -> Result<(), ScheduleError> {
        self.run(op, Args::new().with(of), |function| set_kind(function, of, kind)).map(|_| ())
    }
}

fn set_kind(function: &PrimFunc, of: &LoopRef, kind: ForKind) -> Made {
    let place = StmtPath::of_loop(function, of)?;
    let found = place.as_loop()?;
    let name = &found.var.name;
    if found.kind != kind {
        expect_plain(&found)?;
    }
    if kind != ForKind::Parallel && found.extent.as_int().is_none() {
        return Err(ScheduleError::new(format!(
            "the extent of loop \"{name}\" is not constant: split it by a constant factor first"
        )));
    }
    if kind != ForKind::Unrolled {
        if any_stmt(found.body, &mut |kind| matches!(kind, StmtKind::Return(_))) {
            return Err(ScheduleError::new(format!(
                "loop \"{name}\" is left by return, and so its iterations run in order"
            )));
        }
        may_run_at_once(function, place.stmt(), &place.ranges(function)).map_err(|reason| {
            ScheduleError::new(format!("iterations of loop \"{name}\" may not run at once: {reason}"))
        })?;
    }
    let new = with_body(place.stmt(), found.body.clone(), Some(kind));
    Ok((place.replaced(function, new), Vec::new()))
}
