//! Style rules: those of reports, and those of the frame.

use crate::access::Theme;

/// Condition of the rules for dark screens.
const DARK: &str = "@media(prefers-color-scheme:dark){";
/// A condition that no screen meets.
const NEVER: &str = "@media(max-width:0){";

/// Color schemes of a page whose theme is that of the system.
const SCHEMES: &str = "color-scheme:light dark";

/// Returns the style rules of all pages in a theme.
pub(crate) fn stylesheet(theme: Theme) -> String {
    let rules = hakaru_report::stylesheet() + FRAME;
    // Rules for dark screens are the same in every file: a chosen theme replaces their condition.
    match theme {
        Theme::Auto => rules,
        Theme::Light => rules
            .replace(DARK, NEVER)
            .replace(SCHEMES, "color-scheme:light"),
        Theme::Dark => rules
            .replace(DARK, "@media screen{")
            .replace(SCHEMES, "color-scheme:dark"),
    }
}

/// Rules of the frame; they follow the rules of reports and replace some.
const FRAME: &str = "\
body{max-width:none;padding:0;display:grid;grid-template-columns:200px minmax(0,1fr);min-height:100vh}\
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;z-index:20;background:#fff;padding:8px 12px}\
.menu{border-right:1px solid #d5dbe1;background:#f5f7f9;padding:14px 10px}\
.menu p{font-weight:700;margin:0 10px 10px;font-size:1.0625rem}.menu p small{font-weight:400}\
.menu ul{list-style:none;margin:0;padding:0;position:sticky;top:10px}\
.menu a{display:flex;gap:9px;align-items:center;padding:9px 10px;border-radius:6px;color:#1b1f24;text-decoration:none;font-size:.9375rem;min-height:44px}\
.menu a:hover{text-decoration:underline}.menu a[aria-current]{background:#ddecf8;font-weight:650}.menu svg{flex:none}\
.page{padding:0 24px 40px;max-width:1168px;min-width:0}\
.page .top h1{font-size:1.25rem;line-height:1.3}\
.devs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(300px,100%),1fr));gap:12px;list-style:none;margin:8px 0;padding:0}\
.devs li{border:1px solid #d5dbe1;border-radius:8px;padding:12px 14px;display:flex;flex-direction:column;gap:2px;font-size:.875rem;min-width:0;overflow-wrap:anywhere}\
.devs b{font-size:1rem}.act{margin:auto 0 0;padding-top:8px;display:flex;gap:8px;flex-wrap:wrap;max-width:none}\
.btn{display:inline-flex;align-items:center;font:inherit;font-size:.9375rem;font-weight:600;line-height:1.2;border:1px solid #0058a8;background:#fff;color:#0058a8;border-radius:6px;padding:11px 14px;min-height:44px;cursor:pointer;text-decoration:none}\
.btn:hover{text-decoration:underline}.btn.p{background:#005a94;color:#fff;border-color:#005a94}.btn.d{border-color:#a83a00;color:#a83a00}.btn.q{border-color:#d5dbe1;color:#1b1f24}\
button:focus-visible,input:focus-visible,select:focus-visible{outline:3px solid #0058a8;outline-offset:2px}\
form{margin:8px 0}fieldset{border:1px solid #d5dbe1;border-radius:8px;padding:8px 14px 12px;margin:0 0 12px;min-width:0}legend{font-weight:650;padding:0 6px}\
label{display:inline-flex;align-items:center;gap:6px;min-height:44px;margin-right:14px}\
input,select{font:inherit;color:inherit;background:#fff;border:1px solid #76828e;border-radius:6px;padding:8px 10px;min-height:44px;max-width:100%}\
input[type=radio],input[type=checkbox]{width:20px;height:20px;min-height:0;accent-color:#0072b2}\
.field{display:block;margin:0 0 8px}.field>span{display:block;font-size:.8125rem;color:#56606b}\
.choice{display:flex;align-items:flex-start;padding:8px 0;margin:0}.choice input{flex:none;margin:2px 4px 0 0}\
.pick{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(240px,100%),1fr));gap:0 16px}.pick input,.pick select{width:100%}\
.list{width:100%}.list td,.list th{min-height:44px}.list tbody th{min-width:5.5rem}.list td{white-space:nowrap}.list td.wrap{white-space:normal}.list .n{text-align:right}\
.pages{display:flex;gap:10px;margin:12px 0}.qr{background:#fff;padding:12px;display:inline-block}\
pre{overflow-x:auto;font-size:.8125rem;background:#f5f7f9;border-radius:6px;padding:10px 14px;margin:8px 0}\
@media(max-width:699px){body{display:block;padding:0 0 64px}\
.menu{position:fixed;bottom:0;left:0;right:0;z-index:9;border:0;border-top:1px solid #d5dbe1;padding:0}.menu p,.menu .x{display:none}\
.menu ul{display:grid;grid-template-columns:repeat(5,minmax(0,1fr));position:static}\
.menu a{flex-direction:column;gap:1px;font-size:.75rem;padding:7px 2px;border-radius:0;white-space:nowrap}\
.page{padding:0 16px 30px}.hide{display:none}}\
@media(prefers-color-scheme:dark){.skip:focus,.btn,input,select{background:#0f1419}\
.menu,pre{background:#182028}.menu,.devs li,fieldset{border-color:#33404c}.menu a{color:#e7eaee}.menu a[aria-current]{background:#133752}\
.btn{border-color:#78b9f5;color:#78b9f5}.btn.p{background:#0b6aa8;color:#fff;border-color:#0b6aa8}.btn.d{border-color:#ff9569;color:#ff9569}.btn.q{border-color:#33404c;color:#e7eaee}\
.field>span{color:#a3adb8}input,select{border-color:#7d8894}\
button:focus-visible,input:focus-visible,select:focus-visible{outline-color:#78b9f5}}\
@media print{body{display:block}.menu,.skip,.act,.pages,form{display:none}.page{padding:0;max-width:none}}\
@media(prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_theme_does_not_depend_on_the_system() {
        for theme in [Theme::Light, Theme::Dark] {
            assert!(
                !stylesheet(theme).contains("prefers-color-scheme"),
                "{theme:?}"
            );
        }
        assert!(stylesheet(Theme::Auto).contains(DARK));
        assert!(stylesheet(Theme::Dark).contains("color-scheme:dark"));
    }
}
