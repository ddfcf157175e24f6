/** Parses the XML of SAML. Large documents and documents with declarations are refused before they are parsed. */
import { parseStringPromise, processors } from 'xml2js';
import { isJsonObject } from '../../common/text/json';

/** Maximum number of UTF-16 code units of a document. */
export const MAX_DOCUMENT = 256 * 1024;
/** Maximum number of tags: parsers spend time on elements and attributes rather than on text. */
const MAX_TAGS = 6_000;
const MAX_ATTRIBUTES = 4_000;

/** An element without the prefixes of names: attributes are in `$`, text is in `_`, children are lists. */
export type XmlElement = Readonly<Record<string, unknown>>;

/** @throws Error for a document type, entities, instructions, sections, comments, and documents that are too large */
export function assertPlainXml(xml: string, maxTags = MAX_TAGS): void {
  if (xml.length > MAX_DOCUMENT) throw new Error(`the document has more than ${MAX_DOCUMENT} characters`);
  if (xml.replace(/^\uFEFF?\s*<\?xml\s[^<>?]*\?>/, '').search(/<[!?]/) !== -1)
    throw new Error(
      'the document must not have a document type declaration, a comment, a CDATA section or a processing instruction',
    );
  if (xml.split('<').length > maxTags) throw new Error(`the document has more than ${maxTags} tags`);
  if (xml.split('=').length > MAX_ATTRIBUTES)
    throw new Error(`the document has more than ${MAX_ATTRIBUTES} attributes`);
}

/** @throws Error as assertPlainXml(), and for text that is not XML with this root */
export async function parseDocument(xml: string, root: string): Promise<XmlElement> {
  assertPlainXml(xml);
  const options = { explicitCharkey: true, tagNameProcessors: [processors.stripPrefix] };
  const parsed: unknown = await parseStringPromise(xml, options);
  const element = isJsonObject(parsed) && Object.hasOwn(parsed, root) ? parsed[root] : null;
  if (!isJsonObject(element)) throw new Error(`the root element is not ${root}`);
  return element;
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  const found = Object.hasOwn(element, name) ? element[name] : [];
  return Array.isArray(found)
    ? found.map((child: unknown) => (isJsonObject(child) ? child : { _: String(child) }))
    : [];
}

/** @throws Error unless there is exactly one */
export function onlyChild(element: XmlElement, name: string): XmlElement {
  const [child, ...others] = childrenOf(element, name);
  if (!child || others.length > 0) throw new Error(`there must be one ${name}`);
  return child;
}

export function attributeOf(element: XmlElement, name: string): string | null {
  const attributes = element.$;
  const value = isJsonObject(attributes) && Object.hasOwn(attributes, name) ? attributes[name] : null;
  return typeof value === 'string' ? value : null;
}

export const textOf = (element: XmlElement): string =>
  typeof element._ === 'string' ? element._.trim() : '';

/** Removes comments, which are common in metadata files. @throws Error for a comment that is not closed */
export function withoutComments(xml: string): string {
  const [start = '', ...parts] = xml.split('<!--');
  const rest = parts.map((part) => {
    const end = part.indexOf('-->');
    if (end === -1) throw new Error('a comment has no end');
    return part.slice(end + 3);
  });
  return start + rest.join('');
}
