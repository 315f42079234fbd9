//! The object that joins an artifact's object and the compiled run time, written without a
//! compiler: what the text of [`Glue`] compiles to, and `__dso_handle`, which a compiler's own
//! files define otherwise.

use object::write::{Object, Relocation, SectionId, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionKind,
    SymbolFlags, SymbolKind, SymbolScope, elf,
};

use super::glue::Glue;
use crate::error::{Error, ErrorKind};
use crate::library::{ENVIRONMENT, FUNCTION};

/// Size in bytes of a pointer, and of the entries of `chipdock_devices`: a name and a number,
/// padded.
const POINTER_BYTES: u64 = 8;
const DEVICE_BYTES: usize = 16;
/// Alignment of data that is found by its symbol.
const DATA_ALIGNMENT_BYTES: u64 = 16;

/// `answer_text(text, size, result)`, where `result` is the caller's fourth argument, as a jump:
/// the places of the text's distance, of its size and of the function's distance are below.
const ANSWER: [u8; 20] = [
    0x48, 0x89, 0xca, // mov rdx, rcx
    0x48, 0x8d, 0x3d, 0, 0, 0, 0, // lea rdi, [rip + text]
    0xbe, 0, 0, 0, 0, // mov esi, size
    0xe9, 0, 0, 0, 0, // jmp answer_text
];
const ANSWER_TEXT: usize = 6;
const ANSWER_SIZE: usize = 11;
const ANSWER_FUNCTION: usize = 16;
/// `jmp function`, and the place of the function's distance.
const JUMP: [u8; 5] = [0xe9, 0, 0, 0, 0];
const JUMP_FUNCTION: usize = 1;
/// `chipdock_lacks ? refuse() : function()`, as jumps, and the places of the three distances.
const ENTRY: [u8; 18] = [
    0x80, 0x3d, 0, 0, 0, 0, 0, // cmp byte ptr [rip + chipdock_lacks], 0
    0x0f, 0x85, 0, 0, 0, 0, // jne refuse
    0xe9, 0, 0, 0, 0, // jmp function
];
const ENTRY_FLAG: usize = 2;
/// Bytes between the end of the flag's distance and the next instruction, from which it counts.
const ENTRY_FLAG_AFTER: i64 = 1;
const ENTRY_REFUSE: usize = 9;
const ENTRY_FUNCTION: usize = 14;
/// Alignment of functions; gaps are filled with traps.
const CODE_ALIGNMENT_BYTES: u64 = 16;

/// An object in the making.
struct Joint {
    object: Object<'static>,
    code: SectionId,
    constants: SectionId,
    pointers: SectionId,
    texts: SymbolId,
    answer: SymbolId,
}

fn failed(error: &object::write::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("the object that joins a library: {error}"))
}

/// Returns the symbol of this object by which another file's code is found.
fn undefined(object: &mut Object<'static>, name: &str) -> SymbolId {
    if let Some(known) = object.symbol_id(name.as_bytes()) {
        return known;
    }
    object.add_symbol(Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Unknown,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    })
}

impl Joint {
    fn new() -> Self {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let [code, constants, pointers] =
            [StandardSection::Text, StandardSection::ReadOnlyData, StandardSection::ReadOnlyDataWithRel]
                .map(|section| object.section_id(section));
        // Without it the linker takes the object for one that runs code on its stack.
        object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        let texts = object.section_symbol(constants);
        let answer = undefined(&mut object, "answer_text");
        Self { object, code, constants, pointers, texts, answer }
    }

    /// Defines a symbol of the bytes at `value`.
    fn define(&mut self, name: &str, section: SectionId, value: u64, size: usize, is_exported: bool) {
        let kind = if section == self.code { SymbolKind::Text } else { SymbolKind::Data };
        let scope = if is_exported { SymbolScope::Dynamic } else { SymbolScope::Linkage };
        self.object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size: size as u64,
            kind,
            scope,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
    }

    /// Adds a text and its end; returns where it is.
    fn text(&mut self, text: &str) -> i64 {
        let bytes = [text.as_bytes(), &[0]].concat();
        let at = self.object.append_section_data(self.constants, &bytes, 1);
        i64::try_from(at).unwrap_or(i64::MAX)
    }

