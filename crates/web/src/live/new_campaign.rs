//! A new campaign from a template: its cards, what would be lost, and the typed identities.

use super::actions::{launch, page_of_campaign};
use super::{NEW_CAMPAIGN, start};
use crate::access::Viewer;
use crate::context::{AppState, blocking};
use crate::frame::{self, Content, NavItem, Page};
use crate::html::Html;
use anyhow::{anyhow, bail};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use hakaru_campaign::campaign::ready::{
    READY, TemplateCampaign, TemplateCard, TemplateCardLocation, simulated_cards,
};
use hakaru_campaign::errors;
use hakaru_device::Roots;
use hakaru_device::guard::{self, Candidate};
use hakaru_report::plain;
use hakaru_results::campaign::{CampaignText, parse};
use hakaru_results::devices::{self, PresentDisk};
use hakaru_store::Store;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// Maximum number of cards to insert later.
const MOST_LATER: usize = 100;

/// Shows the form.
pub(crate) async fn form(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let may_act = state.may_act(&viewer.client);
    let of = state.clone();
    let page = blocking(&state, &viewer, move |_| {
        let page = Page::new(NavItem::Campaigns, content(may_act));
        Ok(frame::render(&of, &viewer, &page))
    });
    match page.await {
        Ok(page) => frame::response(StatusCode::OK, page),
        Err(error) => frame::failure(&state, &viewer, "", &error),
    }
}

fn content(may_act: bool) -> Content {
    let title = both!("New campaign", "新しいキャンペーン");
    let mut under = Html::new();
    let about = both!(
        "A campaign measures several cards in the same way, and compares them.",
        "キャンペーンは複数のカードを同じ方法で測定して比較する。"
    );
    put!(under, "<p>", (about), "</p>");
    if !may_act {
        return Content::own(&title, &under, &start::sign_in_first());
    }
    let mut main = Html::new();
    main.raw("<form method=\"post\" action=\"")
        .raw(NEW_CAMPAIGN);
    put!(
        main,
        "\">\n<label class=\"field\"><span>",
        (both!("Name of the campaign", "キャンペーンの名前")),
        "</span><input name=\"name\" maxlength=\"60\" autocomplete=\"off\" required></label>\n"
    );
    main.push(&templates());
    let roots = Roots::live();
    for disk in devices::present(&roots) {
        main.push(&disk_choice(&disk, &roots));
    }
    main.push(&other_cards());
    let ask = both!(
        "The page of the campaign asks for each card that is not here yet.",
        "まだ接続されていないカードは、キャンペーンのページで挿入を求める。"
    );
    put!(
        main,
        "<p>",
        (ask),
        "</p>\n<p class=\"act\"><button class=\"btn p\">",
        (both!("Start the campaign", "キャンペーンを開始")),
        "</button></p></form>\n"
    );
    Content::own(&title, &under, &main)
}

/// The templates whose cards can be others.
fn offered() -> impl Iterator<Item = &'static TemplateCampaign> {
    READY.iter().filter(|template| template.takes_other_cards())
}

fn templates() -> Html {
    let mut html = Html::new();
    let legend = both!("What is measured", "測定内容");
    put!(html, "<fieldset><legend>", (legend), "</legend>\n");
    for (index, template) in offered().enumerate() {
        html.raw("<label class=\"choice\"><input type=\"radio\" name=\"template\" value=\"")
            .raw(template.name);
        html.raw(match index {
            0 => "\" checked> ",
            _ => "\"> ",
        });
        html.raw("<span><b>").raw(template.name);
        put!(html, "</b> ", (template.purpose()), "</span></label>\n");
    }
    html.raw("</fieldset>\n");
    html
}

/// A disk that is here, with what would be lost.
fn disk_choice(disk: &PresentDisk, roots: &Roots) -> Html {
    let mut html = Html::new();
    let called = plain(&disk.identity.display_name());
    let legend = format!("{} · {called}", disk.name);
    put!(html, "<fieldset><legend>", (legend), "</legend>\n");
    let candidate = match guard::passive(&disk.path, roots) {
        Ok(candidate) => candidate,
        Err(refusal) => {
            let why = plain(&errors::message(&refusal));
            let kept = both!("Not available:", "使用できない:");
            put!(html, "<p>", (kept), " ", (why), "</p></fieldset>\n");
            return html;
        }
    };
    let measure = both!("Measure this card", "このカードを測定");
    put!(
        html,
        "<label><input type=\"checkbox\" name=\"disk\" value=\"",
        (disk.name),
        "\"> ",
        (measure)
    );
    put!(
        html,
        "<span class=\"vh\"> ",
        (disk.name),
        "</span></label>\n"
    );
    html.push(&start::losses(&candidate));
    put!(
        html,
        "<label class=\"field\"><span>",
        (start::identity_label(&candidate)),
        "</span><input name=\"identity-",
        (disk.name)
    );
    html.raw("\" autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\"></label></fieldset>\n");
    html
}

