//! The hosts and the peers' processes of a run, for each number of threads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chipdock_host::{Host, HostOptions};
use serde_json::Value;

use super::child::Child;
use crate::Result;
use crate::options::{Options, Set};
use chipdock_test_backends::backends::{Backend, present};

/// A host whose code runs with one number of threads.
pub struct Lane {
    /// Number of threads.
    pub threads: usize,
    /// The host.
    pub host: Host,
    /// Its backends.
    pub backends: Vec<Backend>,
}

/// A Python, and the peers that it has.
struct Group {
    python: PathBuf,
    peers: Vec<&'static str>,
}

/// Everything that a run measures with.
pub struct Session {
    /// Hosts, by number of threads.
    pub lanes: Vec<Lane>,
    /// The folder with the plugins.
    pub plugins: PathBuf,
    groups: Vec<Group>,
    children: BTreeMap<(usize, usize), Child>,
}

impl Session {
    /// Opens a host for each number of threads; the peers start with their first requests.
    ///
    /// # Errors
    ///
    /// A target kind that is wanted cannot be used here, or there is no Python with the peers.
    pub fn open(options: &Options) -> Result<Self> {
        let lanes = options.threads.iter().map(|threads| lane(options, *threads)).collect::<Result<_>>()?;
        let python = options.python.clone().ok_or("there is no Python with numpy and TVM")?;
        let asked = |peer: &str| options.with.iter().any(|name| name == peer);
        let mut groups = vec![Group { python, peers: vec!["tvm", "numpy"] }];
        if asked("onnxruntime") {
            groups[0].peers.push("onnxruntime");
        }
        match &options.torch_python {
            Some(python) if options.set != Set::Examples || asked("torch") => {
                groups.push(Group { python: python.clone(), peers: vec!["torch", "numba"] });
            }
            None if asked("torch") => return Err("no Python with torch was found".to_owned()),
            _ => {}
        }
        Ok(Self { lanes, plugins: options.plugins.clone(), groups, children: BTreeMap::new() })
    }

    /// Returns the groups of peers, as those of `wanted` that each has.
    #[must_use]
    pub fn groups(&self, wanted: &[&'static str]) -> Vec<(usize, Vec<&'static str>)> {
        let of = |group: &Group| group.peers.iter().copied().filter(|peer| wanted.contains(peer)).collect();
        let all = self.groups.iter().map(of).enumerate();
        all.filter(|(_, peers): &(usize, Vec<_>)| !peers.is_empty()).collect()
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn groups_count(&self) -> usize {
        self.groups.len()
    }

    /// Sends a request to the process of a group with that number of threads, which is started if
    /// none is running.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or its answer is an error.
    pub fn ask(&mut self, group: usize, threads: usize, what: &str, request: Value) -> Result<Value> {
        let key = (group, threads);
        if !self.children.get_mut(&key).is_some_and(Child::is_alive) {
            let python = &self.groups.get(group).ok_or("no such group of peers")?.python;
            self.children.insert(key, Child::start(python, threads)?);
        }
        self.children.get_mut(&key).ok_or("no peers")?.ask(what, request)
    }
}

fn lane(options: &Options, threads: usize) -> Result<Lane> {
    let wanted = u32::try_from(threads).map_err(|_| format!("{threads} threads are too many"))?;
    let host_options = HostOptions {
        plugin_paths: vec![options.plugins.clone()],
        threads: Some(wanted),
        ..HostOptions::isolated()
    };
    let host = Host::new(host_options).map_err(|error| error.to_string())?;
    let (mut backends, absent) = present(&host)?;
    if options.targets.is_empty() {
        if backends.is_empty() {
            return Err(format!("no backend can be used here: {absent:?}"));
        }
        for absent in absent {
            eprintln!("not here: {}: {}", absent.kind, absent.reason);
        }
        return Ok(Lane { threads, host, backends });
    }
    backends.retain(|backend| options.targets.contains(&backend.target.kind));
    for kind in &options.targets {
        if !backends.iter().any(|backend| backend.target.kind == *kind) {
            let why = absent.iter().find(|absent| absent.kind == *kind);
            let why = why.map_or("no plugin has it", |absent| absent.reason.as_str());
            return Err(format!("target {kind} cannot be used here: {why}"));
        }
    }
    // The order in which they are asked for: the first is the one that goals are of.
    backends.sort_by_key(|backend| options.targets.iter().position(|kind| *kind == backend.target.kind));
    Ok(Lane { threads, host, backends })
}
