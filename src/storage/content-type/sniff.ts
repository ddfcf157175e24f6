/** Detects a file's type from its first bytes, without its name or the declared type. */
import { Signature, SIGNATURES } from './signatures';

/** Maximum bytes that the checks need. */
export const SNIFF_BYTES = 4_096;

export type Evidence =
  /** The content proves the type; the declared type is ignored. */
  | { readonly kind: 'certain'; readonly type: string }
  /** Text that looks like markup; treated as such unless another type of text was declared. */
  | { readonly kind: 'likely'; readonly type: string }
  /** Text of unknown type. */
  | { readonly kind: 'text' }
  /** Binary data of unknown type, or an empty file. */
  | { readonly kind: 'none' };

/** @param head the first SNIFF_BYTES of the file, or all of a shorter one */
export function sniff(head: Buffer): Evidence {
  if (head.length === 0) return { kind: 'none' };
  const text = textOf(head);
  // Text may begin with OTTO or MZ: signatures of letters count only in binary data.
  const signature = SIGNATURES.find((one) => (text === null || isProofInText(one)) && matches(head, one));
  if (signature) return { kind: 'certain', type: signature.type };
  const container = zipType(head) ?? matroskaType(head) ?? oggType(head);
  if (container) return { kind: 'certain', type: container };
  return text === null ? { kind: 'none' } : sniffText(text);
}

function isProofInText({ bytes, isText = false }: Signature): boolean {
  return isText || !/^([2-7][0-9a-f])+$/.test(bytes);
}

const compiled = new Map<Signature, (number | null)[]>();

function matches(head: Buffer, signature: Signature): boolean {
  let pattern = compiled.get(signature);
  if (!pattern) {
    pattern = (signature.bytes.match(/../g) ?? []).map((pair) => (pair === '..' ? null : parseInt(pair, 16)));
    compiled.set(signature, pattern);
  }
  const offset = signature.offset ?? 0;
  return pattern.every((byte, index) => {
    const actual = head[offset + index];
    return actual !== undefined && (byte === null || byte === actual);
  });
}

/** Formats that are zip files are recognised by their first entries (Office Open XML, OpenDocument, EPUB). */
function zipType(head: Buffer): string | null {
  if (head.length < 4 || !ZIP_HEADERS.has(head.readUInt32BE(0))) return null;
  const content = head.toString('latin1');
  const [, mimetype] = /^.{26}\x08\0..mimetype(application\/[\w.+-]+?)PK/s.exec(content) ?? [];
  if (mimetype) return mimetype;
  const office = /[^\w](word|xl|ppt)\//.exec(content)?.[1];
  if (office && content.includes('[Content_Types].xml')) return OFFICE[office] ?? null;
  return 'application/zip';
}

/** Local file header, end of an empty archive, marker of a split archive. */
const ZIP_HEADERS = new Set([0x504b0304, 0x504b0506, 0x504b0708]);

const OFFICE: Readonly<Record<string, string>> = {
  word: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xl: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
};

function matroskaType(head: Buffer): string | null {
  if (head.length < 4 || head.readUInt32BE(0) !== 0x1a45dfa3) return null;
  return head.subarray(0, 64).includes('webm') ? 'video/webm' : 'video/x-matroska';
}

function oggType(head: Buffer): string | null {
  if (!head.subarray(0, 4).equals(Buffer.from('OggS'))) return null;
  const first = head.subarray(28, 60).toString('latin1');
  if (first.includes('theora')) return 'video/ogg';
  return /vorbis|OpusHead|Speex|FLAC/.test(first) ? 'audio/ogg' : 'application/ogg';
}

/** Decodes text; null for binary data (WHATWG MIME Sniffing, 7.2). */
function textOf(head: Buffer): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return head.subarray(2, head.length & ~1).toString('utf16le');
  if (head[0] === 0xfe && head[1] === 0xff)
    return Buffer.from(head.subarray(0, head.length & ~1))
      .swap16()
      .toString('utf16le')
      .slice(1);
  // The standard's list of binary data bytes.
  return /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(head.toString('latin1'))
    ? null
    : head.toString('utf8').replace(/^\ufeff/, '');
}

/** Comments, declarations and processing instructions before the first element. */
const PROLOGUE = /^(?:\s+|<!--[\s\S]*?(?:-->|$)|<\?[\s\S]*?(?:\?>|$))*/;
const DOCTYPE = /^<!doctype\s+([\w:-]+)[^>[]*(?:\[[\s\S]*?\]\s*)?>?/i;
/** Elements with which only an HTML page begins. */
const PAGE = /^<(html|head|script|body|iframe|title|style|meta|link|base|frameset|object|embed)\b/i;
/** Further elements of the standard's list. Markdown may begin with them too. */
const FRAGMENT = /^<(h1|h2|div|font|table|a|b|br|p|img|form|span|center|svg:\w+)\b/i;

function sniffText(text: string): Evidence {
  const isXml = /^\s*<\?xml\b/i.test(text);
  let rest = text.slice(PROLOGUE.exec(text)?.[0].length ?? 0);
  const doctype = DOCTYPE.exec(rest);
  if (doctype?.[1]?.toLowerCase() === 'html')
    return { kind: 'certain', type: isXml ? 'application/xhtml+xml' : 'text/html' };
  if (doctype) {
    rest = rest.slice(doctype[0].length);
    rest = rest.slice(PROLOGUE.exec(rest)?.[0].length ?? 0);
  }
  if (doctype?.[1]?.toLowerCase() === 'svg' || /^<(\w+:)?svg\b/i.test(rest))
    return { kind: 'certain', type: 'image/svg+xml' };
  if (isXml)
    return { kind: 'certain', type: /^<html\b/i.test(rest) ? 'application/xhtml+xml' : 'application/xml' };
  if (PAGE.test(rest)) return { kind: 'certain', type: 'text/html' };
  if (doctype) return { kind: 'certain', type: 'application/xml' };
  return FRAGMENT.test(rest) ? { kind: 'likely', type: 'text/html' } : { kind: 'text' };
}
