//! The threads of a host: the public side of the pool.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use chipdock_abi::ChipdockParallelBody;

use super::region::{IN_REGION, fork_join};
use super::size;
use super::team::Team;
use crate::boundary::services::Services;

/// One host's threads. It is part of the host's services, so it lives as long as the process; its
/// threads do not.
pub(crate) struct Threads {
    /// Requested number; `None` is automatic.
    wanted: Option<u32>,
    size: OnceLock<u32>,
    pub(super) team: OnceLock<Team>,
    closed: AtomicBool,
}

impl Threads {
    /// Makes a pool of that many threads, the caller's included; `None` is automatic. Starts none.
    pub(crate) fn new(wanted: Option<u32>) -> Self {
        Self { wanted, size: OnceLock::new(), team: OnceLock::new(), closed: AtomicBool::new(false) }
    }

    /// Returns the greatest number of threads of a region, the caller's included.
    pub(crate) fn size(&self) -> u32 {
        *self.size.get_or_init(|| self.wanted.unwrap_or_else(size::automatic))
    }

    /// Runs a region; returns 0, or -1 with an error raised on this thread.
    ///
    /// # Safety
    ///
    /// * `body` may be called from several threads at once with `data`, until this returns.
    /// * It neither unwinds nor jumps past its caller.
    pub(crate) unsafe fn launch(
        &self,
        services: &'static Services,
        body: ChipdockParallelBody,
        data: *mut c_void,
        tasks_max: i32,
    ) -> i32 {
        if let Some(team) = self.team_for(services, tasks_max) {
            let others_max = usize::try_from(tasks_max).ok().filter(|max| *max > 0).map(|max| max - 1);
            let claimed = team.claim(others_max.unwrap_or(usize::MAX));
            if !claimed.is_empty() {
                let of = (services.slots, services.process, services.on_ask());
                // SAFETY: `body` may be called with `data` from several threads until this returns,
                // and does not unwind.
                return unsafe { fork_join(of, &claimed, body, data) };
            }
        }
        // SAFETY: `body` may be called with `data`, and does not unwind, as this function requires.
        unsafe { (body.0)(0, 1, data) }
    }

    /// Returns the threads, started if need be; `None` where a region is one task in any case.
    fn team_for(&self, services: &'static Services, tasks_max: i32) -> Option<&Team> {
        if tasks_max < 0 || tasks_max == 1 || IN_REGION.get() || services.check_process().is_err() {
            return None;
        }
        let team = match self.team.get() {
            Some(team) => team,
            None if self.size() == 1 || self.closed.load(Ordering::Acquire) => return None,
            None => self
                .team
                .get_or_init(|| Team::start((services.slots, services.process), services.log, self.size())),
        };
        Some(team)
    }

    /// Ends the threads and waits for them. Within a task of a region, where waiting would never
    /// end, another thread waits.
    pub(crate) fn shut_down(&'static self) {
        self.closed.store(true, Ordering::Release);
        let Some(team) = self.team.get() else { return };
        if !IN_REGION.get() {
            return team.stop();
        }
        // If even this thread is refused, the others stay parked: they cost no time, and their
        // memory was leaked before.
        let _ = thread::Builder::new().name("chipdock-stop".to_owned()).spawn(|| team.stop());
    }
}
