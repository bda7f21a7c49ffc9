//! Questions of a process on a page, and the forms that answer them.

use crate::html::Html;
use hakaru_store::live::{LiveDisk, LivePrompt, LivePromptKind, LiveState};

/// The question of a process, and a form that answers it. The process checks what is typed, as on a terminal.
pub(super) fn question(state: &LiveState, prompt: &LivePrompt, may_act: bool) -> Html {
    let mut html = Html::new();
    html.raw("<div class=\"ask\" role=\"status\" aria-live=\"polite\">");
    match &prompt.kind {
        LivePromptKind::Insert {
            card,
            position: (number, of),
            why,
            disks,
            default,
        } => {
            let ask = both!(
                "Insert {card} (card {number} of {of}).",
                "カード{card}を挿入（{of}枚中{number}枚目）。"
            );
            put!(
                html,
                "<p><strong>",
                (ask),
                "</strong> <small>",
                (why),
                "</small></p>\n"
            );
            if may_act {
                html.push(&insert_form(state, prompt, disks, default.as_deref()));
            }
        }
        LivePromptKind::Erase {
            card,
            device,
            name,
            losses,
            wrong,
        } => {
            let ask = both!(
                "{card}: all data on this device will be erased.",
                "{card}: このデバイスの全データを消去する。"
            );
            put!(
                html,
                "<p><strong>",
                (ask),
                "</strong></p><p>",
                (device),
                "</p><ul>"
            );
            for loss in losses {
                put!(html, "<li>", (loss), "</li>");
            }
            html.raw("</ul>");
            if let Some(wrong) = wrong {
                let line = both!(
                    "`{wrong}` was typed, and the name is `{name}`.",
                    "入力「{wrong}」が「{name}」と一致しない。"
                );
                put!(html, "<p>", (line), "</p>");
            }
            if may_act {
                html.push(&erase_form(state, prompt, name));
            }
        }
    }
    html.raw("</div>");
    html
}

fn erase_form(state: &LiveState, prompt: &LivePrompt, name: &str) -> Html {
    let mut html = Html::new();
    let label = both!(
        "Type {name} or its ID to erase it",
        "消去するには「{name}」またはIDを入力"
    );
    let (erase, skip) = (
        both!("Erase", "消去"),
        both!("Skip this card", "このカードをスキップ"),
    );
    html.push(&open(state, prompt));
    put!(html, "<label class=\"field\"><span>", (label));
    put!(
        html,
        "</span><input name=\"text\" autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" required></label>"
    );
    put!(
        html,
        "<button class=\"btn d\">",
        (erase),
        "</button></form>\n"
    );
    html.push(&choice(state, prompt, "", &skip, "btn q"));
    html
}

fn insert_form(
    state: &LiveState,
    prompt: &LivePrompt,
    disks: &[LiveDisk],
    default: Option<&str>,
) -> Html {
    let mut html = Html::new();
    html.raw("<p class=\"act\">");
    for disk in disks {
        let (node, name) = (&disk.node, &disk.name);
        let label = match (&disk.label, &disk.id) {
            (Some(label), _) => both!(
                "Use {node}: {name}, measured as {label}",
                "{node}を使用: {name}、{label}として測定済み"
            ),
            (None, Some(id)) => both!("Use {node}: {name}, {id}", "{node}を使用: {name}、{id}"),
            (None, None) => both!("Use {node}: {name}", "{node}を使用: {name}"),
        };
        let class = match default == Some(&node[..]) {
            true => "btn p",
            false => "btn",
        };
        html.push(&choice(state, prompt, node, &label, class));
    }
    let again = both!("Look again", "再検索");
    if default.is_none() {
        html.push(&choice(state, prompt, "", &again, "btn"));
    }
    let skip = both!("Skip this card", "このカードをスキップ");
    html.push(&choice(state, prompt, "s", &skip, "btn q"));
    let stop = both!("Stop the campaign", "キャンペーンを停止");
    html.push(&choice(state, prompt, "q", &stop, "btn q"));
    html.raw("</p>");
    html
}

/// Opens the form of an answer.
fn open(state: &LiveState, prompt: &LivePrompt) -> Html {
    let mut html = Html::new();
    put!(
        html,
        "<form method=\"post\" action=\"/live/answer\"><input type=\"hidden\" name=\"id\" value=\"",
        (state.id)
    );
    put!(
        html,
        "\"><input type=\"hidden\" name=\"prompt\" value=\"",
        (prompt.number),
        "\">"
    );
    html
}

/// A button that sends an answer.
fn choice(
    state: &LiveState,
    prompt: &LivePrompt,
    answer: &str,
    label: &str,
    class: &'static str,
) -> Html {
    let mut html = open(state, prompt);
    put!(
        html,
        "<input type=\"hidden\" name=\"text\" value=\"",
        (answer),
        "\"><button class=\""
    );
    html.raw(class);
    put!(html, "\">", (label), "</button></form>\n");
    html
}
