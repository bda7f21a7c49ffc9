//! JSON schemas of types, as serde writes their values.

use super::attributes::{SerdeAttributes, description};
use super::source::SourceTypes;
use anyhow::{Context, Result, bail};
use hakaru_model::job::IoEngine;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use syn::{Fields, GenericArgument, GenericParam, Generics, PathArguments, Type};

/// Schemas of the type parameters of a type, by their names.
type TypeParameters = BTreeMap<String, Value>;

/// Schemas of all types that are used.
pub(super) struct SchemaSet<'a> {
    sources: &'a SourceTypes,
    components: BTreeMap<String, Value>,
}

impl<'a> SchemaSet<'a> {
    pub(super) fn new(sources: &'a SourceTypes) -> SchemaSet<'a> {
        SchemaSet {
            sources,
            components: BTreeMap::new(),
        }
    }

    pub(super) fn into_components(self) -> Map<String, Value> {
        self.components.into_iter().collect()
    }

    /// Returns the schema of a type, such as `Reason<String>`.
    ///
    /// # Errors
    /// If the type has no known form.
    pub(super) fn named(&mut self, of: &str) -> Result<Value> {
        let of: Type = syn::parse_str(of).with_context(|| format!("{of} is no type"))?;
        self.of_type(&of, &TypeParameters::new())
    }

    /// Returns the schema of a document: an object of the type with the name of its schema.
    ///
    /// # Errors
    /// If the type has no known form.
    pub(super) fn document(&mut self, schema: &str, body: &str) -> Result<Value> {
        let reference = self.named(body)?;
        let body = self.resolved(&reference);
        if body["properties"].get("schema").is_some() {
            return Ok(reference);
        }
        let name = json!({
            "type": "object",
            "properties": { "schema": { "const": schema } },
            "required": ["schema"],
        });
        let component = component_of(&reference).context("a document is a type with a name")?;
        let whole = merged(&name, &body)?;
        self.components.insert(component.to_owned(), whole);
        Ok(reference)
    }

    /// Returns the schema to which a reference leads.
    fn resolved(&self, schema: &Value) -> Value {
        let of = component_of(schema).and_then(|name| self.components.get(name));
        match of {
            Some(of) => self.resolved(of),
            None => schema.clone(),
        }
    }

    fn of_type(&mut self, of: &Type, parameters: &TypeParameters) -> Result<Value> {
        match of {
            Type::Reference(of) => self.of_type(&of.elem, parameters),
            Type::Slice(of) => self.list(&of.elem, parameters),
            Type::Array(of) => {
                let mut list = self.list(&of.elem, parameters)?;
                if let syn::Expr::Lit(length) = &of.len
                    && let syn::Lit::Int(length) = &length.lit
                {
                    let length: u64 = length.base10_parse()?;
                    list["minItems"] = length.into();
                    list["maxItems"] = length.into();
                }
                Ok(list)
            }
            Type::Tuple(of) => {
                let all = of.elems.iter().map(|of| self.of_type(of, parameters));
                Ok(tuple(all.collect::<Result<_>>()?))
            }
            Type::Path(of) => {
                let last = of.path.segments.last().context("a type has a name")?;
                let name = last.ident.to_string();
                let arguments = types_of(&last.arguments);
                self.path(&name, &arguments, parameters)
                    .with_context(|| format!("in {name}"))
            }
            _ => bail!("a type of an unknown form"),
        }
    }

    fn list(&mut self, of: &Type, parameters: &TypeParameters) -> Result<Value> {
        Ok(json!({ "type": "array", "items": self.of_type(of, parameters)? }))
    }

    fn path(
        &mut self,
        name: &str,
        arguments: &[&Type],
        parameters: &TypeParameters,
    ) -> Result<Value> {
        if let Some(of) = parameters.get(name) {
            return Ok(of.clone());
        }
        let argument = |at: usize| arguments.get(at).copied().context("a type is missing");
        Ok(match name {
            "String" | "str" | "PathBuf" | "Path" | "OsString" | "UnknownReason" => {
                json!({ "type": "string" })
            }
            "bool" => json!({ "type": "boolean" }),
            "u8" | "u16" | "u32" | "u64" | "usize" => json!({ "type": "integer", "minimum": 0 }),
            "NonZeroU32" | "NonZeroU64" => json!({ "type": "integer", "minimum": 1 }),
            "i32" | "i64" => json!({ "type": "integer" }),
            "f64" | "f32" => json!({ "type": "number" }),
            "Vec" | "VecDeque" | "BTreeSet" => self.list(argument(0)?, parameters)?,
            "Box" | "Arc" | "Cow" => self.of_type(argument(0)?, parameters)?,
            "Option" => {
                json!({ "anyOf": [self.of_type(argument(0)?, parameters)?, { "type": "null" }] })
            }
            "BTreeMap" => {
                json!({ "type": "object", "additionalProperties": self.of_type(argument(1)?, parameters)? })
            }
            // Lines of CSV as objects: the columns are described with the CSV form.
            "Map" => {
                json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
            }
            // Written as flat lists of pairs.
            "Histogram" | "LatencyStepCounts" => {
                json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } })
            }
            // Generated by a macro.
            "IoEngine" => json!({ "enum": IoEngine::ALL }),
            _ => self.component(name, arguments, parameters)?,
        })
    }

    /// Returns a reference to the schema of a type of the workspace.
    fn component(
        &mut self,
        name: &str,
        arguments: &[&Type],
        parameters: &TypeParameters,
    ) -> Result<Value> {
        let item = self.sources.find(name).context("the type is not known")?;
        let mut own = TypeParameters::new();
        let mut component = name.to_owned();
        if let syn::Item::Struct(syn::ItemStruct { generics, .. })
        | syn::Item::Enum(syn::ItemEnum { generics, .. })
        | syn::Item::Type(syn::ItemType { generics, .. }) = item
        {
            for (parameter, argument) in names_of(generics).zip(arguments) {
                let of = self.of_type(argument, parameters)?;
                let of_name = component_of(&of).map_or_else(|| simple_name(&of), str::to_owned);
                component += &format!("Of{of_name}");
                own.insert(parameter, of);
            }
        }
        let reference = json!({ "$ref": format!("#/components/schemas/{component}") });
        if !self.components.contains_key(&component) {
            // A type that contains itself refers to its own schema.
            self.components.insert(component.clone(), Value::Null);
            let schema = self
                .item(item, &own)
                .with_context(|| format!("in {name}"))?;
            self.components.insert(component, schema);
        }
        Ok(reference)
    }

    fn item(&mut self, item: &syn::Item, parameters: &TypeParameters) -> Result<Value> {
        match item {
            syn::Item::Type(of) => self.of_type(&of.ty, parameters),
            syn::Item::Struct(of) => {
                let serde = SerdeAttributes::read(&of.attrs)?;
                let schema = match &serde.into {
                    Some(into) => self.named(into)?,
                    None => self.fields(&of.fields, &serde, parameters)?,
                };
                Ok(described(schema, &of.attrs))
            }
            syn::Item::Enum(of) => {
                let serde = SerdeAttributes::read(&of.attrs)?;
                let schema = match &serde.into {
                    Some(into) => self.named(into)?,
                    None => self.variants(of, &serde, parameters)?,
                };
                Ok(described(schema, &of.attrs))
            }
            _ => bail!("it is no type"),
        }
    }

    /// Fields of a struct or variant.
    fn fields(
        &mut self,
        fields: &Fields,
        of: &SerdeAttributes,
        parameters: &TypeParameters,
    ) -> Result<Value> {
        match fields {
            Fields::Unit => Ok(json!({ "type": "null" })),
            Fields::Unnamed(fields) => {
                let all = fields.unnamed.iter();
                let all = all.map(|field| self.of_type(&field.ty, parameters));
                let mut all = all.collect::<Result<Vec<_>>>()?;
                match all.len() {
                    1 => Ok(all.remove(0)),
                    _ => Ok(tuple(all)),
                }
            }
            Fields::Named(fields) => {
                let (mut properties, mut required, mut flat) = (Map::new(), Vec::new(), Vec::new());
                for field in &fields.named {
                    let serde = SerdeAttributes::read(&field.attrs)?;
                    let name = field.ident.as_ref().map(ToString::to_string);
                    let name = name.unwrap_or_default();
                    if serde.skip {
                        continue;
                    }
                    let schema = match serde.with.as_deref() {
                        None => self.of_type(&field.ty, parameters),
                        Some("as_text") => Ok(json!({ "type": "string", "pattern": "^[0-9]+$" })),
                        Some(other) => bail!("{name} is written by {other}, which is not known"),
                    };
                    let schema = schema.with_context(|| format!("in the field {name}"))?;
                    if of.transparent {
                        return Ok(schema);
                    }
                    if serde.flatten {
                        flat.push(self.resolved(&schema));
                        continue;
                    }
                    let name = serde.field(of.rename_all.as_deref(), &name)?;
                    if !serde.may_be_missing {
                        required.push(Value::from(name.clone()));
                    }
                    properties.insert(name, described(schema, &field.attrs));
                }
                let mut object = object(properties, required);
                for part in flat {
                    object = self.flattened(&object, &part)?;
                }
                Ok(object)
            }
        }
    }

    /// Adds the properties of a part to an object.
    fn flattened(&self, object: &Value, part: &Value) -> Result<Value> {
        let with_all = |key: &str, all: &Vec<Value>| -> Result<Value> {
            let all = all.iter().map(|one| match one["type"] == "null" {
                true => Ok(object.clone()),
                false => self.flattened(object, &self.resolved(one)),
            });
            Ok(json!({ key: all.collect::<Result<Vec<_>>>()? }))
        };
        for key in ["oneOf", "anyOf"] {
            if let Some(all) = part[key].as_array() {
                return with_all(key, all);
            }
        }
        merged(object, part)
    }

    fn variants(
        &mut self,
        of: &syn::ItemEnum,
        serde: &SerdeAttributes,
        parameters: &TypeParameters,
    ) -> Result<Value> {
        let (mut names, mut all) = (Vec::new(), Vec::new());
        for variant in &of.variants {
            let own = SerdeAttributes::read(&variant.attrs)?;
            if own.skip {
                continue;
            }
            let name = own.variant(serde.rename_all.as_deref(), &variant.ident.to_string())?;
            let body = self
                .fields(&variant.fields, &own, parameters)
                .with_context(|| format!("in the variant {name}"))?;
            let is_unit = matches!(variant.fields, Fields::Unit);
            let schema = match (&serde.tag, &serde.content) {
                _ if serde.untagged => body,
                (Some(tag), content) => {
                    let name = object(
                        Map::from_iter([(tag.clone(), json!({ "const": name }))]),
                        vec![Value::from(tag.clone())],
                    );
                    match content {
                        _ if is_unit => name,
                        Some(content) => {
                            let body = Map::from_iter([(content.clone(), body)]);
                            merged(&name, &object(body, vec![Value::from(content.clone())]))?
                        }
                        None => self.flattened(&name, &self.resolved(&body))?,
                    }
                }
                (None, _) if is_unit => {
                    names.push(Value::from(name));
                    continue;
                }
                (None, _) => object(
                    Map::from_iter([(name.clone(), body)]),
                    vec![Value::from(name)],
                ),
            };
            all.push(described(schema, &variant.attrs));
        }
        if !names.is_empty() {
            all.push(json!({ "enum": names }));
        }
        Ok(match (all.len(), serde.untagged) {
            (1, _) => all.remove(0),
            (_, true) => json!({ "anyOf": all }),
            (_, false) => json!({ "oneOf": all }),
        })
    }
}

