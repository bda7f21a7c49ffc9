//! Checks of values against JSON schemas (draft 2020-12), with those keywords that the description of the interface has.
//! Another keyword is a panic, so that no part of a schema is ignored.

use serde_json::{Map, Value};

/// Checks a value, and returns where it differs. Properties that an object of the schema does not list are differences,
/// although the description permits them for later versions.
pub(super) fn check(schema: &Value, components: &Value, value: &Value) -> Result<(), String> {
    SchemaCheck { components }.check(schema, value, "")
}

struct SchemaCheck<'a> {
    components: &'a Value,
}

impl SchemaCheck<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let schema = schema.as_object().expect("a schema is an object");
        let different = |what: &str| {
            let value: String = value.to_string().chars().take(120).collect();
            Err(format!("{at}: {what}: {value}"))
        };
        for (keyword, of) in schema {
            let is_valid = match &keyword[..] {
                "description" | "required" | "additionalProperties" => true,
                "$ref" => {
                    let name = of.as_str().unwrap().rsplit('/').next().unwrap();
                    self.check(&self.components[name], value, at)?;
                    true
                }
                "type" => has_type(of, value),
                "const" => value == of,
                "enum" => of.as_array().unwrap().contains(value),
                "pattern" => {
                    assert_eq!(of, "^[0-9]+$", "the only pattern");
                    let text = value.as_str().unwrap_or_default();
                    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
                }
                "minimum" => value.as_f64() >= of.as_f64(),
                "minItems" => value.as_array().map(Vec::len) >= Some(of.as_u64().unwrap() as usize),
                "maxItems" => value.as_array().map(Vec::len) <= Some(of.as_u64().unwrap() as usize),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(of, item, &format!("{at}/{index}"))?;
                    }
                    true
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten();
                    for (index, (of, item)) in of.as_array().unwrap().iter().zip(items).enumerate()
                    {
                        self.check(of, item, &format!("{at}/{index}"))?;
                    }
                    true
                }
                "anyOf" => {
                    self.fitting(of, value, at)?;
                    true
                }
                "oneOf" => match self.fitting(of, value, at)? {
                    1 => true,
                    _ => return different("several alternatives fit"),
                },
                "properties" => {
                    let empty = Map::new();
                    let own = value.as_object().unwrap_or(&empty);
                    self.properties(schema, own, at)?;
                    true
                }
                other => panic!("the keyword {other} is not known"),
            };
            if !is_valid {
                return different(&format!("not as in {keyword}: {of}"));
            }
        }
        if !schema.contains_key("properties")
            && let (Some(of), Some(own)) = (schema.get("additionalProperties"), value.as_object())
        {
            for (name, value) in own {
                self.check(of, value, &format!("{at}/{name}"))?;
            }
        }
        Ok(())
    }

    /// Checks that all properties of an object are listed, and none is missing.
    fn properties(
        &self,
        schema: &Map<String, Value>,
        own: &Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        let listed = schema["properties"].as_object().unwrap();
        for (name, value) in own {
            let of = listed.get(name);
            let of = of.ok_or_else(|| format!("{at}: the property {name} is not listed"))?;
            self.check(of, value, &format!("{at}/{name}"))?;
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten() {
            let name = name.as_str().unwrap();
            if !own.contains_key(name) {
                return Err(format!("{at}: the property {name} is missing"));
            }
        }
        Ok(())
    }

    /// Returns how many alternatives fit; without any, why each does not.
    fn fitting(&self, all: &Value, value: &Value, at: &str) -> Result<usize, String> {
        let all = all.as_array().unwrap();
        let wrong: Vec<String> = all
            .iter()
            .filter_map(|of| self.check(of, value, at).err())
            .collect();
        // The deepest difference belongs to the alternative that is meant.
        match all.len() - wrong.len() {
            0 => Err(wrong
                .into_iter()
                .max_by_key(|wrong| wrong.split(':').next().map(str::len))
                .unwrap_or_default()),
            fitting => Ok(fitting),
        }
    }
}

fn has_type(names: &Value, value: &Value) -> bool {
    if let Some(names) = names.as_array() {
        return names.iter().any(|name| has_type(name, value));
    }
    match names.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the type {other} is not known"),
    }
}