    /// Lets the four bytes at `offset` of the code be the distance from their end to a symbol.
    fn reach(&mut self, offset: u64, symbol: SymbolId, addend: i64, is_call: bool) -> Result<(), Error> {
        let r_type = if is_call { elf::R_X86_64_PLT32 } else { elf::R_X86_64_PC32 };
        let flags = RelocationFlags::Elf { r_type };
        let relocation = Relocation { offset, symbol, addend: addend.saturating_sub(4), flags };
        self.object.add_relocation(self.code, relocation).map_err(|error| failed(&error))
    }

    /// Adds a function that answers a text.
    fn answers(&mut self, name: &str, answer: &str) -> Result<(), Error> {
        let size = u32::try_from(answer.len())
            .map_err(|_| Error::new(ErrorKind::Value, format!("the text of `{name}` has 4 GiB or more")))?;
        let text = self.text(answer);
        let mut code = ANSWER;
        code[ANSWER_SIZE..ANSWER_SIZE + 4].copy_from_slice(&size.to_le_bytes());
        let at = self.object.append_section_data(self.code, &code, CODE_ALIGNMENT_BYTES);
        self.define(name, self.code, at, code.len(), true);
        self.reach(at + ANSWER_TEXT as u64, self.texts, text, false)?;
        self.reach(at + ANSWER_FUNCTION as u64, self.answer, 0, true)
    }

    /// Adds a function that is another one.
    fn jumps(&mut self, name: &str, symbol: &str) -> Result<(), Error> {
        let at = self.object.append_section_data(self.code, &JUMP, CODE_ALIGNMENT_BYTES);
        self.define(name, self.code, at, JUMP.len(), true);
        let symbol = undefined(&mut self.object, symbol);
        self.reach(at + JUMP_FUNCTION as u64, symbol, 0, true)
    }

    /// Adds the entry of a function that not every processor can run (EXPORT-R8).
    fn enters(&mut self, name: &str, symbol: &str) -> Result<(), Error> {
        let at = self.object.append_section_data(self.code, &ENTRY, CODE_ALIGNMENT_BYTES);
        self.define(name, self.code, at, ENTRY.len(), true);
        let [flag, refuse, function] =
            ["chipdock_lacks", "refuse", symbol].map(|name| undefined(&mut self.object, name));
        self.reach(at + ENTRY_FLAG as u64, flag, -ENTRY_FLAG_AFTER, false)?;
        self.reach(at + ENTRY_REFUSE as u64, refuse, 0, true)?;
        self.reach(at + ENTRY_FUNCTION as u64, function, 0, true)
    }

    /// Lets the pointer at `offset` of the pointers be the address of a symbol.
    fn points(&mut self, offset: u64, symbol: SymbolId, addend: i64) -> Result<(), Error> {
        let flags = RelocationFlags::Generic {
            kind: RelocationKind::Absolute,
            encoding: RelocationEncoding::Generic,
            size: 64,
        };
        let relocation = Relocation { offset, symbol, addend, flags };
        self.object.add_relocation(self.pointers, relocation).map_err(|error| failed(&error))
    }

    /// Adds the table of devices, which a null name ends.
    fn devices(&mut self, devices: &[(String, i32)]) -> Result<(), Error> {
        let size = (devices.len() + 1) * DEVICE_BYTES;
        let mut table = vec![0; size];
        for (entry, (_, number)) in table.chunks_exact_mut(DEVICE_BYTES).zip(devices) {
            entry[8..12].copy_from_slice(&number.to_le_bytes());
        }
        let at = self.object.append_section_data(self.pointers, &table, POINTER_BYTES);
        self.define("chipdock_devices", self.pointers, at, size, false);
        for (index, (name, _)) in devices.iter().enumerate() {
            let name = self.text(name);
            self.points(at + (index * DEVICE_BYTES) as u64, self.texts, name)?;
        }
        Ok(())
    }

