/** A JSON Web Token (HS256), as a project's own backend signs it. */

/** @throws Error where the browser offers no cryptography: on pages over http that are not of this machine */
export async function signedToken(claims: Record<string, unknown>, secret: string): Promise<string> {
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  if (!globalThis.crypto?.subtle) throw new Error('This needs a page over https');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, bytes(signed));
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

function encoded(value: unknown): string {
  return base64Url(new TextEncoder().encode(JSON.stringify(value)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
