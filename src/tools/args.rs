//! Parses the command lines of `bef_executor`, `tfrt_opt` and `tfrt_translate`.

use std::{ffi::OsString, path::PathBuf};

use lexopt::ValueExt;

/// Turns `-name` into `--name`: the tools accept long options with one dash or two. Options of one
/// letter stay.
pub(super) fn normalize(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let long = |arg: OsString| match arg.to_str() {
        Some(text) if is_single_dash_long(text) => OsString::from(format!("-{text}")),
        _ => arg,
    };
    args.into_iter().map(long).collect()
}

fn is_single_dash_long(arg: &str) -> bool {
    let Some(name) = arg.strip_prefix('-') else { return false };
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_some_and(|second| second != '=')
}

/// Sets the one file that a command line may name.
pub(super) fn only_file(known: &mut Option<PathBuf>, file: OsString) -> Result<(), lexopt::Error> {
    let file = PathBuf::from(file);
    match known {
        Some(first) => {
            let (first, file) = (first.display(), file.display());
            Err(format!("expected one file, but found '{first}' and '{file}'").into())
        }
        None => {
            *known = Some(file);
            Ok(())
        }
    }
}

/// Parses a count of CPU devices. Creating the devices finds out whether the machine can hold them.
#[cfg(feature = "full")]
pub(super) fn device_count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("at least one CPU device is needed".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the value of an option as text.
pub(super) fn text(parser: &mut lexopt::Parser) -> Result<String, lexopt::Error> {
    parser.value()?.string()
}

/// Parses an option that is set by its presence, or by `=true` and `=false`.
pub(super) fn switch(parser: &mut lexopt::Parser) -> Result<bool, lexopt::Error> {
    match parser.optional_value() {
        None => Ok(true),
        Some(value) => match &*value.string()? {
            "true" | "1" | "" => Ok(true),
            "false" | "0" => Ok(false),
            other => Err(format!("'{other}' is neither true nor false").into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "full")]
    #[test]
    fn there_is_at_least_one_device() {
        assert_eq!(device_count("4"), Ok(4));
        for wrong in ["0", "-1", "x", "4294967296"] {
            assert!(device_count(wrong).is_err(), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_may_have_any_name() {
        use std::os::unix::ffi::OsStringExt;
        let name = OsString::from_vec(b"n\xFF.mlir".to_vec());
        let mut known = None;
        only_file(&mut known, name.clone()).unwrap();
        assert_eq!(known, Some(PathBuf::from(name)));
        assert!(only_file(&mut known, "other".into()).is_err());
    }

    #[test]
    fn long_options_get_their_second_dash() {
        let cases = [
            ("-work_queue_type=mstd", "--work_queue_type=mstd"),
            ("--functions", "--functions"),
            ("-o", "-o"),
            ("-o=file", "-o=file"),
            ("-", "-"),
            ("-1", "-1"),
            ("file", "file"),
        ];
        for (given, expected) in cases {
            assert_eq!(normalize([given.into()]), [OsString::from(expected)]);
        }
    }
}
