//! The order of nodes. ONNX demands that a node stands behind those that it depends on, but some
//! converters append nodes at the end, and ONNX Runtime takes such files.

use std::collections::{BTreeSet, HashMap};

use super::{proto::NodeProto, subgraph::free_names};

/// The nodes in an order in which each stands behind those that it depends on, close to the given
/// one. Nodes that depend on each other in a circle stand at the end: there the first of them lacks
/// an input.
pub(super) fn sorted(nodes: &[NodeProto]) -> Vec<&NodeProto> {
    let mut makers: HashMap<&str, usize> = HashMap::new();
    for (place, node) in nodes.iter().enumerate() {
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            // Of two nodes that define one name the first one counts here; importing reports the
            // other one or shadows it.
            makers.entry(output).or_insert(place);
        }
    }
    let is_behind = |place: usize, name: &str| makers.get(name).is_none_or(|&maker| maker < place);
    if nodes.iter().enumerate().all(|(place, node)| inputs(node).iter().all(|name| is_behind(place, name))) {
        return nodes.iter().collect();
    }
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut missing = vec![0usize; nodes.len()];
    for (place, node) in nodes.iter().enumerate() {
        let needed: BTreeSet<usize> =
            inputs(node).iter().filter_map(|name| makers.get(name.as_str()).copied()).collect();
        missing[place] = needed.len();
        needed.into_iter().for_each(|maker| users[maker].push(place));
    }
    let mut ready: BTreeSet<usize> = (0..nodes.len()).filter(|&place| missing[place] == 0).collect();
    let mut order = Vec::with_capacity(nodes.len());
    let mut is_done = vec![false; nodes.len()];
    while let Some(place) = ready.pop_first() {
        order.push(&nodes[place]);
        is_done[place] = true;
        for &user in &users[place] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.insert(user);
            }
        }
    }
    order.extend(nodes.iter().zip(is_done).filter(|(_, is_done)| !is_done).map(|(node, _)| node));
    order
}

/// The names that a node uses, in its subgraphs too.
fn inputs(node: &NodeProto) -> Vec<String> {
    let mut names: Vec<String> = node.input.iter().filter(|name| !name.is_empty()).cloned().collect();
    for graph in node.attribute.iter().filter_map(|attribute| attribute.g.as_deref()) {
        names.extend(free_names(graph));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, input: &[&str], output: &str) -> NodeProto {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        NodeProto {
            name: name.to_owned(),
            input: texts(input),
            output: texts(&[output]),
            ..NodeProto::default()
        }
    }

    fn order(nodes: &[NodeProto]) -> Vec<&str> {
        sorted(nodes).into_iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn nodes_follow_those_they_depend_on() {
        let nodes = [
            node("a", &["z"], "x"),
            node("b", &["x"], "y"),
            node("c", &["in"], "z"),
            node("d", &["in"], "w"),
        ];
        assert_eq!(order(&nodes), ["c", "a", "b", "d"]);
        let sorted = [node("a", &["in"], "x"), node("b", &["x", "in"], "y")];
        assert_eq!(order(&sorted), ["a", "b"]);
    }

    #[test]
    fn circles_stay_at_the_end() {
        let nodes = [node("a", &["y"], "x"), node("b", &["x"], "y"), node("c", &["in"], "z")];
        assert_eq!(order(&nodes), ["c", "a", "b"]);
    }
}
