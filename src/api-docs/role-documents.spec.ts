import { gunzipSync } from 'node:zlib';
import type { Catalog } from '../rest/catalog/catalog';
import { collectDocument, type ServedDocument } from './openapi/served-document';
import { RoleDocuments } from './role-documents';

const catalog = (fingerprint: string): Catalog => ({ fingerprint }) as Catalog;

describe('collectDocument', () => {
  it('joins the pieces, and derives the entity tag from their content', async () => {
    const one = await collectDocument(['a', 'é', '']);
    expect(gunzipSync(Buffer.concat(one.zipped)).toString()).toBe('aé');
    expect(one.size).toBe(3);
    expect((await collectDocument(['aé'])).etag).toBe(one.etag);
    expect((await collectDocument(['aè'])).etag).not.toBe(one.etag);
  });

  it('yields to other work', async () => {
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    // Takes longer than one slice on any machine.
    function* pieces(): Generator<string> {
      const end = performance.now() + 100;
      while (performance.now() < end) yield 'text\n'.repeat(100);
    }
    await collectDocument(pieces());
    done = true;
    expect(turns).toBeGreaterThan(2);
  });
});

describe('RoleDocuments', () => {
  const maker = (): { make: () => Promise<ServedDocument>; made: () => number } => {
    let made = 0;
    return { make: () => collectDocument([`document ${++made}`]), made: () => made };
  };

  it('builds a document once for concurrent requests, and caches it', async () => {
    const documents = new RoleDocuments();
    const { make, made } = maker();
    const schema = catalog('a');
    const all = await Promise.all(
      Array.from({ length: 20 }, () => documents.get('acme', 'key', schema, make)),
    );
    await documents.get('acme', 'key', schema, make);
    expect([made(), new Set(all).size]).toEqual([1, 1]);
    await documents.get('acme', 'other', schema, make);
    await documents.get('acme', 'key', catalog('b'), make);
    expect(made()).toBe(3);
  });

  it('caches a large document in compressed form', async () => {
    const documents = new RoleDocuments();
    const part = JSON.stringify(
      Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`column_${n}`, 'text'])),
    );
    function* pieces(): Generator<string> {
      for (let size = 0; size < 98_000_000; size += part.length) yield part;
    }
    let made = 0;
    const make = (): Promise<ServedDocument> => {
      made += 1;
      return collectDocument(pieces());
    };
    const schema = catalog('a');
    const document = await documents.get('acme', 'key', schema, make);
    await documents.get('acme', 'key', schema, make);
    expect([made, document.size > 98_000_000]).toEqual([1, true]);
    expect(Buffer.concat(document.zipped).length).toBeLessThan(16_000_000);
  }, 30_000);

  it('refuses a document that is too large, without building it again', async () => {
    const documents = new RoleDocuments();
    const part = 'x'.repeat(1_000_000);
    let made = 0;
    function* pieces(): Generator<string> {
      made += 1;
      for (;;) yield part;
    }
    const ask = (): Promise<ServedDocument> =>
      documents.get('acme', 'key', catalog('a'), () => collectDocument(pieces()));
    const schema = catalog('b');
    const again = (): Promise<ServedDocument> =>
      documents.get('acme', 'key', schema, () => collectDocument(pieces()));
    await expect(ask()).rejects.toMatchObject({ status: 400 });
    await expect(again()).rejects.toMatchObject({ status: 400 });
    await expect(again()).rejects.toMatchObject({ status: 400 });
    expect(made).toBe(2);
  }, 30_000);

  it('builds one document of a project at a time', async () => {
    const documents = new RoleDocuments();
    let [running, most] = [0, 0];
    const make = async (): Promise<ServedDocument> => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return collectDocument(['document']);
    };
    await Promise.all(['a', 'b', 'c'].map((key) => documents.get('acme', key, catalog('a'), make)));
    expect(most).toBe(1);
  });

  it('does not cache a failure', async () => {
    const documents = new RoleDocuments();
    const { make } = maker();
    const failing = documents.get('acme', 'key', catalog('a'), () => Promise.reject(new Error('gone')));
    await expect(failing).rejects.toThrow('gone');
    await expect(documents.get('acme', 'key', catalog('a'), make)).resolves.toMatchObject({ size: 10 });
  });

  it('refuses a request when too many wait', async () => {
    const documents = new RoleDocuments();
    const { make } = maker();
    const all = Array.from({ length: 200 }, (_, index) =>
      documents.get('acme', String(index), catalog('a'), make).catch((error: unknown) => error),
    );
    const refused = (await Promise.all(all)).filter((one) => one instanceof Error);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
  });
});
