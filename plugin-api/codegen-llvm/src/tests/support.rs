//! A minimal target, and lowering for it.

use std::sync::Arc;

use chipdock_ir::{IrModule, StorageScope, TargetCapabilities, ThreadAxis};
use chipdock_passes::{LowerOptions, lower};

use crate::{
    Answer, CallingConv, DotInstructions, FastMath, LlvmTarget, Options, Refusal, TileInstructions,
    write_module,
};

/// A processor with 64-bit pointers.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub(super) converts_float16: bool,
    pub(super) saturates: bool,
    pub(super) fast_math: FastMath,
    pub(super) dots: DotInstructions,
    pub(super) tiles: TileInstructions,
}

impl LlvmTarget for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn triple(&self) -> &str {
        "x86_64-unknown-linux-gnu"
    }

    fn data_layout(&self) -> &str {
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
    }

    fn function_attributes(&self) -> Vec<(String, String)> {
        vec![("target-cpu".to_owned(), "x86-64-v3".to_owned())]
    }

    fn calling_convention(&self, convention: CallingConv) -> Answer<&'static str> {
        match convention {
            CallingConv::Internal | CallingConv::Packed => Ok(""),
            CallingConv::Kernel => Err(Refusal::new("has no functions of calling convention 2")),
        }
    }

    fn address_space(&self, scope: &StorageScope) -> Answer<u32> {
        if *scope == StorageScope::GLOBAL || *scope == StorageScope::LOCAL {
            return Ok(0);
        }
        Err(Refusal::new(format!("has no storage scope {scope}; expected global or local")))
    }

    fn thread_index(&self, axis: ThreadAxis) -> Answer<&'static str> {
        Err(Refusal::new(format!("has no thread axis {axis}")))
    }

    fn barrier(&self, scope: &str) -> Answer<&'static [&'static str]> {
        Err(Refusal::new(format!("has no barrier of scope \"{scope}\"")))
    }

    fn fast_math(&self) -> FastMath {
        self.fast_math
    }

    fn converts_float16(&self) -> bool {
        self.converts_float16
    }

    fn saturates(&self) -> bool {
        self.saturates
    }

    fn dot_instructions(&self) -> DotInstructions {
        self.dots
    }

    fn tiles(&self) -> TileInstructions {
        self.tiles
    }
}

pub(super) fn lowered(module: &IrModule) -> IrModule {
    lower(module, &LowerOptions::new(Arc::new(TargetCapabilities::host("plain")))).unwrap().module
}

pub(super) fn text(module: &IrModule) -> String {
    match write_module(module, &Plain::default(), &Options::default()) {
        Ok(text) => text.text,
        Err(diagnostics) => {
            let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            panic!("{}", all.join("\n"))
        }
    }
}
