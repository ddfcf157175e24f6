/**
 * Stores a response that may be large in a file of the browser (the origin private file system), so that it is not held
 * in memory. Over plain http this is not available, so the parts are kept in memory.
 */

const PREFIX = 'download-';
/** Milliseconds after which the browser has certainly copied a file to its destination. */
const KEPT_MS = 3_600_000;

type Directory = FileSystemDirectoryHandle & { keys(): AsyncIterable<string> };

/** @param onBytes gets the number of bytes that have arrived */
export async function streamToFile(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  type: string,
  onBytes: (received: number) => void,
): Promise<Blob> {
  let received = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onBytes((received += chunk.length));
      controller.enqueue(chunk);
    },
  });
  const counted = body.pipeThrough(counter);
  const file = await newFile();
  if (!file) return new Blob([await new Response(counted).blob()], { type });
  await counted.pipeTo(await file.createWritable());
  return (await file.getFile()).slice(0, received, type);
}

async function newFile(): Promise<FileSystemFileHandle | null> {
  try {
    const directory = (await navigator.storage.getDirectory()) as Directory;
    for await (const name of directory.keys())
      if (name.startsWith(PREFIX) && Date.now() - Number(name.slice(PREFIX.length)) > KEPT_MS)
        await directory.removeEntry(name);
    const file = await directory.getFileHandle(`${PREFIX}${Date.now()}`, { create: true });
    return 'createWritable' in file ? file : null;
  } catch {
    return null;
  }
}
