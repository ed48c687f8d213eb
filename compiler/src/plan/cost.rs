//! How long ops take on a device: the larger of arithmetic and memory traffic, and at least what
//! any op takes. Measured times replace estimates.
//!
//! [`Costs`] are measured times as JSON, which `tfrt bench --calibrate` writes:
//!
//! ```json
//! {"version": 1, "device": "cpu", "ops": [{"op": "tf.Relu", "place": "relu1", "us": 12.5}]}
//! ```
//!
//! `op` is the name of the op, `place` the model's name of the node, and `us` the microseconds of
//! one call that has the device to itself. An op without an entry keeps its estimate.

use std::{collections::HashMap, fmt};

use serde::{Deserialize, Serialize};

use super::Device;

/// The version of the format of costs.
const VERSION: u32 = 1;

/// What an op does, as far as its time depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Arithmetic operations.
    pub flops: u64,
    /// The bytes that it reads and writes.
    pub bytes: u64,
    /// Whether the arithmetic is on numbers of 16 bits.
    pub is_half: bool,
}

/// How long an op takes, and what part of the device it keeps busy meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The time.
    pub time_ns: u64,
    /// The part, above 0 and at most 1.
    pub share: f64,
}

/// What a device can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// What command lines call it.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Arithmetic on f32.
    pub f32_tflops: f64,
    /// Arithmetic on numbers of 16 bits.
    pub half_tflops: f64,
    /// Traffic of its memory.
    pub memory_gbs: f64,
    /// Traffic between host and device.
    pub link_gbs: f64,
    /// What any op takes.
    pub op_ns: u64,
    /// What any copy between host and device takes.
    pub copy_ns: u64,
    /// Whether an op leaves room for others. On the CPU device each op uses all cores.
    pub is_shared: bool,
    /// What its queues cost.
    pub queues: Device,
}

/// The devices that are known, the default first. The ceilings of the H200 are those of
/// `ci/gpu/model`, measured on such a card; a run is the launch of a graph, whose nodes take at
/// least 0.9 µs and are issued by the device itself.
pub const MACHINES: &[Machine] = &[
    Machine {
        name: "h200",
        summary: "NVIDIA H200, one captured graph",
        f32_tflops: 53.0,
        half_tflops: 790.0,
        memory_gbs: 4300.0,
        link_gbs: 50.0,
        op_ns: 900,
        copy_ns: 2500,
        is_shared: true,
        queues: Device { issue_ns: 0, event_ns: 900, wait_issue_ns: 0 },
    },
    Machine {
        name: "cpu",
        summary: "the CPU device on two cores with AVX-512",
        f32_tflops: 0.33,
        half_tflops: 0.33,
        memory_gbs: 15.0,
        link_gbs: 8.0,
        op_ns: 3000,
        copy_ns: 2000,
        is_shared: false,
        queues: Device { issue_ns: 1000, event_ns: 5000, wait_issue_ns: 500 },
    },
];

impl Machine {
    /// Returns the device of a name.
    pub fn find(name: &str) -> Option<&'static Machine> {
        MACHINES.iter().find(|machine| machine.name == name)
    }

    /// Estimates the time of an op.
    pub fn estimate(&self, work: Work) -> Estimate {
        let tflops = if work.is_half { self.half_tflops } else { self.f32_tflops };
        // Tera a second are thousands a nanosecond, giga a second are one a nanosecond.
        let busy_ns = (work.flops as f64 / (tflops * 1e3)).max(work.bytes as f64 / self.memory_gbs);
        let time_ns = (busy_ns.ceil() as u64).max(self.op_ns);
        Estimate { time_ns, share: self.share(busy_ns, time_ns) }
    }

    /// Estimates the time of a copy between host and device.
    pub fn estimate_copy(&self, bytes: u64) -> Estimate {
        let time_ns = self.copy_ns + (bytes as f64 / self.link_gbs).ceil() as u64;
        Estimate { time_ns, share: 1.0 }
    }

    /// Returns the part of the device that an op keeps busy if it takes longer than its work.
    fn share(&self, busy_ns: f64, time_ns: u64) -> f64 {
        if self.is_shared { (busy_ns / time_ns.max(1) as f64).clamp(0.01, 1.0) } else { 1.0 }
    }
}

/// Measured times of the ops of a model.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    device: String,
    times_ns: HashMap<(String, String), u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    device: String,
    ops: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    op: String,
    place: String,
    us: f64,
}

/// Why costs cannot be read.
#[derive(Debug)]
pub struct CostsError(String);

impl fmt::Display for CostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CostsError {}

impl Costs {
    /// Costs without times, of a device.
    pub fn new(device: &str) -> Costs {
        Costs { device: device.to_owned(), times_ns: HashMap::new() }
    }

