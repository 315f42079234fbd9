//! Special values of every type on every backend, bit by bit: constants, comparisons in each form in which compilers meet them,
//! minimum, maximum and conversions (IR-N7, IR-N9).

use chipdock_test_backends::specials::{hold_bits, needs_double, programs};
use chipdock_test_backends::{host, on_each, outputs, run};

#[test]
fn specials_are_exact_on_every_backend() {
    let host = host();
    let programs = programs().unwrap_or_else(|error| panic!("{error}"));
    on_each(&host, |backend| {
        let mut wrong = Vec::new();
        for program in &programs {
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
