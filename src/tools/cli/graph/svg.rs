//! The graph as an SVG picture, in layers from top to bottom.

use std::fmt::Write as _;

use layout::{
    core::{
        base::Orientation,
        color::Color,
        format::{ClipHandle, RenderBackend},
        geometry::{Point, Position},
        style::{LineStyleKind, StyleAttr},
    },
    std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind},
    topo::layout::VisualGraph,
};

use super::{Graph, Kind, Node};

/// Sizes in pixels.
const CHARACTER_WIDTH: f64 = 7.4;
const LINE_HEIGHT: f64 = 16.0;
const FONT_SIZE: f64 = 12.0;
const BOX_PADDING: f64 = 10.0;
/// Half of the distances between boxes.
const GAP_X: f64 = 10.0;
const GAP_Y: f64 = 22.0;
const MARGIN: f64 = 16.0;

/// Draws the graph. Boxes and arrows show details while the pointer is above them; arrows of chains
/// are dashed.
pub(in super::super) fn to_svg(graph: &Graph) -> String {
    let mut picture = Picture { graph, arrows: String::new(), boxes: String::new(), bounds: None };
    if !graph.nodes.is_empty() {
        arrange(graph).do_it(false, false, false, &mut picture);
    }
    picture.finish()
}

/// Describes the graph to the layout. Properties carry the indices of nodes and edges.
fn arrange(graph: &Graph) -> VisualGraph {
    let mut layout = VisualGraph::new(Orientation::TopToBottom);
    let style = StyleAttr::new(Color::fast("black"), 1, None, 0, FONT_SIZE as usize);
    let handles: Vec<_> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let shape = ShapeKind::new_box(&node.label);
            let direction = Orientation::TopToBottom;
            let mut element = Element::create_with_properties(
                shape,
                style.clone(),
                direction,
                size(node),
                index.to_string(),
            );
            let halo = Point::new(2.0 * GAP_X, 2.0 * GAP_Y);
            element.pos = Position::new(Point::zero(), size(node), Point::zero(), halo);
            layout.add_node(element)
        })
        .collect();
    for (index, edge) in graph.edges.iter().enumerate() {
        let (start, end) = (LineEndKind::None, LineEndKind::Arrow);
        let mut arrow = Arrow::new(start, end, LineStyleKind::Normal, "", &style, &None, &None);
        arrow.properties = Some(index.to_string());
        layout.add_edge(arrow, handles[edge.from], handles[edge.to]);
    }
    layout
}

fn size(node: &Node) -> Point {
    let lines = node.lines();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    Point::new(
        columns as f64 * CHARACTER_WIDTH + 2.0 * BOX_PADDING,
        lines.len() as f64 * LINE_HEIGHT + BOX_PADDING,
    )
}

/// Receives the shapes at their places.
struct Picture<'g> {
    graph: &'g Graph,
    /// Arrows are drawn first, so that they never hide text.
    arrows: String,
    boxes: String,
    /// Opposite corners of the smallest rectangle around all shapes.
    bounds: Option<(Point, Point)>,
}

impl Picture<'_> {
    fn include(&mut self, point: Point) {
        let (first, last) = self.bounds.unwrap_or((point, point));
        let first = Point::new(first.x.min(point.x), first.y.min(point.y));
        self.bounds = Some((first, Point::new(last.x.max(point.x), last.y.max(point.y))));
    }

    fn finish(self) -> String {
        let (first, last) = self.bounds.unwrap_or((Point::zero(), Point::zero()));
        let (x, y) = (first.x - MARGIN, first.y - MARGIN);
        let (width, height) = (last.x + MARGIN - x, last.y + MARGIN - y);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{x:.0} {y:.0} {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"monospace\" font-size=\"{FONT_SIZE}\">\n\
             <defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#667\"/></marker></defs>\n\
             <path d=\"M{x:.0} {y:.0}h{width:.0}v{height:.0}h-{width:.0}z\" fill=\"white\"/>\n{}{}</svg>\n",
            self.arrows, self.boxes
        )
    }
}

impl RenderBackend for Picture<'_> {
    fn draw_rect(
        &mut self,
        xy: Point,
        size: Point,
        _look: &StyleAttr,
        properties: Option<String>,
        _clip: Option<ClipHandle>,
    ) {
        let index = properties.and_then(|index| index.parse::<usize>().ok());
        let Some(node) = index.and_then(|index| self.graph.nodes.get(index)) else { return };
        self.include(xy);
        self.include(Point::new(xy.x + size.x, xy.y + size.y));
        let (fill, stroke) = match node.kind {
            Kind::Results => ("#e8f4e8", "#575"),
            Kind::Kernel => ("#eef", "#446"),
            Kind::Group => ("#e4e4ff", "#446"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            self.boxes,
            "<g><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\" \
             fill=\"{fill}\" stroke=\"{stroke}\"/>",
            escape(&node.full_tooltip()),
            xy.x,
            xy.y,
            size.x,
            size.y
        );
        let lines = node.lines();
        let (x, middle) = (xy.x + size.x / 2.0, xy.y + size.y / 2.0);
        for (number, line) in lines.iter().enumerate() {
            let y =
                middle + (number as f64 - (lines.len() as f64 - 1.0) / 2.0) * LINE_HEIGHT + FONT_SIZE / 3.0;
            let _ = writeln!(
                self.boxes,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
                escape(line)
            );
        }
        self.boxes += "</g>\n";
    }

    /// Labels are drawn with their boxes.
    fn draw_text(&mut self, _xy: Point, _text: &str, _look: &StyleAttr) {}

    /// `path` begins with a point and the way out of it; ways into the following points and the
    /// points follow.
    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _dashed: bool,
        _head: (bool, bool),
        _look: &StyleAttr,
        properties: Option<String>,
        _text: &str,
    ) {
        let index = properties.and_then(|index| index.parse::<usize>().ok());
        let Some(edge) = index.and_then(|index| self.graph.edges.get(index)) else { return };
        let [(start, way_out), (way_in, next), rest @ ..] = path else { return };
        let mut curve = format!(
            "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            start.x, start.y, way_out.x, way_out.y, way_in.x, way_in.y, next.x, next.y
        );
        for (way_in, next) in rest {
            let _ = write!(curve, "S{:.1} {:.1} {:.1} {:.1}", way_in.x, way_in.y, next.x, next.y);
        }
        for &(first, second) in path {
            self.include(first);
            self.include(second);
        }
        let dash = if edge.is_chain { " stroke-dasharray=\"5,4\"" } else { "" };
        let _ = writeln!(
            self.arrows,
            "<path d=\"{curve}\" stroke=\"#667\" fill=\"none\"{dash} marker-end=\"url(#head)\"><title>{}</title></path>",
            escape(&edge.tooltip)
        );
    }

    // The other shapes are not used.
    fn draw_line(&mut self, _start: Point, _stop: Point, _look: &StyleAttr, _properties: Option<String>) {}

    fn draw_circle(&mut self, _xy: Point, _size: Point, _look: &StyleAttr, _properties: Option<String>) {}

    fn create_clip(&mut self, _xy: Point, _size: Point, _rounded_px: usize) -> ClipHandle {
        0
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
