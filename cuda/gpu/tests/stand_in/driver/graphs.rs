//! Graphs and their instances.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::{entry_points, put};
use crate::graph::{Instance, Node};
use crate::state::{Context, forget, keep, own, violation};
use crate::stream::Stream;

entry_points! {
    fn cuGraphGetNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) {
        if !nodes.is_null() {
            violation("cuGraphGetNodes is asked for nodes");
        }
        put(count, own::<Vec<Node>>(graph, "cuGraphGetNodes").len())
    }
    fn cuGraphInstantiateWithFlags(instance: *mut *mut c_void, graph: *mut c_void, _flags: u64) {
        let context = Context::working("cuGraphInstantiate")?;
        let nodes = own::<Vec<Node>>(graph, "cuGraphInstantiate");
        put(instance, keep(context, "graph instance", Arc::new(Instance::new(nodes.to_vec()))))
    }
    fn cuGraphExecUpdate_v2(instance: *mut c_void, graph: *mut c_void, info: *mut c_int) {
        Context::working("cuGraphExecUpdate")?;
        let instance = own::<Instance>(instance, "cuGraphExecUpdate");
        let updated = instance.update(&own::<Vec<Node>>(graph, "cuGraphExecUpdate"));
        put(info, updated.err().unwrap_or(0))?;
        updated.map_err(|_| 910)
    }
    fn cuGraphDestroy(graph: *mut c_void) {
        drop(forget::<Vec<Node>>(graph, "cuGraphDestroy"));
        Ok(())
    }
    fn cuGraphExecDestroy(instance: *mut c_void) {
        drop(forget::<Instance>(instance, "cuGraphExecDestroy"));
        Ok(())
    }
    fn cuGraphLaunch(instance: *mut c_void, stream: *mut c_void) {
        Context::working("cuGraphLaunch")?;
        let stream = own::<Stream>(stream, "cuGraphLaunch");
        if stream.capture.lock().is_some() {
            violation("a graph is launched into a capture, whose nodes would use the other graph's workspaces");
        }
        own::<Instance>(instance, "cuGraphLaunch").launch(&stream)
    }
}
