/** Parses dates of HTTP header fields (RFC 9110, 5.6.7): the preferred format and the two obsolete formats. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = String.raw`(?<time>\d\d:\d\d:\d\d)`;
const MONTH = `(?<month>${MONTHS.join('|')})`;
const FORMS = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(String.raw`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(
    String.raw`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`,
  ),
  // Sun Nov  6 08:49:37 1994
  new RegExp(String.raw`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>\d\d| \d) ${TIME} (?<year>\d{4})$`),
];

/**
 * @param now milliseconds since the epoch; a two-digit year is at most 50 years after it
 * @returns milliseconds since the epoch; NaN, with which every comparison is false, for an invalid date
 */
export function parseHttpDate(text: string, now = Date.now()): number {
  const trimmed = text.trim();
  for (const form of FORMS) {
    const { day, month, year, time } = form.exec(trimmed)?.groups ?? {};
    if (day && month && year && time) return timeOf({ day, month, year, time }, now);
  }
  return NaN;
}

interface DateParts {
  readonly day: string;
  readonly month: string;
  readonly year: string;
  readonly time: string;
}

function timeOf({ day, month, year, time }: DateParts, now: number): number {
  const [hour = NaN, minute = NaN, second = NaN] = time.split(':').map(Number);
  const date = new Date(0);
  date.setUTCFullYear(fullYear(year, now), MONTHS.indexOf(month), Number(day));
  // Refuses days that do not exist; second 60 is a leap second.
  const isReal = date.getUTCDate() === Number(day) && hour < 24 && minute < 60 && second <= 60;
  return isReal ? date.setUTCHours(hour, minute, second) : NaN;
}

function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const latest = new Date(now).getUTCFullYear() + 50;
  return latest - ((latest - Number(year)) % 100);
}
