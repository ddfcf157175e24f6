/** Shows how much of a stream has passed: a bar on a terminal, occasional lines elsewhere. */
import { Transform } from 'node:stream';

const TERMINAL_MS = 200;
const LINES_MS = 10_000;
const BAR_WIDTH = 30;

export interface ProgressOptions {
  readonly label: string;
  /** Bytes; null: unknown. */
  readonly total: number | null;
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
}

/** Passes bytes on and counts them. */
export function withProgress({ label, total, isTerminal, write }: ProgressOptions): Transform {
  const interval = isTerminal ? TERMINAL_MS : LINES_MS;
  let bytes = 0;
  let shownAt = performance.now();
  const show = (): void => {
    const line = `${label}  ${amountOf(bytes, total)}`;
    write(isTerminal ? `\r${line.padEnd(78)}` : `${line}\n`);
    shownAt = performance.now();
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (performance.now() - shownAt >= interval) show();
      done(null, chunk);
    },
    flush(done) {
      if (isTerminal) {
        show();
        write('\n');
      }
      done();
    },
  });
}

function amountOf(bytes: number, total: number | null): string {
  if (!total) return sizeOf(bytes);
  const share = Math.min(1, bytes / total);
  const filled = Math.round(share * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %  ${sizeOf(bytes)}`;
}

/** `12.3 MiB` */
export function sizeOf(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
