//! Checks files that must be refused: each error is reported at its position.

use chipdock_test_support::lists::List;
use chipdock_test_support::{CorpusFile, bless};

pub(crate) fn tests(list: List, bad: &[CorpusFile]) -> List {
    list.each("bad_files_give_their_errors", bad, bad_files_give_their_errors)
}

fn bad_files_give_their_errors(file: &CorpusFile) -> Result<(), String> {
    let Err(errors) = chipdock_script::parse(&file.text, &file.name) else {
        return Err("it is taken".to_owned());
    };
    bless(&file.path.with_extension("err"), &format!("{errors}\n"))
}
