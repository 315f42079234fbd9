//! A call of a function of a plugin: what is noted, shown and put back around it.

use tracing::span::EnteredSpan;
use tracing::{debug_span, trace_span};

use crate::boundary::calling::{Calling, Note};
use crate::boundary::guard::FloatMode;
use crate::log::{Log, LogLevel};

/// A call of a plugin in progress: its note, its span (SP3), and the floating-point mode that it
/// must leave (GUARD-G5).
pub(crate) struct PluginCall {
    log: &'static Log,
    note: &'static Note,
    mode: FloatMode,
    _calling: Calling,
    _span: EnteredSpan,
}

impl PluginCall {
    pub(crate) fn enter(log: &'static Log, note: &'static Note) -> Self {
        let span = debug_span!("plugin_call", call = note.call(), plugin = note.plugin());
        Self::within(log, note, span.entered())
    }

    /// Enters a call of a function that may be called often.
    pub(crate) fn enter_device(log: &'static Log, note: &'static Note) -> Self {
        let span = trace_span!("device_call", call = note.call(), plugin = note.plugin());
        Self::within(log, note, span.entered())
    }

    fn within(log: &'static Log, note: &'static Note, span: EnteredSpan) -> Self {
        let calling = Calling::enter(note);
        Self { log, note, mode: FloatMode::now(), _calling: calling, _span: span }
    }
}

impl Drop for PluginCall {
    fn drop(&mut self) {
        let Some(left) = self.mode.put_back() else { return };
        if self.note.is_first_warning() {
            let (plugin, call, mode) = (self.note.plugin(), self.note.call(), self.mode);
            let line = format!(
                "plugin \"{plugin}\": its {call} changed the floating-point mode: it was {mode}, became {left}, put back; \
                 report it to its maintainer"
            );
            self.log.write(LogLevel::Warning, &line);
        }
    }
}
