//! Special values of every type on every backend, bit by bit: constants, comparisons in each form
//! in which compilers meet them, minimum, maximum and conversions (IR-N7, IR-N9).

use chipdock_test_backends::specials::{hold_bits, needs_double, programs};
use chipdock_test_backends::{host, on_each, outputs, run};
use chipdock_test_support::sample::Drawn;

/// A run takes one program in so many on each backend.
const SHARE: usize = 5;

#[test]
fn specials_are_exact_on_every_backend() {
    let host = host();
    let programs = programs().unwrap_or_else(|error| panic!("{error}"));
    on_each(&host, |backend| {
        let what = format!("programs of special values, on {}", backend.name());
        let drawn = Drawn::of(&what, SHARE, programs.iter().map(|program| program.name.as_str()));
        let mut wrong = Vec::new();
        for program in programs.iter().filter(|program| drawn.has(&program.name)) {
            let loaded = match run::build(&host, backend, &program.module) {
                Ok(loaded) => loaded,
                Err(why) if needs_double(program) && why.contains("float64") => continue,
                Err(why) => {
                    wrong.push(format!("{}: {why}", program.name));
                    continue;
                }
            };
            for call in &program.calls {
                let f = loaded.function(call.function).expect("there");
                let found = outputs(backend, &f, &call.args).and_then(|found| hold_bits(call, &found));
                wrong.extend(found.err().map(|why| format!("{}: {why}", program.name)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
