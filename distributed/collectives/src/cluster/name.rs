//! Names of tasks and devices, as TensorFlow writes them.

use std::fmt;
use std::str::FromStr;

use tfrt_host::Diagnostic;

/// The name of a task: `/job:worker/task:1`, or `/job:worker/replica:0/task:1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskName {
    job: String,
    number: u32,
}

impl TaskName {
    /// Returns the name of a task of a job.
    ///
    /// # Errors
    /// InvalidArgument if the job's name is not a letter followed by letters, digits and
    /// underscores.
    pub fn new(job: impl Into<String>, number: u32) -> Result<Self, Diagnostic> {
        let job = job.into();
        let mut letters = job.chars();
        let is_valid = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if is_valid {
            return Ok(Self { job, number });
        }
        Err(Diagnostic::invalid_argument(format!(
            "'{job}' is not a job's name: expected a letter followed by letters, digits and underscores"
        )))
    }

    /// Returns the job's name.
    pub fn job(&self) -> &str {
        &self.job
    }

    /// Returns the task's number within its job.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the name with its replica, which is always 0: `/job:worker/replica:0/task:1`.
    pub fn with_replica(&self) -> String {
        format!("/job:{}/replica:0/task:{}", self.job, self.number)
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/job:{}/task:{}", self.job, self.number)
    }
}

/// Parses a task's name. A device's name stands for its task.
impl FromStr for TaskName {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        split(text).map(|(task, _)| task)
    }
}

/// The name of a device: `/job:worker/replica:0/task:1/device:CPU:0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceName {
    /// The task that has the device.
    pub task: TaskName,
    /// The device's type, such as `CPU` or `GPU`.
    pub kind: String,
    /// The device's number among those of its type in the task.
    pub number: u32,
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/device:{}:{}", self.task, self.kind, self.number)
    }
}

impl FromStr for DeviceName {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let (task, device) = split(text)?;
        let (kind, number) = device.ok_or_else(|| malformed(text, "it ends before '/device:'"))?;
        Ok(Self { task, kind: kind.to_owned(), number })
    }
}

fn malformed(text: &str, reason: &str) -> Diagnostic {
    Diagnostic::invalid_argument(format!(
        "'{text}' is not the name of a task: {reason}; expected one such as '/job:worker/task:0'"
    ))
}

/// A device's type and its number.
type Device<'t> = (&'t str, u32);

/// Splits a name into its task and its device. The slash before the device may be missing, as TFRT
/// always allowed.
fn split(text: &str) -> Result<(TaskName, Option<Device<'_>>), Diagnostic> {
    let rest = text.strip_prefix("/job:").ok_or_else(|| malformed(text, "it does not start with '/job:'"))?;
    let (job, rest) = rest.split_once('/').ok_or_else(|| malformed(text, "it ends before '/task:'"))?;
    let rest = match rest.strip_prefix("replica:") {
        None => rest,
        Some(rest) => rest.strip_prefix("0/").ok_or_else(|| malformed(text, "its replica is not 0"))?,
    };
    let rest = rest.strip_prefix("task:").ok_or_else(|| malformed(text, "it has no '/task:'"))?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let number = number(&rest[..end]).ok_or_else(|| malformed(text, "its task is not a number"))?;
    let task = TaskName::new(job, number)?;
    let rest = &rest[end..];
    if rest.is_empty() {
        return Ok((task, None));
    }
    let device = rest.strip_prefix('/').unwrap_or(rest).strip_prefix("device:");
    let device = device.and_then(|device| device.split_once(':'));
    let device = device.and_then(|(kind, index)| Some((kind, self::number(index)?)));
    let device = device
        .filter(|(kind, _)| !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let device = device
        .ok_or_else(|| malformed(text, &format!("'{rest}' is not a device such as '/device:CPU:0'")))?;
    Ok((task, Some(device)))
}

/// Parses a number without a sign or leading zeros.
fn number(text: &str) -> Option<u32> {
    let is_plain = text == "0" || text.bytes().next().is_some_and(|first| (b'1'..=b'9').contains(&first));
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_written() {
        let task: TaskName = "/job:worker/replica:0/task:12".parse().unwrap();
        assert_eq!((task.job(), task.number()), ("worker", 12));
        assert_eq!(task.to_string(), "/job:worker/task:12");
        assert_eq!(task.with_replica(), "/job:worker/replica:0/task:12");
        let device: DeviceName = "/job:worker/replica:0/task:1/device:CPU:0".parse().unwrap();
        assert_eq!((device.kind.as_str(), device.number, device.task.number()), ("CPU", 0, 1));
        assert_eq!(device.to_string(), "/job:worker/task:1/device:CPU:0");
        assert_eq!(device.to_string().parse::<DeviceName>().unwrap(), device);
    }

    #[test]
    fn malformed_names_are_errors() {
        for (text, reason) in [
            ("", "does not start with '/job:'"),
            ("worker", "does not start with '/job:'"),
            ("/job:worker", "ends before '/task:'"),
            ("/job:worker/device:CPU:0", "has no '/task:'"),
            ("/job:worker/replica:1/task:0", "its replica is not 0"),
            ("/job:worker/task:", "its task is not a number"),
            ("/job:worker/task:01", "its task is not a number"),
            ("/job:worker/task:4294967296", "its task is not a number"),
            ("/job:1/task:0", "'1' is not a job's name"),
            ("/job:a-b/task:0", "'a-b' is not a job's name"),
            ("/job:worker/task:0/device", "'/device' is not a device"),
            ("/job:worker/task:0/device:CPU:-1", "is not a device"),
        ] {
            let error = text.parse::<TaskName>().unwrap_err();
            assert!(error.message.contains(reason), "{text}: {error}");
        }
        let error = "/job:worker/task:0".parse::<DeviceName>().unwrap_err();
        assert!(error.message.contains("ends before '/device:'"), "{error}");
    }
}
