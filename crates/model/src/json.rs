//! Parses JSON in which structs are objects.
//!
//! serde also accepts an array with the fields of a struct in order, and compiles a second parser for each struct to do
//! so. Nothing writes such arrays, and in a program that reads some three hundred structs these parsers are large.

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::fmt;

/// The name by which `serde_json` recognizes `RawValue`, the text of a value that is not parsed.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Parses a value. An array in place of a struct is an error.
///
/// # Errors
/// If the text is not JSON, or not of this type.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Objects(&mut parser))?;
    parser.end()?;
    Ok(value)
}

/// A deserializer that takes structs from objects only.
struct Objects<D>(D);

/// A visitor, or the seed of a value, whose parts are deserialized by [`Objects`].
struct Parts<T>(T);

/// Access to parts that are deserialized by [`Objects`].
struct PartsOf<A>(A);

/// The fields of a variant of an enum.
struct Fields<V>(V);

macro_rules! forward {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                self.0.$method(visitor)
            }
        )*
    };
}

macro_rules! forward_parts {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
                self.0.$method($($argument,)* Parts(visitor))
            }
        )*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    forward! {
        deserialize_bool deserialize_char deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    forward_parts! {
        deserialize_any()
        deserialize_option()
        deserialize_seq()
        deserialize_map()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_unit_struct(name: &'static str)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Parts(visitor))
    }

    // The comparison is one of constants as soon as this is inlined.
    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        match name {
            RAW_VALUE => self.0.deserialize_newtype_struct(name, visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visit {
    ($($method:ident($type:ty))*) => {
        $(
            #[inline]
            fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
                self.0.$method(value)
            }
        )*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Parts<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool) visit_char(char) visit_i64(i64) visit_i128(i128) visit_u64(u64) visit_u128(u128)
        visit_f64(f64) visit_str(&str) visit_borrowed_str(&'de str) visit_string(String) visit_bytes(&[u8])
        visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(value))
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(value))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(PartsOf(parts))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, parts: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(PartsOf(parts))
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, parts: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(PartsOf(parts))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Parts<S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(value))
    }
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Fields<V> {
    type Value = V::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        value.deserialize_map(Parts(self.0))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for PartsOf<A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Parts(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for PartsOf<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Parts(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for PartsOf<A> {
    type Error = A::Error;
    type Variant = PartsOf<A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (variant, content) = self.0.variant_seed(seed)?;
        Ok((variant, PartsOf(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for PartsOf<A> {
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Parts(seed))
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Parts(visitor))
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Fields(visitor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Length(u64);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        length: Length,
        #[serde(default)]
        name: Option<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Nothing,
        One(Inner),
        Pair(u8, Inner),
        Named { inner: Inner },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        A { inner: Inner },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        shapes: Vec<Shape>,
        by_name: BTreeMap<String, Inner>,
        pair: (i64, f64),
        tagged: Tagged,
        #[serde(flatten)]
        inner: Inner,
    }

    const OUTER: &str = r#"{"shapes":["nothing",{"one":{"length":1,"unknown":[{}]}},
        {"pair":[2,{"length":3,"name":"\u00e9"}]},{"named":{"inner":{"length":4,"name":null}}}],
        "by_name":{"a":{"length":5}},"pair":[-1,0.5],"tagged":{"kind":"A","inner":{"length":6}},"length":7}"#;

    #[test]
    fn objects_are_what_serde_json_makes_of_them() {
        let ours: Outer = from_str(OUTER).unwrap();
        assert_eq!(ours, serde_json::from_str(OUTER).unwrap());
        assert_eq!(ours.by_name["a"].length, Length(5));
    }

    #[test]
    fn arrays_are_no_structs() {
        let refused = |json: &str| from_str::<Outer>(json).unwrap_err().to_string();
        let inner = r#""by_name":{"a":{"length":5}}"#;
        assert!(
            serde_json::from_str::<Outer>(&OUTER.replace(inner, r#""by_name":{"a":[5,null]}"#))
                .is_ok()
        );
        let error = refused(&OUTER.replace(inner, r#""by_name":{"a":[5,null]}"#));
        assert!(
            error.starts_with("invalid type: sequence, expected struct Inner at line 3"),
            "{error}"
        );
        let error = refused(&OUTER.replace(r#"{"inner":{"length":4,"name":null}}"#, "[[4]]"));
        assert!(error.starts_with("invalid type: sequence"), "{error}");
    }

    #[test]
    fn text_of_values_is_kept() {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow)]
            content: &'a RawValue,
        }
        let part: Part<'_> = from_str(r#"{"content": [1,  2]}"#).unwrap();
        assert_eq!(part.content.get(), "[1,  2]");
        let owned: Vec<Box<RawValue>> = from_str("[{ }]").unwrap();
        assert_eq!(owned[0].get(), "{ }");
    }

    #[test]
    fn values_are_those_of_a_human_readable_format() {
        let address: std::net::IpAddr = from_str("\"127.0.0.1\"").unwrap();
        assert_eq!(address, std::net::Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn variants_without_fields_may_be_null() {
        assert_eq!(
            from_str::<Shape>(r#"{"nothing":null}"#).unwrap(),
            Shape::Nothing
        );
        assert!(from_str::<Shape>(r#"{"nothing":1}"#).is_err());
    }

    #[test]
    fn nothing_may_follow_a_value() {
        let error = from_str::<Length>("1 2").unwrap_err();
        assert!(error.is_syntax(), "{error}");
        assert!(from_str::<Inner>("{").unwrap_err().is_eof());
    }
}
