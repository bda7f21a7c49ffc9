//! The parts of the NBD protocol that QEMU uses: "fixed newstyle" negotiation, simple replies, no TLS.
//!
//! Source: the protocol document, `doc/proto.md` of NetworkBlockDevice/nbd.

use std::io::{self, Read, Write};

const MAGIC: u64 = 0x4e42_444d_4147_4943;
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

const OPT_EXPORT_NAME: u32 = 1;
const OPT_ABORT: u32 = 2;
const OPT_LIST: u32 = 3;
const OPT_INFO: u32 = 6;
const OPT_GO: u32 = 7;

const REP_ACK: u32 = 1;
const REP_SERVER: u32 = 2;
const REP_INFO: u32 = 3;
const REP_ERR_UNSUPPORTED: u32 = 0x8000_0001;
const REP_ERR_INVALID: u32 = 0x8000_0003;

const INFO_EXPORT: u16 = 0;

/// Flags: has flags, flush, FUA and trim.
const TRANSMISSION: u16 = 1 | 4 | 8 | 32;

/// Maximum length of an option.
const OPTION_MAX: u32 = 64 << 10;

pub(super) const CMD_READ: u16 = 0;
pub(super) const CMD_WRITE: u16 = 1;
pub(super) const CMD_DISCONNECT: u16 = 2;
pub(super) const CMD_FLUSH: u16 = 3;
pub(super) const CMD_TRIM: u16 = 4;

pub(super) const FLAG_FUA: u16 = 1;

/// NBD error codes.
pub(super) const EIO: u32 = 5;
pub(super) const EINVAL: u32 = 22;
pub(super) const ENOSPC: u32 = 28;

/// One request of the transmission phase; the data of a write follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NbdRequest {
    pub(super) flags: u16,
    pub(super) kind: u16,
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) len: u32,
}

impl NbdRequest {
    pub(super) fn read_from(from: &mut impl Read) -> io::Result<NbdRequest> {
        let magic = read_u32(from)?;
        if magic != REQUEST_MAGIC {
            return Err(broken(format!("a request began with {magic:#010x}")));
        }
        let (flags, kind) = (read_u16(from)?, read_u16(from)?);
        let (cookie, offset, len) = (read_u64(from)?, read_u64(from)?, read_u32(from)?);
        Ok(NbdRequest {
            flags,
            kind,
            cookie,
            offset,
            len,
        })
    }
}

/// Sends the reply to a request; `data` is the data of a read.
pub(super) fn reply(to: &mut impl Write, cookie: u64, error: u32, data: &[u8]) -> io::Result<()> {
    // A single write, so that the client wakes up once.
    let mut message = Vec::with_capacity(16 + data.len());
    message.extend(REPLY_MAGIC.to_be_bytes());
    message.extend(error.to_be_bytes());
    message.extend(cookie.to_be_bytes());
    message.extend(data);
    to.write_all(&message)
}

/// Negotiates the only export, of `size` bytes, with a client. Returns false if the client only requested information.
pub(super) fn negotiate(stream: &mut (impl Read + Write), size: u64) -> io::Result<bool> {
    let zeroes = greet(stream)?;
    loop {
        let (option, data) = read_option(stream)?;
        match option {
            OPT_EXPORT_NAME => {
                let padding = if zeroes { 124 } else { 0 };
                let mut answer = export(size);
                answer.resize(answer.len() + padding, 0);
                stream.write_all(&answer)?;
                return Ok(true);
            }
            OPT_ABORT => {
                option_reply(stream, option, REP_ACK, &[])?;
                return Ok(false);
            }
            // The only export has no name.
            OPT_LIST => describe(stream, option, REP_SERVER, &0u32.to_be_bytes())?,
            OPT_INFO | OPT_GO if names_an_export(&data) => {
                let info = [INFO_EXPORT.to_be_bytes().to_vec(), export(size)].concat();
                describe(stream, option, REP_INFO, &info)?;
                if option == OPT_GO {
                    return Ok(true);
                }
            }
            OPT_INFO | OPT_GO => option_reply(stream, option, REP_ERR_INVALID, &[])?,
            _ => option_reply(stream, option, REP_ERR_UNSUPPORTED, &[])?,
        }
    }
}

/// Begins the negotiation; returns whether the client wants zeros after an export.
fn greet(stream: &mut (impl Read + Write)) -> io::Result<bool> {
    let mut greeting = Vec::new();
    greeting.extend(MAGIC.to_be_bytes());
    greeting.extend(OPTION_MAGIC.to_be_bytes());
    greeting.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    stream.write_all(&greeting)?;
    Ok(read_u32(stream)? & u32::from(NO_ZEROES) == 0)
}

/// Reads one option of the client, with its data.
fn read_option(stream: &mut impl Read) -> io::Result<(u32, Vec<u8>)> {
    let magic = read_u64(stream)?;
    if magic != OPTION_MAGIC {
        return Err(broken(format!("an option began with {magic:#018x}")));
    }
    let (option, len) = (read_u32(stream)?, read_u32(stream)?);
    if len > OPTION_MAX {
        return Err(broken(format!("option {option} has {len} bytes")));
    }
    let mut data = vec![0; len as usize];
    stream.read_exact(&mut data)?;
    Ok((option, data))
}

/// Answers an option with a description of the export, and the end of the answer.
fn describe(to: &mut impl Write, option: u32, kind: u32, description: &[u8]) -> io::Result<()> {
    option_reply(to, option, kind, description)?;
    option_reply(to, option, REP_ACK, &[])
}

fn export(size: u64) -> Vec<u8> {
    let mut bytes = size.to_be_bytes().to_vec();
    bytes.extend(TRANSMISSION.to_be_bytes());
    bytes
}

/// Parses a name with its length, followed by a list of information requests. Any name selects the export.
fn names_an_export(data: &[u8]) -> bool {
    let Some((name_len, rest)) = data.split_first_chunk::<4>() else {
        return false;
    };
    let after_name = rest.get(u32::from_be_bytes(*name_len) as usize..);
    let Some((count, rest)) = after_name.and_then(|rest| rest.split_first_chunk::<2>()) else {
        return false;
    };
    rest.len() == 2 * usize::from(u16::from_be_bytes(*count))
}

fn option_reply(to: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut message = Vec::with_capacity(20 + data.len());
    message.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    message.extend(option.to_be_bytes());
    message.extend(kind.to_be_bytes());
    message.extend((data.len() as u32).to_be_bytes());
    message.extend(data);
    to.write_all(&message)
}

fn broken(what: String) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the client does not speak NBD: {what}"),
    )
}

fn read_u16(from: &mut impl Read) -> io::Result<u16> {
    let mut bytes = [0; 2];
    from.read_exact(&mut bytes)?;
    Ok(u16::from_be_bytes(bytes))
}

fn read_u32(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

fn read_u64(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}
