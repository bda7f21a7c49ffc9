//! Options of engines that are not built in: known, so that the message can say what they belong to.

use super::kind::OptionKind;
use super::{FioOption, opt};

const TEXT: OptionKind = OptionKind::Text("…");
const STORAGE: &str = "leave it out, and use an engine that is built in, such as io_uring";

const fn of(name: &'static str, help: &'static str, why: &'static str) -> FioOption {
    opt(name, TEXT, help).refused(why, STORAGE)
}

pub(super) const TABLE: &[FioOption] = &[
    of("cmd_type", "Kind of the command", IO_URING_CMD),
    of("write_mode", "Kind of write command", IO_URING_CMD),
    of("verify_mode", "Kind of verify command", IO_URING_CMD),
    of(
        "readfua",
        "Reads past the cache of the device",
        IO_URING_CMD,
    ),
    of(
        "writefua",
        "Writes past the cache of the device",
        IO_URING_CMD,
    ),
    of(
        "md_per_io_size",
        "Bytes of metadata of each I/O",
        IO_URING_CMD,
    ),
    of(
        "pi_act",
        "Protection information is the device's business",
        IO_URING_CMD,
    ),
    of(
        "pi_chk",
        "What of the protection information is checked",
        IO_URING_CMD,
    ),
    of("apptag", "Application tag", IO_URING_CMD),
    of("apptag_mask", "Bits of the application tag", IO_URING_CMD),
    of("deac", "Deallocates what is zeroed", IO_URING_CMD),
    of("sg_write_mode", "Kind of write command", SG),
    of("stream_id", "Stream of the writes", SG),
    of("cpuload", "Hundredths of the processor to use", CPUIO),
    of("cpuchunks", "Length of a stretch of work", CPUIO),
    of("cpumode", "Kind of work", CPUIO),
    of("exit_on_io_done", "Ends with the last I/O job", CPUIO),
    of("hostname", "Host to connect to", NET),
    of("port", "Port to use", NET),
    of("protocol", "Protocol to use", NET).alias(&["proto"]),
    of("nodelay", "Sends at once", NET),
    of("listen", "Waits for a connection", NET),
    of("pingpong", "Answers each message", NET),
    of("interface", "Network interface", NET),
    of("ttl", "Hops of a multicast", NET),
    of("window_size", "Size of the window", NET),
    of("mss", "Largest segment", NET),
    of("verb", "Kind of transfer", RDMA),
    of("bindname", "Address to bind to", RDMA),
    of("serverip", "Address of the server", LIBRPMA),
    of(
        "direct_write_to_pmem",
        "Writes reach the memory directly",
        LIBRPMA,
    ),
    of("busy_wait_polling", "Polls for completions", LIBRPMA),
    of("donorname", "File that gives its blocks", E4DEFRAG),
    of("inplace", "Allocates and frees within the event", E4DEFRAG),
    of("clustername", "Name of the cluster", RBD_OR_RADOS),
    of("rbdname", "Name of the image", RBD_OR_RADOS),
    of("pool", "Name of the pool", RBD_OR_RADOS),
    of("clientname", "Name of the client", RBD_OR_RADOS),
    of("conf", "Configuration of the cluster", RBD_OR_RADOS),
    of("busy_poll", "Polls for completions", RBD_OR_RADOS),
    of("touch_objects", "Makes the objects first", RBD_OR_RADOS),
    of("http_host", "Host", HTTP),
    of("http_user", "User", HTTP),
    of("http_pass", "Password", HTTP),
    of("https", "Encrypts", HTTP),
    of("http_mode", "Kind of storage", HTTP),
    of("http_s3_region", "Region", HTTP),
    of("http_s3_key", "Secret", HTTP),
    of("http_s3_keyid", "Name of the secret", HTTP),
    of("http_s3_security_token", "Token", HTTP),
    of("http_s3_sse_customer_key", "Key for encryption", HTTP),
    of(
        "http_s3_sse_customer_algorithm",
        "Method of encryption",
        HTTP,
    ),
    of("http_s3_storage_class", "Class of storage", HTTP),
    of("http_swift_auth_token", "Token", HTTP),
    of("http_verbose", "Tells more", HTTP),
    of("http_object_mode", "What an object is", HTTP),
    of("volume", "Name of the volume", GFAPI),
    of("brick", "Name of the brick", GFAPI),
    of("single-instance", "Uses one instance", GFAPI),
    of("namenode", "Host of the name node", LIBHDFS),
    of("hdfsdirectory", "Folder", LIBHDFS),
    of("chunk_size", "Size of a chunk", LIBHDFS),
    of("hdfs_use_direct", "Reads directly", LIBHDFS),
    of("skip_bad", "Leaves out bad blocks", MTD),
    of("uri", "Address of the export", NBD),
    of("nfs_url", "Address of the export", NFS),
    of("program", "Program to run", EXEC),
    of("arguments", "Its arguments", EXEC),
    of("grace_time", "Time before it is killed", EXEC),
    of("std_redirect", "Keeps what it prints", EXEC),
    of("gpu_dev_ids", "Graphics cards to use", LIBCUFILE).alias(&["gpu_dev_id"]),
    of("cuda_io", "Kind of transfer", LIBCUFILE),
    of("rocm_io", "Kind of transfer", LIBCUFILE),
    of("cont", "Name of the container", DFS),
    of("object_class", "Class of objects", DFS),
    of("svcl", "Service replicas", DFS),
    of("libblkio_driver", "Driver", LIBBLKIO),
    of("libblkio_path", "Path the driver gets", LIBBLKIO),
    of(
        "libblkio_pre_connect_props",
        "Settings before it connects",
        LIBBLKIO,
    ),
    of("libblkio_num_entries", "Entries of a queue", LIBBLKIO),
    of("libblkio_queue_size", "Size of a queue", LIBBLKIO),
    of(
        "libblkio_pre_start_props",
        "Settings before it begins",
        LIBBLKIO,
    ),
    of("libblkio_vectored", "Uses vectors", LIBBLKIO),
    of(
        "libblkio_write_zeroes_on_trim",
        "Zeroes rather than trims",
        LIBBLKIO,
    ),
    of("libblkio_wait_mode", "How it waits", LIBBLKIO),
    of(
        "libblkio_force_enable_completion_eventfd",
        "Uses an eventfd",
        LIBBLKIO,
    ),
    of("xnvme_async", "Asynchronous interface", XNVME),
    of("xnvme_sync", "Synchronous interface", XNVME),
    of("xnvme_admin", "Interface of commands", XNVME),
    of("xnvme_dev_nsid", "Name space", XNVME),
    of("xnvme_dev_subnqn", "Subsystem", XNVME),
    of("xnvme_mem", "Memory", XNVME),
    of("xnvme_iovec", "Uses vectors", XNVME),
    of("initiator", "Name of the initiator", LIBISCSI),
];

