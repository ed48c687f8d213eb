//! Modules, functions and launches.

use super::{
    super::{
        memory::{Access, Kind as Manner},
        values::{Function, Image, Kind, Part, Value},
        walk::{Walk, integer, text},
        world::Memory,
    },
    Call, whole,
};

impl Walk<'_> {
    /// Runs a kernel that makes or launches functions; `None` for another one.
    pub(super) fn module_kernel(&mut self, name: &str, call: &Call<'_>) -> Option<Vec<Value>> {
        let chain = call.chain();
        Some(match name {
            "module.load" => {
                let image = text(call.data, "image").map_or(Image::Unknown, |ptx| self.image(ptx));
                vec![call.result(Kind::Module(image)), chain]
            }
            "module.compile" => vec![call.result(Kind::Module(Image::Unknown)), chain],
            "module.load_static" => {
                self.load_static(call);
                vec![chain]
            }
            "module.load_builtin" => {
                let names = call.data.attr("functions").and_then(|list| list.as_array()).unwrap_or_default();
                let functions = names.iter().map(|name| match name.as_str() {
                    Some(name) => Function::BuiltIn(name.into()),
                    None => Function::Unknown,
                });
                self.tables.push(functions.collect());
                vec![chain]
            }
            "module.get_global" => {
                let Some(Kind::Module(Image::Text(module, _))) = call.kind(0) else { return None };
                let part = self.variable(*module, text(call.data, "name")?);
                vec![call.result(Kind::Device(part)), chain]
            }
            "function.get" => {
                let Some(Kind::Module(image)) = call.kind(0) else { return None };
                let function = Function::Of(image.clone(), text(call.data, "name")?.into());
                vec![call.result(Kind::Function(function)), chain]
            }
            "function.builtin" => {
                let function = Function::BuiltIn(text(call.data, "name")?.into());
                vec![call.result(Kind::Function(function)), chain]
            }
            "function.launch" | "function.launch_strided" => {
                // The function's own arguments follow its stream and a chain.
                let stream = if name == "function.launch" { 8 } else { 2 };
                let (Some(Kind::Function(function)), Some(&Kind::Stream(on))) =
                    (call.kind(0), call.kind(stream))
                else {
                    return None;
                };
                self.launch(call, std::slice::from_ref(function), on, stream + 2);
                vec![chain]
            }
            "launch" => {
                let Some(&Kind::Stream(stream)) = call.kind(9) else { return None };
                let number =
                    integer(call.data, "function_handle").and_then(|handle| usize::try_from(handle).ok())?;
                let functions = self.tables.iter().filter_map(|table| table.get(number).cloned());
                let functions: Vec<Function> = functions.collect();
                self.launch(call, &functions, stream, 10);
                vec![chain]
            }
            _ => return None,
        })
    }

    fn image(&mut self, ptx: &str) -> Image {
        let number = self.next_module();
        Image::Text(number, ptx.into())
    }

    /// Adds a table of functions: modules, how many functions each has, and their names.
    fn load_static(&mut self, call: &Call<'_>) {
        let list = |name: &str| call.data.attr(name).and_then(|list| list.as_array()).unwrap_or_default();
        let mut names = list("functions").iter();
        let mut table = Vec::new();
        for (module, count) in list("modules").iter().zip(list("funcs_per_module")) {
            let image = module.as_str().map_or(Image::Unknown, |ptx| self.image(ptx));
            let count = count.as_int().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
            table.extend(names.by_ref().take(count).map(|name| match name.as_str() {
                Some(name) => Function::Of(image.clone(), name.into()),
                None => Function::Unknown,
            }));
        }
        self.tables.push(table);
    }

    /// The memory of a variable of a module.
    fn variable(&mut self, module: usize, name: &str) -> Part {
        let key = (module, name.to_owned());
        if let Some(part) = self.variables.get(&key) {
            return part.clone();
        }
        let root = self.world.add_root(None, None, Memory::Device);
        let part = Part { root, bytes: 0..u64::MAX };
        self.variables.insert(key, part.clone());
        part
    }

    /// Queues a launch of one of some functions, whose arguments begin at an operand.
    fn launch(&mut self, call: &Call<'_>, functions: &[Function], stream: usize, arguments: usize) {
        let mut accesses = Vec::new();
        let mut is_anywhere = false;
        let sources = self.sources;
        for function in functions {
            let Some(effects) = sources.effects(function) else {
                let parts = (arguments..call.operands.len()).filter_map(|index| call.device(index));
                accesses.extend(parts.map(|part| Access::possible(part.root, Manner::Write, part.bytes)));
                continue;
            };
            for (index, uses) in effects.parameters.iter().enumerate() {
                if let Some(part) = call.device(arguments + index) {
                    accesses.extend(
                        manners(*uses).map(|kind| Access::possible(part.root, kind, part.bytes.clone())),
                    );
                }
            }
            if let Function::Of(Image::Text(module, _), _) = function {
                for (name, uses) in &effects.variables {
                    let part = self.variable(*module, name);
                    accesses.extend(
                        manners(*uses).map(|kind| Access::possible(part.root, kind, part.bytes.clone())),
                    );
                }
            }
            is_anywhere |= effects.elsewhere.is_some();
        }
        let structs = (arguments..call.operands.len()).filter_map(|index| call.host(index));
        let structs: Vec<Access> = structs.map(|part| whole(&part, Manner::Read)).collect();
        if !structs.is_empty() {
            let node = self.world.graph.add([call.caller.node]);
            self.world.host_access(&call.caller.step, node, structs);
        }
        match is_anywhere {
            true => self.world.queue_anywhere(&call.caller, stream, accesses),
            false => drop(self.world.queue(&call.caller, stream, accesses)),
        }
    }
}

fn manners(uses: tfrt_ptx::Uses) -> impl Iterator<Item = Manner> {
    let of = |used: bool, manner| used.then_some(manner);
    [of(uses.reads, Manner::Read), of(uses.writes, Manner::Write), of(uses.synchronizes, Manner::Atomic)]
        .into_iter()
        .flatten()
}
