//! Formats numbers as C's `printf` does, for programs whose output is compared with C's.

/// Formats a number as `%f` does: with six decimals.
pub fn format_fixed(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:.6}") }
}

/// Formats a number as `%e` does: one digit, six decimals, and an exponent of at least two digits.
pub fn format_exponent(value: f64) -> String {
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None if value.is_nan() => "nan".to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_is_what_c_prints() {
        let cases = [
            (1.0, "1.000000"),
            (-0.0, "-0.000000"),
            (0.347_354_5, "0.347355"),
            (1e20, "100000000000000000000.000000"),
        ];
        for (value, text) in cases {
            assert_eq!(format_fixed(value), text);
        }
        assert_eq!(format_fixed(f64::NAN), "nan");
        assert_eq!(format_fixed(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn exponent_is_what_c_prints() {
        let cases = [
            (0.0, "0.000000e+00"),
            (99.5, "9.950000e+01"),
            (-1e-7, "-1.000000e-07"),
            (1e123, "1.000000e+123"),
        ];
        for (value, text) in cases {
            assert_eq!(format_exponent(value), text);
        }
        assert_eq!(format_exponent(f64::INFINITY), "inf");
        assert_eq!(format_exponent(f64::NAN), "nan");
    }
}
