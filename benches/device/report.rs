//! Figures as Markdown and as JSON.

use std::fmt::Write as _;

use tfrt_device::hal::DeviceProperties;

/// The figures of one run.
pub(crate) struct Report {
    device: DeviceProperties,
    backend: String,
    short: bool,
    figures: Vec<Figure>,
}

struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
}

impl Report {
    pub(crate) fn new(device: &DeviceProperties, backend: &str, short: bool) -> Self {
        Self { device: device.clone(), backend: backend.to_owned(), short, figures: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.figures.push(Figure { name: name.into(), value, unit });
    }

    pub(crate) fn markdown(&self) -> String {
        let DeviceProperties { name, driver, compute_capability: (major, minor), .. } = &self.device;
        let gigabytes = self.device.memory_bytes as f64 / f64::from(1 << 30);
        let mut text = format!(
            "## Device\n\n{name} ({}), {gigabytes:.0} GiB, compute capability {major}.{minor}, {driver}\n\n",
            self.backend
        );
        if self.short {
            text.push_str("A rehearsal with small sizes: the figures mean nothing.\n\n");
        }
        text.push_str("| | | |\n|---|---:|---|\n");
        for Figure { name, value, unit } in &self.figures {
            let _ = writeln!(text, "| {name} | {} | {unit} |", rounded(*value));
        }
        text
    }

    pub(crate) fn json(&self) -> String {
        let figures: Vec<_> = self
            .figures
            .iter()
            .map(|f| serde_json::json!({ "name": f.name, "value": f.value, "unit": f.unit }))
            .collect();
        let (major, minor) = self.device.compute_capability;
        let report = serde_json::json!({
            "device": self.device.name,
            "backend": self.backend,
            "driver": self.device.driver,
            "memory_bytes": self.device.memory_bytes,
            "compute_capability": format!("{major}.{minor}"),
            "short": self.short,
            "figures": figures,
        });
        format!("{report:#}\n")
    }
}

/// Three digits that count.
fn rounded(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}
