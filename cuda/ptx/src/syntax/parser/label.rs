//! Labels, which may be used before they are defined, and the tables that follow labels.

use super::{Body, Failed, Parser};
use crate::{
    Span,
    syntax::{
        ast::{BranchTable, CallTable, Label, LabelId, Operand, Prototype, Signature, TableId},
        lexer::{Tok, Token},
        scope::{Definition, Entry},
    },
};

/// A label while the function is parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft<'s> {
    name: &'s str,
    /// The place of its definition, or before that of its first use.
    span: Span,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// It was used, but not defined yet.
    Used,
    /// It stands before this instruction.
    Defined(u32),
    /// It turned out to be the same as another one.
    Same(LabelId),
}

impl<'s> Parser<'s> {
    /// Parses `name:`, and the table after it if there is one.
    pub(super) fn label(&mut self, body: &mut Body<'s>) -> Result<(), Failed> {
        let name = self.token;
        self.bump();
        self.bump();
        if name.text == "_" {
            return self.fail(name.span, "'_' cannot be a name");
        }
        let entry = match self.token.text {
            "branchtargets" if self.is(Tok::Dotted) => {
                let targets = self.branch_targets(body)?;
                body.branch_tables.push(BranchTable { name: name.text, span: name.span, targets });
                Entry::BranchTable(TableId(body.branch_tables.len() as u32 - 1))
            }
            "calltargets" if self.is(Tok::Dotted) => {
                let targets = self.call_targets()?;
                body.call_tables.push(CallTable { name: name.text, span: name.span, targets });
                Entry::CallTable(TableId(body.call_tables.len() as u32 - 1))
            }
            "callprototype" if self.is(Tok::Dotted) => {
                let signature = self.prototype()?;
                body.prototypes.push(Prototype { name: name.text, span: name.span, signature });
                Entry::Prototype(crate::syntax::ast::PrototypeId(body.prototypes.len() as u32 - 1))
            }
            _ => Entry::Label(self.define_label(body, name)),
        };
        if let Err(place) = body.scopes.declare(name.text, entry, name.span) {
            self.report(name.span, format!("{} is declared twice; see {place}", name.describe()));
        }
        Ok(())
    }

    fn define_label(&mut self, body: &mut Body<'s>, name: Token<'s>) -> LabelId {
        let target = body.instructions.len() as u32;
        let draft = Draft { name: name.text, span: name.span, state: State::Defined(target) };
        match body.scopes.define_label(name.text) {
            Definition::Pending(id) => {
                body.labels[id.index()] = draft;
                return id;
            }
            Definition::Ambiguous => {
                let message = format!(
                    "label {} was used before in this block, where it meant that of a block around it",
                    name.describe()
                );
                self.report(name.span, message);
            }
            Definition::New => {}
        }
        body.labels.push(draft);
        LabelId(body.labels.len() as u32 - 1)
    }

    /// Parses the label that a branch leads to.
    pub(super) fn label_reference(&mut self, body: &mut Body<'s>) -> Result<LabelId, Failed> {
        let name = self.expect(Tok::Word, "a label")?;
        if let Some(id) = body.scopes.find_label(name.text) {
            return Ok(id);
        }
        let id = LabelId(body.labels.len() as u32);
        body.labels.push(Draft { name: name.text, span: name.span, state: State::Used });
        body.scopes.set_pending(name.text, id);
        Ok(id)
    }

    /// Parses `.branchtargets L1, L2;`.
    fn branch_targets(&mut self, body: &mut Body<'s>) -> Result<Vec<LabelId>, Failed> {
        self.bump();
        let mut targets = Vec::new();
        loop {
            targets.push(self.label_reference(body)?);
            if !self.accept(Tok::Comma) {
                self.expect_semicolon()?;
                return Ok(targets);
            }
        }
    }

    /// Parses `.calltargets f, g;`.
    fn call_targets(&mut self) -> Result<Vec<crate::syntax::ast::FunctionId>, Failed> {
        self.bump();
        let mut targets = Vec::new();
        loop {
            let name = self.expect(Tok::Word, "the name of a function")?;
            if let Some(id) = self.expect_function(name) {
                let functions = &self.module.functions;
                let first = &functions[targets.first().unwrap_or(&id).index()].signature;
                let message = if functions[id.index()].is_entry {
                    Some("is a kernel and cannot be called")
                } else if !functions[id.index()].signature.matches(first) {
                    Some("has other parameters than the targets before it")
                } else {
                    None
                };
                if let Some(message) = message {
                    self.report(name.span, format!("{} {message}", name.describe()));
                }
                targets.push(id);
            }
            if !self.accept(Tok::Comma) {
                self.expect_semicolon()?;
                return Ok(targets);
            }
        }
    }

    /// Parses `.callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`.
    fn prototype(&mut self) -> Result<Signature<'s>, Failed> {
        self.bump();
        let mut signature = Signature::default();
        if self.is(Tok::LParen) {
            signature.returns = self.parameters(0, true)?;
        }
        self.expect(Tok::Word, "'_'")?;
        if self.is(Tok::LParen) {
            let registers = signature.register_count();
            signature.parameters = self.parameters(registers, true)?;
        }
        while self.is(Tok::Dotted) {
            let token = self.token;
            self.bump();
            match token.text {
                "noreturn" => signature.no_return = true,
                "abi_preserve" | "abi_preserve_control" => {
                    self.expect_u64("a number of registers")?;
                }
                _ => return self.fail(token.span, format!("unknown directive {}", token.describe())),
            }
        }
        self.expect_semicolon()?;
        Ok(signature)
    }

    /// Closes a block. Labels that it used but did not define may belong to the enclosing block.
    pub(super) fn close_block(&mut self, body: &mut Body<'s>) {
        let labels = &mut body.labels;
        let missing = body.scopes.pop(|id, known| labels[id.index()].state = State::Same(known));
        for id in missing {
            let Draft { name, span, .. } = body.labels[id.index()];
            self.report(span, format!("there is no label '{}'", super::super::lexer::shortened(name)));
        }
    }
}

impl<'s> Body<'s> {
    /// Gives the existing labels their final numbers, and updates all references to them.
    pub(super) fn resolve_labels(&mut self) -> Vec<Label<'s>> {
        let mut labels = Vec::new();
        let mut numbers = vec![None; self.labels.len()];
        for (draft, number) in self.labels.iter().zip(&mut numbers) {
            if let State::Defined(target) = draft.state {
                *number = Some(LabelId(labels.len() as u32));
                labels.push(Label { name: draft.name, span: draft.span, target });
            }
        }
        // Follows labels to enclosing blocks. This takes as many steps as blocks are nested.
        let drafts = &self.labels;
        let resolve = |id: &mut LabelId| {
            let mut known = *id;
            while let State::Same(other) = drafts[known.index()].state {
                known = other;
            }
            // Labels without a number were reported.
            *id = numbers[known.index()].unwrap_or(LabelId(0));
        };
        self.branch_tables.iter_mut().flat_map(|table| &mut table.targets).for_each(resolve);
        for instruction in &mut self.instructions {
            for operand in &mut instruction.operands {
                if let Operand::Label(id) = operand {
                    resolve(id);
                }
            }
        }
        labels
    }
}
