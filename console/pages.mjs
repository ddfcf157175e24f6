// Renders the Markdown of docs/ to the pages that the server has at /docs/guides, /docs/reference and /docs/internals.
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Marked, Renderer } from 'marked';

const SECTIONS = ['guides', 'reference', 'internals'];
const INDEX = 'README.md';

/**
 * @param {string} docs the folder of the Markdown
 * @param {string} out the folder of the pages: `guides.html` is the index, `guides/policies.html` a page
 */
export async function renderPages(docs, out) {
  const texts = new Map([[INDEX, await readFile(path.join(docs, INDEX), 'utf8')]]);
  for (const section of SECTIONS) {
    await mkdir(path.join(out, section), { recursive: true });
    for (const name of (await readdir(path.join(docs, section))).filter((one) => one.endsWith('.md')))
      texts.set(`${section}/${name}`, await readFile(path.join(docs, section, name), 'utf8'));
  }
  await cp(path.join(docs, 'images'), path.join(out, 'images'), { recursive: true });
  const source = path.join(import.meta.dirname, 'pages');
  for (const name of ['site.css', 'site.js'])
    await cp(path.join(source, name), path.join(out, 'guides', name));

  const hash = createHash('sha256').update(await readFile(import.meta.filename));
  for (const name of ['site.css', 'site.js']) hash.update(await readFile(path.join(source, name)));
  const groups = groupsOf(texts.get(INDEX));
  const sections = [];
  for (const [name, text] of texts) {
    const page = pageOf(name, text, texts, groups);
    await writeFile(path.join(out, `${addressOf(name)}.html`), page.html);
    sections.push(...page.sections);
    hash.update(text);
  }
  await writeFile(path.join(out, 'guides/search.json'), JSON.stringify(sections));
  // The entity tag of all pages.
  await writeFile(path.join(out, 'digest'), hash.digest('hex').slice(0, 32));
}

/** Below /docs/: the index is `guides`. */
const addressOf = (name) => (name === INDEX ? 'guides' : name.replace(/\.md$/, ''));

/** The links of the index by the title of their section, for the navigation. */
function groupsOf(index) {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.split('\n')[0],
      links: [...part.matchAll(/\[([^\]]+)\]\(([\w/-]+\.md)\)/g)].map(([, title, file]) => ({ title, file })),
    }));
}

function pageOf(name, text, texts, groups) {
  const prefix = name === INDEX ? '' : '../';
  const sections = [];
  const title = /^# (.+)$/m.exec(text)[1];
  const renderer = rendererOf(name, texts);
  const marked = new Marked({ gfm: true, renderer });
  const tokens = marked.lexer(text);
  let section;
  for (const token of tokens) {
    if (token.type === 'heading') {
      const anchor = token.depth === 1 ? '' : `#${slugOf(token.text)}`;
      section = { href: addressOf(name) + anchor, page: plain(title), title: plain(token.text), text: '' };
      sections.push(section);
    } else if (section) section.text = `${section.text} ${plain(token.raw)}`.trim();
  }
  const nav = groups.map(
    (group) =>
      `<h2>${escape(group.title)}</h2>\n<ul>\n${group.links.map((link) => navItem(link, name, prefix)).join('\n')}\n</ul>`,
  );
  const html = `<!doctype html>
<html lang="en" data-prefix="${prefix}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(plain(title))} – Plinth</title>
<link rel="icon" href="${prefix}favicon-32x32.png">
<link rel="stylesheet" href="${prefix}guides/site.css">
<script src="${prefix}guides/site.js" defer></script>
</head>
<body>
<header>
<a href="${prefix}guides">Plinth documentation</a>
<div id="search" role="search" hidden><input type="search" aria-label="Search the documentation" placeholder="Search ( / )" autocomplete="off"><ul id="found" aria-live="polite"></ul></div>
</header>
<div class="page">
<nav aria-label="Pages">
${nav.join('\n')}
</nav>
<main>
${marked.parser(tokens)}</main>
</div>
</body>
</html>
`;
  return { html, sections };
}

function navItem({ title, file }, name, prefix) {
  const current = file === name ? ' aria-current="page"' : '';
  return `<li><a href="${prefix}${addressOf(file)}"${current}>${escape(plain(title))}</a></li>`;
}

function rendererOf(name, texts) {
  const renderer = new Renderer();
  renderer.heading = function ({ tokens, depth, text }) {
    return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  };
  renderer.link = function ({ href, tokens }) {
    const text = this.parser.parseInline(tokens);
    const target = addressIn(name, href, texts);
    // Files of the repository that are no pages have no address here.
    return target === null ? text : `<a href="${escape(target)}">${text}</a>`;
  };
  // Regions that scroll can be reached by the keyboard.
  renderer.code = ({ text, lang = '' }) => {
    const [, file] = lang.split(' ');
    const caption = file ? `<div class="file">${escape(file)}</div>\n` : '';
    return `${caption}<pre tabindex="0"><code>${escape(text)}\n</code></pre>\n`;
  };
  const { table } = Renderer.prototype;
  renderer.table = function (token) {
    return `<div class="table" tabindex="0">${table.call(this, token)}</div>\n`;
  };
  return renderer;
}

/** @returns the address of a link's target relative to the page, null if it is no page */
function addressIn(name, href, texts) {
  if (/^(https?:|#)/.test(href)) return href;
  const [file, anchor] = href.split('#');
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(name), file));
  if (!texts.has(target)) return null;
  const prefix = name === INDEX ? '' : '../';
  return prefix + addressOf(target) + (anchor === undefined ? '' : `#${anchor}`);
}

/** The anchor that GitHub generates for a heading. */
const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Markdown as text for the search. */
const plain = (markdown) =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\|?[-| :]+\|$/gm, '')
    .replace(/[`*|]|^[#>]+ /gm, '')
    .replace(/\s+/g, ' ');

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
