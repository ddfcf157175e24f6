/** One cookie of the administration: its name and attributes, and how to read and write it. */
import type { Request, Response } from 'express';

/** The prefix binds the cookie to this host and to https: neither a subdomain nor plain HTTP can set one. */
const SECURE_PREFIX = '__Host-';

export class CookieJar {
  private readonly name: string;
  private readonly attributes: string;

  /** @param publicUrl an https address makes the cookie Secure and gives it the prefix `__Host-` */
  constructor(name: string, sameSite: 'Strict' | 'Lax', publicUrl: string) {
    const isSecure = publicUrl.startsWith('https:');
    this.name = (isSecure ? SECURE_PREFIX : '') + name;
    this.attributes = `Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  }

  /** The value; null if the request has none, or several. */
  read({ headers }: Request): string | null {
    const values = (headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${this.name}=`));
    // Another application on this host could set a second cookie; browsers choose the order of the two.
    return values.length === 1 ? (values[0]?.slice(this.name.length + 1) ?? null) : null;
  }

  /** Replaces what this response sets already. @param maxAgeSeconds 0 removes the cookie from the browser */
  set(response: Response, value: string, maxAgeSeconds: number): void {
    const before = [response.getHeader('Set-Cookie') ?? []].flat().map(String);
    const others = before.filter((cookie) => !cookie.startsWith(`${this.name}=`));
    const cookie = `${this.name}=${value}; Max-Age=${maxAgeSeconds}; ${this.attributes}`;
    response.setHeader('Set-Cookie', others.length === 0 ? cookie : [...others, cookie]);
    response.setHeader('Cache-Control', 'no-store');
  }
}
