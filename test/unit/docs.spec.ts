/** The texts of the repository against the product that they describe. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Every text that a reader of the product may see. */
function texts(): [file: string, text: string][] {
  const files = readdirSync(ROOT).filter((name) => /^(README|CHANGELOG).md$|^\.env\.example$/.test(name));
  for (const folder of ['bench', 'docker', 'docs', 'migrations', 'scripts', 'src']) {
    const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
    files.push(...entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name)));
  }
  return files.map((file) => [
    relative(ROOT, resolve(ROOT, file)),
    readFileSync(resolve(ROOT, file), 'utf8'),
  ]);
}

it('no text calls the command line by a name of the npm registry that belongs to others', () => {
  const wrong = texts().filter(([, text]) => /npx +(-\S+ +)*plinth/.test(text));
  expect(wrong.map(([file]) => file)).toEqual([]);
});
