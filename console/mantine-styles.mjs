// Takes the rules of Mantine's components that the console does not use out of the style sheet: a third of what it weighs.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { transform } from 'lightningcss';

/** The name of a class of Mantine, a hash that the script of its component has as well. */
const CLASS = /\bm_[0-9a-f]{6,8}\b/g;

/** @param {string} dist the built console. Its style sheet gets a new name, since browsers keep it for a year under the old one. */
export async function dropUnusedStyles(dist) {
  const folder = path.join(dist, 'assets');
  const names = await readdir(folder);
  const read = (name) => readFile(path.join(folder, name), 'utf8');
  const scripts = await Promise.all(names.filter((name) => name.endsWith('.js')).map(read));
  const used = new Set(scripts.flatMap((text) => text.match(CLASS) ?? []));
  const [name, ...others] = names.filter((one) => one.endsWith('.css'));
  if (others.length > 0) throw new Error(`one style sheet is expected, there are ${others.length + 1}`);
  const left = withoutUnused(Buffer.from(await read(name)), used);
  const renamed = `style-${createHash('sha256').update(left).digest('hex').slice(0, 8)}.css`;
  await writeFile(path.join(folder, renamed), left);
  await rm(path.join(folder, name));
  const page = path.join(dist, 'index.html');
  await writeFile(page, (await readFile(page, 'utf8')).replaceAll(name, renamed));
}

function withoutUnused(code, used) {
  const isUsed = (selector) =>
    selector.every(({ type, name }) => type !== 'class' || !/^m_[0-9a-f]{6,8}$/.test(name) || used.has(name));
  const style = (rule) => {
    const { selectors } = rule.value;
    const left = selectors.filter(isUsed);
    if (left.length === 0) return [];
    // A rule that is handed back as it came is read again, which fails for some nested ones.
    if (left.length === selectors.length) return undefined;
    rule.value.selectors = left;
    return rule;
  };
  return transform({ filename: 'style.css', code, minify: true, visitor: { Rule: { style } } }).code;
}
