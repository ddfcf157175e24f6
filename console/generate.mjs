// Makes the types of the client and the schema of the settings form from Plinth's own OpenAPI document.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { load } from 'js-yaml';

const DOCUMENT = new URL('../test/snapshots/openapi/platform.yaml', import.meta.url);
const GENERATED = new URL('src/generated/', import.meta.url);

/** Writes `src/generated/settings.json`, which the build needs. */
export async function generateSettings() {
  const document = load(await readFile(DOCUMENT, 'utf8'));
  const { properties } = document.components.schemas.ProjectSettings;
  await mkdir(GENERATED, { recursive: true });
  await writeFile(new URL('settings.json', GENERATED), `${JSON.stringify(properties, null, 1)}\n`);
}

/** Writes `src/generated/openapi.d.ts`, which only the compiler of types needs. */
async function generateTypes() {
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const types = astToString(await openapiTypes(DOCUMENT));
  await writeFile(new URL('openapi.d.ts', GENERATED), types);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  await generateSettings();
  await generateTypes();
}
