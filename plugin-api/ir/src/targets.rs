//! Targets and the schemas of their kinds, as data.
//!
//! A [`TargetKind`] is declared by a plugin as JSON; a [`Target`] is a kind with values for its
//! options. The host makes a target from a name or JSON, checks it and canonicalizes it; passes and
//! code generators read it here.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Stage;
use crate::limits::{FIELDS_MAX, TARGET_LEVELS_MAX};

mod capabilities;
mod declared;

pub use capabilities::{
    Accuracy, CAPABILITIES, Capability, CapabilityOptions, CapabilitySource, Execution, Limits, Math, Memory,
    OptionNames, TargetCapabilities, TargetDevice, Types,
};
pub use declared::{DeclaredKind, KIND_SCHEMA, UnusableKind};

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OptionType {
    /// A boolean; an integer 0 or 1 is accepted too.
    #[serde(rename = "bool")]
    Bool,
    /// A 64-bit integer; a boolean is accepted too.
    #[serde(rename = "int")]
    Int,
    /// A string.
    #[serde(rename = "str")]
    Str,
    /// A list of strings.
    #[serde(rename = "list[str]")]
    StrList,
    /// A list of integers.
    #[serde(rename = "list[int]")]
    IntList,
    /// A list of targets.
    #[serde(rename = "list[target]")]
    TargetList,
    /// A finite float64, given as a number; in a target it is text ([`Target::float`]).
    #[serde(rename = "float")]
    Float,
    /// An object of strings, by names of any sort.
    #[serde(rename = "map[str]")]
    StrMap,
    /// An object of integers, by names of any sort.
    #[serde(rename = "map[int]")]
    IntMap,
}

impl OptionType {
    /// All types, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::Bool,
        Self::Int,
        Self::Str,
        Self::StrList,
        Self::IntList,
        Self::TargetList,
        Self::Float,
        Self::StrMap,
        Self::IntMap,
    ];

    /// Returns the type as target kinds write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Str => "str",
            Self::StrList => "list[str]",
            Self::IntList => "list[int]",
            Self::TargetList => "list[target]",
            Self::Float => "float",
            Self::StrMap => "map[str]",
            Self::IntMap => "map[int]",
        }
    }
}

impl core::fmt::Display for OptionType {
    /// Formats the type as target kinds write it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An option of a target kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionSchema {
    /// Name of the option.
    pub name: String,
    /// Type of its value.
    #[serde(rename = "type")]
    pub option_type: OptionType,
    /// Default value, as a target holds it (a float as text); without one, the option stays unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Least allowed number, of a list or map the least of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// Greatest allowed number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// Allowed strings (or elements of the list, or values of the map); empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<String>,
    /// Device attribute from which `from_device` fills the option; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from_attribute: String,
    /// True for an option without effect, which is accepted so that targets written for others are
    /// read. Who sets it is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Description for users.
    pub doc: String,
}

impl OptionSchema {
    /// Returns true for a number that has one value, which is so a statement about the kind and no
    /// choice.
    #[must_use]
    pub fn has_one_value(&self) -> bool {
        self.option_type == OptionType::Int && self.min.is_some() && self.min == self.max
    }
}

