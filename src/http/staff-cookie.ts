/**
 * The cookie of staff who administer the installation. Browsers send it to the APIs of projects too, since these are on the
 * same host: a project's SQL must neither read it nor set it.
 */
export const STAFF_COOKIE = 'plinth_staff';

/** A Cookie header without the cookie of the administration; undefined if nothing else is in it. */
export function withoutStaffCookie(header: string | undefined): string | undefined {
  if (!header?.includes(STAFF_COOKIE)) return header;
  const others = header.split(';').filter((pair) => !pair.includes(STAFF_COOKIE));
  return others.length === 0 ? undefined : others.join(';').trim();
}

/** Whether a header would set that cookie. Browsers read `=name=value` as a cookie without a name, and send `name=value`. */
export const setsStaffCookie = (name: string, value: string): boolean =>
  name.toLowerCase() === 'set-cookie' && value.includes(STAFF_COOKIE);