/// Cards that are not here yet, and simulated ones.
fn other_cards() -> Html {
    let mut html = Html::new();
    let (legend, later, simulated) = (
        both!("Other cards", "その他のカード"),
        both!(
            "Cards to insert later: their names, separated by commas",
            "後で挿入するカードの名前（コンマ区切り）"
        ),
        both!(
            "To try a campaign, simulated cards; nothing is erased:",
            "試しに使うシミュレートしたカード（何も消去しない）:"
        ),
    );
    put!(
        html,
        "<fieldset><legend>",
        (legend),
        "</legend>\n<label class=\"field\"><span>",
        (later),
        "</span><input name=\"later\" maxlength=\"2000\" autocomplete=\"off\"></label>\n<p>",
        (simulated),
        "</p>\n"
    );
    for card in simulated_cards() {
        put!(
            html,
            "<label><input type=\"checkbox\" name=\"simulated\" value=\"",
            (card.label),
            "\"> ",
            (card.label),
            "</label>\n"
        );
    }
    html.raw("</fieldset>\n");
    html
}

/// The fields of the form, which may repeat.
struct NewCampaignForm(Vec<(String, String)>);

impl NewCampaignForm {
    fn one(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.trim())
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let of = self.0.iter().filter(move |(key, _)| key == name);
        of.map(|(_, value)| value.trim())
    }
}

/// Starts a campaign from the form.
pub(crate) async fn create(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let made = blocking(&state, &viewer, move |store| {
        new_campaign(&NewCampaignForm(fields), store)
    });
    match made.await {
        Ok(made) => launch(&state, &viewer, &made.args, (&made.text, &made.page)).await,
        Err(error) => frame::failure(&state, &viewer, "", &error),
    }
}

/// A campaign to start.
#[derive(Debug)]
struct NewCampaign {
    /// Its file, which the program reads from its standard input.
    text: String,
    args: Vec<OsString>,
    /// Its page.
    page: String,
}

/// A disk of the form with the identity that was typed for it.
struct ChosenDisk {
    candidate: Candidate,
    name: String,
    typed: String,
}

impl ChosenDisk {
    fn card(&self, taken: &mut BTreeSet<String>) -> TemplateCard {
        let id = self.candidate.ids().first();
        let location = match id.filter(|_| self.candidate.tells_itself()) {
            Some(id) => TemplateCardLocation::Id(id.clone()),
            None => TemplateCardLocation::Node(self.candidate.identity().path.clone()),
        };
        let mut label = plain(&self.candidate.identity().display_name());
        if taken.contains(&label) {
            label = format!("{label} ({})", self.name);
        }
        taken.insert(label.clone());
        TemplateCard { label, location }
    }

    /// Returns the permission to erase the disk.
    ///
    /// # Errors
    /// If what was typed is not one of its IDs.
    fn permission(&self) -> anyhow::Result<&str> {
        let (typed, name) = (&self.typed, &self.name);
        let is_meant = |id: &String| id.eq_ignore_ascii_case(typed);
        match (&typed[..], self.candidate.ids().iter().any(is_meant)) {
            ("", _) => bail!(both!(
                "nothing was started: the ID of {name} was not typed; help: type it to confirm that its data is lost",
                "開始していません（{name}のIDが未入力）; help: データ消去の確認としてIDを入力してください"
            )),
            (_, false) => bail!(both!(
                "nothing was started: {typed} is not the ID of {name}; help: type one of the IDs shown",
                "開始していません（{typed}は{name}のIDではありません）; help: 表示されているIDを入力してください"
            )),
            (typed, true) => Ok(typed),
        }
    }
}

/// Returns the disks that were chosen, which must be here.
fn chosen_disks(form: &NewCampaignForm) -> anyhow::Result<Vec<ChosenDisk>> {
    let roots = Roots::live();
    let chosen = form.all("disk").map(|name| {
        let disk = devices::named(name, &roots).ok_or_else(|| {
            anyhow!(both!(
                "the disk {name} is not here now; help: insert it and reload the page",
                "ディスク{name}は接続されていません; help: 挿入してからページを再読み込みしてください"
            ))
        })?;
        Ok(ChosenDisk {
            candidate: guard::passive(&disk.path, &roots)?,
            typed: form.one(&format!("identity-{name}")).to_owned(),
            name: disk.name,
        })
    });
    chosen.collect()
}

