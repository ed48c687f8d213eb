//! The names of the dialect's operations and attributes.

/// The dialect.
pub const DIALECT: &str = "tf_executor";
/// Holds the nodes of one graph.
pub const GRAPH: &str = "tf_executor.graph";
/// Ends a graph with what it gives.
pub const FETCH: &str = "tf_executor.fetch";
/// Holds ops that run one after another.
pub const ISLAND: &str = "tf_executor.island";
/// Ends an island with what it gives.
pub const YIELD: &str = "tf_executor.yield";
/// Forwards its data to one of two outputs.
pub const SWITCH: &str = "tf_executor.Switch";
/// Forwards its data to one of several outputs.
pub const SWITCH_N: &str = "tf_executor._SwitchN";
/// Forwards an input that is live.
pub const MERGE: &str = "tf_executor.Merge";
/// Forwards its data into a frame.
pub const ENTER: &str = "tf_executor.Enter";
/// Forwards its data out of its frame.
pub const EXIT: &str = "tf_executor.Exit";
/// Gives what its sink took in the iteration before.
pub const SOURCE: &str = "tf_executor.NextIteration.Source";
/// Hands its data on to the next iteration.
pub const SINK: &str = "tf_executor.NextIteration.Sink";
/// Forwards the condition of a loop.
pub const LOOP_COND: &str = "tf_executor.LoopCond";
/// Orders nodes, whether or not those before it are live.
pub const CONTROL_TRIGGER: &str = "tf_executor.ControlTrigger";
/// Leaves its data for a Recv of the same key.
pub const SEND: &str = "tf_executor.Send";
/// Gives what a Send of the same key left.
pub const RECV: &str = "tf_executor.Recv";

/// The attribute of Enter that names its frame.
pub const FRAME_NAME: &str = "frame_name";
/// The attribute of Enter that bounds the iterations in flight.
pub const PARALLEL_ITERATIONS: &str = "parallel_iterations";
/// The attribute of Enter whose value is the same in all iterations.
pub const IS_CONSTANT: &str = "is_constant";
/// The attribute of _SwitchN that counts its data outputs.
pub const NUM_OUTS: &str = "num_outs";
/// The attribute that pairs Send and Recv.
pub const KEY: &str = "key";

/// The iterations in flight of a frame whose Enter nodes say nothing of them.
pub const DEFAULT_PARALLEL_ITERATIONS: u32 = 10;
