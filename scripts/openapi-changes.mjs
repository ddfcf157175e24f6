// `npm run openapi:changes [-- <git revision>]`: what the kept OpenAPI documents change since a revision (default: HEAD).
// Exits with 1 if a change breaks clients.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { openApiChanges } from './lib/openapi-changes.mjs';
import { ROOT } from './lib/set-up.mjs';

const FILES = ['test/snapshots/openapi/platform.yaml', 'test/snapshots/openapi/project.yaml'];
const [revision = 'HEAD'] = process.argv.slice(2);

const atRevision = (file) =>
  load(
    execFileSync('git', ['show', `${revision}:${file}`], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 }),
  );
const inTree = (file) => load(readFileSync(join(ROOT, file), 'utf8'));

/** The kept document of the project leaves out the parts that the platform's has as well. */
function whole(file, read) {
  const document = read(file);
  const platform = file === FILES[0] ? document : read(FILES[0]);
  const components = Object.entries(platform.components).map(([section, parts]) => [
    section,
    { ...parts, ...document.components[section] },
  ]);
  return { ...document, components: Object.fromEntries(components) };
}

for (const file of FILES) {
  const before = whole(file, atRevision);
  const after = whole(file, inTree);
  const { breaking, other } = openApiChanges(before, after);
  process.stdout.write(
    `${file}: ${breaking.length} breaking, ${other.length} other changes since ${revision}\n`,
  );
  for (const line of breaking) process.stdout.write(`  BREAKS ${line}\n`);
  for (const line of other) process.stdout.write(`         ${line}\n`);
  if (breaking.length > 0) process.exitCode = 1;
}
