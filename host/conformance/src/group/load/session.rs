//! The plugin with a host of its own, and calls of everything that it registered.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, ChipdockDevice, ChipdockPlugin};
use chipdock_plugin_api::{Error, attribute};
use chipdock_raw_host::{Codegen, Kind, Loader, OpenError, Plugin, RawArtifact, RawHost, Request, Step};

use crate::facts::registrations;
use crate::{Context, Stop, Subject, Verdict, hosts};

/// Names of the calls made, with their results.
pub(super) type Answers = Vec<(String, Result<(), Error>)>;

/// The plugin with a host of its own. Dropping the session shuts it down and destroys its
/// registrations.
pub(super) struct Session {
    plugin: Plugin,
    is_open: AtomicBool,
}

/// Turns a refusal into a failure of its clause.
pub(super) fn refusal(error: &OpenError) -> Stop {
    Stop::failed("a plugin that opens and registers", &error.message).clause(error.clause)
}

/// Returns the descriptor of the plugin under test.
pub(super) fn descriptor(c: &Context) -> Verdict<&'static ChipdockPlugin> {
    let raw = Plugin::entry(c.library()).map_err(|error| refusal(&error))?;
    Plugin::check(raw).map_err(|error| refusal(&error))?;
    Ok(raw)
}

impl Session {
    /// Runs `init` for a host.
    pub(super) fn open(raw: &'static ChipdockPlugin, host: &'static RawHost) -> Verdict<Self> {
        // `init` succeeded for the probe: a failure here breaks the clause of the case.
        let plugin = Plugin::init(raw, host)
            .map_err(|error| Stop::failed("`init` succeeds for this host too", error.message))?;
        Ok(Self { plugin, is_open: AtomicBool::new(true) })
    }

    /// Runs `init` of the plugin under test for a new host.
    pub(super) fn new(c: &Context) -> Verdict<Self> {
        Self::open(descriptor(c)?, hosts::host())
    }

    pub(super) fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// Runs `shutdown`; the registrations stay until the session is dropped.
    pub(super) fn shut_down(&self) -> Verdict {
        self.is_open.store(false, Ordering::SeqCst);
        let answer = self.plugin.shutdown();
        answer.map_err(|error| {
            Stop::failed("shutdown: success", format!("{}: {}", error.kind(), error.message()))
                .clause("P10.5")
        })
    }

    /// Runs `shutdown` and destroys the registrations.
    pub(super) fn end(self) -> Verdict {
        self.shut_down()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if *self.is_open.get_mut() {
            drop(self.plugin.shutdown());
        }
        // SAFETY: the plugin is shut down, and only the session had access to its registrations.
        unsafe { self.plugin.destroy() };
    }
}

/// Calls every registration, each in a way that a plugin may refuse but must survive.
pub(super) fn call_everything(plugin: &Plugin) -> Answers {
    let mut all = Answers::new();
    for device in plugin.devices() {
        let mut add = |what: &str, answer: Result<(), Error>| {
            all.push((format!("{what} of device_api.{}", device.name), answer));
        };
        add("device_count", device.count().map(drop));
        add("attribute", device.attribute(0, attribute::EXIST).map(drop));
        add("allocate_data_space", device.allocate(64).map(drop));
        add("sync_stream", device.sync(0, std::ptr::null_mut()));
    }
    let request = Request::new(Vec::new(), b"{}".to_vec());
    let artifact = RawArtifact { index_json: b"{}".to_vec(), ..RawArtifact::default() };
    let cpu = ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };
    for registration in registrations(plugin) {
        let name = &registration.name;
        let key = registration.key().unwrap_or_default();
        match registration.subject {
            Subject::TargetKind => {
                let kind = Kind::find(plugin, name);
                let answer = kind.map(|kind| kind.canonicalize_bytes(b"{}").map(drop));
                all.extend(answer.map(|answer| (format!("canonicalize of {key}"), answer)));
            }
            Subject::Codegen => {
                let codegen = Codegen::find(plugin, name);
                let answers = codegen.map(|codegen| {
                    let asked = codegen.run(Step::Unsupported, &request).0;
                    (asked, codegen.fingerprint(&request).map(drop))
                });
                if let Some((asked, fingerprint)) = answers {
                    all.push((format!("unsupported of {key}"), asked));
                    all.push((format!("fingerprint of {key}"), fingerprint));
                }
            }
            Subject::Loader => {
                let loader = Loader::find(plugin, name);
                let answer = loader.map(|loader| loader.check(&artifact, cpu).map(drop));
                all.extend(answer.map(|answer| (format!("check of {key}"), answer)));
            }
            _ => {}
        }
    }
    for (name, function) in plugin.functions() {
        let answer = function.call(plugin.host().reference(), &[]).map(drop);
        all.push((format!("function.{name} without arguments"), answer));
    }
    all
}

/// Turns answers into texts that can be compared.
pub(super) fn in_words(answers: &Answers) -> Vec<(String, String)> {
    let word = |answer: &Result<(), Error>| match answer {
        Ok(()) => "success".to_owned(),
        Err(error) => error.kind().as_str().to_owned(),
    };
    answers.iter().map(|(what, answer)| (what.clone(), word(answer))).collect()
}

/// Checks that two rounds of calls had the same answers.
pub(super) fn same_answers(when: &str, before: &Answers, after: &Answers) -> Verdict {
    let pairs = in_words(before).into_iter().zip(in_words(after)).zip(after);
    for (((what, expected), (_, found)), (_, answer)) in pairs {
        if expected != found {
            let said = answer.as_ref().err().map(|error| error.message().into_owned()).unwrap_or_default();
            return Err(Stop::failed(
                format!("{what}, {when}: {expected}, as before"),
                format!("{found} {said}"),
            ));
        }
    }
    Ok(())
}

/// Copies the library under its name to a new folder: the loader treats the copy as another
/// library, so that the effects of opening and `init` are visible whatever cases ran before.
pub(super) fn fresh_copy(c: &Context) -> Verdict<PathBuf> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = c.scratch().join(format!("fresh-{}-{number}", std::process::id()));
    let name = c.library().file_name().unwrap_or_default();
    let copied = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::copy(c.library(), folder.join(name)).map(|_| folder.join(name)));
    copied.map_err(|error| Stop::suite(format!("no copy of the library in {}: {error}", folder.display())))
}
