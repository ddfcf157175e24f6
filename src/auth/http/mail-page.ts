/**
 * The pages that mails link to, as text. Nothing is loaded from anywhere, and opening a page spends nothing: the token
 * goes out with a POST when a person presses the button.
 */

export interface MailPage {
  readonly title: string;
  readonly project: string;
  readonly anonKey: string;
  /** Path of the endpoint, relative to the page's. */
  readonly endpoint: string;
  readonly button: string;
  readonly done: string;
  readonly asksForPassword: boolean;
  /** Characters. */
  readonly minPasswordLength: number;
}

/** @param nonce allows the page's own style and script, and no other (CSP level 3) */
export function renderMailPage(page: MailPage, nonce: string): string {
  const settings = { anonKey: page.anonKey, endpoint: page.endpoint, done: page.done };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(page.title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(page.title)}</h1>
<p>${escapeHtml(page.project)}</p>
<form id="form">
${page.asksForPassword ? passwordField(page.minPasswordLength) : ''}
<button id="button">${escapeHtml(page.button)}</button>
</form>
<p id="message" role="status"></p>
<noscript><p>This page needs JavaScript to send its form.</p></noscript>
</main>
<script nonce="${nonce}" type="application/json" id="settings">${embedJson(settings)}</script>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
}

function passwordField(minLength: number): string {
  return `<label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" minlength="${minLength}" maxlength="72" required>`;
}

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
main { max-width: 24rem; margin: 15vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin-bottom: 0; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input, button { padding: .6rem; margin: .4rem 0 1rem; }
`;

/** The token leaves the address bar, and thereby the history, at once. */
const SCRIPT = `
const settings = JSON.parse(document.getElementById('settings').textContent);
const token = new URLSearchParams(location.search).get('token') || '';
history.replaceState(null, '', location.pathname);
const form = document.getElementById('form');
const message = document.getElementById('message');
const button = document.getElementById('button');
const password = document.getElementById('password');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  message.textContent = '';
  const body = password ? { token, password: password.value } : { token };
  try {
    const answer = await fetch(settings.endpoint, {
      method: 'POST',
      headers: { apikey: settings.anonKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { detail } = answer.ok ? {} : await answer.json();
    message.textContent = answer.ok ? settings.done : detail;
    if (answer.ok) form.remove();
  } catch {
    message.textContent = 'The server could not be reached. Try again in a moment.';
  }
  button.disabled = false;
});
`;

/** The policy of a page: nothing but its own style, script and requests; no frame around it. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** JSON that cannot end the element it stands in. */
function embedJson(value: object): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
