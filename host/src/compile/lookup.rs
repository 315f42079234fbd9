//! Whether a kept build is taken again: its key, the checks of an entry that is found, and what is
//! not kept (rules CACHE-V1 to CACHE-V5 of the cache).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, ChipdockBuildRequest, ChipdockDevice};
use chipdock_plugin_api::files::cache::Key;

use crate::boundary::registrar::CodegenEntry;
use crate::boundary::session::{BuildMessage, fingerprint};
use crate::compile::CompileOptions;
use crate::compile::artifact::Artifact;
use crate::compile::cache::{CompileCache, Kept};
use crate::compile::delivered::check_index;
use crate::compile::plan::Job;
use crate::host::Host;
use crate::log::LogLevel;
use crate::runtime::Verdict;

/// Input of one build.
pub(super) struct Work<'a> {
    pub(super) codegen: Arc<CodegenEntry>,
    pub(super) job: &'a Job,
    pub(super) options: &'a CompileOptions,
    pub(super) imports: Vec<Arc<Artifact>>,
}

/// The place of a build in the cache.
pub(super) struct KeptPlace<'a> {
    cache: &'a CompileCache,
    key: Key,
    fingerprint: String,
}

impl Host {
    /// Returns the cache entry of a build (rule CACHE-V1), or `None` where the build is not kept
    /// (rule CACHE-V2).
    pub(super) fn kept_place<'a>(
        &self,
        cache: &'a CompileCache,
        codegen: &CodegenEntry,
        request: &ChipdockBuildRequest,
        texts: [&str; 3],
    ) -> Option<KeptPlace<'a>> {
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
        Some(KeptPlace { cache, key: CompileCache::key(&parts), fingerprint })
    }

    /// Returns the kept build of a cache entry, when it passes the checks (CACHE-V3, CACHE-V4).
    pub(super) fn find_kept(
        &self,
        place: &KeptPlace<'_>,
        work: &Work<'_>,
    ) -> Option<(Artifact, Vec<BuildMessage>)> {
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

    /// Keeps a build, unless its fingerprint changed meanwhile (rules CACHE-V2 and CACHE-V5).
    pub(super) fn keep(
        &self,
        place: &KeptPlace<'_>,
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
