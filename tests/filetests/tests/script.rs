//! The script reader on the corpus: what is read is printed and read again to the same.

use chipdock_filetests::{bless, corpus, root};
use chipdock_ir::{equal, print};

/// Runs `check` on each file of the corpus and reports every failure.
fn each(check: impl Fn(&chipdock_filetests::CorpusFile) -> Result<(), String>) {
    let files = corpus().unwrap();
    assert!(files.len() > 40, "the corpus is missing: {} files", files.len());
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| check(file).err().map(|why| format!("{}: {why}", file.name)))
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), files.len(), failures.join("\n"));
}

#[test]
fn what_is_read_prints_and_reads_back_equal() {
    each(|file| {
        let read = chipdock_script::parse(&file.text, &file.name).map_err(|errors| errors.to_string())?;
        let printed = print::module(&read);
        let again = chipdock_script::parse(&printed, "printed.py")
            .map_err(|errors| format!("the printed form is refused:\n{errors}\n{printed}"))?;
        equal::modules(&read, &again).map_err(|why| format!("read back it differs: {why}\n{printed}"))?;
        let twice = print::module(&again);
        if twice == printed { Ok(()) } else { Err(format!("printed again it differs:\n{printed}\n{twice}")) }
    });
}

#[test]
fn what_is_printed_is_the_golden() {
    each(|file| {
        let read = chipdock_script::parse(&file.text, &file.name).map_err(|errors| errors.to_string())?;
        bless(&root().join("golden").join(&file.name), &print::module(&read))
    });
}
