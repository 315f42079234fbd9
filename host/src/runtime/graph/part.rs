//! One launch or copy of a graph, as the host keeps it.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_abi::{ChipdockCopy, ChipdockExtension};
use chipdock_plugin_api::kernel::{KernelArg, Launch};

use super::super::capture::Launches;
use super::super::device_state::DeviceState;
use crate::error::Error;

/// A recorded launch or copy. `places` are the parameters, by position, that it uses.
pub(super) enum Part {
    Launch {
        kernel: Arc<dyn Launches>,
        launch: Launch,
        /// The parameter that an argument is, for each that is one.
        places: Vec<(usize, usize)>,
    },
    Copy {
        copy: ChipdockCopy,
        from: Option<usize>,
        to: Option<usize>,
    },
}

// SAFETY: handles of data spaces, which any thread may pass to the device API (P10.1).
unsafe impl Send for Part {}
// SAFETY: handles of data spaces, which any thread may pass to the device API (P10.1).
unsafe impl Sync for Part {}

impl Part {
    /// Queues it with other data spaces in place of the parameters.
    pub(super) fn queue(
        &self,
        state: &DeviceState,
        stream: *mut c_void,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        match self {
            Self::Launch { kernel, launch, places } => {
                let mut launch = launch.clone();
                for (argument, parameter) in places {
                    launch.args[*argument] = KernelArg::Pointer(arguments[*parameter]);
                }
                kernel.queue(state.id, stream, &launch, ptr::null())
            }
            Self::Copy { copy, from, to } => {
                let mut copy = *copy;
                for (end, parameter) in [(&mut copy.from, from), (&mut copy.to, to)] {
                    if let Some(parameter) = parameter {
                        end.data = arguments[*parameter];
                    }
                }
                // SAFETY: ranges as they were checked when it was recorded, in data spaces that the
                // graph keeps or that are like its parameters.
                unsafe { state.api.copy(state.id, &copy, stream) }
            }
        }
    }

    /// Hands it to the plugin with a chain of extensions, which has it recorded.
    pub(super) fn record(&self, state: &DeviceState, next: *const ChipdockExtension) -> Result<(), Error> {
        match self {
            Self::Launch { kernel, launch, .. } => kernel.queue(state.id, ptr::null_mut(), launch, next),
            Self::Copy { copy, .. } => {
                let copy = ChipdockCopy { next, ..*copy };
                // SAFETY: ranges of tensors that are kept; nothing is copied (N.41).
                unsafe { state.api.copy(state.id, &copy, ptr::null_mut()) }
            }
        }
    }
}
