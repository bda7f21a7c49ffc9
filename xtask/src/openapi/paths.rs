//! The paths of the interface, with their parameters and answers.

use super::types::SchemaSet;
use anyhow::Result;
use serde_json::{Map, Value, json};

/// A path that answers `GET`.
struct ApiPath {
    path: &'static str,
    summary: &'static str,
    /// Name, description and example of the parameter in the path.
    name: Option<(&'static str, &'static str)>,
    answer: ApiAnswer,
}

/// What a path sends.
enum ApiAnswer {
    /// A document with a schema: its name and the type of its body.
    Document(&'static str, &'static str),
    /// A value of a type.
    Value(&'static str),
    /// Server-sent events.
    Events,
    /// The document that describes the paths.
    OpenApi,
}

use ApiAnswer::{Document, Events, OpenApi, Value as Plain};

const RESULT: (&str, &str) = (
    "name",
    "ID, unique start of an ID, label, `latest`, or `latest:N`.",
);

const fn path(
    path: &'static str,
    summary: &'static str,
    name: Option<(&'static str, &'static str)>,
    answer: ApiAnswer,
) -> ApiPath {
    ApiPath {
        path,
        summary,
        name,
        answer,
    }
}

const PATHS: [ApiPath; 16] = [
    path(
        "/api/v1/series",
        "Lists stored series, verifications and anatomies, the last stored first.",
        None,
        Document("hakaru.list/1", "ListJson"),
    ),
    path(
        "/api/v1/series/{name}/report",
        "Reports the figures and conclusions of a series.",
        Some(RESULT),
        Document("hakaru.report/1", "ReportJson"),
    ),
    path(
        "/api/v1/runs/{id}",
        "Returns a run as it is stored.",
        Some(("id", RESULT.1)),
        Document("hakaru.record/1", "AnnotatedResult<RunRecord>"),
    ),
    path(
        "/api/v1/verifications/{id}",
        "Returns a verification as it is stored.",
        Some(("id", "ID or unique start of an ID.")),
        Document("hakaru.verification/1", "AnnotatedResult<Verification>"),
    ),
    path(
        "/api/v1/anatomies/{id}",
        "Returns an anatomy as it is stored, with the advice that follows from it.",
        Some(("id", "ID or unique start of an ID.")),
        Document("hakaru.anatomy/1", "AdvisedAnatomy"),
    ),
    path(
        "/api/v1/path/{name}",
        "Returns the paths of the I/Os of a traced run.",
        Some(RESULT),
        Document("hakaru.explain/1", "ExplainJson"),
    ),
    path(
        "/api/v1/compare",
        "Compares two or more sets of results.",
        None,
        Document("hakaru.compare/1", "CompareJson"),
    ),
    path(
        "/api/v1/campaigns",
        "Lists stored campaigns with their numbers of runs.",
        None,
        Document("hakaru.campaign-status/1", "StatusJson"),
    ),
    path(
        "/api/v1/campaigns/{id}",
        "Returns the progress of a campaign.",
        Some(("id", "ID of the campaign.")),
        Document("hakaru.campaign-status/1", "StatusJson"),
    ),
    path(
        "/api/v1/campaigns/{id}/report",
        "Reports the figures and conclusions of a campaign.",
        Some(("id", "ID of the campaign.")),
        Document("hakaru.campaign-report/1", "CampaignReportJson"),
    ),
    path(
        "/api/v1/cards/{name}",
        "Returns the history of a card with its trends.",
        Some(("name", "Label or ID of the card.")),
        Document("hakaru.history/1", "CardHistory"),
    ),
    path(
        "/api/v1/disks",
        "Lists the disks that are present, and describes the host.",
        None,
        Document("hakaru.info/1", "PresentDisksJson"),
    ),
    path(
        "/api/v1/references",
        "Lists published and own reference results.",
        None,
        Document("hakaru.reference/1", "ReferenceSet"),
    ),
    path(
        "/api/v1/live",
        "Lists the processes that measure now.",
        None,
        Plain("RunningJson"),
    ),
    path(
        "/api/v1/events",
        "Sends what runs now as server-sent events.",
        None,
        Events,
    ),
    path(
        "/api/v1/openapi.json",
        "Returns this document.",
        None,
        OpenApi,
    ),
];

/// Returns all paths.
///
/// # Errors
/// If a type has no known form.
pub(super) fn all(schemas: &mut SchemaSet<'_>) -> Result<Map<String, Value>> {
    let error = schemas.named("ErrorJson")?;
    let mut all = Map::new();
    for of in &PATHS {
        let mut get = json!({
            "summary": of.summary,
            "operationId": operation_id(of.path),
            "responses": { "200": answer(schemas, &of.answer)? },
        });
        let responses = &mut get["responses"];
        let content = json!({ "application/json": { "schema": error } });
        for (status, means) in errors(of) {
            responses[status] = json!({ "description": means, "content": content });
        }
        let parameters = parameters(of);
        if !parameters.is_empty() {
            get["parameters"] = parameters.into();
        }
        all.insert(of.path.to_owned(), json!({ "get": get }));
    }
    Ok(all)
}

/// Statuses of errors with their meanings.
fn errors(of: &ApiPath) -> Vec<(&'static str, &'static str)> {
    let mut errors = vec![
        ("401", "Reading needs the token."),
        (
            "429",
            "Too many wrong tokens from this address; wait a minute.",
        ),
    ];
    if matches!(of.answer, Document(..)) {
        errors.insert(0, ("400", "The request cannot be fulfilled."));
        errors.push(("503", "The database cannot be read."));
    }
    if of.name.is_some() || of.path.ends_with("/compare") {
        errors.push(("404", "There is no such result."));
    }
    errors
}

fn parameters(of: &ApiPath) -> Vec<Value> {
    let mut parameters = Vec::new();
    if let Some((name, description)) = of.name {
        parameters.push(json!({
            "name": name, "in": "path", "required": true, "description": description,
            "schema": { "type": "string" },
        }));
    }
    match of.path {
        "/api/v1/series" => parameters.push(json!({
            "name": "limit", "in": "query", "description": "Maximum number of entries of each list.",
            "schema": { "type": "integer", "minimum": 0, "maximum": 1000, "default": 100 },
        })),
        "/api/v1/compare" => parameters.push(json!({
            "name": "set", "in": "query", "required": true, "explode": true,
            "description": "A set of results, as an argument of hakaru compare: a name, or conditions such as \
                card=a,layer=ext4. Given once for each set.",
            "schema": { "type": "array", "items": { "type": "string" }, "minItems": 2 },
        })),
        "/api/v1/events" => parameters.push(json!({
            "name": "Last-Event-ID", "in": "header",
            "description": "ID of the last event received; the samples that followed are sent.",
            "schema": { "type": "string" },
        })),
        _ => {}
    }
    parameters
}

fn answer(schemas: &mut SchemaSet<'_>, answer: &ApiAnswer) -> Result<Value> {
    let (description, kind, schema) = match answer {
        Document(schema, body) => (
            format!("The document `{schema}`."),
            "application/json",
            schemas.document(schema, body)?,
        ),
        Plain(name) => (
            "The processes.".to_owned(),
            "application/json",
            schemas.named(name)?,
        ),
        OpenApi => (
            "The description of the interface.".to_owned(),
            "application/json",
            json!({ "type": "object", "required": ["openapi", "info", "paths"] }),
        ),
        // OpenAPI 3.1 has no keyword for the data of events.
        Events => (
            "Events; `x-events` has the schema of the data of each.".to_owned(),
            "text/event-stream",
            json!({ "type": "string", "x-events": events(schemas)? }),
        ),
    };
    Ok(json!({ "description": description, "content": { kind: { "schema": schema } } }))
}

/// Schemas of the data of events. Events are put together from parts, and have no types.
fn events(schemas: &mut SchemaSet<'_>) -> Result<Value> {
    Ok(json!({
        "state": schemas.named("LiveState")?,
        "samples": {
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "The process, as in its state." },
                "samples": schemas.named("Vec<LiveSample>")?,
            },
            "required": ["id", "samples"],
        },
        "disks": {
            "type": "object",
            "properties": { "disks": schemas.named("Vec<PathBuf>")? },
            "required": ["disks"],
        },
    }))
}

/// Returns a name for an operation: `/api/v1/series/{name}/report` is `series_report`.
fn operation_id(path: &str) -> String {
    let parts = path.trim_start_matches("/api/v1/").split('/');
    let all: Vec<&str> = parts.collect();
    let of_one = all.last().is_some_and(|part| part.starts_with('{'));
    let words = all.iter().filter(|part| !part.starts_with('{'));
    let words: Vec<String> = words.map(|part| part.replace(['.', '-'], "_")).collect();
    match of_one {
        true => format!("{}_by_name", words.join("_")),
        false => words.join("_"),
    }
}
