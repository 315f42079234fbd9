//! Hosts that the plugin under test meets.

use std::sync::Arc;

use chipdock_raw_host::{Answers, Offer, RawHost, SettingsOf};

use crate::settings::Settings;

/// Returns the user's settings for the plugin that a host meets (SUITE-S16).
fn given() -> Option<SettingsOf> {
    let settings = |plugin: &str, info: &str| -> Option<Arc<dyn Answers>> {
        Some(Arc::new(Settings::given(plugin, info)?))
    };
    Some(Box::new(settings))
}

/// Creates a host.
pub(crate) fn host() -> &'static RawHost {
    RawHost::leak_with(Offer { settings: given(), ..Offer::default() })
}

/// Creates a host without test hooks (I.4), like one that does not run the suite.
pub(crate) fn without_hooks() -> &'static RawHost {
    RawHost::leak_with(Offer { has_hooks: false, settings: given(), ..Offer::default() })
}

/// Creates a host that reports another minor version of the ABI (P3.8).
pub(crate) fn with_minor(abi_minor: u32) -> &'static RawHost {
    RawHost::leak_with(Offer { abi_minor, settings: given(), ..Offer::default() })
}

/// Creates a host without interface `config` 1, whatever the user set (S.11).
pub(crate) fn without_settings() -> &'static RawHost {
    RawHost::leak()
}

/// Creates a host that answers these settings.
pub(crate) fn with_settings(settings: &Arc<Settings>) -> &'static RawHost {
    let answers: Arc<dyn Answers> = Arc::<Settings>::clone(settings);
    let settings: SettingsOf = Box::new(move |_, _| Some(Arc::clone(&answers)));
    RawHost::leak_with(Offer { settings: Some(settings), ..Offer::default() })
}
