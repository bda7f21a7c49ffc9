//! Why a run could not be traced.

use serde::{Deserialize, Serialize};

/// What prevents tracing. The run itself goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum TraceObstacle {
    /// The user may not record kernel events.
    NoPermission {
        /// Capabilities that would help, such as `cap_perfmon`; empty if a security policy refuses.
        missing: Vec<String>,
    },
    /// The process is in a user namespace, as in a rootless container.
    UserNamespace,
    /// The user is root, but without the capabilities, as in a container.
    RestrictedRoot,
    /// tracefs is not mounted, and the user may not mount it.
    TracefsNotMounted,
    /// The kernel has no tracefs.
    NoTracefs,
    /// The kernel has no perf events.
    NoPerfEvents,
    /// The kernel lacks events of the block layer.
    MissingEvents {
        /// Their names.
        names: Vec<String>,
    },
    /// The kernel refused the memory for the events.
    RingMemory {
        /// Bytes per CPU.
        bytes: u64,
    },
    /// Too few files may be open.
    Descriptors {
        /// Descriptors needed.
        needed: u64,
        /// Limit of open files.
        limit: u64,
    },
    /// The target is not on a block device, as on tmpfs and network file systems.
    NoBlockDevice,
    /// The target is a simulated card.
    SimulatedCard,
    /// A call failed.
    Failed {
        /// The call.
        operation: String,
        /// Its error.
        errno: i32,
    },
}
