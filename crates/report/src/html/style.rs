//! The style of the page: one column on narrow screens, two columns of charts on wide ones, and a light and a dark
//! theme.

/// Style rules of the page, without the rules of the charts.
pub(super) const CSS: &str = "\
:root{color-scheme:light dark}\
*{box-sizing:border-box}\
body{margin:0;background:#fff;color:#1b1f24;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Noto Sans CJK JP',sans-serif}\
main{max-width:1160px;margin:0 auto;padding:24px 20px 48px}\
h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}\
h2{font-size:1.25rem;margin:44px 0 10px;padding-bottom:6px;border-bottom:1px solid #d0d7de;overflow-wrap:anywhere}\
h3{font-size:1rem;margin:20px 0 4px;overflow-wrap:anywhere}\
p{margin:6px 0;max-width:75ch;overflow-wrap:anywhere}\
.quiet,small{color:#59636e}small{display:block;font-size:.8rem;font-weight:400;line-height:1.35}\
a{color:#0a5cad}\
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(215px,1fr));gap:12px;margin:18px 0;padding:0;list-style:none}\
.tiles li{border:1px solid #d0d7de;border-radius:8px;padding:10px 12px;min-width:0;overflow-wrap:anywhere}\
.tiles b{display:block;font-size:1.45rem;line-height:1.3;font-variant-numeric:tabular-nums}\
.tiles b span{font-size:.85rem;font-weight:400}\
.caveats{margin:14px 0;padding:10px 14px 10px 34px;border-left:4px solid #b26a00;background:#fff6e5;border-radius:0 6px 6px 0}\
.caveats li{overflow-wrap:anywhere}\
.facts{padding-left:20px}.facts li{overflow-wrap:anywhere;margin:3px 0;max-width:100ch}\
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:18px 0;font-size:.9rem}nav a{overflow-wrap:anywhere}\
.charts{display:grid;grid-template-columns:minmax(0,1fr);gap:28px 40px}\
figure{margin:0;min-width:0}.charts>:only-child{grid-column:1/-1}\
figcaption{margin-bottom:8px}\
figcaption small{min-height:2.7em}\
figure svg{display:block;width:100%;height:auto;max-width:720px}\
figure .narrow{display:none}\
details{margin-top:8px}summary{cursor:pointer;color:#59636e;font-size:.9rem}\
.scroll{overflow-x:auto}.scroll+.scroll{margin-top:20px}figure .scroll{max-height:70vh}\
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid #e4e8ec}\
thead th{font-size:.8rem;color:#59636e;font-weight:600;vertical-align:bottom}header p{max-width:none}\
.wide{width:100%}\
.numbers td,.numbers thead th{text-align:right}.numbers td{white-space:nowrap}.numbers td small{white-space:normal}\
.numbers thead th:first-child,.numbers .words{text-align:left!important}.numbers td.words{white-space:normal}th.words,td.words{padding-left:8px}.verdicts .words{padding-left:0}\
.numbers tbody th{min-width:9em;font-weight:600;overflow-wrap:anywhere}\
.verdicts td:nth-child(2){white-space:nowrap}.verdicts tbody th{font-weight:600;min-width:11em}\
.pairs th{font-weight:400;color:#59636e;white-space:nowrap;width:11em}.pairs td{overflow-wrap:anywhere}\
footer{margin-top:48px;font-size:.85rem;color:#59636e}\
@media(min-width:1080px){.charts{grid-template-columns:repeat(2,minmax(0,1fr))}}\
@media(max-width:560px){\
main{padding:16px 14px 32px}h1{font-size:1.3rem}\
figure .wide-chart{display:none}figure .narrow{display:block}\
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tiles b{font-size:1.2rem}\
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\
.cards,.cards tbody,.cards tr,.cards th,.cards td{display:block;width:100%}\
.cards tr{padding:8px 0;border-bottom:1px solid #d0d7de}\
.cards tbody th,.cards td{border:0;padding:1px 0;text-align:left;white-space:normal}\
.cards td{display:flex;justify-content:space-between;gap:12px;text-align:right}\
.cards td::before{content:attr(data-name);color:#59636e;text-align:left}\
.verdicts td{white-space:normal!important}.cards td:empty{display:none}.cards td span{flex:none;max-width:72%}\
.pairs th{width:8.5em;white-space:normal}}\
@media(prefers-color-scheme:dark){\
body{background:#14171a;color:#e6e9ec}\
h2{border-color:#343b42}.quiet,small,summary,thead th,.pairs th,footer,.cards td::before{color:#9aa4ae}\
a{color:#6cb6ff}.tiles li,.cards tr{border-color:#343b42}\
.caveats{background:#2b2314;border-color:#e0a030}th,td{border-color:#2c3238}}\
@media print{.scroll{max-height:none}h2,figure,li{break-inside:avoid}h2.page{break-before:page}}";
