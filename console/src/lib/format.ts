/** Numbers, sizes and times as the console shows them. */

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function formatBytes(bytes: number, language: string): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const format = { style: 'unit', unit: UNITS[unit]!, unitDisplay: unit === 0 ? 'long' : 'short' } as const;
  return new Intl.NumberFormat(language, {
    ...format,
    maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0,
  }).format(value);
}

export function formatNumber(value: number, language: string): string {
  return new Intl.NumberFormat(language, { notation: value >= 100_000 ? 'compact' : 'standard' }).format(
    value,
  );
}

/** Formats a time from the server. Text that is not a time is returned unchanged. */
export function formatTime(text: string | null, language: string): string {
  if (text === null) return '–';
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(time);
}

/** Formats a duration: in milliseconds below ten seconds, else in seconds. */
export function formatMs(ms: number, language: string): string {
  const inSeconds = ms >= 10_000;
  const value = inSeconds ? ms / 1000 : ms;
  const unit = inSeconds ? 'second' : 'millisecond';
  const maximumFractionDigits = value < 10 ? 1 : 0;
  return new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits }).format(value);
}

/** Formats a duration in seconds; a dash stands for a missing duration. */
export function formatSeconds(seconds: number | null, language: string): string {
  return seconds === null ? '–' : formatMs(seconds * 1000, language);
}

/** True for a link that a browser may open without running a script. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
