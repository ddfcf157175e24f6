/** Small pages for browsers, without scripts, forms or external resources. */
import { createHash } from 'node:crypto';
import { HtmlPage } from './errors/error-renderer';
import { escapeHtml } from '../common/text/html';

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5; }
main { max-width: 50rem; margin: 8vh auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid; border-radius: .3rem; }
`;

/** The style is allowed by its hash (CSP level 2) instead of a nonce, so the page can be cached. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** @param body HTML, already escaped */
export function plainPage(title: string, body: string): HtmlPage {
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'Cache-Control': 'no-cache',
      'Referrer-Policy': 'no-referrer',
    },
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`,
  };
}
