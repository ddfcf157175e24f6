import { createHash } from 'node:crypto';
import { load } from 'js-yaml';
import { gunzipSync } from 'node:zlib';
import { DocumentWriter } from './document-writer';
import type { DocumentHead } from './model';
import type { ServedDocument } from './served-document';

const LARGEST_BLOCK = 64 * 1024;
const HEAD: DocumentHead = { info: { title: 't', version: '1' } };
const ITEM = { get: { responses: {} } };

const textOf = ({ zipped }: ServedDocument): string => gunzipSync(Buffer.concat(zipped)).toString();

it('writes the parts of each section, only the first of each name, and a digest of the document', async () => {
  const writer = new DocumentWriter({ version: '3.1', syntax: 'json' });
  writer.add('paths', '/a', ITEM);
  await writer.addAll('schemas', [
    ['A', { type: 'object' }],
    ['ü"', {}],
    ['A', { type: 'string' }],
  ]);
  expect(writer.has('schemas', 'A')).toBe(true);
  expect(writer.has('paths', 'A')).toBe(false);
  const document = await writer.finish(HEAD);
  const text = textOf(document);
  expect(JSON.parse(text)).toEqual({
    openapi: '3.1.0',
    ...HEAD,
    paths: { '/a': ITEM },
    components: { schemas: { A: { type: 'object' }, 'ü"': {} } },
  });
  expect(document.size).toBe(Buffer.byteLength(text));
  expect(document.etag).toBe(`"${createHash('sha1').update(text).digest('base64url')}"`);
});

it('writes the same content as YAML, and both in the form of 3.0', async () => {
  const written = async (version: '3.0' | '3.1', syntax: 'json' | 'yaml'): Promise<string> => {
    const writer = new DocumentWriter({ version, syntax });
    writer.add('paths', '/a/{b}', ITEM);
    writer.add('schemas', 'A', { type: ['string', 'null'], examples: ['x: y', 'z'] });
    return textOf(await writer.finish(HEAD));
  };
  for (const version of ['3.0', '3.1'] as const) {
    expect(load(await written(version, 'yaml'))).toEqual(JSON.parse(await written(version, 'json')));
  }
  expect(JSON.parse(await written('3.0', 'json'))).toMatchObject({
    openapi: '3.0.3',
    components: { schemas: { A: { type: 'string', nullable: true, example: 'x: y' } } },
  });
});

it('writes no text that ends a block comment of generated code, and keeps names and values', async () => {
  const writer = new DocumentWriter({ version: '3.1', syntax: 'json' });
  const column = (end: string): object => ({
    description: `of x${end}`,
    enum: ['a*/'],
    examples: [`eq.${end}`],
  });
  writer.add('schemas', 'A', { properties: { 'x*/': column('*/') } });
  const document = await writer.finish({ info: { title: 't */', version: '1' } });
  expect(JSON.parse(textOf(document))).toMatchObject({
    info: { title: 't * /' },
    components: { schemas: { A: { properties: { 'x*/': column('* /') } } } },
  });
});

it('adds only those components that the parts refer to', async () => {
  for (const syntax of ['json', 'yaml'] as const) {
    const writer = new DocumentWriter({ version: '3.1', syntax });
    writer.add('schemas', 'A', { $ref: '#/components/schemas/B' });
    writer.addUsed('schemas', [
      ['B', {}],
      ['C', {}],
    ]);
    await writer.finish(HEAD);
    expect([writer.has('schemas', 'B'), writer.has('schemas', 'C')]).toEqual([true, false]);
  }
});

it('writes a large document in blocks, and yields to other work', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const writer = new DocumentWriter({ version: '3.1', syntax: 'json' });
  setImmediate(count);
  for (let n = 0; n < 20_000; n += 1) {
    await writer.pause();
    writer.add('schemas', `table_${n}`, { description: 'x'.repeat(1_000) });
  }
  const whileAdded = turns;
  const { zipped } = await writer.finish(HEAD);
  isOver = true;
  expect(whileAdded).toBeGreaterThan(1);
  expect(Math.max(...zipped.map(({ length }) => length))).toBeLessThanOrEqual(LARGEST_BLOCK);
});
