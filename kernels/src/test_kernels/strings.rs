//! Strings.

use std::fmt::Write;

use tfrt_host::{Arg, Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.get_string", |value: Attr<'_, str>| value.0.to_owned())
        .doc("The attribute's value as a string.");
    registry
        .add("tfrt_test.print_string", |text: Arg<'_, String>, _chain: Chain, cx: &ExecutionContext| {
            cx.host().print(format_args!("string = {}\n", *text));
            Chain
        })
        .side_effecting()
        .doc("Prints a string on a line of its own.");
    registry
        .add("tfrt_test.append_string", |a: Arg<'_, String>, b: Arg<'_, String>| format!("{}{}", *a, *b))
        .doc("The second string behind the first.");
    registry
        .add("tfrt_test.string_equal", |a: Arg<'_, String>, b: Arg<'_, String>| *a == *b)
        .doc("Whether two strings are equal.");
    registry
        .add("tfrt_test.format_string", |format: Arg<'_, String>, number: i32| format_number(&format, number))
        .doc("A format in the manner of C's printf with a number in place of its one %d, which may have a width.");
    registry
        .add("tfrt_test.read_string_from_file", |path: Arg<'_, String>| {
            std::fs::read_to_string(&*path).map_err(|error| {
                Diagnostic::new(ErrorCode::Io, format!("failed to read from file {}: {error}", *path))
            })
        })
        .blocking()
        .doc("What is in a file of this name, which must be UTF-8.");
}

/// Widths beyond this are taken for mistakes.
const MAX_WIDTH: usize = 1024;

fn format_number(format: &str, number: i32) -> Result<String, Diagnostic> {
    let wrong = || Diagnostic::invalid_argument(format!("'{format}' is no format for one number"));
    let mut text = String::new();
    let mut seen = false;
    let mut rest = format;
    while let Some((before, conversion)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(after) = conversion.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let digits = conversion.bytes().take_while(u8::is_ascii_digit).count();
        let (width, after) = conversion.split_at(digits);
        rest = after.strip_prefix(['d', 'i']).filter(|_| !seen).ok_or_else(wrong)?;
        seen = true;
        let zeros = width.starts_with('0');
        let width = if width.is_empty() { 0 } else { width.parse().map_err(|_| wrong())? };
        if width > MAX_WIDTH {
            return Err(wrong());
        }
        // Writing to a string cannot fail.
        let _ = if zeros { write!(text, "{number:0width$}") } else { write!(text, "{number:width$}") };
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_c() {
        let cases = [
            ("%d.jpg", "7.jpg"),
            ("img_%05d", "img_00007"),
            ("[%3d]", "[  7]"),
            ("100%%", "100%"),
            ("plain", "plain"),
        ];
        for (format, text) in cases {
            assert_eq!(format_number(format, 7).unwrap(), text);
        }
        for format in ["%s", "%", "%d%d", "%99999d", "%99999999999999999999d"] {
            assert!(format_number(format, 7).is_err(), "{format}");
        }
        assert_eq!(format_number("%03d", -7).unwrap(), "-07");
    }
}
