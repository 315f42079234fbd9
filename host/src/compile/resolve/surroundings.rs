//! What the construction of targets asks of a host: kinds, canonicalizers, devices.

use std::sync::{Arc, PoisonError};

use chipdock_ir::{Target, TargetCapabilities, TargetKind};
use serde_json::Value;

use super::tag::Tags;
use super::{ResolvedTarget, TargetContext};
use crate::boundary::registrar::Entry;
use crate::error::{Error, ErrorKind};
use crate::host::{Host, HostInner};
use crate::log::LogLevel;
use crate::names::name_in_key;

impl Host {
    pub(crate) fn capabilities_of(
        &self,
        kind: &TargetKind,
        target: &Arc<Target>,
    ) -> Result<TargetCapabilities, Error> {
        let device_type = match target.int("target_device_type").and_then(|number| i32::try_from(number).ok())
        {
            Some(number) => number,
            None => self.device_type(kind)?,
        };
        Ok(kind.capabilities(target, device_type))
    }

    pub(crate) fn kind_of(&self, target: &Target) -> Result<Arc<TargetKind>, Error> {
        TargetContext::kind(&*self.0, &target.kind)?
            .ok_or_else(|| self.0.registry.missing(&format!("target.kind.{}", target.kind)))
    }

    pub(crate) fn device_type(&self, kind: &TargetKind) -> Result<i32, Error> {
        if let Some(api) = self.0.registry.device_api(&kind.device)? {
            if kind.device_type != 0 && kind.device_type != api.device_type {
                let message = format!(
                    "target kind \"{}\" says that device_api.{} has type {}, and it is registered with type {}",
                    kind.name, kind.device, kind.device_type, api.device_type
                );
                return Err(Error::new(ErrorKind::BrokenPlugin, message)
                    .hint("the two plugins were not made for each other; choose one with --prefer"));
            }
            return Ok(api.device_type);
        }
        if kind.device_type != 0 {
            return Ok(kind.device_type);
        }
        let mut types = self.0.registry.device_types.lock().unwrap_or_else(PoisonError::into_inner);
        types.number(&kind.device, 0).map_err(|message| Error::new(ErrorKind::Value, message))
    }

    /// Warns of a target for whose device no plugin is there and no number is known: this host
    /// assigned one.
    pub(crate) fn tell_of_assigned_number(&self, target: &ResolvedTarget) -> Result<(), Error> {
        let kind = target.kind();
        let is_known = kind.device_type != 0 || target.target().int("target_device_type").is_some();
        if is_known || self.0.registry.device_api(&kind.device)?.is_some() {
            return Ok(());
        }
        // Compiling for a device works without its plugin; the device number is checked where the
        // code runs.
        let line = format!(
            "target kind \"{}\": no plugin provides device_api.{}; its type number is assigned by this host",
            kind.name, kind.device
        );
        self.0.services.log(LogLevel::Warning, &line);
        Ok(())
    }

    /// Returns the device API and its type number of the devices that a target's code runs on;
    /// `None` where they are not known here: no plugin has its kind, or none its device and the
    /// kind has no number of its own.
    pub(crate) fn device_of_target(&self, target_json: &str) -> Result<Option<(String, i32)>, Error> {
        let target: serde_json::Value = serde_json::from_str(target_json).unwrap_or_default();
        let Some(name) = target["kind"].as_str() else { return Ok(None) };
        let Ok(Some(kind)) = TargetContext::kind(&*self.0, name) else { return Ok(None) };
        let of_target = target["target_device_type"].as_i64().and_then(|number| i32::try_from(number).ok());
        let of_api = || Ok(self.0.registry.device_api(&kind.device)?.map(|api| api.device_type));
        let number = match of_target {
            Some(number) => Some(number),
            None => of_api()?.or(Some(kind.device_type).filter(|number| *number != 0)),
        };
        Ok(number.map(|number| (kind.device.clone(), number)))
    }
}

impl TargetContext for HostInner {
    fn kind(&self, name: &str) -> Result<Option<Arc<TargetKind>>, Error> {
        // A plugin that is there and not used is the better answer than "unknown kind".
        match self.registry.target_kind(name)? {
            Some(kind) => Ok(Some(kind)),
            None => self.registry.refusal(&format!("target.kind.{name}")).map_or(Ok(None), Err),
        }
    }

    fn kind_names(&self) -> Vec<String> {
        let keys = self.registry.key_reports().into_iter().filter(|report| !report.plugins.is_empty());
        keys.filter_map(|report| name_in_key(&report.key, "target.kind.").map(str::to_owned)).collect()
    }

    fn canonicalize(&self, kind: &str, target_json: &str) -> Result<String, Error> {
        let key = format!("target.kind.{kind}");
        let Some(Entry::TargetKind(entry)) = self.registry.entry(&key)? else {
            return Err(self.registry.missing(&key));
        };
        entry.canonicalize(target_json)
    }

    fn device_count(&self, device: &str) -> Result<Option<i32>, Error> {
        match self.registry.device_api(device)? {
            Some(entry) => entry.count().map(Some),
            None => self.registry.refusal(&format!("device_api.{device}")).map_or(Ok(None), Err),
        }
    }

    fn attribute(&self, device: &str, device_id: i32, key: &str) -> Result<Option<Value>, Error> {
        let Some(entry) = self.registry.device_api(device)? else { return Ok(None) };
        entry.attribute(device_id, key)
    }

    fn tags(&self, all: bool) -> Result<Tags, Error> {
        if all {
            self.registry.open_all_unlisted()?;
        }
        Ok(self.registry.tags())
    }

    fn unread_manifests(&self) -> Vec<String> {
        self.registry.unread_manifests()
    }

    fn warn(&self, line: &str) {
        self.services.log(LogLevel::Warning, line);
    }

    fn warn_once(&self, line: &str) {
        let is_new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned());
        if is_new {
            TargetContext::warn(self, line);
        }
    }
}
