//! Complete targets: rules TARGET-T8 to TARGET-T11.

use std::sync::Arc;

use chipdock_ir::{Target, TargetCapabilities, TargetKind};
use serde_json::{Map, Value};

use super::target_id::TargetId;
use super::{Made, TargetContext, TargetSource, from_json, from_text, named_by, tag, value_error};
use crate::error::{Error, Fault, Subject};
use crate::host::Host;
use crate::runtime::Device;

/// The device that a target is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first device of the kind.
    First,
    /// The device of that name and number; the kind must run on devices of that name.
    Named {
        /// Name of its device API.
        name: String,
        /// Its number among the devices of that name, from 0.
        id: i32,
    },
}

/// Argument of [`Host::target`]: the source of a target, with an optional host target and device.
///
/// ```
/// use chipdock_host::{DeviceChoice, TargetRequest};
///
/// let request = TargetRequest::new(r#"{"kind": "npu"}"#).host("cpu-kind").device(DeviceChoice::First);
/// # let _ = request;
/// ```
#[derive(Clone, Debug, Default)]
pub struct TargetRequest {
    source: Option<TargetSource>,
    host: Option<TargetSource>,
    device: Option<DeviceChoice>,
}

impl TargetRequest {
    /// Makes a request for that target. [`TargetRequest::default`] is one for
    /// [`Host::default_host`].
    #[must_use]
    pub fn new(source: impl Into<TargetSource>) -> Self {
        Self { source: Some(source.into()), ..Self::default() }
    }

    /// Makes a request for a target that a function names (TARGET-T12).
    #[must_use]
    pub fn named(target: &Target) -> Self {
        Self::new(named_json(target))
    }

    /// Sets the target of the host functions, for a source that names none.
    #[must_use]
    pub fn host(mut self, host: impl Into<TargetSource>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Sets the device that the code is to run on.
    #[must_use]
    pub fn device(mut self, device: DeviceChoice) -> Self {
        self.device = Some(device);
        self
    }
}

impl<T: Into<TargetSource>> From<T> for TargetRequest {
    fn from(source: T) -> Self {
        Self::new(source)
    }
}

/// A target with everything that compiling for it needs: made once, by [`Host::target`], and
/// shared.
#[derive(Clone, Debug)]
pub struct ResolvedTarget {
    id: TargetId,
    kind: Arc<TargetKind>,
    target: Arc<Target>,
    json: Arc<str>,
    capabilities: Arc<TargetCapabilities>,
    host: Option<Arc<Self>>,
    device: Option<Device>,
    filled_from: Option<Arc<str>>,
}

impl ResolvedTarget {
    /// Returns its identity, which artifacts that are compiled for it carry.
    #[must_use]
    pub fn id(&self) -> TargetId {
        self.id
    }

    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> &Arc<TargetKind> {
        &self.kind
    }

    /// Returns its options.
    #[must_use]
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// Returns its options as canonical JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the capabilities that passes use.
    #[must_use]
    pub fn capabilities(&self) -> &Arc<TargetCapabilities> {
        &self.capabilities
    }

    /// Returns the target of its host functions, where it names one. Where it names none and needs
    /// one, compiling takes [`Host::default_host`].
    #[must_use]
    pub fn host(&self) -> Option<&Arc<Self>> {
        self.host.as_ref()
    }

    /// Returns the same target with other capabilities.
    #[cfg(test)]
    pub(crate) fn with_capabilities(&self, capabilities: TargetCapabilities) -> Self {
        Self { capabilities: Arc::new(capabilities), ..self.clone() }
    }

    /// Returns the target without its device, for use inside the host: a device keeps its host
    /// alive.
    pub(crate) fn without_device(self: &Arc<Self>) -> Arc<Self> {
        match self.device {
            None => Arc::clone(self),
            Some(_) => Arc::new(Self { device: None, ..(**self).clone() }),
        }
    }

    /// Returns the device, as `NAME:ID`, whose values took the place of options that were not set
    /// (`from_device`); `None` where those options have their defaults.
    #[must_use]
    pub fn filled_from(&self) -> Option<&str> {
        self.filled_from.as_deref()
    }

    /// Returns the open device that it was made for; `None` where none was chosen.
    #[must_use]
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }
}

impl Host {
    /// Makes a complete target, from the name of a kind or a tag, JSON or a request: checked, with
    /// defaults filled in, canonicalized, with its kind, its capabilities, and the targets and the
    /// device that belong to it.
    ///
    /// # Errors
    ///
    /// * `ValueError`, naming the option, the value and what is allowed; or the error with which
    ///   the kind's plugin failed to open. An error of the target comes before one of the device.
    /// * `ValueError`: the source names a host and the request another; the kind does not run on
    ///   the chosen device.
    /// * As of [`Self::device`], for the chosen device.
    pub fn target(&self, request: impl Into<TargetRequest>) -> Result<Arc<ResolvedTarget>, Error> {
        self.0.services.check_process()?;
        let request = request.into();
        if let TargetRequest { source: Some(TargetSource::Resolved(resolved)), host: None, device: None } =
            request
        {
            return Ok(resolved);
        }
        let span = tracing::info_span!("target", kind = tracing::field::Empty).entered();
        self.requested(request).inspect(|resolved| {
            span.record("kind", &*resolved.target.kind);
        })
    }

