/**
 * Imports products from a CSV file: new ones are inserted, known ones (by `sku`) are updated. It may run again at any time.
 * The service-role key bypasses row-level security, so the job belongs on a server.
 */
import { createReadStream } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { insertProducts, type ProductsInsert } from './client';
import { client } from './client/client.gen';

/** Rows in one request, which are written all or none. */
const BATCH = 500;
const ATTEMPTS = 5;

const { PLINTH_URL = 'http://localhost:8080', SERVICE_ROLE_KEY = '' } = process.env;
client.setConfig({
  baseUrl: PLINTH_URL,
  headers: { apikey: SERVICE_ROLE_KEY, Authorization: `Bearer ${SERVICE_ROLE_KEY}` },
});

/** @throws Error that names the line, for a value that is no number */
function toProduct(record: Record<string, string>, line: number): ProductsInsert {
  const { sku = '', name = '', price = '', stock = '' } = record;
  const number = (column: string, text: string): number => {
    const value = text === '' ? NaN : Number(text);
    if (Number.isNaN(value)) throw new Error(`line ${line}: ${column} is no number: ${text}`);
    return value;
  };
  // A column that is left out gets its default.
  return {
    sku,
    name,
    price: number('price', price),
    ...(stock === '' ? {} : { stock: number('stock', stock) }),
  };
}

/** Writes a batch; waits and tries again while the service is busy. @throws Error with the database's message */
async function write(batch: ProductsInsert[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { error, response } = await insertProducts({
      body: batch,
      query: { columns: 'sku,name,price,stock', on_conflict: 'sku' },
      headers: { Prefer: 'resolution=merge-duplicates,missing=default,return=minimal' },
    });
    if (error === undefined) return;
    if (response?.status !== 503 || attempt === ATTEMPTS) throw new Error(error.message);
    await setTimeout(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
}

/** @returns the number of rows */
async function importFile(file: string): Promise<number> {
  const records = createReadStream(file).pipe(parse({ columns: true, trim: true, bom: true, info: true }));
  let batch: ProductsInsert[] = [];
  let count = 0;
  for await (const { record, info } of records) {
    batch.push(toProduct(record, info.lines));
    count += 1;
    if (batch.length < BATCH) continue;
    await write(batch);
    batch = [];
  }
  if (batch.length > 0) await write(batch);
  return count;
}

const [file] = process.argv.slice(2);
if (file === undefined || SERVICE_ROLE_KEY === '') {
  console.error('Usage: SERVICE_ROLE_KEY=... npm run import -- products.csv');
  process.exit(2);
}
try {
  console.log(`${await importFile(file)} products imported`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
