//! The ops, one file a family; each is defined once: its name, its metadata function, its implementations.

mod support;
mod test_ops;

use crate::OpRegistry;

/// Adds every op of this crate.
pub fn register(ops: &mut OpRegistry) {
    test_ops::register(ops);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_defined_once_and_can_be_run() {
        let mut ops = OpRegistry::new();
        register(&mut ops);
        ops.check().unwrap();
        assert!(ops.ops().all(|op| op.cpu.is_some()));
    }
}