/// A target kind: the schema of a target, declared by a plugin as data (JSON of this struct).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetKind {
    /// Version of this schema, 1.
    pub schema: u32,
    /// Name of the kind, as in `--target`.
    pub name: String,
    /// Description for users, one line.
    pub doc: String,
    /// The device API that runs the code, as in `device_api.<device>`.
    pub device: String,
    /// DLPack's number of that device; 0: the host that runs the code assigns one, and compiled
    /// code asks for it.
    #[serde(default)]
    pub device_type: i32,
    /// Whether its data pointers are opaque handles, to which nothing may be added: kernels then
    /// receive the start of a tensor as a number of elements besides its handle.
    #[serde(default)]
    pub opaque_handles: bool,
    /// Whether its device functions cannot move a pointer: a view of memory is then of a data
    /// pointer itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_pointers: bool,
    /// Whether the functions that its kernels call take scalars only, no pointers; others are then
    /// inlined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scalar_arguments: bool,
    /// Whether its code generator writes the question of long loops whether to go on
    /// (`chipdock_go_on`, STAGE-H12): its host functions then end when their caller wants that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_to_go_on: bool,
    /// Default keys.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Stage of the modules that its code generator takes.
    pub stage: Stage,
    /// Ending of files with the text that its code generator writes, without the dot, where that is
    /// not the format of its artifacts; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source_ending: String,
    /// Whether its functions can be host functions.
    #[serde(default)]
    pub is_host: bool,
    /// Preference among hosts when none is chosen: the highest is used of the plugins that came
    /// with the program, or else of those of the system, or else of others.
    #[serde(default)]
    pub host_preference: i32,
    /// Thread axes that loops may be bound to, by name; empty: none, and what a device runs is
    /// launched as one thread.
    #[serde(default)]
    pub thread_axes: Vec<String>,
    /// Storage scopes, by name.
    #[serde(default)]
    pub storage_scopes: Vec<String>,
    /// Names of the options that hold the capabilities of the target.
    #[serde(default)]
    pub capabilities: CapabilityOptions,
    /// Names of the ops that its code generator spells itself besides the core ops (see the front
    /// page of the passes); the others are lowered to simpler ones.
    #[serde(default)]
    pub native_ops: Vec<String>,
    /// Names of the scalar types that its device functions cannot compute with; passes that are
    /// free to choose avoid them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_types: Vec<String>,
    /// The greatest number of lanes of a vector in its device functions; longer ones are split. 0:
    /// any number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lanes_max: u16,
    /// Scalar types that only some of its targets compute with: for each the name of the boolean
    /// option that says so. Without the option, a type is missing as one of `missing_types` is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub optional_types: BTreeMap<String, String>,
    /// Ops that its code generator spells for some of its targets only: for each the name of the
    /// boolean option that says so. Without the option, an op is treated as one that `native_ops`
    /// lacks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub optional_ops: BTreeMap<String, String>,
    /// Names of the common options (`libs`, `model`, `device`) that its plugin reads; another one
    /// is reported as without effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub honoured: Vec<String>,
    /// The options.
    #[serde(default)]
    pub options: Vec<OptionSchema>,
    /// Its tags: names of hardware, each with the options of a target for it, as a user would write
    /// them. `keys` and `host` may be among them, `kind` and `tag` are not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, Map<String, Value>>,
}

fn is_zero(lanes: &u16) -> bool {
    *lanes == 0
}

/// A kind with values for its options, perhaps with a host target. The host makes and checks it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Name of the kind.
    pub kind: String,
    /// Name of the tag that it was made from, or another label; may be empty.
    pub tag: String,
    /// Keys, in order.
    pub keys: Vec<String>,
    /// Values of the options that are set, by name.
    pub options: BTreeMap<String, Value>,
    /// The target of the host functions.
    pub host: Option<Arc<Target>>,
}

// `Value` is not `Eq` because of its floats; no option holds one.
impl Eq for Target {}

