//! Builds one module with one code generator, or takes the build from the compile cache: rules
//! COMPILE-C2, COMPILE-C4 and COMPILE-C5 of compilation, CACHE-V1 to CACHE-V7 of the cache.

use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, ChipdockBuildRequest, ChipdockDevice};
use chipdock_plugin_api::files::cache::Key;
use chipdock_plugin_api::text::str_out;

use crate::boundary::registrar::CodegenEntry;
use crate::boundary::session::{BuildMessage, OnText, Parts, Session, fingerprint};
use crate::compile::artifact::Artifact;
use crate::compile::cache::{CompileCache, Kept};
use crate::compile::delivered::check_index;
use crate::compile::plan::Job;
use crate::compile::{BuildStep, CompileOptions};
use crate::error::{Error, ErrorKind};
use crate::host::Host;
use crate::log::LogLevel;
use crate::runtime::Verdict;

/// Results of one compilation's builds other than artifacts.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) messages: Vec<BuildMessage>,
    /// Number of modules that a code generator built; the others were found in the cache.
    pub(crate) built: usize,
}

/// Input of one build.
struct Work<'a> {
    codegen: Arc<CodegenEntry>,
    job: &'a Job,
    options: &'a CompileOptions,
    imports: Vec<Arc<Artifact>>,
}

/// Cache entry of a build.
struct Place<'a> {
    cache: &'a CompileCache,
    key: Key,
    fingerprint: String,
}

/// Returns the default number of threads of a code generator. Asked once: the system reads files
/// for it.
fn processors() -> u32 {
    static COUNT: OnceLock<u32> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    *COUNT.get_or_init(count)
}

impl Host {
    /// Builds a module with the code generator of a target, or takes its earlier build from the
    /// cache.
    pub(crate) fn build(
        &self,
        job: &Job,
        codegen: Arc<CodegenEntry>,
        options: &CompileOptions,
        imports: Vec<Arc<Artifact>>,
        said: &mut Said,
    ) -> Result<Artifact, Error> {
        let kind = &job.target.kind().name;
        let _span = tracing::info_span!("build", target = kind.as_str()).entered();
        let at = |error: Error| error.at(format!("target.build.{kind}"));
        let options_json = serde_json::Value::Object(options.options.clone()).to_string();
        let request = ChipdockBuildRequest {
            ir: str_out(&job.ir),
            target_json: str_out(job.target.json()),
            options_json: str_out(&options_json),
            sections: ptr::null(),
            sections_count: 0,
            threads_max: if options.threads_max == 0 { processors() } else { options.threads_max },
            flags: 0,
            next: ptr::null(),
        };
        let place = options.cache.as_deref().and_then(|cache| {
            self.place(cache, &codegen, &request, [&job.ir_digest, job.target.json(), &options_json])
        });
        let work = Work { codegen, job, options, imports };
        let plugin: Arc<str> = work.codegen.owned.plugin().into();
        let of_plugin = |message: &mut BuildMessage| message.plugin = Arc::clone(&plugin);
        if let Some(place) = &place
            && let Some((artifact, mut messages)) = self.find(place, &work)
        {
            messages.iter_mut().for_each(of_plugin);
            if options.cancel.load(Ordering::Relaxed) {
                return Err(at(Error::new(ErrorKind::Cancelled, "the build was given up")));
            }
            said.messages.extend(messages);
            return Ok(artifact);
        }
        let before = said.messages.len();
        let artifact = self.build_now(&work, &request, &mut said.messages)?;
        said.messages[before..].iter_mut().for_each(of_plugin);
        said.built += 1;
        if let Some(place) = place {
            self.keep(&place, &work, &request, &artifact, &said.messages[before..]);
        }
        Ok(artifact)
    }

    fn build_now(
        &self,
        work: &Work<'_>,
        request: &ChipdockBuildRequest,
        messages: &mut Vec<BuildMessage>,
    ) -> Result<Artifact, Error> {
        let on_step = work.options.on_step.clone().map(|on_step| {
            let plugin: Arc<str> = work.codegen.owned.plugin().into();
            let target = Arc::clone(&work.job.target);
            let say = move |text: &str| {
                on_step.call(&BuildStep { plugin: &plugin, target: &target.kind().name, text });
            };
            Box::new(say) as OnText
        });
        let session = Session::new(self.0.services.loans, Arc::clone(&work.options.cancel), on_step);
        let built = session.run(&work.codegen, request);
        let errors = session.take_messages(messages);
        let at = |error: Error| error.at(format!("target.build.{}", work.job.target.kind().name));
        let broken = |message: String| at(Error::new(ErrorKind::BrokenPlugin, message));
        let Parts { index, sections, refused } = session.take_parts();
        // COMPILE-C2: every node that it cannot build was reported; a refused report is the
        // plugin's fault all the same.
        if built.as_ref().is_err_and(|error| *error.kind() == ErrorKind::Unsupported) && !errors.is_empty() {
            let message = format!(
                "the code generator of target kind \"{}\" cannot build this module",
                work.job.target.kind().name
            );
            let error = match refused {
                None => Error::new(ErrorKind::Unsupported, message),
                Some(refused) => broken(format!("{message}, and a delivery of it was refused: {refused}")),
            };
            let error = error.with_diagnostics(errors).diagnosed_by(work.codegen.owned.plugin());
            return Err(self.with_way_out(error, &work.job.target));
        }
        built.map_err(|error| {
            self.with_way_out(at(error.with_diagnostics(errors.clone())), &work.job.target)
        })?;
        if !errors.is_empty() {
            let message = "the build succeeded although it reported errors";
            let plugin = work.codegen.owned.plugin();
            return Err(broken(message.to_owned()).with_diagnostics(errors).diagnosed_by(plugin));
        }
        if let Some(refused) = refused {
            return Err(broken(format!("the build succeeded although a delivery was refused: {refused}")));
        }
        let index = index.ok_or_else(|| broken("the build succeeded and set no index".into()))?;
        let artifact =
            Artifact::new(index, work.job.target.json().to_owned(), sections, work.imports.clone()).map_err(
                |error| match error.kind() {
                    // An index of a later version (P3.19), or no memory for a copy.
                    ErrorKind::Unavailable | ErrorKind::OutOfMemory => at(error),
                    _ => broken(error.to_string()),
                },
            )?;
        check_index(&work.job.module, artifact.index()).map_err(broken)?;
        Ok(artifact)
    }

