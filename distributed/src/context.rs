//! The remote state of a [`DistributedContext`]: clients, objects, functions and receivers, kept in
//! its extensions.

use std::{collections::HashMap, fmt, sync::Arc};

use parking_lot::{Mutex, RwLock};
use tfrt_collectives::{DistributedContext, Task, TaskHandle};
use tfrt_eager::Device;
use tfrt_host::{Diagnostic, ErrorCode};

use crate::{
    CallbackRegistry, Fabric, FunctionCache, Limits, RemoteClient, RemoteObjectId, RemoteObjectManager, proto,
};

/// A device of some task of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its name with that of its task: `/job:worker/task:1/device:CPU:0`.
    pub name: Arc<str>,
    /// Its type, such as `CPU`.
    pub kind: String,
}

/// What a context needs to work with other tasks.
pub struct RemoteContext {
    fabric: Arc<Fabric>,
    id: u64,
    clients: Mutex<HashMap<TaskHandle, RemoteClient>>,
    /// The objects of this task.
    pub objects: RemoteObjectManager,
    /// The values and receivers of this task.
    pub callbacks: CallbackRegistry,
    /// The programs that this task's client registered.
    pub functions: FunctionCache,
    chains: Mutex<HashMap<TaskHandle, RemoteObjectId>>,
    devices: RwLock<Vec<DeviceInfo>>,
    /// The devices as the core runtime knows them, by name.
    eager_devices: Mutex<HashMap<Arc<str>, Device>>,
}

impl RemoteContext {
    /// Adds remote state to a context.
    pub fn attach(context: &DistributedContext, fabric: &Arc<Fabric>, limits: &Limits) -> Arc<Self> {
        let new = || {
            Arc::new(Self {
                fabric: fabric.clone(),
                id: context.id(),
                clients: Mutex::default(),
                objects: RemoteObjectManager::new(fabric.client_id(), limits.max_objects),
                callbacks: CallbackRegistry::new(limits.max_waiting, limits.max_memory_bytes),
                functions: FunctionCache::new(limits.max_functions, limits.max_functions_bytes),
                chains: Mutex::default(),
                devices: RwLock::default(),
                eager_devices: Mutex::default(),
            })
        };
        context.extensions().only_or_create(new).clone()
    }

    /// Returns the remote state of a context.
    ///
    /// # Errors
    /// FailedPrecondition if the process was started without a cluster.
    pub fn of(context: &DistributedContext) -> Result<&Arc<Self>, Diagnostic> {
        context.extensions().only::<Arc<Self>>().ok_or_else(|| {
            let message =
                "this process belongs to no cluster that it could call; 'tfrt run --cluster FILE' names one";
            Diagnostic::new(ErrorCode::FailedPrecondition, message)
        })
    }

    /// Returns the threads and connections.
    pub fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// Returns a client of a task of the cluster.
    ///
    /// # Errors
    /// NotFound if the handle is of another cluster, and the errors of [`Fabric::client`].
    pub fn client(&self, context: &DistributedContext, task: TaskHandle) -> Result<RemoteClient, Diagnostic> {
        if let Some(client) = self.clients.lock().get(&task) {
            return Ok(client.clone());
        }
        let Task { name, address, .. } = context.cluster().task(task)?;
        let client = self.fabric.client(&name.to_string(), address, self.id)?;
        self.clients.lock().insert(task, client.clone());
        Ok(client)
    }

    /// Returns the first chain of a task, which is available there since the context was created.
    ///
    /// # Errors
    /// NotFound if the task has told none.
    pub fn ready_chain(&self, task: TaskHandle) -> Result<RemoteObjectId, Diagnostic> {
        self.chains
            .lock()
            .get(&task)
            .cloned()
            .ok_or_else(|| Diagnostic::new(ErrorCode::NotFound, "the task has no chain in this context"))
    }

    /// Sets the first chain of a task.
    pub fn set_ready_chain(&self, task: TaskHandle, chain: RemoteObjectId) {
        self.chains.lock().insert(task, chain);
    }

    /// Returns the devices of all tasks.
    pub fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.read().clone()
    }

    /// Sets the devices of all tasks.
    pub fn set_devices(&self, devices: impl IntoIterator<Item = proto::DeviceInfo>) {
        let device = |info: proto::DeviceInfo| DeviceInfo { name: info.name.into(), kind: info.r#type };
        *self.devices.write() = devices.into_iter().map(device).collect();
    }

    /// Returns the device of this name.
    ///
    /// # Errors
    /// NotFound if no task has it.
    pub fn device(&self, name: &str) -> Result<DeviceInfo, Diagnostic> {
        let devices = self.devices.read();
        devices.iter().find(|device| &*device.name == name).cloned().ok_or_else(|| {
            let known: Vec<_> = devices.iter().map(|device| &*device.name).collect();
            let message = format!("the cluster has no device '{name}'; its devices are {known:?}");
            Diagnostic::new(ErrorCode::NotFound, message)
        })
    }

    /// Returns the device of this name as the core runtime knows it. Devices are told apart by
    /// identity.
    pub(crate) fn eager_device(&self, name: &Arc<str>) -> Device {
        self.eager_devices.lock().entry(name.clone()).or_insert_with(|| Device::new(&**name)).clone()
    }

    /// Fails all that waits in the context with `reason`.
    pub fn close(&self, reason: &Arc<Diagnostic>) {
        self.callbacks.close(reason);
        self.objects.close(reason);
    }
}

impl fmt::Debug for RemoteContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteContext")
            .field("id", &self.id)
            .field("objects", &self.objects)
            .field("callbacks", &self.callbacks)
            .field("functions", &self.functions)
            .finish_non_exhaustive()
    }
}