/// Returns the labels of cards to insert later.
fn later(form: &NewCampaignForm) -> anyhow::Result<Vec<&str>> {
    let labels = form.one("later").split(',').map(str::trim);
    let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).collect();
    if labels.len() > MOST_LATER {
        bail!(both!(
            "too many cards: {}, at most {MOST_LATER}",
            "カードが多すぎます: {}枚（最大{MOST_LATER}枚）"; labels.len()
        ));
    }
    Ok(labels)
}

/// Makes a campaign from the form.
///
/// # Errors
/// If a value is missing or invalid, a campaign of this name is stored, or a disk that would be erased is not confirmed.
fn new_campaign(form: &NewCampaignForm, store: &Store) -> anyhow::Result<NewCampaign> {
    let wanted = form.one("template");
    let template = offered().find(|template| template.name == wanted);
    let template = template.ok_or_else(|| {
        anyhow!(both!(
            "the form is not one of this server; help: reload the page",
            "このサーバのフォームではありません; help: ページを再読み込みしてください"
        ))
    })?;
    let disks = chosen_disks(form)?;
    let mut taken = BTreeSet::new();
    let mut cards: Vec<TemplateCard> = disks.iter().map(|disk| disk.card(&mut taken)).collect();
    cards.extend(later(form)?.into_iter().map(|label| TemplateCard {
        label: label.to_owned(),
        location: TemplateCardLocation::Ask,
    }));
    let simulated: Vec<&str> = form.all("simulated").collect();
    let all = simulated_cards().into_iter();
    cards.extend(all.filter(|card| simulated.contains(&&card.label[..])));
    if cards.is_empty() {
        bail!(both!(
            "no card was chosen; help: choose a card that is here, name one to insert later, or try a simulated one",
            "カードが選ばれていません; help: 接続中のカードを選ぶか、後で挿入するカードの名前を入力するか、シミュレートしたカードを試してください"
        ));
    }
    let text = template.with_cards(form.one("name"), &cards);
    let origin = both!("the new campaign", "新しいキャンペーン");
    let parsed = parse(CampaignText::of_text(&origin, text.clone()));
    let campaign = parsed
        .map_err(|invalid| anyhow!(invalid.error.message.clone()))?
        .campaign;
    if store.kept_campaign(&campaign.id)?.is_some() {
        bail!(both!(
            "a campaign with the ID {} is stored already; help: choose another name, or resume that campaign on its page",
            "ID {}のキャンペーンはすでに保存されています; help: 別の名前にするか、そのページから再開してください"; campaign.id
        ));
    }
    let mut args = ["campaign", "run", "/dev/stdin", "--quiet"]
        .map(OsString::from)
        .to_vec();
    for (index, disk) in disks.iter().enumerate() {
        if campaign.erases(index) {
            args.push(format!("--erase={}", disk.permission()?).into());
        }
    }
    let page = page_of_campaign(&campaign.id);
    Ok(NewCampaign { text, args, page })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(fields: &[(&str, &str)]) -> anyhow::Result<NewCampaign> {
        let fields = fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let store = Store::empty("x.db").unwrap();
        new_campaign(&NewCampaignForm(fields.collect()), &store)
    }

    #[test]
    fn a_campaign_has_the_cards_of_the_form() {
        let of = made(&[
            ("name", "My \"cards\""),
            ("template", "quick"),
            ("later", "red, blue,, "),
            ("simulated", "simulated-cached"),
        ]);
        let of = of.unwrap();
        assert_eq!(of.args, ["campaign", "run", "/dev/stdin", "--quiet"]);
        assert_eq!(of.page, "/campaign/my-cards");
        let campaign = parse(CampaignText::of_text("x", of.text)).unwrap_or_else(|_| panic!());
        let labels = campaign.campaign.cards.iter().map(|card| &card.label[..]);
        let labels: Vec<&str> = labels.collect();
        assert_eq!(labels, ["red", "blue", "simulated-cached"]);
        assert_eq!(campaign.campaign.name, "My \"cards\"");
    }

    #[test]
    fn invalid_forms_start_nothing() {
        let valid = [("name", "a"), ("template", "quick"), ("later", "red")];
        assert!(made(&valid).is_ok());
        let many = "x,".repeat(MOST_LATER + 1);
        for (field, value) in [
            ("name", ""),
            ("name", "…"),
            ("template", "../../etc/passwd"),
            ("template", "article-c"),
            ("later", ""),
            ("later", "red,red"),
            ("later", &many),
        ] {
            let fields = valid.map(|(key, of)| (key, if key == field { value } else { of }));
            assert!(made(&fields).is_err(), "{field}={value}");
        }
        for disk in ["../sda", "/dev/vda", "", "nothing"] {
            let fields = [&valid[..], &[("disk", disk)]].concat();
            assert!(made(&fields).is_err(), "{disk}");
        }
    }
}
