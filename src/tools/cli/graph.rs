//! A function's kernels as a graph, and its pictures: text for Graphviz, or SVG with one row for each step of the
//! longest path.

use std::fmt::Write as _;

use tfrt_bef::VerifiedBef;

/// Kernels and who uses whose results.
pub(super) struct Graph {
    /// The first is the function's arguments, the last its results.
    nodes: Vec<String>,
    edges: Vec<(usize, usize)>,
}

/// Sizes of the picture, in pixels.
const ROW: usize = 64;
const CHARACTER: usize = 8;
const GAP: usize = 24;
const BOX: usize = 28;

impl Graph {
    /// The graph of the function of that index; empty if it has no body.
    pub(super) fn of(bef: &VerifiedBef, index: usize) -> Self {
        let mut graph = Self { nodes: Vec::new(), edges: Vec::new() };
        let Some(function) = bef.function(index) else { return graph };
        let mut makers = vec![0; function.register_use_counts().len()];
        for (node, kernel) in function.kernels().enumerate() {
            let name = bef.kernel_name(kernel.kernel_code() as usize);
            graph.nodes.push(if node == 0 { "arguments".to_owned() } else { name.to_owned() });
            for &register in kernel.results() {
                // The first result of the pseudo kernel is a register that does not exist.
                if let Some(maker) = makers.get_mut(register as usize) {
                    *maker = node;
                }
            }
            if node > 0 {
                let used = kernel.arguments().iter().map(|&register| (makers[register as usize], node));
                graph.edges.extend(used);
            }
        }
        let end = graph.nodes.len();
        graph.nodes.push("results".to_owned());
        graph.edges.extend(function.result_registers().iter().map(|&r| (makers[r as usize], end)));
        graph
    }

    /// Text for Graphviz.
    pub(super) fn to_dot(&self) -> String {
        let mut text = String::from("digraph program {\n  node [shape=box, fontname=\"sans-serif\"];\n");
        for (number, name) in self.nodes.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  n{number} [label={name:?}];");
        }
        for (from, to) in &self.edges {
            let _ = writeln!(text, "  n{from} -> n{to};");
        }
        text + "}\n"
    }

    /// The row of each node: one below the lowest that it uses.
    fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0; self.nodes.len()];
        // Edges come in the order of the nodes they lead to, which is an order of dependences.
        for &(from, to) in &self.edges {
            rows[to] = rows[to].max(rows[from] + 1);
        }
        if let Some((last, others)) = rows.split_last_mut() {
            *last = others.iter().max().map_or(0, |lowest| lowest + 1);
        }
        rows
    }

    /// A picture.
    pub(super) fn to_svg(&self) -> String {
        let rows = self.rows();
        let mut ends = vec![GAP; rows.iter().max().map_or(0, |lowest| lowest + 1)];
        let places: Vec<_> = (self.nodes.iter().zip(&rows))
            .map(|(name, &row)| {
                let width = name.len() * CHARACTER + GAP;
                let left = ends[row];
                ends[row] += width + GAP;
                (left, row * ROW + GAP, width)
            })
            .collect();
        let (width, height) = (ends.iter().max().copied().unwrap_or(GAP), ends.len() * ROW + GAP);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"monospace\" font-size=\"13\">\n"
        );
        for &(from, to) in &self.edges {
            let ((x1, y1, w1), (x2, y2, w2)) = (places[from], places[to]);
            let (x1, y1, x2) = (x1 + w1 / 2, y1 + BOX, x2 + w2 / 2);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "<path d=\"M{x1} {y1}L{x2} {y2}\" stroke=\"#888\" fill=\"none\"/>");
        }
        for ((left, top, width), name) in places.iter().zip(&self.nodes) {
            let (x, y) = (left + width / 2, top + 19);
            let name = name.replace('&', "&amp;").replace('<', "&lt;");
            let _ = writeln!(
                text,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{BOX}\" rx=\"5\" fill=\"#eef\" \
                 stroke=\"#446\"/><text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{name}</text>"
            );
        }
        text + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> Graph {
        let nodes = ["arguments", "a", "b<c>", "join", "results"].map(str::to_owned).to_vec();
        Graph { nodes, edges: vec![(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)] }
    }

    #[test]
    fn rows_follow_the_longest_path() {
        assert_eq!(diamond().rows(), [0, 1, 1, 2, 3]);
    }

    #[test]
    fn pictures_have_every_node_and_edge() {
        let dot = diamond().to_dot();
        assert!(dot.contains("n3 [label=\"join\"]") && dot.contains("n2 -> n3"), "{dot}");
        let svg = diamond().to_svg();
        assert_eq!((svg.matches("<rect").count(), svg.matches("<path").count()), (5, 5));
        assert!(svg.contains("b&lt;c>"), "{svg}");
    }
}
