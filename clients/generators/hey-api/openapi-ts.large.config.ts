/**
 * For hundreds of tables: a client for each 25 of them. The generator compares each name with a copy of all names of its file,
 * which takes time that grows with the square of their number.
 */
import { readFileSync } from 'node:fs';
import { defineConfig } from '@hey-api/openapi-ts';
import config from './openapi-ts.config';

const TABLES = 25;

const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as { tags: { name: string }[] };
const tags = document.tags.map(({ name }) => name);
const base = await config;

export default defineConfig(
  Array.from({ length: Math.ceil(tags.length / TABLES) }, (_, index) => ({
    ...base,
    output: `client/part-${index + 1}`,
    parser: { filters: { tags: { include: tags.slice(index * TABLES, (index + 1) * TABLES) } } },
  })),
);