impl Target {
    /// Returns the target as canonical JSON: `kind`, `tag`, `keys`, `host` if any, then options by
    /// name. Reads back equal.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        object.insert("kind".into(), self.kind.clone().into());
        object.insert("tag".into(), self.tag.clone().into());
        object.insert("keys".into(), self.keys.clone().into());
        if let Some(host) = &self.host {
            object.insert("host".into(), host.to_json());
        }
        object.extend(self.options.iter().map(|(name, value)| (name.clone(), value.clone())));
        Value::Object(object)
    }

    /// Reads canonical JSON without checks by a schema, as a code generator receives it. A host
    /// checks with its schemas instead.
    ///
    /// # Errors
    ///
    /// JSON that is not canonical: not an object, no `kind`, a wrong type of a common field, an
    /// option that [`check_option`] refuses, hosts of hosts nested more than [`TARGET_LEVELS_MAX`]
    /// levels deep.
    pub fn from_canonical_json(json: &Value) -> Result<Self, String> {
        let target = Self::from_level(json, 0)?;
        target.check()?;
        Ok(target)
    }

    fn from_level(json: &Value, level: usize) -> Result<Self, String> {
        if level > TARGET_LEVELS_MAX {
            return Err(too_deep());
        }
        let object = json.as_object().ok_or("expected a JSON object for a target")?;
        let mut target = Self::default();
        for (name, value) in object {
            let text = || {
                value.as_str().map(str::to_owned).ok_or(format!("target field \"{name}\": expected a string"))
            };
            match name.as_str() {
                "kind" => target.kind = text()?,
                "tag" => target.tag = text()?,
                "keys" => {
                    let keys: Option<Vec<String>> = value
                        .as_array()
                        .and_then(|keys| keys.iter().map(|key| key.as_str().map(str::to_owned)).collect());
                    target.keys = keys.ok_or("target field \"keys\": expected a list of strings")?;
                }
                "host" if value.is_null() => {}
                "host" => target.host = Some(Arc::new(Self::from_level(value, level + 1)?)),
                _ => {
                    target.options.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(target)
    }

    /// Checks that the wire format can carry this target and its hosts. Code that fills the fields
    /// by hand must call it.
    ///
    /// # Errors
    ///
    /// As [`Target::from_canonical_json`].
    pub fn check(&self) -> Result<(), String> {
        let mut level = 0;
        let mut next = Some(self);
        while let Some(target) = next {
            if target.kind.is_empty() {
                return Err("target field \"kind\" is missing".into());
            }
            if level > TARGET_LEVELS_MAX {
                return Err(too_deep());
            }
            // Besides the options: kind, tag, keys and host.
            if target.options.len() + 4 > FIELDS_MAX {
                return Err(too_many(target.options.len()));
            }
            level += 1;
            for (name, value) in &target.options {
                option_from(value, level).map_err(|what| format!("target option {name:?}: {what}"))?;
            }
            next = target.host.as_deref();
        }
        Ok(())
    }

    /// Returns the integer option of that name, if set.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        self.options.get(name)?.as_i64()
    }

    /// Returns the boolean option of that name, if set.
    #[must_use]
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.options.get(name)?.as_bool()
    }

    /// Returns the string option of that name, if set.
    #[must_use]
    pub fn str(&self, name: &str) -> Option<&str> {
        self.options.get(name)?.as_str()
    }

    /// Returns the float option of that name, if set. Its value is a text, the shortest decimal
    /// that reads back equal ([`float_text`]): documents of targets have no floats.
    #[must_use]
    pub fn float(&self, name: &str) -> Option<f64> {
        float_of(self.options.get(name)?.as_str()?)
    }

    /// Returns the strings of the map option of that name, by their names; empty if not set.
    #[must_use]
    pub fn str_map(&self, name: &str) -> BTreeMap<&str, &str> {
        self.map(name, Value::as_str)
    }

    /// Returns the integers of the map option of that name, by their names; empty if not set.
    #[must_use]
    pub fn int_map(&self, name: &str) -> BTreeMap<&str, i64> {
        self.map(name, Value::as_i64)
    }

    fn map<'a, T>(&'a self, name: &str, read: fn(&'a Value) -> Option<T>) -> BTreeMap<&'a str, T> {
        let map = self.options.get(name).and_then(Value::as_object).into_iter().flatten();
        map.filter_map(|(name, value)| Some((name.as_str(), read(value)?))).collect()
    }

    /// Returns the list-of-strings option of that name; empty if not set.
    #[must_use]
    pub fn str_list(&self, name: &str) -> Vec<&str> {
        let list = self.options.get(name).and_then(Value::as_array);
        list.map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }
}

/// Returns a finite float as the text by which a target holds it: the shortest decimal that reads
/// back equal, `0.1`, `2.0`, `1e300`. `None` for infinities and NaN.
///
/// ```
/// use chipdock_ir::{float_of, float_text};
///
/// assert_eq!(float_text(0.1).as_deref(), Some("0.1"));
/// assert_eq!(float_of("1e300"), Some(1e300));
/// assert_eq!((float_text(f64::NAN), float_of("inf"), float_of("2")), (None, None, None));
/// ```
#[must_use]
pub fn float_text(value: f64) -> Option<String> {
    value.is_finite().then(|| format!("{value:?}"))
}

/// Reads the text of a float as [`float_text`] writes it; `None` for any other text.
#[must_use]
pub fn float_of(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (float_text(value)? == text).then_some(value)
}

/// Checks that the wire format can carry the value of a target's option.
///
/// # Errors
///
/// What was expected and found: a number that is not a signed integer of 64 bits (any float, `1.0`
/// too); lists and objects nested more than [`TARGET_LEVELS_MAX`] levels deep; an object of more
/// than [`FIELDS_MAX`] fields.
pub fn check_option(value: &Value) -> Result<(), String> {
    option_from(value, 1)
}

fn option_from(value: &Value, level: usize) -> Result<(), String> {
    if level > TARGET_LEVELS_MAX {
        return Err(too_deep());
    }
    match value {
        Value::Number(number) if number.as_i64().is_none() => {
            let what = if number.is_f64() { "float " } else { "" };
            Err(format!(
                "expected an integer of 64 bits, signed, found {what}{number}; write other numbers as strings"
            ))
        }
        Value::Array(items) => items.iter().try_for_each(|item| option_from(item, level + 1)),
        Value::Object(fields) if fields.len() > FIELDS_MAX => {
            Err(format!("expected at most {FIELDS_MAX} fields of an object, found {}", fields.len()))
        }
        Value::Object(fields) => fields.values().try_for_each(|field| option_from(field, level + 1)),
        _ => Ok(()),
    }
}

fn too_many(found: usize) -> String {
    format!("expected at most {} options of a target, found {found}", FIELDS_MAX - 4)
}

fn too_deep() -> String {
    format!("a target nests more than {TARGET_LEVELS_MAX} levels deep")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::DType;

    fn refused(target: Value) -> String {
        Target::from_canonical_json(&target).expect_err("refused")
    }

    #[test]
    fn an_option_that_the_wire_cannot_carry_is_refused_where_it_is_read() {
        let wanted = "expected an integer of 64 bits, signed, found";
        for (value, found) in [
            (json!(1.5), "float 1.5"),
            (json!(2.0), "float 2.0"),
            (json!(-0.0), "float -0.0"),
            (json!([1, [1e300]]), "float 1e+300"),
            (json!({"a": {"b": 0.1}}), "float 0.1"),
            (json!(u64::MAX), "18446744073709551615"),
        ] {
            let what = refused(json!({"kind": "k", "feature.x": value}));
            assert!(what.starts_with(&format!("target option \"feature.x\": {wanted} {found};")), "{what}");
            let what = refused(json!({"kind": "k", "host": {"kind": "h", "x": value}}));
            assert!(what.contains(&format!("{wanted} {found};")), "{what}");
            let by_hand =
                Target { kind: "k".into(), options: [("x".into(), value)].into(), ..Target::default() };
            assert!(by_hand.check().is_err());
        }
        let fine =
            json!({"kind": "k", "tag": "", "keys": [], "x": [i64::MIN, i64::MAX, "1.5", true, null, {}]});
        assert_eq!(Target::from_canonical_json(&fine).unwrap().to_json(), fine);
    }

    /// TC3.
    #[test]
    fn tc3_an_optional_type_is_missing_without_its_option() {
        let kind: TargetKind = serde_json::from_value(json!({
            "schema": 1, "name": "k", "doc": "", "device": "d", "stage": "device", "missing_types": ["float64"],
            "optional_types": {"int64": "long", "uint64": "long", "float16": "half", "float5": "half"},
        }))
        .unwrap();
        let missing = |options: Value| {
            let mut target = json!({"kind": "k"});
            target.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            let target = Arc::new(Target::from_canonical_json(&target).unwrap());
            let types = kind.capabilities(&target, 1).types;
            assert!(!types.has(DType::FLOAT64.with_lanes(4)) && types.has(DType::INT32));
            types.missing_types.into_iter().skip(1).collect::<Vec<_>>()
        };
        let (half, long) = (DType::FLOAT16, [DType::INT64, DType::UINT64]);
        assert_eq!(missing(json!({})), [half, long[0], long[1]]);
        assert_eq!(missing(json!({"long": false, "half": true})), long);
        assert_eq!(missing(json!({"long": true, "half": "yes"})), [half]);
        assert_eq!(missing(json!({"long": true, "half": true})), []);
        // TC4.
        let names = kind.capabilities(&Arc::new(Target { kind: "k".into(), ..Target::default() }), 1).options;
        assert_eq!(names.of_type(DType::UINT64.with_lanes(2)), Some("long"));
        assert_eq!((names.of_type(DType::FLOAT64), names.of_type(DType::INT8)), (None, None));
    }

    /// TC4: an option that has one value is no way to another.
    #[test]
    fn tc4_an_option_with_one_value_sets_nothing() {
        let named = |most: i64| {
            let kind: TargetKind = serde_json::from_value(json!({
                "schema": 1, "name": "k", "doc": "", "device": "d", "stage": "device",
                "options": [{"name": "w", "type": "int", "default": 32, "min": 32, "max": most, "doc": ""}],
                "capabilities": {"warp_size": "w"},
            }))
            .unwrap();
            let target = Arc::new(Target { kind: "k".into(), ..Target::default() });
            kind.capabilities(&target, 1).options.capabilities.warp_size
        };
        assert_eq!((named(64).as_str(), named(32).as_str()), ("w", ""));
    }

    /// TC5.
    #[test]
    fn tc5_an_optional_op_is_native_with_its_option() {
        use crate::Op;
        let kind: TargetKind = serde_json::from_value(json!({
            "schema": 1, "name": "k", "doc": "", "device": "d", "stage": "device", "native_ops": ["clz"],
            "optional_ops": {"tvm_warp_shuffle": "warps", "clz": "bits", "op_of_2031": "warps"},
        }))
        .unwrap();
        let native = |target: Value| {
            let target = Arc::new(Target::from_canonical_json(&target).unwrap());
            kind.capabilities(&target, 1).execution.native_ops
        };
        assert_eq!(native(json!({"kind": "k"})), [Op::Clz]);
        assert_eq!(native(json!({"kind": "k", "warps": false, "bits": true})), [Op::Clz]);
        assert_eq!(native(json!({"kind": "k", "warps": "yes"})), [Op::Clz]);
        assert_eq!(native(json!({"kind": "k", "warps": true, "bits": true})), [Op::Clz, Op::WarpShuffle]);
    }

    #[test]
    fn levels_and_fields_are_bounded() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(
            Target::from_canonical_json(&json!({"kind": "k", "x": nested(TARGET_LEVELS_MAX - 1)})).is_ok()
        );
        assert!(
            refused(json!({"kind": "k", "x": nested(TARGET_LEVELS_MAX)})).contains("more than 64 levels")
        );
        let hosts = |levels: usize| {
            (0..levels).fold(json!({"kind": "k"}), |host, _| json!({"kind": "k", "host": host}))
        };
        assert!(Target::from_canonical_json(&hosts(TARGET_LEVELS_MAX)).is_ok());
        assert!(refused(hosts(TARGET_LEVELS_MAX + 1)).contains("more than 64 levels"));
        let many = |count: usize| {
            (0..count).map(|name| (name.to_string(), json!(1))).collect::<serde_json::Map<_, _>>()
        };
        assert!(refused(json!({"kind": "k", "x": many(FIELDS_MAX + 1)})).contains("at most 1024 fields"));
        let mut options = many(FIELDS_MAX);
        options.insert("kind".into(), "k".into());
        assert!(refused(options.into()).contains("at most 1020 options of a target, found 1024"));
    }
}
