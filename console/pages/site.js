// The search of the pages: all words must be in a section; those of its title count most.
'use strict';
const box = document.getElementById('search');
const input = box.querySelector('input');
const found = document.getElementById('found');
const prefix = document.documentElement.dataset.prefix;
const MOST = 20;
let sections;

box.hidden = false;
input.addEventListener('input', () => void show());
input.addEventListener('focus', () => void load());
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') found.replaceChildren();
  if (event.key === '/' && event.target === document.body) {
    event.preventDefault();
    input.focus();
  }
});

function load() {
  return (sections ??= fetch(`${prefix}guides/search.json`, { credentials: 'omit' }).then((answer) =>
    answer.json(),
  ));
}

async function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (await load())
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, MOST);
  if (words.length === 0) return found.replaceChildren();
  const items = matches.map(({ section }) => itemOf(section, words[0]));
  if (items.length === 0)
    items.push(Object.assign(document.createElement('li'), { textContent: 'Nothing was found.' }));
  found.replaceChildren(...items);
}

/** 0: a word is missing. */
function rankOf({ page, title, text }, words) {
  const [inPage, inTitle, inText] = [page, title, text].map((part) => part.toLowerCase());
  let rank = 0;
  for (const word of words) {
    const points =
      (inTitle.includes(word) ? 6 : 0) + (inPage.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    rank += points;
  }
  return rank;
}

function itemOf({ href, page, title, text }, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  const name = Object.assign(document.createElement('strong'), {
    textContent: title === page ? page : `${page} › ${title}`,
  });
  const excerpt = Object.assign(document.createElement('span'), { textContent: text.slice(at, at + 140) });
  const link = Object.assign(document.createElement('a'), { href: prefix + href });
  link.append(name, excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}
