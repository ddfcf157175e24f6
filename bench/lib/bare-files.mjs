// Yardstick: a minimal file server with node:http. `node bare-files.mjs <directory>` prints its port.
// GET /<name> streams a file. PUT stores a file as Plinth does: complete, synced to disk, renamed into place.
// With `<database URL>` as second argument, it also keeps a row per file: an upload takes one statement before and one after
// hashing and writing the bytes; a download takes one statement, and nginx sends the bytes.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';

const [, , root, databaseUrl] = process.argv;
/** The number of connections that Plinth uses at a time on two cores. */
const database = databaseUrl ? new pg.Pool({ connectionString: databaseUrl, max: 4 }) : null;
const LOOK_UP = { name: 'look-up', text: 'select sha256 from bare_files where name = $1' };
const INSERT = { name: 'insert', text: 'insert into bare_files (name, sha256) values ($1, $2) returning id' };
await database?.query(
  'create table if not exists bare_files (id uuid primary key default gen_random_uuid(), name text unique, sha256 text)',
);

async function send(request, response) {
  if (database) return handOver(request, response);
  const file = path.join(root, path.basename(request.url));
  const { size } = await stat(file);
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
  await pipeline(createReadStream(file), response);
}

async function handOver({ url }, response) {
  await database.query({ ...LOOK_UP, values: [url] });
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'x-accel-redirect': `/bare-files${url}`,
  });
  response.end();
}

async function store(request, response) {
  const file = path.join(root, path.basename(request.url));
  const hash = database && createHash('sha256').setEncoding('hex');
  await database?.query({ ...LOOK_UP, values: [request.url] });
  if (hash) request.on('data', (chunk) => hash.write(chunk));
  await pipeline(request, createWriteStream(`${file}.part`, { flush: true }));
  await rename(`${file}.part`, file);
  const directory = await open(root, 'r');
  await directory.sync();
  await directory.close();
  await database?.query({ ...INSERT, values: [request.url, hash.end().read()] });
  response.writeHead(201, { 'content-length': 0 }).end();
}

const server = createServer((request, response) => {
  const answer = request.method === 'PUT' ? store : send;
  answer(request, response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
