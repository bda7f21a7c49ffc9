//! Structures in the compact protocol of Apache Thrift.

/// Value of a field.
pub(super) enum ThriftField {
    I32(i64),
    I64(i64),
    Text(String),
    Struct(ThriftStruct),
    I32s(Vec<i64>),
    Texts(Vec<String>),
    Structs(Vec<ThriftStruct>),
}

/// Fields with their numbers, which ascend.
pub(super) struct ThriftStruct(Vec<(i16, ThriftField)>);

/// Types of the protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl ThriftStruct {
    pub(super) fn new(fields: impl IntoIterator<Item = (i16, ThriftField)>) -> ThriftStruct {
        ThriftStruct(fields.into_iter().collect())
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let mut last = 0;
        for (number, field) in &self.0 {
            // All steps between the numbers used here are below 16, so that they fit into the type byte.
            debug_assert!((1..16).contains(&(number - last)));
            bytes.push(((number - last) as u8) << 4 | field.type_id());
            last = *number;
            field.write(bytes);
        }
        bytes.push(0);
    }
}

impl ThriftField {
    fn type_id(&self) -> u8 {
        match self {
            ThriftField::I32(_) => I32,
            ThriftField::I64(_) => I64,
            ThriftField::Text(_) => BINARY,
            ThriftField::Struct(_) => STRUCT,
            ThriftField::I32s(_) | ThriftField::Texts(_) | ThriftField::Structs(_) => LIST,
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            ThriftField::I32(value) | ThriftField::I64(value) => zigzag(bytes, *value),
            ThriftField::Text(value) => text(bytes, value),
            ThriftField::Struct(value) => value.write(bytes),
            ThriftField::I32s(values) => {
                list(bytes, I32, values.len());
                values.iter().for_each(|value| zigzag(bytes, *value));
            }
            ThriftField::Texts(values) => {
                list(bytes, BINARY, values.len());
                values.iter().for_each(|value| text(bytes, value));
            }
            ThriftField::Structs(values) => {
                list(bytes, STRUCT, values.len());
                values.iter().for_each(|value| value.write(bytes));
            }
        }
    }
}

fn list(bytes: &mut Vec<u8>, of: u8, len: usize) {
    match len {
        0..15 => bytes.push((len as u8) << 4 | of),
        _ => {
            bytes.push(0xf0 | of);
            varint(bytes, len as u64);
        }
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    varint(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends an integer in groups of seven bits, the lowest first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
