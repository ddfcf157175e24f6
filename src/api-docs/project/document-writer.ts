/** Collects the parts of a document as text, so that a schema of thousands of tables never blocks the event loop at once. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenAPIObject } from '@nestjs/swagger';

export type Section = 'paths' | 'schemas' | 'parameters' | 'responses' | 'headers' | 'securitySchemes';

/** Milliseconds of work after which others get their turn. */
const TURN_MS = 8;

export interface WrittenDocument {
  /** UTF-8. */
  readonly body: Buffer;
  /** SHA-1 of the body in base64url. */
  readonly digest: string;
}

export class DocumentWriter {
  private readonly sections: Record<Section, Map<string, Buffer>> = {
    paths: new Map(),
    schemas: new Map(),
    parameters: new Map(),
    responses: new Map(),
    headers: new Map(),
    securitySchemes: new Map(),
  };
  private turnBegan = performance.now();

  /** The first of a name counts. */
  add(section: Section, name: string, value: unknown): void {
    const entries = this.sections[section];
    if (!entries.has(name))
      entries.set(name, Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`));
  }

  addAll(section: Section, values: Iterable<readonly [name: string, value: unknown]>): void {
    for (const [name, value] of values) this.add(section, name, value);
  }

  has(section: Section, name: string): boolean {
    return this.sections[section].has(name);
  }

  /** To be called between parts. */
  async pause(): Promise<void> {
    if (performance.now() - this.turnBegan < TURN_MS) return;
    await nextTurn();
    this.turnBegan = performance.now();
  }

  /** @param head all of the document that is neither a path nor a component */
  async finish(head: Omit<OpenAPIObject, 'paths' | 'components'>): Promise<WrittenDocument> {
    const hash = createHash('sha1');
    const pieces: Buffer[] = [];
    for (const piece of this.pieces(JSON.stringify(head))) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      hash.update(bytes);
      pieces.push(bytes);
      await this.pause();
    }
    return { body: Buffer.concat(pieces), digest: hash.digest('base64url') };
  }

  private *pieces(head: string): Generator<string | Buffer> {
    const { paths, ...components } = this.sections;
    yield `${head.slice(0, -1)},"paths":{`;
    yield* separated(paths.values());
    yield '},"components":{';
    for (const [index, [name, entries]] of Object.entries(components).entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:{`;
      yield* separated(entries.values());
      yield '}';
    }
    yield '}}';
  }
}

function* separated(entries: Iterable<Buffer>): Generator<string | Buffer> {
  let isFirst = true;
  for (const entry of entries) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield entry;
  }
}
