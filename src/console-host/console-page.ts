/** The page of the console, and the policy that confines it. */
import type { HtmlPage } from '../http/errors/error-renderer';
import { plainPage } from '../http/plain-page';

/**
 * Allows only scripts of this origin, none inline. Inline styles are allowed, because Mantine and CodeMirror set them; the
 * page makes no markup from values. Images and media of a preview are `blob:` URLs that the page made itself.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
} as const;

/** The page that is shown when a clone or an image has no build of the console. */
export const NOT_BUILT: HtmlPage = plainPage(
  'The console was not built',
  `<p>Plinth itself is running. <code>npm start</code> builds the console, unless its packages cannot be installed.</p>
<p>To build it, run these commands in the folder of Plinth, then start Plinth again:</p>
<pre>npm ci --prefix console
npm run build --prefix console</pre>
<p>The API documentation at <code>/docs</code> and the command line work without it.</p>`,
);

/**
 * The URL of `/console/` relative to the requested page, so that the page works behind a proxy that adds a prefix.
 * @param path the path of the request: `/console/projects/acme`
 */
export function baseOf(path: string): string {
  const [, , ...below] = path.split('/');
  return below.length === 0 ? 'console/' : '../'.repeat(below.length - 1) || './';
}

/** Gives the page its base URL, which the links to its assets are relative to. */
export function withBase(page: string, base: string): string {
  return page.replace('<head>', `<head><base href="${base}">`);
}
