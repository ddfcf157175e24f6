/** Writes the parts of a document as text, in slices, so that thousands of tables do not block the event loop. */
import { createHash } from 'node:crypto';
import type { OpenAPIObject } from '@nestjs/swagger';
import { BodyBlocks } from '../../row-stream/body-blocks';
import { Slices } from '../../common/time/slices';

const SECTIONS = ['paths', 'schemas', 'parameters', 'responses', 'headers', 'securitySchemes'] as const;

export type Section = (typeof SECTIONS)[number];

export interface WrittenDocument {
  /** UTF-8, in blocks: allocating one buffer of that size would take long. */
  readonly body: readonly Buffer[];
  /** Bytes. */
  readonly size: number;
  /** SHA-1 of the body in base64url. */
  readonly digest: string;
}

/** Members of one object of the document. */
class Members {
  readonly names = new Set<string>();
  private readonly text = new BodyBlocks();

  /** If a name occurs twice, the first member is kept. */
  add(name: string, value: unknown): void {
    if (this.names.has(name)) return;
    const separator = this.names.size > 0 ? ',' : '';
    this.names.add(name);
    this.text.append(Buffer.from(`${separator}${JSON.stringify(name)}:${JSON.stringify(value)}`));
  }

  take(): Buffer[] {
    return this.text.take();
  }
}

export class DocumentWriter {
  private readonly sections: Readonly<Record<Section, Members>> = {
    paths: new Members(),
    schemas: new Members(),
    parameters: new Members(),
    responses: new Members(),
    headers: new Members(),
    securitySchemes: new Members(),
  };
  private readonly slices = new Slices();

  /** If a name occurs twice, the first part is kept. */
  add(section: Section, name: string, value: unknown): void {
    this.sections[section].add(name, value);
  }

  addAll(section: Section, values: Iterable<readonly [name: string, value: unknown]>): void {
    for (const [name, value] of values) this.add(section, name, value);
  }

  has(section: Section, name: string): boolean {
    return this.sections[section].names.has(name);
  }

  /** Call it between parts: yields to the event loop when the slice is used up. */
  async pause(): Promise<void> {
    if (this.slices.isOver) await this.slices.yieldToLoop();
  }

  /** @param head everything in the document except paths and components */
  async finish(head: Omit<OpenAPIObject, 'paths' | 'components'>): Promise<WrittenDocument> {
    const hash = createHash('sha1');
    const body: Buffer[] = [];
    let size = 0;
    for (const piece of this.pieces(JSON.stringify(head))) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      if (bytes.length === 0) continue;
      hash.update(bytes);
      body.push(bytes);
      size += bytes.length;
      await this.pause();
    }
    return { body, size, digest: hash.digest('base64url') };
  }

  private *pieces(head: string): Generator<string | Buffer> {
    const [paths, ...components] = SECTIONS;
    yield `${head.slice(0, -1)},"${paths}":{`;
    yield* this.sections.paths.take();
    yield '},"components":{';
    for (const [index, section] of components.entries()) {
      yield `${index > 0 ? ',' : ''}"${section}":{`;
      yield* this.sections[section].take();
      yield '}';
    }
    yield '}}';
  }
}
