import { createHash } from 'node:crypto';
import { DocumentWriter } from './document-writer';

const LARGEST_BLOCK = 64 * 1024;

it('writes the parts of each section, the first of each name, and a digest of the document', async () => {
  const writer = new DocumentWriter();
  writer.add('paths', '/a', { get: {} });
  writer.addAll('schemas', [
    ['A', { type: 'object' }],
    ['ü"', {}],
    ['A', 'not this one'],
  ]);
  expect(writer.has('schemas', 'A')).toBe(true);
  expect(writer.has('paths', 'A')).toBe(false);
  const info = { title: 't', version: '1' };
  const { body, size, digest } = await writer.finish({ openapi: '3.0.0', info });
  const text = Buffer.concat(body);
  expect(JSON.parse(text.toString())).toEqual({
    openapi: '3.0.0',
    info,
    paths: { '/a': { get: {} } },
    components: {
      schemas: { A: { type: 'object' }, 'ü"': {} },
      parameters: {},
      responses: {},
      headers: {},
      securitySchemes: {},
    },
  });
  expect(size).toBe(text.length);
  expect(digest).toBe(createHash('sha1').update(text).digest('base64url'));
});

it('writes a large document in blocks, and lets other work have its turn', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const writer = new DocumentWriter();
  setImmediate(count);
  for (let n = 0; n < 20_000; n += 1) {
    await writer.pause();
    writer.add('schemas', `table_${n}`, { description: 'x'.repeat(1_000) });
  }
  const whileAdded = turns;
  const { body } = await writer.finish({ openapi: '3.0.0', info: { title: 't', version: '1' } });
  isOver = true;
  expect(whileAdded).toBeGreaterThan(1);
  expect(Math.max(...body.map(({ length }) => length))).toBeLessThanOrEqual(LARGEST_BLOCK);
});
