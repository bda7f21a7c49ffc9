//! Options of unsupported engines. They are known so that the error message can name their engine.

use super::kind::OptionKind;
use super::row::{FioOption, opt};

const TEXT: OptionKind = OptionKind::Text("…");
const STORAGE: &str = "omit it, and use a supported engine such as io_uring";

const fn of(name: &'static str, help: &'static str, why: &'static str) -> FioOption {
    opt(name, TEXT, help).refused(why, STORAGE)
}

pub(super) const TABLE: &[FioOption] = &[
    of("cmd_type", "Type of the command", IO_URING_CMD),
    of("write_mode", "Type of write command", IO_URING_CMD),
    of("verify_mode", "Type of verify command", IO_URING_CMD),
    of(
        "readfua",
        "Bypass the device cache on reads (FUA)",
        IO_URING_CMD,
    ),
    of(
        "writefua",
        "Bypass the device cache on writes (FUA)",
        IO_URING_CMD,
    ),
    of("md_per_io_size", "Metadata bytes per I/O", IO_URING_CMD),
    of(
        "pi_act",
        "Let the device handle protection information",
        IO_URING_CMD,
    ),
    of(
        "pi_chk",
        "Which protection information to check",
        IO_URING_CMD,
    ),
    of("apptag", "Application tag", IO_URING_CMD),
    of("apptag_mask", "Mask of the application tag", IO_URING_CMD),
    of("deac", "Deallocate zeroed blocks", IO_URING_CMD),
    of("sg_write_mode", "Type of write command", SG),
    of("stream_id", "Stream ID of the writes", SG),
    of("cpuload", "Percentage of CPU time to use", CPUIO),
    of("cpuchunks", "Length of a burst of CPU work", CPUIO),
    of("cpumode", "Type of CPU work", CPUIO),
    of("exit_on_io_done", "Exit when the last I/O job ends", CPUIO),
    of("hostname", "Host to connect to", NET),
    of("port", "Port to use", NET),
    of("protocol", "Protocol to use", NET).alias(&["proto"]),
    of("nodelay", "Disable Nagle's algorithm", NET),
    of("listen", "Wait for a connection", NET),
    of("pingpong", "Reply to each message", NET),
    of("interface", "Network interface", NET),
    of("ttl", "Time to live of multicast packets", NET),
    of("window_size", "TCP window size", NET),
    of("mss", "Largest segment", NET),
    of("verb", "Type of transfer", RDMA),
    of("bindname", "Bind address", RDMA),
    of("serverip", "Address of the server", LIBRPMA),
    of(
        "direct_write_to_pmem",
        "Write directly to persistent memory",
        LIBRPMA,
    ),
    of("busy_wait_polling", "Poll for completions", LIBRPMA),
    of("donorname", "Donor file for the blocks", E4DEFRAG),
    of(
        "inplace",
        "Allocate and free blocks within the event",
        E4DEFRAG,
    ),
    of("clustername", "Name of the cluster", RBD_OR_RADOS),
    of("rbdname", "Name of the image", RBD_OR_RADOS),
    of("pool", "Name of the pool", RBD_OR_RADOS),
    of("clientname", "Name of the client", RBD_OR_RADOS),
    of("conf", "Configuration of the cluster", RBD_OR_RADOS),
    of("busy_poll", "Poll for completions", RBD_OR_RADOS),
    of("touch_objects", "Create the objects first", RBD_OR_RADOS),
    of("http_host", "Host to connect to", HTTP),
    of("http_user", "User name", HTTP),
    of("http_pass", "Password", HTTP),
    of("https", "Use HTTPS", HTTP),
    of("http_mode", "Type of storage", HTTP),
    of("http_s3_region", "S3 region", HTTP),
    of("http_s3_key", "S3 secret key", HTTP),
    of("http_s3_keyid", "S3 access key ID", HTTP),
    of("http_s3_security_token", "S3 session token", HTTP),
    of("http_s3_sse_customer_key", "Key for encryption", HTTP),
    of(
        "http_s3_sse_customer_algorithm",
        "S3 server-side encryption algorithm",
        HTTP,
    ),
    of("http_s3_storage_class", "S3 storage class", HTTP),
    of("http_swift_auth_token", "Swift authentication token", HTTP),
    of("http_verbose", "Verbose output", HTTP),
    of("http_object_mode", "Mapping of I/Os to objects", HTTP),
    of("volume", "Name of the volume", GFAPI),
    of("brick", "Name of the brick", GFAPI),
    of("single-instance", "Use a single instance", GFAPI),
    of("namenode", "Host of the name node", LIBHDFS),
    of("hdfsdirectory", "Directory in HDFS", LIBHDFS),
    of("chunk_size", "Size of a chunk", LIBHDFS),
    of("hdfs_use_direct", "Use direct reads", LIBHDFS),
    of("skip_bad", "Skip bad blocks", MTD),
    of("uri", "Address of the export", NBD),
    of("nfs_url", "Address of the export", NFS),
    of("program", "Program to run", EXEC),
    of("arguments", "Arguments of the program", EXEC),
    of("grace_time", "Time before the program is killed", EXEC),
    of(
        "std_redirect",
        "Redirect the output of the program to files",
        EXEC,
    ),
    of("gpu_dev_ids", "GPUs to use", LIBCUFILE).alias(&["gpu_dev_id"]),
    of("cuda_io", "Type of transfer", LIBCUFILE),
    of("rocm_io", "Type of transfer", LIBCUFILE),
    of("cont", "Name of the container", DFS),
    of("object_class", "Class of objects", DFS),
    of("svcl", "Service replicas", DFS),
    of("libblkio_driver", "libblkio driver", LIBBLKIO),
    of("libblkio_path", "Path passed to the driver", LIBBLKIO),
    of(
        "libblkio_pre_connect_props",
        "Properties set before connecting",
        LIBBLKIO,
    ),
    of("libblkio_num_entries", "Number of queue entries", LIBBLKIO),
    of("libblkio_queue_size", "Queue size", LIBBLKIO),
    of(
        "libblkio_pre_start_props",
        "Properties set before starting",
        LIBBLKIO,
    ),
    of("libblkio_vectored", "Use vectored I/O", LIBBLKIO),
    of(
        "libblkio_write_zeroes_on_trim",
        "Write zeroes instead of trimming",
        LIBBLKIO,
    ),
    of(
        "libblkio_wait_mode",
        "How to wait for completions",
        LIBBLKIO,
    ),
    of(
        "libblkio_force_enable_completion_eventfd",
        "Use an eventfd",
        LIBBLKIO,
    ),
    of("xnvme_async", "Asynchronous interface", XNVME),
    of("xnvme_sync", "Synchronous interface", XNVME),
    of("xnvme_admin", "Command interface", XNVME),
    of("xnvme_dev_nsid", "Namespace ID", XNVME),
    of("xnvme_dev_subnqn", "Subsystem NQN", XNVME),
    of("xnvme_mem", "Memory backend", XNVME),
    of("xnvme_iovec", "Use vectored I/O", XNVME),
    of("initiator", "Name of the initiator", LIBISCSI),
];

