//! Formats of events as tracefs describes them.
//!
//! Offsets and sizes differ between kernels, so fields are found by name. Types are ignored, because their names differ
//! too: the stated size and sign decide.

/// Layout of the binary record of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EventFormat {
    /// Name of the event.
    pub name: String,
    /// Number of the event, with which each record begins.
    pub id: u16,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    place: Place,
}

/// Where a field lies in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// First byte.
    pub offset: u16,
    /// Bytes; 0 for a field that the event does not have.
    pub size: u16,
    /// Whether a number is signed.
    pub signed: bool,
    /// What the bytes are.
    pub content: FieldContent,
}

/// What the bytes of a field are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FieldContent {
    /// A number or an array.
    #[default]
    Direct,
    /// Offset and length of the content elsewhere in the record: `__data_loc`.
    Located,
    /// The same, with the offset counted from the end of the field: `__rel_loc`.
    LocatedRelative,
}

impl EventFormat {
    /// Parses a `format` file. Returns `None` if it has no name, number or fields.
    pub(super) fn parse(text: &str) -> Option<EventFormat> {
        let mut format = EventFormat::default();
        let mut id = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("name:") {
                format.name = name.trim().to_owned();
            } else if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some(field) = line.trim_start().strip_prefix("field:") {
                format.fields.extend(parse_field(field));
            }
        }
        format.id = id?;
        (!format.name.is_empty() && !format.fields.is_empty()).then_some(format)
    }

    /// Returns the place of a field.
    pub(super) fn place(&self, name: &str) -> Option<Place> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        Some(field.place)
    }
}

/// Parses `char comm[16]; offset:38; size:16; signed:0;`; the sign may be absent.
fn parse_field(text: &str) -> Option<Field> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    let mut place = Place {
        content: match declaration.split_whitespace().next()? {
            "__data_loc" => FieldContent::Located,
            "__rel_loc" => FieldContent::LocatedRelative,
            _ => FieldContent::Direct,
        },
        ..Place::default()
    };
    let mut has_offset = false;
    for part in parts {
        let Some((key, value)) = part.split_once(':') else {
            continue;
        };
        match key {
            "offset" => {
                place.offset = value.parse().ok()?;
                has_offset = true;
            }
            "size" => place.size = value.parse().ok()?,
            "signed" => place.signed = value == "1",
            _ => {}
        }
    }
    // The length of an array follows the name; that of `__data_loc char[] cmd` does not.
    let name = declaration
        .rsplit([' ', '*'])
        .next()
        .unwrap_or(declaration)
        .split('[')
        .next()?;
    let is_name = !name.is_empty() && place.size > 0 && has_offset;
    is_name.then(|| Field {
        name: name.to_owned(),
        place,
    })
}

impl Place {
    /// Returns the number in a record, with its sign extended; `None` if the field is absent or no number.
    pub(super) fn number(self, record: &[u8]) -> Option<u64> {
        let bytes = self.own_bytes(record)?;
        Some(match (bytes, self.signed) {
            (&[a], false) => u64::from(a),
            (&[a], true) => i64::from(a as i8) as u64,
            (&[a, b], false) => u64::from(u16::from_ne_bytes([a, b])),
            (&[a, b], true) => i64::from(i16::from_ne_bytes([a, b])) as u64,
            (&[a, b, c, d], false) => u64::from(u32::from_ne_bytes([a, b, c, d])),
            (&[a, b, c, d], true) => i64::from(i32::from_ne_bytes([a, b, c, d])) as u64,
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }

    /// Returns the bytes of a string up to its first NUL, wherever it lies in the record.
    pub(super) fn string(self, record: &[u8]) -> &[u8] {
        let bytes = self.content_bytes(record).unwrap_or_default();
        bytes.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    fn own_bytes(self, record: &[u8]) -> Option<&[u8]> {
        let start = usize::from(self.offset);
        record.get(start..start + usize::from(self.size))
    }

    fn content_bytes(self, record: &[u8]) -> Option<&[u8]> {
        let own = self.own_bytes(record)?;
        if self.content == FieldContent::Direct {
            return Some(own);
        }
        let location = u32::from_ne_bytes(own.try_into().ok()?);
        let (len, offset) = ((location >> 16) as usize, (location & 0xffff) as usize);
        let start = match self.content {
            FieldContent::LocatedRelative => {
                usize::from(self.offset) + usize::from(self.size) + offset
            }
            _ => offset,
        };
        record.get(start..start + len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_fields_by_name() {
        let text = "name: x\nID: 12\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:char rwbs[8];\toffset:8;\tsize:8;\tsigned:1;\n\
            \tfield:struct mmc_request * mrq;\toffset:16;\tsize:4;\tsigned:0;\n\
            \tfield:struct page *page;\toffset:20;\tsize:4;\tsigned:0;\n\
            \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\n\
            \tfield:__rel_loc char[] relative;\toffset:28;\tsize:4;\tsigned:0;\n\
            \tfield:int error;\toffset:32;\tsize:4;\tsigned:1;\n\
            \tfield:broken;\toffset:x;\tsize:4;\n\
            \nprint fmt: \"%d\", REC->error\n";
        let format = EventFormat::parse(text).unwrap();
        assert_eq!((format.name.as_str(), format.id), ("x", 12));
        let mut record = [0u8; 48];
        record[8..11].copy_from_slice(b"WSM");
        record[16..20].copy_from_slice(&7u32.to_ne_bytes());
        record[24..28].copy_from_slice(&(5u32 << 16 | 36).to_ne_bytes());
        record[28..32].copy_from_slice(&(5u32 << 16 | 4).to_ne_bytes());
        record[32..36].copy_from_slice(&(-5i32).to_ne_bytes());
        record[36..41].copy_from_slice(b"mmc0\0");
        let place = |name: &str| format.place(name).unwrap();
        assert_eq!(place("rwbs").string(&record), b"WSM");
        assert_eq!(place("mrq").number(&record), Some(7));
        assert_eq!(place("page").offset, 20);
        assert_eq!(place("name").string(&record), b"mmc0");
        assert_eq!(place("relative").string(&record), b"mmc0");
        assert_eq!(place("error").number(&record), Some(-5i64 as u64));
        assert_eq!(format.place("broken"), None);
        assert_eq!(format.place("absent"), None);
        // A record that ends early has neither.
        assert_eq!(place("error").number(&record[..34]), None);
        assert_eq!(place("name").string(&record[..38]), b"");
    }

    #[test]
    fn texts_that_are_no_formats_are_refused() {
        assert_eq!(EventFormat::parse(""), None);
        assert_eq!(EventFormat::parse("name: x\nID: 70000\n"), None);
        assert_eq!(EventFormat::parse("name: x\nID: 7\nformat:\n"), None);
    }
}
