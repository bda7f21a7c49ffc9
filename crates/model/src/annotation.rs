//! Labels, titles and notes that users give to stored results. They may change; the records do not.

use serde::{Deserialize, Serialize};

/// Kind of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationKind {
    /// Replaces the label in the record, and all aliases.
    Label,
    /// A further label of the same result.
    Alias,
    /// Title of reports.
    Title,
    /// Free text.
    Note,
}

impl AnnotationKind {
    /// All kinds.
    pub const ALL: [AnnotationKind; 4] = [
        AnnotationKind::Label,
        AnnotationKind::Alias,
        AnnotationKind::Title,
        AnnotationKind::Note,
    ];

    /// Returns the stored name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            AnnotationKind::Label => "label",
            AnnotationKind::Alias => "alias",
            AnnotationKind::Title => "title",
            AnnotationKind::Note => "note",
        }
    }

    /// Returns the kind with a stored name.
    pub fn from_name(name: &str) -> Option<AnnotationKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One annotation in the history of a series of runs or a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// ID of the series or verification.
    pub subject: String,
    /// The kind.
    pub kind: AnnotationKind,
    /// The text; empty to remove it.
    pub value: String,
    /// Time of the annotation, in milliseconds since 1970 UTC.
    pub at_unix_ms: i64,
}

/// Current annotations of a series of runs or a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// Label; `None` if the label in the record is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Further labels, in the order in which they were added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Title of reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Annotations {
    /// Returns the annotations at the end of a history, which is in order of time.
    pub fn at_end<'a>(history: impl IntoIterator<Item = &'a Annotation>) -> Annotations {
        let mut now = Annotations::default();
        for Annotation { kind, value, .. } in history {
            let value = Some(value.clone()).filter(|value| !value.is_empty());
            match kind {
                AnnotationKind::Label => {
                    now.label = value;
                    now.aliases.clear();
                }
                AnnotationKind::Alias => {
                    let new = value.filter(|value| !now.aliases.contains(value));
                    now.aliases.extend(new);
                }
                AnnotationKind::Title => now.title = value,
                AnnotationKind::Note => now.note = value,
            }
        }
        now
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Annotations::default()
    }

    /// Returns the history that leads to these annotations, all at one time.
    pub fn to_history(&self, subject: &str, at_unix_ms: i64) -> Vec<Annotation> {
        let one = |kind| {
            move |value: &String| Annotation {
                subject: subject.to_owned(),
                kind,
                value: value.clone(),
                at_unix_ms,
            }
        };
        let label = self.label.iter().map(one(AnnotationKind::Label));
        let aliases = self.aliases.iter().map(one(AnnotationKind::Alias));
        let title = self.title.iter().map(one(AnnotationKind::Title));
        let note = self.note.iter().map(one(AnnotationKind::Note));
        label.chain(aliases).chain(title).chain(note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(kind: AnnotationKind, value: &str) -> Annotation {
        Annotation {
            subject: "s".to_owned(),
            kind,
            value: value.to_owned(),
            at_unix_ms: 0,
        }
    }

    #[test]
    fn the_last_annotation_of_a_kind_counts() {
        use AnnotationKind::{Alias, Label, Note};
        let history = [
            annotation(Label, "ssd"),
            annotation(Alias, "old ssd"),
            annotation(Alias, "old ssd"),
            annotation(Note, "in a USB 2 port"),
            annotation(Note, ""),
        ];
        let now = Annotations::at_end(&history);
        assert_eq!(now.label.as_deref(), Some("ssd"));
        assert_eq!(now.aliases, ["old ssd"]);
        assert_eq!(now.note, None);
        assert_eq!(Annotations::at_end(&now.to_history("s", 1)), now);
        let renamed = [history.to_vec(), vec![annotation(Label, "t7")]].concat();
        let now = Annotations::at_end(&renamed);
        assert_eq!((now.label.as_deref(), now.aliases.len()), (Some("t7"), 0));
    }

    #[test]
    fn kinds_have_names() {
        for kind in AnnotationKind::ALL {
            assert_eq!(AnnotationKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(AnnotationKind::from_name("price"), None);
    }
}