    /// Returns the cache entry of a build (rule CACHE-V1), or `None` where the build is not kept
    /// (rule CACHE-V2).
    fn place<'a>(
        &self,
        cache: &'a CompileCache,
        codegen: &CodegenEntry,
        request: &ChipdockBuildRequest,
        texts: [&str; 3],
    ) -> Option<Place<'a>> {
        let not_kept = |why: &str| {
            let line = format!("compile cache: target.build.{}: not kept: {why}", codegen.kind);
            self.0.services.log(LogLevel::Debug, &line);
        };
        let fingerprint = match fingerprint(codegen, request) {
            Ok(Some(text)) => text,
            Ok(None) => {
                not_kept("its code generator cannot say what else the bytes depend on");
                return None;
            }
            Err(error) => {
                not_kept(&error.to_string());
                return None;
            }
        };
        let origin = codegen.owned.instance().origin();
        let Some(digest) = origin.digest() else {
            not_kept("the plugin's library on the disk is not the one that runs, or cannot be read");
            return None;
        };
        let [ir, target, options] = texts;
        let parts = [
            codegen.owned.plugin(),
            &origin.version,
            &origin.build_id,
            digest,
            &fingerprint,
            &codegen.kind,
            target,
            options,
            ir,
        ];
        Some(Place { cache, key: CompileCache::key(&parts), fingerprint })
    }

    /// Returns the kept build of a cache entry, when it passes the checks (CACHE-V3, CACHE-V4).
    fn find(&self, place: &Place<'_>, work: &Work<'_>) -> Option<(Artifact, Vec<BuildMessage>)> {
        let span = tracing::debug_span!("find_build", found = false).entered();
        let says = |what: &str| {
            let line =
                format!("compile cache: target.build.{}: {what} {}", work.job.target.kind().name, place.key);
            self.0.services.log(LogLevel::Debug, &line);
        };
        let Some(kept) = place.cache.read(&place.key) else {
            says("miss");
            return None;
        };
        let messages = kept.messages();
        let Kept { head, sections } = kept;
        let made =
            Artifact::new(head.index, work.job.target.json().to_owned(), sections, work.imports.clone());
        let passed = made.map_err(|error| error.to_string()).and_then(|artifact| {
            check_index(&work.job.module, artifact.index())?;
            self.veto(&artifact, work).map_or(Ok(artifact), Err)
        });
        match passed {
            Ok(artifact) => {
                span.record("found", true);
                says("hit");
                Some((artifact, messages))
            }
            Err(why) => {
                says(&format!("not taken ({why})"));
                None
            }
        }
    }

    /// Returns the reason why its loader refuses to run a kept artifact on the requested device
    /// (rule CACHE-V4).
    fn veto(&self, artifact: &Artifact, work: &Work<'_>) -> Option<String> {
        let device = work.options.device.as_ref()?;
        let capabilities = work.job.target.capabilities();
        let number = match capabilities.is_host {
            true => ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 },
            false => device.number(),
        };
        // Kernels for another device than the requested one.
        if !capabilities.is_host && number.device_type != capabilities.device.device_type {
            return None;
        }
        // An artifact without a loader is treated as if it were built now.
        self.loader(artifact).ok()?;
        match self.check_alone(artifact, number) {
            Ok(Verdict::Ok) => None,
            Ok(Verdict::Recompile(why) | Verdict::Unsupported(why)) => Some(why),
            Err(error) => Some(error.to_string()),
        }
    }

    fn keep(
        &self,
        place: &Place<'_>,
        work: &Work<'_>,
        request: &ChipdockBuildRequest,
        artifact: &Artifact,
        said: &[BuildMessage],
    ) {
        let _span = tracing::debug_span!("keep_build").entered();
        // CACHE-V2: the fingerprint may have changed during the build.
        let after = fingerprint(&work.codegen, request).ok().flatten();
        let is_same = after.as_deref() == Some(&*place.fingerprint);
        if !is_same || work.options.cancel.load(Ordering::Relaxed) {
            return;
        }
        let owned = &work.codegen.owned;
        let plugin = (owned.plugin(), owned.instance().origin().version.as_str());
        let kept = Kept::bytes(plugin, &work.job.target.kind().name, artifact, said);
        if let Err(why) = kept.and_then(|bytes| place.cache.write(&place.key, &bytes)) {
            let (level, why) = place.cache.telling(&why);
            self.0.services.log(level, &why);
        }
    }
}