    fn requested(
        &self,
        TargetRequest { source, host, device }: TargetRequest,
    ) -> Result<Arc<ResolvedTarget>, Error> {
        let is_given = source.as_ref().is_none_or(TargetSource::is_given);
        let mut json = match (source, host) {
            (Some(source), None) => json_of(&source)?,
            (Some(source), Some(host)) => with_host(json_of(&source)?, host)?,
            (None, Some(host)) => with_host(Value::from(self.default_host()?.kind().name.as_str()), host)?,
            (None, None) => {
                let target = self.default_host()?;
                let Some(choice) = device else { return Ok(target) };
                let device = Some(self.chosen(target.kind(), choice)?);
                return Ok(Arc::new(ResolvedTarget { device, ..(*target).clone() }));
            }
        };
        let device = match device {
            Some(choice) => self.filled_in(&mut json, choice)?,
            None => None,
        };
        let target = self.made(&json, is_given)?;
        let id = json["from_device"].as_i64().filter(|id| *id >= 0);
        let mut resolved = self.completed(&target, device.transpose()?).map_err(of_plugin)?;
        if let (Some(id), Some(made)) = (id, Arc::get_mut(&mut resolved)) {
            made.filled_from = Some(format!("{}:{id}", made.kind.device).into());
        }
        Ok(resolved)
    }

    /// Chooses the device of a target and fills in `from_device` (rule TARGET-T9). `None` for an
    /// unknown kind, which making the target reports; an error of the device is returned for the
    /// caller to report after errors of the target.
    fn filled_in(
        &self,
        json: &mut Value,
        choice: DeviceChoice,
    ) -> Result<Option<Result<Device, Error>>, Error> {
        let Some(name) = tag::kind_name(&*self.0, json)? else { return Ok(None) };
        let Some(kind) = TargetContext::kind(&*self.0, &name)? else { return Ok(None) };
        let device = self.chosen(&kind, choice);
        if let (Ok(device), Value::Object(object), false) = (&device, json, kind.is_host) {
            object.entry("from_device").or_insert(device.id().into());
        }
        Ok(Some(device))
    }

    /// Makes the options of a target, which [`Self::completed`] makes a target.
    pub(super) fn made(&self, json: &Value, is_given: bool) -> Result<Arc<Target>, Error> {
        from_json(&*self.0, json, Made { nesting: 0, is_given })
    }

    /// Completes a target that a host made, without checking it again.
    pub(crate) fn completed(
        &self,
        target: &Arc<Target>,
        device: Option<Device>,
    ) -> Result<Arc<ResolvedTarget>, Error> {
        let kind = self.kind_of(target)?;
        let capabilities = Arc::new(self.capabilities_of(&kind, target)?);
        let host = target.host.as_ref().map(|host| self.completed(host, None)).transpose()?;
        let json: Arc<str> = target.to_json().to_string().into();
        let (id, target) = (TargetId::of_json(&json), Arc::clone(target));
        Ok(Arc::new(ResolvedTarget { id, kind, target, json, capabilities, host, device, filled_from: None }))
    }

    /// Completes the target of a compilation: one that was made already is taken as it is.
    pub(crate) fn complete(&self, source: TargetSource) -> Result<Arc<ResolvedTarget>, Error> {
        match source {
            TargetSource::Resolved(resolved) => Ok(resolved),
            TargetSource::Target(target) => self.completed(&target, None),
            TargetSource::Text(_) | TargetSource::Json(_) => self.target(source),
        }
    }

    /// Returns the chosen device, open, where the kind runs on it.
    fn chosen(&self, kind: &TargetKind, choice: DeviceChoice) -> Result<Device, Error> {
        let (name, id) = match choice {
            DeviceChoice::First => (kind.device.clone(), 0),
            DeviceChoice::Named { name, id } => (name, id),
        };
        if kind.device != name && self.device_names().contains(&name) {
            let message = format!("target {} runs on {}, not on {name}", kind.name, kind.device);
            let other = || value_error(message).hint("name another --target or --device");
            return Err(self.refusal(&format!("device_api.{name}")).unwrap_or_else(other));
        }
        self.device(&name, id).map_err(of_plugin)
    }
}

/// Turns an error that blames the caller's input into one of the plugin: the input is not in
/// question here.
fn of_plugin(error: Error) -> Error {
    let is_of_input = error.subject().is_none() && error.fault() == Fault::Caller;
    if is_of_input { error.about(Subject::Plugin) } else { error }
}

/// Returns the JSON of a target that was not made by a host: an empty list of keys was not given.
fn named_json(target: &Target) -> Value {
    let mut json = target.to_json();
    if let Value::Object(object) = &mut json {
        if target.keys.is_empty() {
            object.remove("keys");
        }
        // The IR has one field for the name of a kind and of a tag.
        object.remove("kind");
        object.extend([named_by(&target.kind)]);
        object.extend(target.host.as_ref().map(|host| ("host".to_owned(), named_json(host))));
    }
    json
}

pub(super) fn json_of(source: &TargetSource) -> Result<Value, Error> {
    match source {
        TargetSource::Text(text) | TargetSource::Json(Value::String(text)) => from_text(text),
        TargetSource::Json(json) => Ok(json.clone()),
        TargetSource::Target(target) => Ok(target.to_json()),
        TargetSource::Resolved(resolved) => Ok(resolved.target.to_json()),
    }
}

/// Adds the host of a request to a target by rule TARGET-T10.
fn with_host(target: Value, host: TargetSource) -> Result<Value, Error> {
    let mut object = match target {
        Value::Object(object) => object,
        Value::String(name) => Map::from_iter([named_by(&name)]),
        other => return Ok(other),
    };
    if object.get("host").is_some_and(|host| !host.is_null()) {
        return Err(
            value_error("the target names a host, and another is chosen beside it").hint("leave one out")
        );
    }
    let host = match host {
        TargetSource::Text(text) => Value::from(text),
        host => json_of(&host)?,
    };
    object.insert("host".to_owned(), host);
    Ok(Value::Object(object))
}

#[cfg(test)]
mod tests;