    /// Adds the pointers that are written at run time, and the handle of the library, which is its
    /// own address.
    fn variables(&mut self, names: &[&str]) -> Result<(), Error> {
        let zeros = self.object.section_id(StandardSection::UninitializedData);
        for name in names {
            let at = self.object.append_section_bss(zeros, POINTER_BYTES, POINTER_BYTES);
            self.define(name, zeros, at, 8, true);
        }
        let at = self.object.append_section_data(self.pointers, &[0; 8], POINTER_BYTES);
        self.define("__dso_handle", self.pointers, at, 8, false);
        let own = self.object.section_symbol(self.pointers);
        self.points(at, own, i64::try_from(at).unwrap_or(i64::MAX))
    }

    /// Adds a symbol of some bytes, after their number if that is asked for.
    fn data(&mut self, name: &str, bytes: &[u8], with_size: bool) {
        let size = (bytes.len() as u64).to_le_bytes();
        let size: &[u8] = if with_size { &size } else { &[] };
        let at =
            self.object.append_section_data(self.constants, &[size, bytes].concat(), DATA_ALIGNMENT_BYTES);
        self.define(name, self.constants, at, size.len() + bytes.len(), true);
    }
}

impl Glue<'_> {
    /// Writes the object of the text; `None` for a machine whose code is not known here.
    ///
    /// # Errors
    ///
    /// As [`Glue::text`]. `InternalError`: the object cannot be written.
    pub(super) fn object(
        &self,
        machine: u16,
        about: &[u8],
        tree: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, Error> {
        if machine != elf::EM_X86_64 {
            return Ok(None);
        }
        let mut joint = Joint::new();
        let variables = ["__tvm_ffi__library_ctx", ENVIRONMENT];
        joint.variables(if self.defines_environment { &variables } else { &variables[..1] })?;
        joint.devices(&self.devices)?;
        let without = self.without_kernels();
        let at = joint.text(&without);
        let at = u64::try_from(at).unwrap_or_default();
        joint.define("chipdock_without_kernels", joint.constants, at, without.len() + 1, false);
        for function in &self.artifact.index().functions {
            let name = &function.name;
            for (what, answer) in super::glue::answers(function)? {
                joint.answers(&format!("{FUNCTION}_{what}_{name}"), &answer)?;
            }
            if self.has_entries {
                joint.enters(&function.symbol, &super::entries::behind(&function.symbol))?;
            }
            if self.has_main(name) {
                joint.jumps(&format!("{FUNCTION}main"), &function.symbol)?;
            }
        }
        joint.data("__chipdock_library", about, true);
        if let Some(tree) = tree {
            joint.data("__tvm_ffi__library_bin", tree, false);
        }
        joint.object.write().map(Some).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget};

    use super::*;

    /// The table as the run time reads it: names by relocations to texts, numbers beside them, and
    /// a null name at the end.
    #[test]
    fn a_table_of_devices_has_names_numbers_and_an_end() {
        let mut joint = Joint::new();
        joint.text("before");
        joint.devices(&[("cuda".to_owned(), 2), ("opencl".to_owned(), 4)]).unwrap();
        let bytes = joint.object.write().unwrap();
        let file = object::read::elf::ElfFile64::<LittleEndian>::parse(&*bytes).unwrap();
        let table = file.symbols().find(|symbol| symbol.name() == Ok("chipdock_devices")).unwrap();
        assert_eq!((table.size(), table.is_global(), table.scope()), (48, true, SymbolScope::Linkage));
        let section = file.section_by_index(table.section_index().unwrap()).unwrap();
        let data = &section.data().unwrap()[usize::try_from(table.address()).unwrap()..][..48];
        assert_eq!([data[8], data[24], data[40]], [2, 4, 0]);
        let name = |(offset, relocation): (u64, object::read::Relocation)| {
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                return (offset, String::new());
            };
            let texts = file.symbol_by_index(symbol).unwrap().section_index().unwrap();
            let texts = file.section_by_index(texts).unwrap().data().unwrap();
            let text = &texts[usize::try_from(relocation.addend()).unwrap()..];
            (offset, String::from_utf8(text.iter().copied().take_while(|byte| *byte != 0).collect()).unwrap())
        };
        let names: Vec<_> = section.relocations().map(name).collect();
        assert_eq!(
            names,
            [(table.address(), "cuda".to_owned()), (table.address() + 16, "opencl".to_owned())]
        );
    }
}
