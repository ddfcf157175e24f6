/** Writes the parts of a document as text, in slices, so that thousands of tables do not block the event loop. */
import { createHash } from 'node:crypto';
import { BodyBlocks } from '../../row-stream/row-body';
import { Slices } from '../../common/time/slices';
import { COMMENT_END, withoutCommentEnds } from './comment-ends';
import { MAPPINGS, type SchemaChange } from './map-schemas';
import type { Components, DocumentHead, PathItem } from './model';
import { OPENAPI_VERSIONS, type OpenApiVersion, toSchema30, type TypeOfComponent } from './versions';
import { yamlMember } from './yaml';

/** Members of each section, in the form of OpenAPI 3.1. */
type Sections = { readonly [Name in keyof Components]-?: NonNullable<Components[Name]>[string] } & {
  readonly paths: PathItem;
};
export type Section = keyof Sections;

const COMPONENTS = ['schemas', 'parameters', 'responses', 'headers', 'securitySchemes'] as const;

/** A form in which a document is served. */
export interface DocumentFormat {
  readonly version: OpenApiVersion;
  readonly syntax: 'json' | 'yaml';
}

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

  constructor(
    private readonly syntax: DocumentFormat['syntax'],
    private readonly indent: number,
  ) {}

  /** @returns the text that was written */
  add(name: string, value: unknown): string {
    const isFirst = this.names.size === 0;
    const plain = this.written(name, value, isFirst);
    // Rare, so only then the part is written twice.
    const text = plain.includes(COMMENT_END) ? this.written(name, withoutCommentEnds(value), isFirst) : plain;
    this.names.add(name);
    this.text.append(Buffer.from(text));
    return text;
  }

  take(): Buffer[] {
    return this.text.take();
  }

  private written(name: string, value: unknown, isFirst: boolean): string {
    if (this.syntax === 'yaml') return yamlMember(name, value, this.indent);
    return `${isFirst ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
}

/** In JSON and in YAML, which quotes it too because of the `#`. */
const REFERENCE = /"#\/components\/([^"]+)"/g;

export class DocumentWriter {
  /** `schemas/Orders`: the components that were referred to. */
  private readonly used = new Set<string>();
  private readonly sections: Readonly<Record<Section, Members>>;
  private readonly slices = new Slices();
  private readonly change: SchemaChange | null;

  /** @param typeOf of the components that the document refers to */
  constructor(
    private readonly format: DocumentFormat,
    typeOf: TypeOfComponent = () => undefined,
  ) {
    const members = (indent: number): Members => new Members(format.syntax, indent);
    this.change = format.version === '3.0' ? (schema) => toSchema30(schema, typeOf) : null;
    this.sections = {
      paths: members(2),
      schemas: members(4),
      parameters: members(4),
      responses: members(4),
      headers: members(4),
      securitySchemes: members(4),
    };
  }

  /** If a name occurs twice, the first part is kept. */
  add<Name extends Section>(section: Name, name: string, value: Sections[Name]): void {
    const members = this.sections[section];
    if (members.names.has(name)) return;
    const text = members.add(name, this.change ? convert(section, value, this.change) : value);
    for (const [, reference] of text.matchAll(REFERENCE)) this.used.add(reference as string);
  }

  addAll<Name extends Section>(
    section: Name,
    values: Iterable<readonly [name: string, value: Sections[Name]]>,
  ): void {
    for (const [name, value] of values) this.add(section, name, value);
  }

  /** Adds the components that the parts so far refer to. */
  addUsed<Name extends Section>(
    section: Name,
    values: Iterable<readonly [name: string, value: Sections[Name]]>,
  ): void {
    for (const [name, value] of values) {
      if (this.used.has(`${section}/${name}`)) this.add(section, name, value);
    }
  }

  has(section: Section, name: string): boolean {
    return this.sections[section].names.has(name);
  }

  /** Call it between parts: yields to the event loop when the slice is used up. */
  async pause(): Promise<void> {
    if (this.slices.isOver) await this.slices.yieldToLoop();
  }

  async finish(head: DocumentHead): Promise<WrittenDocument> {
    const hash = createHash('sha1');
    const body: Buffer[] = [];
    let size = 0;
    const full = withoutCommentEnds({ openapi: OPENAPI_VERSIONS[this.format.version], ...head });
    const pieces = this.format.syntax === 'yaml' ? this.yamlPieces(full) : this.jsonPieces(full);
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      if (bytes.length === 0) continue;
      hash.update(bytes);
      body.push(bytes);
      size += bytes.length;
      await this.pause();
    }
    return { body, size, digest: hash.digest('base64url') };
  }

  private *jsonPieces(head: object): Generator<string | Buffer> {
    yield `${JSON.stringify(head).slice(0, -1)},"paths":{`;
    yield* this.sections.paths.take();
    yield '},"components":{';
    for (const [index, section] of this.filled().entries()) {
      yield `${index > 0 ? ',' : ''}"${section}":{`;
      yield* this.sections[section].take();
      yield '}';
    }
    yield '}}\n';
  }

  private *yamlPieces(head: object): Generator<string | Buffer> {
    for (const [name, value] of Object.entries(head)) yield yamlMember(name, value, 0);
    yield this.sections.paths.names.size > 0 ? 'paths:\n' : 'paths: {}\n';
    yield* this.sections.paths.take();
    const filled = this.filled();
    yield filled.length > 0 ? 'components:\n' : 'components: {}\n';
    for (const section of filled) {
      yield `  ${section}:\n`;
      yield* this.sections[section].take();
    }
  }

  private filled(): readonly Exclude<Section, 'paths'>[] {
    return COMPONENTS.filter((section) => this.sections[section].names.size > 0);
  }
}

/** The type of a section's members and of its mapping agree, which TypeScript cannot follow through the two tables. */
function convert<Name extends Section>(
  section: Name,
  value: Sections[Name],
  change: SchemaChange,
): Sections[Name] {
  const mapping = MAPPINGS[section] as (value: Sections[Name], change: SchemaChange) => Sections[Name];
  return mapping(value, change);
}