/// Returns the name of the component to which a reference leads.
fn component_of(schema: &Value) -> Option<&str> {
    schema["$ref"]
        .as_str()?
        .strip_prefix("#/components/schemas/")
}

/// Returns a name for a schema without one, for the name of a component.
fn simple_name(schema: &Value) -> String {
    let kind = schema["type"].as_str().unwrap_or("Any");
    let (first, rest) = kind.split_at(1);
    let items = match schema.get("items") {
        Some(items) => component_of(items).map_or_else(|| simple_name(items), str::to_owned),
        None => String::new(),
    };
    format!("{}{rest}{items}", first.to_ascii_uppercase())
}

fn tuple(all: Vec<Value>) -> Value {
    let length = all.len();
    json!({ "type": "array", "prefixItems": all, "minItems": length, "maxItems": length })
}

fn object(properties: Map<String, Value>, required: Vec<Value>) -> Value {
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = required.into();
    }
    object
}

/// Merges two objects.
///
/// # Errors
/// If one of them is no object, or both have a property.
fn merged(a: &Value, b: &Value) -> Result<Value> {
    let mut all = a.clone();
    let (Some(properties), Some(others)) = (
        all["properties"].as_object_mut(),
        b["properties"].as_object(),
    ) else {
        bail!("only objects can be merged: {a} and {b}");
    };
    for (name, schema) in others {
        if properties.insert(name.clone(), schema.clone()).is_some() {
            bail!("two properties have the name {name}");
        }
    }
    let required = [a, b]
        .into_iter()
        .filter_map(|of| of["required"].as_array());
    let required: Vec<Value> = required.flatten().cloned().collect();
    all["required"] = required.into();
    if let (None, Some(text)) = (all.get("description"), b.get("description")) {
        all["description"] = text.clone();
    }
    Ok(all)
}

/// Adds the documentation comment to a schema.
fn described(mut schema: Value, attributes: &[syn::Attribute]) -> Value {
    let text = description(attributes);
    if !text.is_empty() {
        schema["description"] = text.into();
    }
    schema
}

/// Names of the type parameters.
fn names_of(generics: &Generics) -> impl Iterator<Item = String> + '_ {
    generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(of) => Some(of.ident.to_string()),
            _ => None,
        })
}

/// Types among the arguments of a path.
fn types_of(arguments: &PathArguments) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    types.collect()
}
