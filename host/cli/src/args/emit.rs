//! The words of `--emit`: Chipdock's own, and formats of plugins.

use std::ffi::OsStr;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error, ValueEnum};

/// An output of a build that Chipdock makes, whatever the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// The module as it was read, as TVMScript.
    Ir,
    /// The module with every function scheduled, as TVMScript.
    Schedule,
    /// The generated source.
    Source,
    /// The object file of the host functions.
    Object,
    /// The code generator's artifact: index and sections in one file.
    Artifact,
    /// A shared library of the host functions with all device code, for programs without Chipdock.
    Library,
    /// A tar archive of what the library is linked from, for another machine.
    Archive,
}

impl Emit {
    /// Returns the word of the command line, which clap derives from the variant.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|word| word.get_name().to_owned()).unwrap_or_default()
    }
}

/// The output of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// One of Chipdock's own.
    Own(Emit),
    /// A format of the target's plugin, by the plugin's word.
    Format(String),
}

impl Output {
    /// Returns the word of the command line.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Own(emit) => emit.name(),
            Self::Format(word) => word.clone(),
        }
    }
}

/// Reads an [`Output`]: a word that is not Chipdock's own is a format, which the target's plugin is
/// asked for.
#[derive(Clone, Copy)]
pub(super) struct OutputParser;

impl TypedValueParser for OutputParser {
    type Value = Output;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Output, Error> {
        let is_format = |word: &&str| {
            let of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            !word.is_empty() && word.bytes().all(of_word)
        };
        match (EnumValueParser::<Emit>::new().parse_ref(command, arg, value), value.to_str()) {
            (Ok(emit), _) => Ok(Output::Own(emit)),
            (Err(_), Some(word)) if is_format(&word) => Ok(Output::Format(word.to_owned())),
            (Err(error), _) => Err(error),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values: Vec<_> = Emit::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        Some(Box::new(values.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_chipdocks_own_or_a_format() {
        let read = |word: &str| OutputParser.parse_ref(&Command::new("build"), None, OsStr::new(word));
        for emit in Emit::value_variants() {
            assert_eq!(read(&emit.name()).unwrap(), Output::Own(*emit));
        }
        for word in ["hsaco", "x-1.2_y", "Source"] {
            assert_eq!(read(word).unwrap(), Output::Format(word.to_owned()));
        }
        for wrong in ["", "a b", "a/b", "ä"] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
