//! What CUDA kernels do with their arguments, from their PTX.

use std::{cell::RefCell, collections::BTreeMap, collections::HashMap, rc::Rc};

use tfrt_ptx::Effects;

use super::values::{Function, Image};

/// The effects of the kernels of a text; none if the text is no PTX.
type Kernels = Rc<BTreeMap<String, Effects>>;

/// The texts of modules, each of which is read once.
#[derive(Debug, Default)]
pub(super) struct Sources {
    read: RefCell<HashMap<Rc<str>, Kernels>>,
}

impl Sources {
    /// Returns what a kernel does; `None` if its text is not known.
    pub(super) fn effects(&self, function: &Function) -> Option<Effects> {
        match function {
            Function::Of(Image::Text(_, ptx), name) => self.read(ptx).get(&**name).cloned(),
            Function::BuiltIn(name) => {
                let (kernel, source) = tfrt_launch::source_of(name)?;
                self.read(&source.ptx.into()).get(kernel).cloned()
            }
            Function::Of(Image::Unknown, _) | Function::Unknown => None,
        }
    }

    fn read(&self, ptx: &Rc<str>) -> Kernels {
        let read = || Rc::new(tfrt_ptx::effects(ptx).unwrap_or_default());
        self.read.borrow_mut().entry(ptx.clone()).or_insert_with(read).clone()
    }
}
