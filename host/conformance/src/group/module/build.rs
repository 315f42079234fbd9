//! A code generator under test, with requests in the form that a host sends.

use chipdock_host::Scheduling;
use chipdock_ir::{IrModule, wire};
use chipdock_raw_host::{Codegen, Delivered, Request, Step};

use super::samples::Sample;
use super::shown;
use crate::{Context, Stop, Verdict};

/// A code generator, and a request that it must build.
pub(super) struct Building {
    pub codegen: Codegen,
    pub request: Request,
    /// The module of the request.
    pub lowered: IrModule,
}

impl Building {
    /// Creates a request for a sample.
    pub(super) fn new(c: &Context<'_>, sample: &Sample) -> Verdict<Self> {
        let codegen = Codegen::find(c.plugin()?, c.registration());
        let codegen = codegen.ok_or_else(|| Stop::suite("the code generator is gone"))?;
        let (host, target) = (c.host()?, c.target()?);
        let lowered = host.lower(&sample.case()?.module, &target, Scheduling::default())?;
        let lowered = lowered.device.unwrap_or(lowered.module);
        let version = newest(&codegen)?;
        let request = Request::new(written(&lowered, version)?, target.json().as_bytes().to_vec());
        Ok(Self { codegen, request, lowered })
    }

    /// Builds the request, which must succeed.
    pub(super) fn built(&self) -> Verdict<Delivered> {
        self.built_of(&self.request)
    }

    /// Builds another request, which must succeed.
    pub(super) fn built_of(&self, request: &Request) -> Verdict<Delivered> {
        let (result, delivered) = self.codegen.run(Step::Build, request);
        result?;
        Ok(delivered)
    }

    /// Checks that the request still gives the same result.
    pub(super) fn still(&self, expected: &Delivered, what: &str) -> Verdict {
        same(&self.built()?, expected).map_err(|stop| stop.note(what))
    }
}

/// Checks that two builds delivered the same.
pub(super) fn same(found: &Delivered, expected: &Delivered) -> Verdict {
    if found.indexes != expected.indexes {
        let texts = [expected, found].map(|one| shown(&one.indexes.join(" ")));
        return Err(Stop::failed(format!("the same index: {}", texts[0]), &texts[1]));
    }
    let names = |one: &Delivered| one.sections.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    if names(found) != names(expected) {
        return Err(Stop::failed(
            format!("the same sections: {:?}", names(expected)),
            format!("{:?}", names(found)),
        ));
    }
    for (a, b) in found.sections.iter().zip(&expected.sections) {
        if a != b {
            let at = a
                .data
                .iter()
                .zip(&b.data)
                .position(|(a, b)| a != b)
                .unwrap_or(a.data.len().min(b.data.len()));
            let what = format!("the same {} bytes in section \"{}\"", b.data.len(), b.name);
            let found = format!("{} bytes, the first that differs is byte {at}", a.data.len());
            return Err(Stop::failed(what, found));
        }
    }
    Ok(())
}

/// Serializes a module in a wire version as a host does, with source positions if the version has
/// them.
pub(super) fn written(module: &IrModule, version: &str) -> Verdict<Vec<u8>> {
    let options = wire::WriteOptions { version, positions: true, file: None };
    wire::write_with(module, &options).map(String::into_bytes).map_err(Stop::suite)
}

fn numbers(version: &str) -> [u64; 3] {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

/// Returns true if the code generator declares that it reads a version.
pub(super) fn reads(codegen: &Codegen, version: &str) -> bool {
    (numbers(&codegen.ir_min)..=numbers(&codegen.ir_max)).contains(&numbers(version))
}

/// Returns the newest version that both sides know.
fn newest(codegen: &Codegen) -> Verdict<&'static str> {
    let known = wire::VERSIONS.iter().rev().find(|version| reads(codegen, version));
    known.copied().ok_or_else(|| {
        let found = format!("{} to {}", codegen.ir_min, codegen.ir_max);
        Stop::failed(format!("a version among {}", wire::VERSIONS.join(", ")), found).clause("C.2")
    })
}
