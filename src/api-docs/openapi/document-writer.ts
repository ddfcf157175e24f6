/** Writes the parts of a document as text, in slices, so that thousands of tables do not block the event loop. */
import { BodyBlocks } from '../../row-stream/row-body';
import { Slices } from '../../common/time/slices';
import { mapPart, type SchemaChange } from './map-schemas';
import type { Components, DocumentHead, PathItem, Tag } from './model';
import { collectDocument, DocumentSize, type ServedDocument } from './served-document';
import { type DocumentFormat, OPENAPI_VERSIONS, toSchema30, type TypeOfComponent } from './versions';
import { yamlBlock } from './yaml';

const COMMENT_END = '*/';

const TEXTS: ReadonlySet<string> = new Set(['title', 'summary', 'description', 'example', 'x-postgres-type']);

/** A copy of a part of a document without texts that end a comment. Names of members and values of enums stay as they are. */
function withoutCommentEnds<Part>(part: Part): Part {
  return JSON.parse(JSON.stringify(part, replaceEnds)) as Part;
}

function replaceEnds(key: string, value: unknown): unknown {
  if (typeof value === 'string' && TEXTS.has(key)) return value.replaceAll(COMMENT_END, '* /');
  if (key !== 'examples' || !Array.isArray(value)) return value;
  return value.map((one: unknown) => replaceEnds('example', one));
}

/** Members of each section, in the form of OpenAPI 3.1. */
type Sections = { readonly [Name in keyof Components]-?: NonNullable<Components[Name]>[string] } & {
  readonly paths: PathItem;
};
export type Section = keyof Sections;

const COMPONENTS = ['schemas', 'parameters', 'responses', 'headers', 'securitySchemes'] as const;

/** Members of one object of the document, or the items of a list. */
class Members {
  readonly names = new Set<string>();
  private readonly text = new BodyBlocks();
  private isEmpty = true;

  constructor(
    private readonly syntax: DocumentFormat['syntax'],
    private readonly indent: number,
  ) {}

  /** @param name null for an item @returns the text that was written */
  add(name: string | null, value: unknown): string {
    const plain = this.written(name, value);
    // Writes the part a second time in this rare case only.
    const text = plain.includes(COMMENT_END) ? this.written(name, withoutCommentEnds(value)) : plain;
    if (name !== null) this.names.add(name);
    this.isEmpty = false;
    this.text.append(Buffer.from(text));
    return text;
  }

  /** The object or list as a member of another one. Call it once. */
  *take(name: string, [open, close]: '{}' | '[]' = '{}'): Generator<string | Buffer> {
    if (this.syntax === 'json') yield `"${name}":${open}`;
    else yield `${' '.repeat(this.indent - 2)}${name}:${this.isEmpty ? ` ${open}${close}` : ''}\n`;
    yield* this.text.take();
    if (this.syntax === 'json') yield close as string;
  }

  private written(name: string | null, value: unknown): string {
    if (this.syntax === 'yaml') return yamlBlock(name === null ? [value] : { [name]: value }, this.indent);
    const key = name === null ? '' : `${JSON.stringify(name)}:`;
    return `${this.isEmpty ? '' : ','}${key}${JSON.stringify(value)}`;
  }
}

/** A reference in JSON, or in YAML, where it is quoted too because of the `#`. */
const REFERENCE = /["']#\/components\/([^"']+)["']/g;

export class DocumentWriter {
  /** `schemas/Orders`: the components that were referred to. */
  private readonly used = new Set<string>();
  private readonly sections: Readonly<Record<Section, Members>>;
  private readonly slices = new Slices();
  private readonly change: SchemaChange | null;
  private readonly size = new DocumentSize();

  /** @param typeOf the types of the components that the document refers to */
  constructor(
    private readonly format: DocumentFormat,
    typeOf: TypeOfComponent = () => undefined,
  ) {
    const members = (indent: number): Members => new Members(format.syntax, indent);
    this.change = format.version === '3.0' ? (schema) => toSchema30(schema, typeOf) : null;
    const components = COMPONENTS.map((name): [Section, Members] => [name, members(4)]);
    this.sections = Object.fromEntries([['paths', members(2)], ...components]) as Record<Section, Members>;
  }

  /** If a name occurs twice, the first part is kept. @throws DocumentTooLargeError */
  add<Name extends Section>(section: Name, name: string, value: Sections[Name]): void {
    const members = this.sections[section];
    if (members.names.has(name)) return;
    const text = members.add(name, this.change ? mapPart(section, value, this.change) : value);
    this.size.add(text.length);
    for (const [, reference] of text.matchAll(REFERENCE)) this.used.add(reference as string);
  }

  /** Yields to the event loop between the parts. */
  async addAll<Name extends Section>(
    section: Name,
    values: Iterable<readonly [name: string, value: Sections[Name]]>,
  ): Promise<void> {
    for (const [name, value] of values) {
      this.add(section, name, value);
      await this.pause();
    }
  }

  async addComponents(components: Components): Promise<void> {
    for (const section of COMPONENTS) await this.addAll(section, Object.entries(components[section] ?? {}));
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

  /** Call it once. */
  finish(head: DocumentHead, tags: readonly Tag[] = []): Promise<ServedDocument> {
    return collectDocument(this.pieces({ openapi: OPENAPI_VERSIONS[this.format.version], ...head }, tags));
  }

  private *pieces(head: object, tags: readonly Tag[]): Generator<string | Buffer> {
    const { syntax } = this.format;
    const isJson = syntax === 'json';
    const comma = isJson ? ',' : '';
    if (isJson) yield '{';
    for (const [name, value] of Object.entries(head)) {
      yield new Members(syntax, 0).add(name, value) + comma;
    }
    if (tags.length > 0) {
      const items = new Members(syntax, 2);
      for (const tag of tags) {
        items.add(null, tag);
        yield '';
      }
      yield* items.take('tags', '[]');
      yield comma;
    }
    yield* this.sections.paths.take('paths');
    const filled = COMPONENTS.filter((section) => this.sections[section].names.size > 0);
    yield isJson ? ',"components":{' : `components:${filled.length > 0 ? '' : ' {}'}\n`;
    for (const [index, section] of filled.entries()) {
      if (index > 0) yield comma;
      yield* this.sections[section].take(section);
    }
    if (isJson) yield '}}\n';
  }
}
