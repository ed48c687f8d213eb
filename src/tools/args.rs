//! What the small tools' command lines have in common.

use std::ffi::OsString;

use lexopt::ValueExt;

/// Makes `--name` of `-name`: the tools take long options with one dash or two. Options of one letter stay.
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

/// The one file that a command line may name; `known` if it is there already.
pub(super) fn only_file(known: &mut Option<String>, file: OsString) -> Result<(), lexopt::Error> {
    let file = file.string()?;
    match known {
        Some(first) => Err(format!("there is one file, '{first}', and '{file}' is another").into()),
        None => {
            *known = Some(file);
            Ok(())
        }
    }
}

/// The value of an option as text.
pub(super) fn text(parser: &mut lexopt::Parser) -> Result<String, lexopt::Error> {
    parser.value()?.string()
}

/// An option that is set by its presence, or by `=true` and `=false`.
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
