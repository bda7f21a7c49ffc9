(() => {
  const bottom = (e) => e.getBoundingClientRect().bottom + window.scrollY;
  const top = (e) => e.getBoundingClientRect().top + window.scrollY;
  const shown = (e) => e.checkVisibility() && e.getBoundingClientRect().height > 40;
  const answer = document.querySelector('.answer');
  const chart = [...document.querySelectorAll('main svg[role=img], main .heat, main .card')].filter(shown);
  const drawn = [...document.querySelectorAll('figure svg')].filter(shown);
  return {
    answer: answer ? Math.ceil(bottom(answer)) : 0,
    figure: chart.length ? Math.floor(Math.min(...chart.map(top))) : 0,
    chart: drawn.length ? Math.floor(Math.min(...drawn.map(top))) : 0,
    height: document.documentElement.scrollHeight,
    words: (document.body.innerText.match(/\S*[\p{L}\p{N}]\S*/gu) || []).length,
  };
})()
