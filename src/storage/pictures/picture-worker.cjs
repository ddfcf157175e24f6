// Makes pictures in a process that holds no secrets, because a decoder may crash, grow or hang on a hostile file. Reads one
// request after the other from stdin and answers each on stdout: the length of a JSON header, the header, and the bytes.
// Plain JavaScript, so that the same file is loaded from src/ by the tests and from dist/ by the product.
'use strict';
const { writeFileSync } = require('node:fs');
const os = require('node:os');
const sharp = require('sharp');

/** Bytes of memory; sharp has no limit. */
const MAX_MEMORY = 768 * 1024 * 1024;
const MEMORY_POLL_MS = 20;
/** Of 0 (slow) to 9: each step costs AVIF about as much time as it saves bytes. */
const AVIF_EFFORT = 2;
const FITS = { fill: 'cover', fit: 'inside', force: 'fill' };

// libvips recognises formats by content, and some loaders, such as those of SVG and PDF, load further files.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`),
});
sharp.cache(false);

setInterval(() => {
  if (process.memoryUsage.rss() > MAX_MEMORY) process.kill(process.pid, 'SIGKILL');
}, MEMORY_POLL_MS).unref();
// Requests come first, and when memory is short the system ends this process before the server.
os.setPriority(5);
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has it.
}

async function* requests() {
  let held = Buffer.alloc(0);
  const chunks = process.stdin[Symbol.asyncIterator]();
  /** Null at the end of the input. */
  const take = async (length) => {
    const parts = [held];
    let size = held.length;
    while (size < length) {
      const { value, done } = await chunks.next();
      if (done) return null;
      parts.push(value);
      size += value.length;
    }
    const all = Buffer.concat(parts, size);
    held = all.subarray(length);
    return all.subarray(0, length);
  };
  for (;;) {
    const length = await take(4);
    const header = length && (await take(length.readUInt32BE()));
    if (!header) return;
    const job = JSON.parse(header.toString());
    const bytes = await take(job.size);
    if (!bytes) return;
    yield { job, bytes };
  }
}

/** By content: the declared type of a file may be any. */
async function formatOf(wanted, bytes, options) {
  if (wanted !== 'origin') return wanted;
  const { format } = await sharp(bytes, options).metadata();
  return format === 'heif' ? 'avif' : format;
}

async function render(
  { width, height, resizing, quality, format: wanted, maxPixels, maxSide, seconds },
  bytes,
) {
  const hasBoth = width !== undefined && height !== undefined;
  const options = { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true, pages: 1 };
  const format = await formatOf(wanted, bytes, options);
  const picture = await sharp(bytes, options)
    .autoOrient()
    .resize({
      width: width ?? maxSide,
      height: height ?? maxSide,
      fit: hasBoth ? FITS[resizing] : 'inside',
      withoutEnlargement: true,
    })
    .timeout({ seconds })
    .toFormat(format, {
      ...(format === 'png' || format === 'gif' ? {} : { quality }),
      ...(format === 'avif' ? { effort: AVIF_EFFORT } : {}),
    })
    .toBuffer();
  return { picture, format };
}

function answer(header, bytes) {
  const text = Buffer.from(JSON.stringify({ ...header, size: bytes.length }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  process.stdout.write(Buffer.concat([length, text]));
  process.stdout.write(bytes);
}

async function main() {
  for await (const { job, bytes } of requests()) {
    try {
      const { picture, format } = await render(job, bytes);
      answer({ format }, picture);
    } catch (error) {
      answer({ error: String(error?.message ?? error).slice(0, 200) }, Buffer.alloc(0));
    }
  }
}

void main();
