/** Writes the parts of a document as text, in slices, so that thousands of tables do not block the event loop. */
import { BodyBlocks } from '../../row-stream/row-body';
import { Slices } from '../../common/time/slices';
import { mapPart, type SchemaChange } from './map-schemas';
import type { Components, DocumentHead, PathItem, Tag } from './model';
import { collectDocument, DocumentSize, type ServedDocument } from './served-document';
import { type DocumentFormat, OPENAPI_VERSIONS, toSchema30, type TypeOfComponent } from './versions';
import { yamlItem, yamlMember } from './yaml';

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
    // Writes the part a second time in this rare case only.
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
    return collectDocument(
      this.format.syntax === 'yaml' ? this.yamlPieces(head, tags) : this.jsonPieces(head, tags),
    );
  }

  private fullHead(head: DocumentHead): object {
    return withoutCommentEnds({ openapi: OPENAPI_VERSIONS[this.format.version], ...head });
  }

  private *jsonPieces(head: DocumentHead, tags: readonly Tag[]): Generator<string | Buffer> {
    yield JSON.stringify(this.fullHead(head)).slice(0, -1);
    for (const [index, tag] of tags.entries())
      yield (index === 0 ? ',"tags":[' : ',') + JSON.stringify(withoutCommentEnds(tag));
    yield `${tags.length > 0 ? ']' : ''},"paths":{`;
    yield* this.sections.paths.take();
    yield '},"components":{';
    for (const [index, section] of this.filled().entries()) {
      yield `${index > 0 ? ',' : ''}"${section}":{`;
      yield* this.sections[section].take();
      yield '}';
    }
    yield '}}\n';
  }

  private *yamlPieces(head: DocumentHead, tags: readonly Tag[]): Generator<string | Buffer> {
    for (const [name, value] of Object.entries(this.fullHead(head))) yield yamlMember(name, value, 0);
    if (tags.length > 0) yield 'tags:\n';
    for (const tag of tags) yield yamlItem(withoutCommentEnds(tag), 2);
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
