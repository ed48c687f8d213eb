//! Streams, events, graphs, libraries and turns.

use super::{
    super::{
        values::{Kind, Value},
        walk::Walk,
    },
    Call,
};

impl Walk<'_> {
    /// Runs a kernel that orders others; `None` for another one.
    pub(super) fn ordering_kernel(&mut self, name: &str, call: &Call<'_>) -> Option<Vec<Value>> {
        let world = &mut self.world;
        let caller = &call.caller;
        let chain = call.chain();
        Some(match (name, call.kind(0), call.kind(1)) {
            ("stream.create" | "stream.create_with_priority", ..) => {
                vec![call.result(Kind::Stream(world.add_stream())), chain]
            }
            ("event.create" | "event.create_with_timing", ..) => {
                vec![call.result(Kind::Event(world.add_event(false))), chain]
            }
            ("event.record", Some(&Kind::Event(event)), Some(&Kind::Stream(stream))) => {
                world.record_event(caller, event, stream);
                vec![chain]
            }
            ("stream.wait", Some(&Kind::Stream(stream)), Some(&Kind::Event(event))) => {
                world.wait(caller, stream, event);
                vec![chain]
            }
            ("event.poll" | "event.synchronize", Some(&Kind::Event(event)), _) => {
                vec![call.chain_at(world.seen_event(caller, event))]
            }
            ("stream.synchronize", Some(&Kind::Stream(stream)), _) => {
                vec![call.chain_at(world.end_of(caller, stream))]
            }
            ("graph.begin_capture", Some(&Kind::Stream(stream)), _) => {
                world.begin_capture(caller, stream);
                vec![chain]
            }
            ("graph.end_capture", Some(&Kind::Stream(stream)), _) => {
                let capture = world.end_capture(caller, stream);
                vec![call.result(Kind::Graph(world.add_graph(capture))), chain]
            }
            ("graph.update", Some(&Kind::Graph(graph)), Some(&Kind::Stream(stream))) => {
                let capture = world.end_capture(caller, stream);
                world.update_graph(graph, capture);
                vec![chain]
            }
            ("graph.launch", Some(&Kind::Graph(graph)), Some(&Kind::Stream(stream))) => {
                world.launch(caller, graph, stream);
                vec![chain]
            }
            ("blas.create" | "dnn.create", ..) => vec![call.result(Kind::Handle(world.add_handle())), chain],
            (
                "blas.set_stream" | "dnn.set_stream",
                Some(&Kind::Handle(handle)),
                Some(&Kind::Stream(stream)),
            ) => {
                world.set_stream(caller, handle, stream);
                vec![chain]
            }
            ("dnn.get_stream", Some(&Kind::Handle(handle)), _) => {
                let stream = world.stream_of(&caller.past, handle);
                vec![call.result(stream.map_or(Kind::Opaque, Kind::Stream)), chain]
            }
            ("turn.create", ..) => vec![call.result(Kind::Turns(world.add_turns())), chain],
            ("turn.take", Some(&Kind::Turns(turns)), _) => {
                let (node, past) = world.take_turn(caller, turns);
                let result = |kind| Value { kind, node, past: past.clone() };
                vec![result(Kind::Turn(turns)), result(Kind::Opaque)]
            }
            ("turn.give_back", Some(&Kind::Turn(turns)), _) => {
                world.give_turn_back(caller, turns);
                vec![chain]
            }
            _ => return None,
        })
    }
}
