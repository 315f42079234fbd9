//! Generated programs written and read back, as TVMScript and in the wire form.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use chipdock_ir::{DType, IrModule, Op, equal, print, wire};
use chipdock_programs::{Case, Failure, Options, ProgramCheck};

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn read(text: &str) -> Result<IrModule, Failure> {
    chipdock_script::parse(text, "case.py")
        .map_err(|errors| Failure::new("read", format!("{errors}\n{text}")))
}

fn equals(case: &Case, module: &IrModule, text: &str) -> Result<(), Failure> {
    equal::modules(&case.module, module)
        .map_err(|difference| Failure::new("another module", format!("{difference}\n{text}")))?;
    case.check_same(module).map_err(|error| Failure::new("another result", error))
}

#[test]
fn printed_programs_read_back_as_they_were() {
    // The reader takes the magnitude of an unsigned integer for the integer, as TVM does.
    let without = DType::SCALARS.iter().filter(|dtype| dtype.is_uint()).map(|dtype| (Op::Abs, *dtype));
    let options = Options { without: without.collect(), ..Options::with_threads() };
    let check = ProgramCheck::new("printed_programs_read_back_as_they_were", FOLDER).options(options);
    check.programs(PROGRAMS).run(|case| {
        let text = print::module(&case.module);
        equals(case, &read(&text)?, &text)
    });
}

#[test]
fn cases_read_back_from_their_files_to_the_bit() {
    let without = DType::SCALARS.iter().filter(|dtype| dtype.is_uint()).map(|dtype| (Op::Abs, *dtype));
    let options = Options { without: without.collect(), ..Options::with_threads() };
    let check = ProgramCheck::new("cases_read_back_from_their_files_to_the_bit", FOLDER).options(options);
    check.programs(200).run(|case| {
        let text = case.file();
        let read = Case::of_file(&text, read(&text)?).map_err(|error| Failure::new("file", error))?;
        equals(case, &read.module, &text)?;
        // As text, since a NaN is not equal to itself.
        if read.file() == text { Ok(()) } else { Err(Failure::new("another file", read.file())) }
    });
}

#[test]
fn a_file_that_does_not_fit_is_refused() {
    let case = chipdock_programs::arbitrary(3, &Options::default());
    let text = case.file();
    let says = |text: &str| Case::of_file(text, case.module.clone()).unwrap_err();
    assert!(says(&case.text()).contains("#: function NAME"));
    assert!(says(&text.replace("#: function ", "#: function no_")).contains("there is no function"));
    assert!(says(&format!("#: int 3\n{text}")).contains("arguments"));
    for line in ["#: tensor float32 2 00", "#: tensor float99 - ", "#: float 1.5", "#: int x", "#: word x"] {
        assert!(says(&format!("{line}\n{text}")).contains("expected a line"), "{line}");
    }
}

#[test]
fn programs_cross_the_wire_as_they_were() {
    let check =
        ProgramCheck::new("programs_cross_the_wire_as_they_were", FOLDER).options(Options::with_threads());
    check.programs(PROGRAMS).run(|case| {
        let text = wire::write(&case.module).map_err(|error| Failure::new("write", error))?;
        let module = wire::read(&text).map_err(|error| Failure::new("read", error))?;
        equals(case, &module, &text)?;
        let again = wire::write(&module).map_err(|error| Failure::new("write", error))?;
        if again == text { Ok(()) } else { Err(Failure::new("another text", again)) }
    });
}

/// A few seconds' worth.
const PROGRAMS: u64 = 1500;
