//! Targets that can be compiled for, and the one that host functions have by default.

use std::cmp::Reverse;
use std::sync::Arc;

use chipdock_ir::{Target, TargetKind};

use super::from_text;
use super::resolved::ResolvedTarget;
use crate::error::{Error, ErrorKind};
use crate::host::Host;
use crate::log::LogLevel;
use crate::names::name_in_key;
use crate::open::registry::KeyReport;

impl Host {
    /// Returns the target of a kind with its defaults, if it can be compiled for: its plugin opens,
    /// makes the target (at which point a library that it needs is looked for), and has a code
    /// generator.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be compiled for.
    pub fn usable_target(&self, kind: &str) -> Result<Arc<ResolvedTarget>, Error> {
        self.completed(&self.usable(kind)?, None)
    }

    fn usable(&self, kind: &str) -> Result<Arc<Target>, Error> {
        let span = tracing::info_span!("target", kind = kind).entered();
        let target = from_text(kind).and_then(|json| self.made(&json, true))?;
        drop(span);
        let key = format!("target.build.{kind}");
        let registry = &self.0.registry;
        registry.entry(&key)?.map(|_| target).ok_or_else(|| registry.missing(&key))
    }

    /// Returns the default target of host functions: of the usable kinds that declare themselves a
    /// host, one of a plugin that came with the program before others
    /// ([`Source::standing`](crate::discovery::Source::standing)), among those the one with the
    /// highest preference. A kind that is passed over for a reason, a disputed one among them, is
    /// named in the log.
    ///
    /// A plugin that must be opened before its kinds are known is opened only when no other kind
    /// can be used.
    ///
    /// # Errors
    ///
    /// `Unavailable` when there is none.
    pub fn default_host(&self) -> Result<Arc<ResolvedTarget>, Error> {
        self.completed(&self.chosen_host()?, None)
    }

    fn chosen_host(&self) -> Result<Arc<Target>, Error> {
        let mut reasons = Vec::new();
        let listed = self.listed_host_kinds(&mut reasons);
        if let Some(target) = self.first_usable(&listed, &mut reasons) {
            return Ok(target);
        }
        let opened = self.target_kinds().into_iter().map(|(kind, _)| kind);
        let others: Vec<_> =
            opened.filter(|kind| !listed.iter().any(|known| known.name == kind.name)).collect();
        if let Some(target) = self.first_usable(&others, &mut reasons) {
            return Ok(target);
        }
        let error = Error::new(ErrorKind::Unavailable, "no usable target kind has host functions");
        Err(if reasons.is_empty() {
            error.hint("see `chipdock plugins` for the plugins found, and why any is not used")
        } else {
            error.hint(reasons.join("; "))
        })
    }

    /// Returns the kinds whose schemas are known without opening a plugin; the reasons why others
    /// are not among them are logged.
    fn listed_host_kinds(&self, reasons: &mut Vec<String>) -> Vec<Arc<TargetKind>> {
        let mut kinds = Vec::new();
        for KeyReport { key, .. } in self.keys() {
            let Some(name) = name_in_key(&key, "target.kind.") else { continue };
            if let Some(refusal) = self.0.registry.refusal(&key) {
                // No log line: discovery reports it, and it may be no host at all.
                reasons.push(format!("target kind \"{name}\" is unavailable: {refusal}"));
                continue;
            }
            match self.0.registry.dispute(&key) {
                Some(error) => self.pass_over(name, &error, reasons),
                None => match self.0.registry.listed_target_kind(name) {
                    Some(Err(error)) => self.pass_over(name, &error, reasons),
                    Some(Ok(kind)) => kinds.push(kind),
                    None => {}
                },
            }
        }
        kinds
    }

    fn first_usable(&self, kinds: &[Arc<TargetKind>], reasons: &mut Vec<String>) -> Option<Arc<Target>> {
        let mut hosts: Vec<_> = kinds.iter().filter(|kind| kind.is_host).collect();
        hosts.sort_by_cached_key(|kind| {
            let standing = self.0.registry.standing_of(&format!("target.kind.{}", kind.name));
            (standing, Reverse(kind.host_preference), kind.name.clone())
        });
        for kind in hosts {
            match self.usable(&kind.name) {
                Ok(target) => return Some(target),
                Err(error) => self.pass_over(&kind.name, &error, reasons),
            }
        }
        None
    }

    fn pass_over(&self, kind: &str, error: &Error, reasons: &mut Vec<String>) {
        let reason = format!("target kind \"{kind}\" is not a usable host: {error}");
        self.0.services.log(LogLevel::Warning, &reason);
        reasons.push(reason);
    }
}
