//! Chooses the printed names of values: numbers, except for results whose operation's definition
//! names them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use crate::func::FUNC;
use crate::{Module, OpId, OpRegistry, Operation, RegionId, ValueId};

/// The name of a value. Texts are stored apart, so that names are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueName {
    None,
    /// The name `%arg3`.
    Argument(u32),
    /// The name `%3`, or `%3#1` in a group of several.
    Number(u32, Option<u32>),
    /// The name `%name`, or `%name#1` in a group of several, by index of the text.
    Named(u32, Option<u32>),
}

/// The names of all values of a module.
pub(super) struct ValueNames {
    /// Indexed by value.
    names: Vec<ValueName>,
    texts: Vec<String>,
    /// By function and text: the number of further values that want this name.
    used: HashMap<(usize, String), u32>,
}

/// A region to number, and the first free number after those of the enclosing region.
struct Open {
    region: RegionId,
    next_value: u32,
    next_argument: u32,
    /// The function that contains it.
    function: usize,
}

impl ValueNames {
    /// Names all values inside `root`. Numbers in a region continue those of the enclosing region,
    /// so that no name hides another.
    pub(super) fn new(module: &Module, registry: &OpRegistry, root: OpId) -> ValueNames {
        let mut names = ValueNames {
            names: vec![ValueName::None; module.value_id_count()],
            texts: Vec::new(),
            used: HashMap::new(),
        };
        let open = |&region: &RegionId| Open { region, next_value: 0, next_argument: 0, function: 0 };
        let mut stack: Vec<Open> = module.op(root).regions.iter().map(open).collect();
        while let Some(mut open) = stack.pop() {
            let mut inner: Vec<(RegionId, usize)> = Vec::new();
            for (position, &block) in module.region(open.region).blocks.iter().enumerate() {
                for &argument in &module.block(block).arguments {
                    let next = if position == 0 { &mut open.next_argument } else { &mut open.next_value };
                    names.names[argument.index()] = if position == 0 {
                        ValueName::Argument(*next)
                    } else {
                        ValueName::Number(*next, None)
                    };
                    *next += 1;
                }
                for (id, op) in module.ops_in(block) {
                    names.name_results(op, registry, &mut open);
                    let function = if op.name == FUNC { id.index() } else { open.function };
                    inner.extend(op.regions.iter().map(|&region| (region, function)));
                }
            }
            stack.extend(inner.into_iter().map(|(region, function)| Open { region, function, ..open }));
        }
        names
    }

    /// Names the results of an operation, in groups if its definition names them.
    fn name_results(&mut self, op: &Operation, registry: &OpRegistry, open: &mut Open) {
        if op.results.is_empty() {
            return;
        }
        let definition = if op.results.len() > 1 { registry.get(&op.name) } else { None };
        let Some(definition) = definition.filter(|definition| definition.names_results) else {
            self.name_group(&op.results, None, open);
            return;
        };
        let Ok(groups) = definition.result_groups(op) else {
            self.name_group(&op.results, None, open);
            return;
        };
        for (spec, group) in groups.pairs(&op.results) {
            self.name_group(group, Some(&spec.name).filter(|name| !name.is_empty()), open);
        }
    }

    /// Returns `text`, or the first of `text_0`, `text_1`, … that no value of the function has yet.
    fn unused(&mut self, text: &str, function: usize) -> String {
        let mut candidate = text.to_owned();
        loop {
            match self.used.entry((function, candidate)) {
                Entry::Vacant(vacant) => {
                    candidate = vacant.key().1.clone();
                    vacant.insert(0);
                    return candidate;
                }
                Entry::Occupied(mut taken) => {
                    // The count spares the thousandth use of a name from trying the others again.
                    candidate = format!("{}_{}", taken.key().1, taken.get());
                    *taken.get_mut() += 1;
                }
            }
        }
    }

    /// Names a group of results `text`, or by the next number.
    fn name_group(&mut self, group: &[ValueId], text: Option<&crate::Name>, open: &mut Open) {
        if group.is_empty() {
            return;
        }
        let base = match text {
            None => {
                open.next_value += 1;
                open.next_value - 1
            }
            Some(text) => {
                let text = self.unused(text, open.function);
                self.texts.push(text);
                self.texts.len() as u32 - 1
            }
        };
        for (index, value) in (0..).zip(group) {
            let index = (group.len() > 1).then_some(index);
            self.names[value.index()] =
                if text.is_some() { ValueName::Named(base, index) } else { ValueName::Number(base, index) };
        }
    }

    /// Gives `value` the name of `other`.
    pub(super) fn alias(&mut self, value: ValueId, other: ValueId) {
        self.names[value.index()] = self.names[other.index()];
    }

    /// Prints the name by which a value is used.
    pub(super) fn write(&self, out: &mut dyn fmt::Write, value: ValueId) -> fmt::Result {
        let name = self.names.get(value.index()).copied().unwrap_or(ValueName::None);
        self.write_base(out, name)?;
        match name {
            ValueName::Number(_, Some(index)) | ValueName::Named(_, Some(index)) => write!(out, "#{index}"),
            _ => Ok(()),
        }
    }

    fn write_base(&self, out: &mut dyn fmt::Write, name: ValueName) -> fmt::Result {
        match name {
            ValueName::None => out.write_str("%<unknown>"),
            ValueName::Argument(number) => write!(out, "%arg{number}"),
            ValueName::Number(number, _) => write!(out, "%{number}"),
            ValueName::Named(text, _) => write!(out, "%{}", self.texts[text as usize]),
        }
    }

    /// Prints the names that an operation gives its results, such as `%0:2, %name`.
    pub(super) fn write_results(&self, out: &mut dyn fmt::Write, results: &[ValueId]) -> fmt::Result {
        let mut rest = results.iter().map(|result| self.names[result.index()]).peekable();
        let mut separator = "";
        while let Some(first) = rest.next() {
            let mut count = 1;
            while rest.next_if(|name| follows(*name)).is_some() {
                count += 1;
            }
            out.write_str(separator)?;
            self.write_base(out, first)?;
            if count > 1 {
                write!(out, ":{count}")?;
            }
            separator = ", ";
        }
        Ok(())
    }
}

/// Returns whether a name belongs to a group that began before.
fn follows(name: ValueName) -> bool {
    matches!(name, ValueName::Number(_, Some(1..)) | ValueName::Named(_, Some(1..)))
}
