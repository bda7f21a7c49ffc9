//! The style of the page: one column on narrow screens, two on wide ones, a light and a dark theme, and A4 paper.
//!
//! Colors are plain values with a block for the dark theme, like those of the charts.

/// Style rules of the page, without the rules of the charts.
pub(super) const CSS: &str = "\
:root{color-scheme:light dark}\
*{box-sizing:border-box}\
html{scroll-padding-top:56px;-webkit-text-size-adjust:100%}\
body{overflow-wrap:break-word;max-width:1160px;margin:0 auto;padding:0 20px 40px;background:#fff;color:#1b1f24;font:1rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Hiragino Sans','Yu Gothic UI','Noto Sans CJK JP',sans-serif;font-variant-numeric:tabular-nums}\
h1{font-size:1rem;font-weight:650;margin:0;overflow-wrap:anywhere}\
:lang(ja){line-break:strict}:lang(ja) :is(h1,h2,h3,p,li){word-break:auto-phrase}:lang(ja) th{word-break:keep-all;overflow-wrap:break-word}\
h2{font-size:1.25rem;line-height:1.3;margin:12px 0 4px;padding-top:8px;border-top:1px solid #d5dbe1;overflow-wrap:anywhere}\
h3{font-size:1rem;line-height:1.35;margin:14px 0 2px;overflow-wrap:anywhere}\
h2+h3{margin-top:4px}\
p{margin:0 0 8px;max-width:75ch;overflow-wrap:anywhere}code{font:.92em ui-monospace,monospace}\
a{color:#0058a8}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid #0058a8;outline-offset:2px}\
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\
.quiet,.proof,.key,small{color:#56606b}small{display:block;font-size:.8125rem;font-weight:400;line-height:1.35}\
.quiet,.proof{font-size:.875rem}.quiet{max-width:none}.proof{max-width:none;margin-bottom:14px}.key{font-size:.8125rem;max-width:none;margin:4px 0 0}\
.top{padding:14px 0 0;display:flex;flex-wrap:wrap;gap:0 14px;align-items:baseline}\
.top p{margin:0;font-size:.8125rem;color:#56606b;max-width:none}\
.toc{position:sticky;top:0;z-index:5;margin:0 -20px;padding:0 12px;background:#fff;border-bottom:1px solid #d5dbe1;overflow-x:auto;white-space:nowrap}\
.toc ul{display:flex;list-style:none;margin:0;padding:0}\
.toc a{display:block;padding:12px 6px;font-size:.8125rem;text-decoration:none;color:#1b1f24}.toc a:hover{text-decoration:underline}\
.answer,h2.answer{border:0;padding:0;margin:12px 0 6px;max-width:58ch;font-size:clamp(1.3rem,2.45vw,1.8rem);line-height:1.26;font-weight:650;letter-spacing:-.011em;text-wrap:pretty}.whole{white-space:nowrap}\
.verdict{margin:8px 0 12px;padding:12px 18px;border-left:10px solid #d55e00;border-radius:6px;background:#fce9df}.verdict.good{border-color:#009e73;background:#e3f4ee}.verdict.warned{border-color:#e69f00;background:#fdf3dc}.verdict.unknown{border-color:#8a949e;background:#f5f7f9}.verdict .answer{margin:0 0 4px}.verdict p{margin:0}\
.two,.charts{display:grid;grid-template-columns:minmax(0,1fr);gap:10px 24px;align-items:start}.lead{display:grid;grid-template-columns:minmax(0,1fr);gap:20px 24px;align-items:start;margin-top:10px}\
.two>*,.lead>*,.stack>*{min-width:0}.stack>*+*{margin-top:12px}.two h2:first-child,.lead h2:first-child{margin-top:0}.two figure h3,.lead figure h3{margin-top:0}\
.box{background:#f5f7f9;border-radius:6px;padding:10px 14px;font-size:.875rem}.box+.box,.two+.box,.lead+.box{margin-top:12px}.box h3{font-size:.9375rem;margin:0 0 4px}.box p{margin:4px 0 0}\
.warn{border-left:4px solid #e69f00}.limits{margin:0;padding-left:1.3em}.limits li{margin:0 0 1px;max-width:95ch;overflow-wrap:anywhere}main>.limits{scroll-margin-top:110px}\
.box dl{display:grid;grid-template-columns:auto 1fr;gap:3px 12px;margin:0;font-size:.8125rem}.box dt{color:#56606b}.box dd{margin:0;font-weight:600;overflow-wrap:anywhere}.box dd small{display:inline;font-size:inherit}\
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(215px,1fr));gap:12px;margin:14px 0;padding:0;list-style:none}\
.tiles li{border:1px solid #d5dbe1;border-radius:8px;padding:8px 12px;min-width:0;overflow-wrap:anywhere}\
.tiles b{display:block;font-size:1.375rem;line-height:1.3}.tiles b span{font-size:.875rem;font-weight:400}\
.caveats{margin:12px 0;padding:8px 14px 8px 32px;border-left:4px solid #e69f00;background:#f5f7f9;border-radius:0 6px 6px 0}.caveats li{overflow-wrap:anywhere}\
.facts{margin:2px 0;padding-left:20px;font-size:.875rem}.facts li{overflow-wrap:anywhere;margin:2px 0;max-width:100ch}\
.uses{display:grid;grid-template-columns:repeat(auto-fit,minmax(250px,1fr));gap:0 20px;list-style:none;margin:4px 0;padding:0;font-size:.875rem}\
.uses b{display:inline-block}.uses b::first-letter,.marks thead th::first-letter,.verdicts tbody th::first-letter{text-transform:uppercase}.uses li{padding:4px 0;border-bottom:1px solid #d5dbe1;overflow-wrap:anywhere}\
.mark{display:inline-block;padding:0 7px;border-radius:10px;font-size:.8125rem;font-weight:600;white-space:nowrap}\
.ok{color:#00684b;background:#e3f4ee}.care{color:#7a5200;background:#fdf3dc;border-radius:4px}.no{color:#a83a00;background:#fce9df;border-radius:0}.open{color:#56606b;background:#eef1f4;outline:1px dashed #8a949e;outline-offset:-1px}\
table{border-collapse:collapse;font-size:.875rem}\
caption{text-align:left;font-weight:650;padding:0 0 4px}caption small{display:inline}\
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid #d5dbe1}\
thead th{font-size:.8125rem;line-height:1.25;color:#56606b;font-weight:600;vertical-align:bottom}\
.wide{width:100%}\
.numbers td,.numbers thead th{text-align:right}.numbers td{white-space:nowrap}.numbers td small{white-space:normal}\
.numbers thead th:first-child,.numbers .words{text-align:left!important}.numbers td.words{white-space:normal}th.words,td.words{padding-left:8px}.verdicts .words{padding-left:0}\
.numbers tbody th{min-width:9em;font-weight:600;overflow-wrap:anywhere}\
.verdicts td:nth-child(2){white-space:nowrap}.verdicts tbody th{font-weight:600;min-width:11em}\
.compact tbody th,.compact td{white-space:nowrap}.compact td,.compact thead th{padding-right:16px}\
.marks th,.marks td{text-align:center;padding:5px 8px}.marks th:first-child{text-align:left;padding-left:0}.marks thead th{max-width:9em}:lang(ja) .marks thead th{overflow-wrap:normal}:lang(ja) td{word-break:auto-phrase}\
.pairs th{font-weight:400;color:#56606b;width:14em}.pairs td{overflow-wrap:anywhere}\
.heat{width:100%}.heat thead th,.heat tbody th{border:0}.heat thead th{padding:2px 6px;text-align:right}.heat thead th:first-child{text-align:left;padding-left:0}.heat thead small{white-space:nowrap}\
.heat tbody th{font-weight:600;padding:4px 8px 4px 0}.heat tbody th,.marks tbody th{max-width:14em;overflow-wrap:break-word}\
.heat td{border:2px solid #fff;padding:4px 5px;text-align:right;white-space:nowrap;line-height:1.25}\
.heat b{font-weight:500}.heat .best{box-shadow:inset 0 0 0 2px #0072b2}.heat .best b{font-weight:750}\
.heat sup{display:inline-block;min-width:1.1em;margin-left:1px;font-size:.75rem;line-height:0;text-align:left}\
.heat td small{display:inline-block;min-width:2.9em;color:inherit;text-align:right}\
.h0{background:#fff}.h1{background:#f0f6fb}.h2{background:#ddecf8}.h3{background:#c6dff3}.h4{background:#a9d0ee}.h5{background:#86bde7}\
.sw{display:inline-block;width:1.1em;height:.85em;border:1px solid #d5dbe1;vertical-align:-1px}\
.card{border:1px solid #d5dbe1;border-radius:8px;padding:10px 14px 8px;background:#f5f7f9}\
.card table{width:100%;font-size:1rem;border-collapse:separate;border-spacing:0 4px}.card th,.card td{border:0}\
.card caption b{font-size:1.0625rem;overflow-wrap:anywhere}.card caption span{display:block;font-size:.8125rem;font-weight:400;color:#56606b;overflow-wrap:anywhere}\
.card thead th{padding:0 10px;color:#1b1f24}.card tbody th{padding:2px 8px 2px 0;font-weight:650;line-height:1.25;vertical-align:middle;overflow-wrap:anywhere}.card th small,.card td small{font-size:.75rem}\
.card td{width:37%;padding:4px 10px;line-height:1.2;vertical-align:middle;background:#fff linear-gradient(#c6dff3,#c6dff3) no-repeat;border-left:2px solid #0072b2}\
.card .wr{background-image:linear-gradient(#fbe6b8,#fbe6b8);border-left-color:#8f6200}.card .na{background:none;border:0;color:#56606b}\
.card td b{font-size:1.3rem;letter-spacing:-.01em;white-space:nowrap}.card td span{font-size:.8125rem;white-space:nowrap}.card td small{color:inherit}\
figure{margin:0;min-width:0}.charts:not(.small)>:only-child{grid-column:1/-1}\
figcaption{margin-bottom:4px}figure svg{display:block;max-width:100%;height:auto}\
figure .narrow{display:none}\
details{margin:2px 0;font-size:.875rem}summary{cursor:pointer;color:#0058a8;padding:4px 0}\
.scroll{overflow-x:auto;position:relative;background:linear-gradient(270deg,#fff 24px,#fff0) 100%/48px 100% no-repeat local,linear-gradient(270deg,#0003,#0000) 100%/12px 100% no-repeat}.marks tbody th{position:sticky;left:0;background:#fff}.scroll+.scroll{margin-top:16px}figure .scroll{max-height:70vh}\
footer{margin-top:10px;border-top:1px solid #d5dbe1;padding-top:8px;font-size:.8125rem;color:#56606b}footer p{max-width:none}\
@media(min-width:900px){.two,.charts{grid-template-columns:repeat(2,minmax(0,1fr))}.lead{grid-template-columns:minmax(0,1fr) 318px}.charts.small{grid-template-columns:repeat(3,minmax(0,1fr))}.two .charts.small{grid-template-columns:minmax(0,1fr)}}\
@media(max-width:699px){\
body{padding:0 16px 32px}.top{padding-top:10px}.toc{margin:0 -16px;padding:0 8px}.answer,h2.answer{margin-top:8px}\
figure .wide-chart{display:none}figure .narrow{display:block}\
.verdicts tbody th{min-width:0}.verdicts th,.verdicts td{overflow-wrap:anywhere}.verdicts td:nth-child(2){white-space:normal}\
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tiles b{font-size:1.2rem}.uses{grid-template-columns:minmax(0,1fr)}\
.heat{font-size:.75rem}.heat thead th{font-size:.6875rem;padding:2px 1px}.heat td{padding:4px 1px;border-width:1px}.heat tbody th{padding:4px 4px 4px 0}.heat tbody th,.marks tbody th{max-width:8em}.heat sup{min-width:.95em;font-size:.6875rem}\
.heat td small{display:block;min-width:0;font-size:.75rem;line-height:1.2}.heat td:last-child small{white-space:normal}.heat sup~small{margin-right:1.1em}\
.card{padding:8px}.card td{padding:3px 4px}.card thead th{padding:0 4px}.card tbody th{padding-right:4px;font-size:.875rem;overflow-wrap:break-word}.marks th,.marks td{padding:4px 3px}.card td b{font-size:1.0625rem}.card td span{font-size:.75rem}\
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\
.cards,.cards tbody,.cards tr,.cards th,.cards td{display:block;width:100%}\
.cards tr{padding:6px 0;border-bottom:1px solid #d5dbe1}\
.cards tbody th,.cards td{border:0;padding:1px 0;text-align:left;white-space:normal}\
.cards td{display:flex;justify-content:space-between;gap:12px;text-align:right}\
.cards td::before{content:attr(data-name);color:#56606b;text-align:left}\
.verdicts td{white-space:normal!important}.cards td:empty{display:none}.cards td span{flex:none;max-width:72%}\
.pairs th{width:8.5em;white-space:normal}}\
@media(prefers-color-scheme:dark){\
body,.toc{background:#0f1419;color:#e7eaee}.marks tbody th{background:#0f1419}.scroll{background-image:linear-gradient(270deg,#0f1419 24px,#0f141900),linear-gradient(270deg,#fff4,#fff0)}.toc a,.card thead th{color:#e7eaee}\
h2,th,td,.toc,.tiles li,.uses li,.card,.cards tr,.sw,footer{border-color:#33404c}\
.quiet,.proof,.key,small,.top p,.box dt,thead th,.pairs th,.card caption span,.card .na,footer,.cards td::before{color:#a3adb8}\
a,summary{color:#78b9f5}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline-color:#78b9f5}\
.box,.caveats,.card{background:#182028}.warn,.caveats{border-color:#f0b030}\
.verdict{background:#3a1f14;border-color:#ff8142}.verdict.good{background:#10302a;border-color:#2cc295}.verdict.warned{background:#352a10;border-color:#f0b030}.verdict.unknown{background:#182028;border-color:#7d8894}\
.ok{color:#4bd3a5;background:#10302a}.care{color:#f2bd54;background:#352a10}.no{color:#ff9569;background:#3a1f14}.open{color:#a3adb8;background:#222b34;outline-color:#7d8894}\
.heat td{border-color:#0f1419}.heat .best{box-shadow:inset 0 0 0 2px #4aa3df}.heat td small,.card td small{color:inherit}\
.h0{background:#0f1419}.h1{background:#12202c}.h2{background:#132b3f}.h3{background:#133752}.h4{background:#124467}.h5{background:#10527e}\
.card td{background-color:#0f1419;background-image:linear-gradient(#133752,#133752);border-left-color:#4aa3df}.card .wr{background-image:linear-gradient(#4a3a12,#4a3a12);border-left-color:#f0b030}.card .na{background:none}}\
@media print{@page{size:A4;margin:12mm}:root{color-scheme:light}html{font-size:12.5px}body{padding:0;max-width:none}\
.toc,details:not([open]){display:none}.two,.lead{grid-template-columns:minmax(0,1fr)}.charts{grid-template-columns:repeat(2,minmax(0,1fr))}\
figure .wide-chart{display:block}figure .narrow{display:none}.scroll{overflow:visible;max-height:none;background:none}.marks tbody th{position:static}\
h2,h3{break-after:avoid}h2{margin-top:14px;padding-top:10px}figure,table,.box,.card,li,tr{break-inside:avoid}details.page{break-before:page}\
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";