const IO_URING_CMD: &str = "it belongs to the engine io_uring_cmd, which is not supported";
const SG: &str = "it belongs to the engine sg, which is not supported";
const CPUIO: &str = "it belongs to the engine cpuio, which is not supported";
const NET: &str = "it belongs to the engine net, which is not supported";
const RDMA: &str = "it belongs to the engine rdma, which is not supported";
const LIBRPMA: &str = "it belongs to the engine librpma, which is not supported";
const E4DEFRAG: &str = "it belongs to the engine e4defrag, which is not supported";
const RBD_OR_RADOS: &str = "it belongs to the engines rbd and rados, which are not supported";
const HTTP: &str = "it belongs to the engine http, which is not supported";
const GFAPI: &str = "it belongs to the engine gfapi, which is not supported";
const LIBHDFS: &str = "it belongs to the engine libhdfs, which is not supported";
const MTD: &str = "it belongs to the engine mtd, which is not supported";
const NBD: &str = "it belongs to the engine nbd, which is not supported";
const NFS: &str = "it belongs to the engine nfs, which is not supported";
const EXEC: &str = "it belongs to the engine exec, which is not supported";
const LIBCUFILE: &str = "it belongs to the engine libcufile, which is not supported";
const DFS: &str = "it belongs to the engine dfs, which is not supported";
const LIBBLKIO: &str = "it belongs to the engine libblkio, which is not supported";
const XNVME: &str = "it belongs to the engine xnvme, which is not supported";
const LIBISCSI: &str = "it belongs to the engine libiscsi, which is not supported";
