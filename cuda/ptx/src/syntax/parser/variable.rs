//! Declarations of variables, at module scope and in functions.

use super::{Body, Failed, Global, Parser};
use crate::{
    Span,
    syntax::{
        MAX_DEPTH, MAX_VARIABLE_BYTES,
        ast::{Initializer, Layout, Variable, VariableId},
        lexer::{Tok, Token},
        scope::Entry,
        types::{Linkage, Space, Type},
    },
};

/// The largest alignment that is accepted.
const MAX_ALIGN: u32 = 1 << 16;

/// The size of the largest vector, in bytes.
const MAX_VECTOR_BYTES: u32 = 16;

impl<'s> Parser<'s> {
    /// Parses `.global .align 8 .u32 x, y[4] = {1, 2, 3, 4};`, from the state space on.
    pub(super) fn variables(
        &mut self,
        linkage: Linkage,
        mut body: Option<&mut Body<'s>>,
    ) -> Result<(), Failed> {
        let token = self.token;
        let Some(space) = Space::from_word(token.text) else { return self.unexpected("a state space") };
        self.bump();
        self.check_place(space, linkage, body.is_some(), token.span);
        let pattern = self.layout_before_name()?;
        if pattern.element == Type::Pred {
            self.report(token.span, "predicates are in registers only");
        }
        loop {
            self.variable(space, linkage, pattern, body.as_deref_mut())?;
            if !self.accept(Tok::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// Checks whether a variable of this space may be declared here.
    fn check_place(&mut self, space: Space, linkage: Linkage, in_function: bool, span: Span) {
        let message = match space {
            Space::Param | Space::Local if !in_function => {
                format!("{space} variables are declared within functions")
            }
            _ if linkage == Linkage::Common && space != Space::Global => {
                ".common variables are in .global".to_owned()
            }
            _ => return,
        };
        self.report(span, message);
    }

    fn variable(
        &mut self,
        space: Space,
        linkage: Linkage,
        mut layout: Layout,
        body: Option<&mut Body<'s>>,
    ) -> Result<(), Failed> {
        let name = self.expect_name("the name of a variable")?;
        if self.is(Tok::Less) {
            return self.fail(self.token.span, "only registers can be declared by the number");
        }
        let dimensions = self.layout_behind_name(&mut layout)?;
        let initializer = if self.is(Tok::Equal) {
            let span = self.token.span;
            self.bump();
            if !matches!(space, Space::Global | Space::Const) {
                return self.fail(span, format!("a {space} variable has no initial value"));
            }
            Some(self.initializer(&mut layout, &dimensions, body.as_deref())?)
        } else {
            None
        };
        if layout.is_unsized && linkage != Linkage::Extern {
            let message = format!(
                "the size of {} is missing; only .extern variables may leave it open",
                name.describe()
            );
            self.report(name.span, message);
        }
        self.declare_variable(space, linkage, layout, initializer, name, body);
        Ok(())
    }

    fn declare_variable(
        &mut self,
        space: Space,
        linkage: Linkage,
        layout: Layout,
        initializer: Option<Initializer>,
        name: Token<'s>,
        body: Option<&mut Body<'s>>,
    ) {
        let id = VariableId(self.module.variables.len() as u32);
        let function = body.as_deref().map(|body| body.function);
        let variable =
            Variable { name: name.text, span: name.span, space, linkage, function, layout, initializer };
        let known = match body {
            Some(body) => {
                if let Err(place) = body.scopes.declare(name.text, Entry::Variable(id), name.span) {
                    self.report(name.span, format!("{} is declared twice; see {place}", name.describe()));
                }
                None
            }
            None => self.globals.get(name.text).copied(),
        };
        match known {
            Some(Global::Variable(known)) => self.redeclare_variable(known, variable),
            Some(Global::Function(_)) => {
                self.report(name.span, format!("{} is a function already", name.describe()));
            }
            None => {
                if function.is_none() {
                    self.globals.insert(name.text, Global::Variable(id));
                }
                self.module.variables.push(variable);
            }
        }
    }

    /// Merges two declarations of a variable. One must be `extern`; the other one counts.
    fn redeclare_variable(&mut self, id: VariableId, variable: Variable<'s>) {
        let known = &self.module.variables[id.index()];
        let (name, span, place) = (variable.name, variable.span, known.span);
        if known.linkage != Linkage::Extern && variable.linkage != Linkage::Extern {
            self.report(span, format!("'{name}' is declared twice; see {place}"));
        } else if known.space != variable.space || !known.layout.matches(&variable.layout) {
            self.report(span, format!("'{name}' is declared differently before; see {place}"));
        } else if known.linkage == Linkage::Extern {
            self.module.variables[id.index()] = variable;
        }
    }

    /// Parses the part of a layout before the name: `.align 8 .v2 .f32`.
    pub(super) fn layout_before_name(&mut self) -> Result<Layout, Failed> {
        let (mut align, mut vector) = (None, 1);
        let span = self.token.span;
        loop {
            match self.token.text {
                _ if !self.is(Tok::Dotted) => break,
                "align" => align = Some(self.alignment()?),
                "attribute" => self.attribute()?,
                "v2" | "v4" => {
                    vector = if self.token.text == "v2" { 2 } else { 4 };
                    self.bump();
                }
                _ => break,
            }
        }
        let element = self.expect_type("a type")?;
        if self.is_dotted("attribute") {
            self.attribute()?;
        }
        let bytes = element.bytes() * vector;
        if vector > 1 && (bytes > MAX_VECTOR_BYTES || element == Type::Pred) {
            self.report(span, format!("a vector of {vector} {element} is no type: 16 bytes is the most"));
        }
        Ok(Layout {
            element,
            vector,
            count: 1,
            is_array: false,
            is_unsized: false,
            align: align.unwrap_or(bytes),
        })
    }

    pub(super) fn alignment(&mut self) -> Result<u32, Failed> {
        self.bump();
        let span = self.token.span;
        let align = self.expect_u32("an alignment")?;
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return self.fail(span, format!("an alignment is a power of two up to {MAX_ALIGN}, not {align}"));
        }
        Ok(align)
    }

    /// Parses the part of a layout after the name: `[2][3]` or `[]`. Returns the dimensions; 0 is
    /// an open one, which must be the first.
    pub(super) fn layout_behind_name(&mut self, layout: &mut Layout) -> Result<Vec<u64>, Failed> {
        let mut dimensions = Vec::new();
        while self.is(Tok::LSquare) {
            let span = self.token.span;
            self.bump();
            if dimensions.len() == MAX_DEPTH {
                return self.fail(span, format!("an array has at most {MAX_DEPTH} dimensions"));
            }
            let size = if self.is(Tok::RSquare) { 0 } else { self.expect_u64("a size")? };
            if size == 0 && !dimensions.is_empty() {
                self.report(span, "only the first dimension may be left open");
            }
            self.expect(Tok::RSquare, "']'")?;
            dimensions.push(size);
            layout.is_array = true;
            layout.count = layout.count.saturating_mul(size);
            layout.is_unsized = layout.count == 0;
            self.check_size(layout, span)?;
        }
        Ok(dimensions)
    }

    pub(super) fn check_size(&mut self, layout: &Layout, span: Span) -> Result<(), Failed> {
        let unit = u64::from(layout.vector * layout.element.bytes());
        if layout.count.saturating_mul(unit) <= MAX_VARIABLE_BYTES {
            return Ok(());
        }
        self.fail(span, format!("a variable takes at most {MAX_VARIABLE_BYTES} bytes"))
    }
}
