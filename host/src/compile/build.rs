//! Builds one module with one code generator, or takes the build from the compile cache (`lookup`):
//! rules COMPILE-C2, COMPILE-C4 and COMPILE-C5 of compilation, CACHE-V7 of the cache.

use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use chipdock_abi::{ChipdockBuildRequest, ChipdockSection};
use chipdock_ir::{ConstantData, wire};
use chipdock_plugin_api::text::str_out;

use crate::boundary::registrar::CodegenEntry;
use crate::boundary::session::{BuildMessage, OnText, Parts, Session};
use crate::compile::artifact::Artifact;
use crate::compile::delivered::check_index;
use crate::compile::lookup::Work;
use crate::compile::plan::Job;
use crate::compile::{BuildStep, CompileOptions};
use crate::error::{Error, ErrorKind};
use crate::host::Host;

/// Results of one compilation's builds other than artifacts.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) messages: Vec<BuildMessage>,
    /// Number of modules that a code generator built; the others were found in the cache.
    pub(crate) built: usize,
}

/// Returns the default number of threads of a code generator. Asked once: the system reads files
/// for it.
fn processors() -> u32 {
    static COUNT: OnceLock<u32> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    *COUNT.get_or_init(count)
}

/// The bytes of a constant beside the document (C.43). The document names them by their digest, so
/// that the key of the cache covers them.
fn section_of(data: &ConstantData) -> ChipdockSection {
    ChipdockSection {
        name: str_out(data.digest()),
        kind: str_out("constants"),
        alignment_bytes: 1,
        data: data.bytes().as_ptr().cast(),
        size_bytes: data.bytes().len() as u64,
    }
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
        let constants = wire::sections(&job.module);
        let sections: Vec<ChipdockSection> = constants.iter().map(section_of).collect();
        let request = ChipdockBuildRequest {
            ir: str_out(&job.ir),
            target_json: str_out(job.target.json()),
            options_json: str_out(&options_json),
            sections: if sections.is_empty() { ptr::null() } else { sections.as_ptr() },
            sections_count: sections.len() as u64,
            threads_max: if options.threads_max == 0 { processors() } else { options.threads_max },
            flags: 0,
            next: ptr::null(),
        };
        let kept = options.cache.as_deref().and_then(|cache| {
            self.kept_place(cache, &codegen, &request, [&job.ir_digest, job.target.json(), &options_json])
        });
        let work = Work { codegen, job, options, imports };
        let plugin: Arc<str> = work.codegen.owned.plugin().into();
        let of_plugin = |message: &mut BuildMessage| message.plugin = Arc::clone(&plugin);
        if let Some(place) = &kept
            && let Some((artifact, mut messages)) = self.find_kept(place, &work)
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
        if let Some(place) = kept {
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
}
