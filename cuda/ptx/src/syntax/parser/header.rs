//! The start of a module: `.version`, `.target`, `.address_size`.

use super::Parser;
use crate::{
    Span,
    syntax::{
        ast::{Features, Target, Version},
        lexer::Tok,
        suggest::nearest,
    },
};

/// The versions of the PTX ISA that this crate supports: the last minor number of each major one.
const VERSIONS: &[(u32, u32)] = &[(3, 2), (4, 3), (5, 0), (6, 5), (7, 8), (8, 8), (9, 4)];

/// The targets that this crate supports, and the version that introduced each.
const TARGETS: &[(&str, Version)] = &[
    ("sm_30", Version { major: 3, minor: 0 }),
    ("sm_32", Version { major: 4, minor: 0 }),
    ("sm_35", Version { major: 3, minor: 1 }),
    ("sm_37", Version { major: 4, minor: 1 }),
    ("sm_50", Version { major: 4, minor: 0 }),
    ("sm_52", Version { major: 4, minor: 1 }),
    ("sm_53", Version { major: 4, minor: 2 }),
    ("sm_60", Version { major: 5, minor: 0 }),
    ("sm_61", Version { major: 5, minor: 0 }),
    ("sm_62", Version { major: 5, minor: 0 }),
    ("sm_70", Version { major: 6, minor: 0 }),
    ("sm_72", Version { major: 6, minor: 1 }),
    ("sm_75", Version { major: 6, minor: 3 }),
    ("sm_80", Version { major: 7, minor: 0 }),
    ("sm_86", Version { major: 7, minor: 1 }),
    ("sm_87", Version { major: 7, minor: 4 }),
    ("sm_88", Version { major: 9, minor: 0 }),
    ("sm_89", Version { major: 7, minor: 8 }),
    ("sm_90", Version { major: 7, minor: 8 }),
    ("sm_90a", Version { major: 8, minor: 0 }),
    ("sm_100", Version { major: 8, minor: 6 }),
    ("sm_100a", Version { major: 8, minor: 6 }),
    ("sm_100f", Version { major: 8, minor: 8 }),
    ("sm_101", Version { major: 8, minor: 6 }),
    ("sm_101a", Version { major: 8, minor: 6 }),
    ("sm_101f", Version { major: 8, minor: 8 }),
    ("sm_103", Version { major: 8, minor: 8 }),
    ("sm_103a", Version { major: 8, minor: 8 }),
    ("sm_103f", Version { major: 8, minor: 8 }),
    ("sm_110", Version { major: 9, minor: 0 }),
    ("sm_110a", Version { major: 9, minor: 0 }),
    ("sm_110f", Version { major: 9, minor: 0 }),
    ("sm_120", Version { major: 8, minor: 7 }),
    ("sm_120a", Version { major: 8, minor: 7 }),
    ("sm_120f", Version { major: 8, minor: 8 }),
    ("sm_121", Version { major: 8, minor: 8 }),
    ("sm_121a", Version { major: 8, minor: 8 }),
    ("sm_121f", Version { major: 8, minor: 8 }),
];

impl<'s> Parser<'s> {
    /// Parses the directives at the start of a module, as far as they are present.
    pub(super) fn header(&mut self) {
        if !self.is_dotted("version") {
            self.report(self.token.span, "a module begins with '.version'");
        } else if self.version().is_err() {
            self.skip_line();
        }
        if !self.is_dotted("target") {
            self.report(self.token.span, "expected '.target' behind '.version'");
        } else if self.target().is_err() {
            self.skip_line();
        }
        if self.is_dotted("address_size") && self.address_size().is_err() {
            self.skip_line();
        }
    }

    /// Skips the rest of the line of this token.
    pub(super) fn skip_line(&mut self) {
        let line = self.token.span.line;
        while self.token.span.line == line && !self.is(Tok::Eof) {
            self.bump();
        }
    }

    fn version(&mut self) -> Result<(), super::Failed> {
        self.bump();
        let Tok::Number(_) = self.token.kind else { return self.unexpected("a version such as 8.4") };
        let token = self.token;
        self.bump();
        let parsed = token.text.split_once('.').and_then(|(major, minor)| {
            Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        let Some(version) = parsed else {
            self.report(token.span, format!("'{}' is no version; one looks like 8.4", token.text));
            return Ok(());
        };
        self.module.version = version;
        let last = VERSIONS.iter().find(|(major, _)| *major == version.major);
        if last.is_none_or(|&(_, minor)| version.minor > minor) {
            self.report(token.span, format!("PTX ISA {version} is not supported: 3.0 to 9.4 are"));
        }
        Ok(())
    }

    fn target(&mut self) -> Result<(), super::Failed> {
        self.bump();
        loop {
            let token = self.expect(Tok::Word, "a target such as sm_80")?;
            match token.text {
                "debug" => self.module.target.debug = true,
                "texmode_unified" | "texmode_independent" => {}
                "map_f64_to_f32" => self.report(token.span, "'map_f64_to_f32' is not supported"),
                name => self.architecture(name, token.span),
            }
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        Ok(())
    }

    fn architecture(&mut self, name: &str, span: Span) {
        let Some((name, since)) = TARGETS.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = TARGETS.iter().map(|(known, _)| *known).collect();
            let hint = match nearest(name, &names).filter(|_| !name.starts_with("sm_")) {
                Some(near) => format!("; did you mean '{near}'?"),
                None => "; sm_30 to sm_121f are known".into(),
            };
            return self
                .report(span, format!("unknown target '{}'{hint}", super::super::lexer::shortened(name)));
        };
        let version = self.module.version;
        if version < *since && version.major > 0 {
            self.report(span, format!("{name} needs PTX ISA {since}; this is a module of version {version}"));
        }
        let features = match name.as_bytes().last() {
            Some(b'a') => Features::Specific,
            Some(b'f') => Features::Family,
            _ => Features::Common,
        };
        let digits = name.trim_start_matches("sm_").trim_end_matches(['a', 'f']);
        self.module.target = Target {
            architecture: digits.parse().unwrap_or_default(),
            features,
            debug: self.module.target.debug,
        };
    }

    fn address_size(&mut self) -> Result<(), super::Failed> {
        self.bump();
        let span = self.token.span;
        match self.expect_u64("32 or 64")? {
            64 => {}
            32 => self.report(span, "addresses of 32 bits are not supported"),
            other => self.report(span, format!("an address has 32 or 64 bits, not {other}")),
        }
        Ok(())
    }
}
