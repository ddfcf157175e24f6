/** Checks that each setting of a project is declared completely, and that its documentation matches the declaration. */
import 'reflect-metadata';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ProjectSettings, ProjectSettingsInput, SETTINGS } from '../../src/projects/project-settings';
import type { Setting } from '../../src/projects/settings/setting';

const PAGE = join(__dirname, '../../docs/reference/administration.md');
const GENERATED = /(<!-- generated: settings -->\n)[^]*?(<!-- end -->)/;
const HEAD = '| Setting | Default | Meaning |\n|---|---|---|\n';
const DECLARATIONS: [name: string, setting: Setting<unknown>][] = Object.entries(SETTINGS);

/** Values of different types. Every setting refuses at least three of them. */
const WRONG = [true, 0.5, '', ['', 1], { key: null }];

const faultsOf = (settings: object): string[] =>
  validateSync(plainToInstance(ProjectSettingsInput, settings), {
    whitelist: true,
    forbidNonWhitelisted: true,
  }).map(({ property }) => property);

/** The metadata from which the OpenAPI document is generated. */
function schemaOf({ prototype }: { prototype: object }, name: string): Record<string, unknown> {
  return Reflect.getMetadata('swagger/apiModelProperties', prototype, name) as Record<string, unknown>;
}

describe.each(DECLARATIONS)('the setting %s', (name, { fallback, fallbackText, description, schema }) => {
  it('has a description and a documented default', () => {
    expect(description).toMatch(/^[A-Z].*[^.]$/s);
    const isTelling = ['boolean', 'number', 'string'].includes(typeof fallback) || listLength(fallback) > 0;
    expect(isTelling || fallbackText !== undefined).toBe(true);
  });

  it('is validated, and accepts its default', () => {
    expect(WRONG.filter((value) => faultsOf({ [name]: value }).length > 0).length).toBeGreaterThanOrEqual(3);
    expect(faultsOf({ [name]: fallback })).toEqual([]);
    expect(faultsOf({ [name]: null })).toEqual([]);
  });

  it('is typed in OpenAPI, in requests and responses', () => {
    expect(['type', 'enum', 'oneOf', 'anyOf'].some((key) => key in schema)).toBe(true);
    const [input, output] = [schemaOf(ProjectSettingsInput, name), schemaOf(ProjectSettings, name)];
    expect([input.required, input.nullable]).toEqual([false, true]);
    // @nestjs/swagger makes a property required by default.
    expect(output.required ?? true).toBe(true);
    expect(input.description).toMatch(`${description}; default: `);
    expect([output.description, output.nullable ?? false]).toEqual([description, fallback === null]);
  });
});

it('docs/reference/administration.md lists every setting as it is declared; `npm run docs` generates it', () => {
  const rows = DECLARATIONS.map(([name, setting]) => rowOf(name, setting)).join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const current = page.replace(
    GENERATED,
    (_all, begin: string, end: string) => `${begin}${HEAD}${rows}\n\n${end}`,
  );
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, current);
  else expect(page).toBe(current);
  expect(current).toContain(rows);
});

const listLength = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

function rowOf(name: string, setting: Setting<unknown>): string {
  const { fallback, fallbackText, description, details, schema } = setting;
  const shown = fallbackText ?? (typeof fallback === 'string' ? `\`${fallback}\`` : code(fallback));
  const meaning = `${description}${rangeOf(schema)}.${details === undefined ? '' : ` ${details}`}`;
  return `| \`${name}\` | ${shown} | ${meaning} |`;
}

const code = (value: unknown): string =>
  Array.isArray(value) ? `\`${JSON.stringify(value).replaceAll(',', ', ')}\`` : JSON.stringify(value);

function rangeOf(schema: object): string {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : `, ${minimum} to ${maximum}`;
}

it('have a German description in the console only if they exist', () => {
  const texts = readFileSync(join(__dirname, '../../console/src/i18n/de/settings.ts'), 'utf8');
  const names = [...texts.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !(name in SETTINGS))).toEqual([]);
});
