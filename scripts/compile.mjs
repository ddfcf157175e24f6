// `npm run build`: compiles src and migrations to dist with swc (.swcrc). Types are checked by `npm test`.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformFile } from '@swc/core';
import { ROOT } from './lib/set-up.mjs';

const OUT = path.join(ROOT, 'dist');

/** Workers are plain JavaScript: a thread starts them by the name of their file. */
const isWorker = (file) => file.endsWith('.cjs');
const isSource = (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts');

function filesIn(folder) {
  return readdirSync(path.join(ROOT, folder), { recursive: true }).map((file) => path.join(folder, file));
}

async function compile(file) {
  const target = path.join(OUT, file.replace(/\.ts$/, '.js'));
  const { code, map } = await transformFile(path.join(ROOT, file), {
    cwd: ROOT,
    sourceMaps: true,
    outputPath: target,
  });
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, `${code}//# sourceMappingURL=${path.basename(target)}.map\n`);
  writeFileSync(`${target}.map`, map);
}

rmSync(OUT, { recursive: true, force: true });
const files = ['src', 'migrations'].flatMap(filesIn);
await Promise.all(files.filter(isSource).map(compile));
for (const file of files.filter(isWorker)) cpSync(path.join(ROOT, file), path.join(OUT, file));
