/** Statuses and times of requests as the console shows them. */

export function colorOfStatus(status: number): string {
  if (status >= 500) return 'red';
  return status >= 400 ? 'orange' : 'plinth';
}

/** Formats a time with its day and its seconds. */
export function formatMoment(at: string, language: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return '–';
  return new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' }).format(time);
}

/** Formats a time for an input field of the browser: in local time, without a time zone. */
export function localTime(at: number): string {
  const time = new Date(at);
  return new Date(at - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
