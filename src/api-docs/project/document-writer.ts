/** Collects the parts of a document as text, so that a schema of thousands of tables never blocks the event loop at once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenAPIObject } from '@nestjs/swagger';

export type Section = 'paths' | 'schemas' | 'parameters' | 'responses' | 'securitySchemes';

/** Milliseconds of work after which others get their turn. */
const TURN_MS = 8;

export class DocumentWriter {
  private readonly sections: Record<Section, Map<string, string>> = {
    paths: new Map(),
    schemas: new Map(),
    parameters: new Map(),
    responses: new Map(),
    securitySchemes: new Map(),
  };
  private turnBegan = performance.now();

  /** The first of a name counts. */
  add(section: Section, name: string, value: unknown): void {
    const entries = this.sections[section];
    if (!entries.has(name)) entries.set(name, JSON.stringify(value));
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
  toBuffer(head: Omit<OpenAPIObject, 'paths' | 'components'>): Buffer {
    const { paths, ...components } = this.sections;
    const componentTexts = Object.entries(components).map(
      ([name, entries]) => `${JSON.stringify(name)}:${objectText(entries)}`,
    );
    return Buffer.from(
      `${JSON.stringify(head).slice(0, -1)},"paths":${objectText(paths)},"components":{${componentTexts.join(',')}}}`,
    );
  }
}

function objectText(entries: ReadonlyMap<string, string>): string {
  return `{${[...entries].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
