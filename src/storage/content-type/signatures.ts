/**
 * Signatures of file formats: their first bytes (WHATWG MIME Sniffing, 6; the specifications of the formats). Not the package
 * file-type: it takes text that begins with MZ or BM for a program or an image, and recognises neither HTML nor SVG, the types
 * that matter most here; and it is an ES module, which Jest on Node 20 cannot load.
 */

export interface Signature {
  readonly type: string;
  /** Bytes in hexadecimal; `..` stands for any byte. */
  readonly bytes: string;
  readonly offset?: number;
  /** The format is text, or its signature is too long to begin other text by chance. */
  readonly isText?: boolean;
}

const text = (value: string): string => Buffer.from(value, 'latin1').toString('hex');

/** The first match wins, so the longer of two similar signatures comes first. */
export const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', bytes: '89504e470d0a1a0a' },
  { type: 'image/jpeg', bytes: 'ffd8ff' },
  { type: 'image/gif', bytes: text('GIF87a'), isText: true },
  { type: 'image/gif', bytes: text('GIF89a'), isText: true },
  { type: 'image/webp', bytes: `${text('RIFF')}........${text('WEBP')}` },
  { type: 'image/bmp', bytes: `${text('BM')}........00000000` },
  { type: 'image/tiff', bytes: '49492a00' },
  { type: 'image/tiff', bytes: '4d4d002a' },
  { type: 'image/x-icon', bytes: '00000100' },
  { type: 'image/vnd.adobe.photoshop', bytes: text('8BPS') },
  { type: 'image/jxl', bytes: '0000000c4a584c200d0a870a' },
  { type: 'image/avif', bytes: text('ftypavif'), offset: 4 },
  { type: 'image/avif', bytes: text('ftypavis'), offset: 4 },
  { type: 'image/heic', bytes: text('ftypheic'), offset: 4 },
  { type: 'image/heic', bytes: text('ftypheix'), offset: 4 },
  { type: 'image/heif', bytes: text('ftypmif1'), offset: 4 },
  { type: 'video/quicktime', bytes: text('ftypqt  '), offset: 4 },
  { type: 'audio/mp4', bytes: text('ftypM4A '), offset: 4 },
  { type: 'audio/mp4', bytes: text('ftypM4B '), offset: 4 },
  { type: 'video/3gpp', bytes: text('ftyp3gp'), offset: 4 },
  { type: 'video/mp4', bytes: text('ftyp'), offset: 4 },
  { type: 'video/x-msvideo', bytes: `${text('RIFF')}........${text('AVI ')}` },
  { type: 'video/x-flv', bytes: text('FLV\x01') },
  { type: 'video/mpeg', bytes: '000001ba' },
  { type: 'video/mpeg', bytes: '000001b3' },
  { type: 'audio/wav', bytes: `${text('RIFF')}........${text('WAVE')}` },
  { type: 'audio/mpeg', bytes: text('ID3') },
  { type: 'audio/mpeg', bytes: 'fffb' },
  { type: 'audio/mpeg', bytes: 'fff3' },
  { type: 'audio/mpeg', bytes: 'fff2' },
  { type: 'audio/aac', bytes: 'fff1' },
  { type: 'audio/aac', bytes: 'fff9' },
  { type: 'audio/flac', bytes: text('fLaC') },
  { type: 'audio/midi', bytes: text('MThd') },
  { type: 'audio/aiff', bytes: `${text('FORM')}........${text('AIFF')}` },
  { type: 'audio/amr', bytes: text('#!AMR') },
  { type: 'application/pdf', bytes: text('%PDF-'), isText: true },
  { type: 'application/postscript', bytes: text('%!PS-Adobe'), isText: true },
  { type: 'application/rtf', bytes: text('{\\rtf'), isText: true },
  { type: 'application/gzip', bytes: '1f8b' },
  { type: 'application/x-bzip2', bytes: text('BZh') },
  { type: 'application/x-xz', bytes: 'fd377a585a00' },
  { type: 'application/zstd', bytes: '28b52ffd' },
  { type: 'application/x-7z-compressed', bytes: '377abcaf271c' },
  { type: 'application/vnd.rar', bytes: text('Rar!\x1a\x07') },
  { type: 'application/x-tar', bytes: text('ustar'), offset: 257 },
  { type: 'application/wasm', bytes: '0061736d' },
  { type: 'application/vnd.sqlite3', bytes: text('SQLite format 3\0') },
  { type: 'application/vnd.apache.parquet', bytes: text('PAR1') },
  { type: 'application/x-elf', bytes: '7f454c46' },
  { type: 'application/vnd.microsoft.portable-executable', bytes: text('MZ') },
  { type: 'application/x-mach-binary', bytes: 'cffaedfe' },
  { type: 'application/java-vm', bytes: 'cafebabe' },
  { type: 'application/x-cfb', bytes: 'd0cf11e0a1b11ae1' },
  { type: 'font/woff', bytes: text('wOFF') },
  { type: 'font/woff2', bytes: text('wOF2') },
  { type: 'font/otf', bytes: text('OTTO') },
  { type: 'font/ttf', bytes: '0001000000' },
];

/** Types that the table, or the container checks in sniff.ts, recognise. */
export const RECOGNISABLE: ReadonlySet<string> = new Set([
  ...SIGNATURES.map(({ type }) => type),
  'image/jpg',
  'audio/mp3',
  'audio/ogg',
  'video/ogg',
  'application/ogg',
  'video/webm',
  'audio/webm',
  'video/x-matroska',
  'application/zip',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/epub+zip',
]);