const IO_URING_CMD: &str = "it belongs to the engine io_uring_cmd, which is not built in";
const SG: &str = "it belongs to the engine sg, which is not built in";
const CPUIO: &str = "it belongs to the engine cpuio, which is not built in";
const NET: &str = "it belongs to the engine net, which is not built in";
const RDMA: &str = "it belongs to the engine rdma, which is not built in";
const LIBRPMA: &str = "it belongs to the engine librpma, which is not built in";
const E4DEFRAG: &str = "it belongs to the engine e4defrag, which is not built in";
const RBD_OR_RADOS: &str = "it belongs to the engines rbd and rados, which are not built in";
const HTTP: &str = "it belongs to the engine http, which is not built in";
const GFAPI: &str = "it belongs to the engine gfapi, which is not built in";
const LIBHDFS: &str = "it belongs to the engine libhdfs, which is not built in";
const MTD: &str = "it belongs to the engine mtd, which is not built in";
const NBD: &str = "it belongs to the engine nbd, which is not built in";
const NFS: &str = "it belongs to the engine nfs, which is not built in";
const EXEC: &str = "it belongs to the engine exec, which is not built in";
const LIBCUFILE: &str = "it belongs to the engine libcufile, which is not built in";
const DFS: &str = "it belongs to the engine dfs, which is not built in";
const LIBBLKIO: &str = "it belongs to the engine libblkio, which is not built in";
const XNVME: &str = "it belongs to the engine xnvme, which is not built in";
const LIBISCSI: &str = "it belongs to the engine libiscsi, which is not built in";