    /// The device that was measured.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Adds the time of an op.
    pub fn insert(&mut self, op: &str, place: &str, time_ns: u64) {
        self.times_ns.insert((op.to_owned(), place.to_owned()), time_ns);
    }

    /// Returns the time of an op, if it was measured.
    pub fn time_ns(&self, op: &str, place: &str) -> Option<u64> {
        self.times_ns.get(&(op.to_owned(), place.to_owned())).copied()
    }

    /// The number of times.
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Whether there are no times.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// Reads costs from JSON.
    ///
    /// # Errors
    /// Text that does not have the form of costs, or a time that is negative or not finite.
    pub fn from_json(text: &str) -> Result<Costs, CostsError> {
        let file: File = serde_json::from_str(text).map_err(|error| CostsError(error.to_string()))?;
        if file.version != VERSION {
            return Err(CostsError(format!("the version is {}, but {VERSION} is expected", file.version)));
        }
        let mut costs = Costs::new(&file.device);
        for Entry { op, place, us } in file.ops {
            if !(0.0..1e12).contains(&us) {
                return Err(CostsError(format!("the time of '{op}' at '{place}' is {us} µs")));
            }
            costs.times_ns.insert((op, place), (us * 1e3).round() as u64);
        }
        Ok(costs)
    }

    /// Writes costs as JSON, by the names of ops and places.
    pub fn to_json(&self) -> String {
        let mut ops: Vec<_> = self.times_ns.iter().collect();
        ops.sort();
        let entry = |((op, place), time_ns): (&(String, String), &u64)| Entry {
            op: op.clone(),
            place: place.clone(),
            us: *time_ns as f64 / 1e3,
        };
        let ops = ops.into_iter().map(entry).collect();
        let file = File { version: VERSION, device: self.device.clone(), ops };
        // Strings and finite numbers always have a form.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Returns an estimate with the measured time in the place of the estimated one.
    pub fn replace(&self, op: &str, place: &str, estimate: Estimate) -> Estimate {
        match self.time_ns(op, place) {
            Some(time_ns) => {
                let busy_ns = estimate.share * estimate.time_ns as f64;
                let share = if estimate.share < 1.0 {
                    (busy_ns / time_ns.max(1) as f64).clamp(0.01, 1.0)
                } else {
                    1.0
                };
                Estimate { time_ns, share }
            }
            None => estimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_arithmetic_and_traffic_counts() {
        let h200 = Machine::find("h200").unwrap();
        let time = |flops, bytes| h200.estimate(Work { flops, bytes, is_half: false }).time_ns;
        assert_eq!(time(53_000_000, 4300), 1000);
        assert_eq!(time(53_000, 43_000_000), 10_000);
        let small = h200.estimate(Work { flops: 53_000 * 90, bytes: 1, is_half: false });
        assert_eq!((small.time_ns, small.share), (900, 0.1));
        let cpu = Machine::find("cpu").unwrap();
        assert_eq!(cpu.estimate(Work::default()).share, 1.0);
    }

    #[test]
    fn the_roofline_of_the_bundle_has_the_same_ceilings() {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../ci/gpu/model");
        let model = std::fs::read_to_string(model).unwrap();
        let h200 = Machine::find("h200").unwrap();
        for (name, value) in [
            ("\"copy_gbs\": ", h200.memory_gbs),
            ("\"f16_tflops\": ", h200.half_tflops),
            ("\"f32_tflops\": ", h200.f32_tflops),
            ("\"upload_gbs\": ", h200.link_gbs),
            ("GRAPH_NODE_US = ", h200.op_ns as f64 / 1e3),
        ] {
            let (_, rest) = model.split_once(name).unwrap();
            let number = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap();
            assert_eq!(number.parse::<f64>().unwrap(), value, "{name}");
        }
    }

    #[test]
    fn measured_times_replace_estimates() {
        let mut costs = Costs::new("cpu");
        costs.insert("tf.Relu", "a", 2500);
        let read = Costs::from_json(&costs.to_json()).unwrap();
        assert_eq!((read.device(), read.len()), ("cpu", 1));
        let estimate = Estimate { time_ns: 1000, share: 0.5 };
        assert_eq!(read.replace("tf.Relu", "a", estimate), Estimate { time_ns: 2500, share: 0.2 });
        assert_eq!(read.replace("tf.Relu", "b", estimate), estimate);
    }

    #[test]
    fn wrong_costs_are_refused() {
        for (text, message) in [
            ("{", "EOF"),
            (r#"{"version": 2, "device": "cpu", "ops": []}"#, "the version is 2"),
            (r#"{"version": 1, "device": "cpu", "ops": [{"op": "a", "place": "b", "us": -1}]}"#, "is -1 µs"),
            (r#"{"version": 1, "device": "cpu", "ops": [{"op": "a"}]}"#, "missing field `place`"),
        ] {
            let error = Costs::from_json(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
