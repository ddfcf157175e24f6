/**
 * A client's name in a mail. Its User-Agent is a stranger's text: only names from the list below, or one word of the text, are
 * mailed.
 */

/** In this order: later browsers have the names of earlier ones. */
const PROGRAMS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari', 'Dart', 'okhttp', 'node', 'curl'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS X', 'CrOS', 'Linux'];
const SHOWN: Readonly<Record<string, string>> = {
  Edg: 'Edge',
  OPR: 'Opera',
  CrOS: 'ChromeOS',
  'Mac OS X': 'macOS',
};

/** `Firefox, Windows`; a dash for an unknown part. */
export function clientOf(userAgent: string | null): string {
  const found = [PROGRAMS, SYSTEMS].flatMap((names) => {
    const name = names.find((one) => userAgent?.includes(one));
    return name === undefined ? [] : [SHOWN[name] ?? name];
  });
  return found.join(', ') || '-';
}
