// The yardstick: what node:http does with files and nothing else. `node bare-files.mjs <directory>` prints its port.
// GET /<name> streams a file; PUT stores one as Plinth must: whole, synced to disk, renamed into place.
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

const [, , root] = process.argv;

async function send(request, response) {
  const file = path.join(root, path.basename(request.url));
  const { size } = await stat(file);
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
  await pipeline(createReadStream(file), response);
}

async function store(request, response) {
  const file = path.join(root, path.basename(request.url));
  await pipeline(request, createWriteStream(`${file}.part`, { flush: true }));
  await rename(`${file}.part`, file);
  const directory = await open(root, 'r');
  await directory.sync();
  await directory.close();
  response.writeHead(201, { 'content-length': 0 }).end();
}

const server = createServer((request, response) => {
  const answer = request.method === 'PUT' ? store : send;
  answer(request, response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
