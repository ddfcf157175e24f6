import { growthOfTime } from '../../../test/support/growth';
import { sniff, SNIFF_BYTES } from './sniff';

const bytes = (hex: string, more = ''): Buffer =>
  Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(more, 'latin1')]);
const certain = (type: string): object => ({ kind: 'certain', type });

describe('sniff', () => {
  it.each([
    ['image/png', bytes('89504e470d0a1a0a', '\0\0\0\rIHDR')],
    ['image/jpeg', bytes('ffd8ffe000104a464946')],
    ['image/gif', Buffer.from('GIF89a\x01\0')],
    ['image/webp', bytes('52494646aabbccdd57454250')],
    ['image/avif', bytes('0000001c', 'ftypavif')],
    ['video/mp4', bytes('0000001c', 'ftypisom')],
    ['video/webm', bytes('1a45dfa3', '\x9fB\x86\x81\x01B\x82\x84webm')],
    ['audio/mpeg', bytes('494433030000')],
    ['audio/wav', bytes('52494646aabbccdd57415645')],
    ['application/pdf', Buffer.from('%PDF-1.7\n')],
    ['application/gzip', bytes('1f8b0800')],
    ['application/zip', bytes('504b0304140000', 'a.txt\0')],
    ['application/x-7z-compressed', bytes('377abcaf271c00')],
    ['font/woff2', Buffer.from('wOF2\0\x01')],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      bytes('504b030414000600', '\0\0[Content_Types].xml\0\0PK\x03\x04\0\0word/document.xml'),
    ],
  ])('knows %s', (type, head) => expect(sniff(head)).toEqual(certain(type)));

  it.each([
    ['a doctype', 'text/html', '<!DOCTYPE html><p>x'],
    ['a doctype after space and comments', 'text/html', '\n <!-- c -->\t<!doctype HTML>'],
    ['a script', 'text/html', '<script>alert(1)</script>'],
    ['a script in capitals', 'text/html', '<SCRIPT src=x>'],
    ['a byte order mark before', 'text/html', '\ufeff<html>'],
    ['SVG', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['SVG after an XML declaration', 'image/svg+xml', '<?xml version="1.0"?><!-- c --><svg/>'],
    ['SVG with a doctype', 'image/svg+xml', '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "y"><svg/>'],
    ['SVG in a namespace prefix', 'image/svg+xml', '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
    ['XML', 'application/xml', '<?xml version="1.0"?><note/>'],
    ['XML with a stylesheet', 'application/xml', '<?xml version="1.0"?><?xml-stylesheet href="x"?><note/>'],
    ['XHTML', 'application/xhtml+xml', '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'],
  ])('knows %s', (_case, type, text) => expect(sniff(Buffer.from(text))).toEqual(certain(type)));

  it('knows HTML in UTF-16', () => {
    expect(sniff(Buffer.from('\ufeff<html><script>', 'utf16le'))).toEqual(certain('text/html'));
  });

  it('treats a fragment as HTML only if nothing else is declared', () => {
    expect(sniff(Buffer.from('<p align="center">'))).toEqual({ kind: 'likely', type: 'text/html' });
  });

  it.each(['hello', 'a,b\n1,2\n', '{"a": 1}', 'naïve', 'OTTO was here', 'MZ and BZh', '< html', 'x<script>'])(
    'sees text in %j',
    (text) => expect(sniff(Buffer.from(text))).toEqual({ kind: 'text' }),
  );

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(1_000)],
    ['a single control character', Buffer.from([1])],
    ['the beginning of a signature', bytes('89504e4700')],
  ])('does not recognise %s', (_case, head) => expect(sniff(head)).toEqual({ kind: 'none' }));

  it('handles every truncation of the formats that it knows', () => {
    const samples = ['504b030414000600', '1a45dfa39f42', '4f67675300', 'fffe3c00', 'feff003c'].map((hex) =>
      bytes(hex),
    );
    for (const sample of samples) {
      for (let length = 0; length <= sample.length; length += 1) sniff(sample.subarray(0, length));
    }
  });

  it.each(['<!--', '<?', '<!doctype x [', ' ', '<!-- -->'])('takes linear time for %j repeated', (unit) => {
    const markup = (length: number): Buffer => Buffer.from(unit.repeat(length / unit.length));
    expect(growthOfTime((length) => sniff(markup(length)), SNIFF_BYTES / 8)).toBeLessThan(40);
  });
});
