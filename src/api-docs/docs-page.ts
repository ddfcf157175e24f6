/** The page /docs: Swagger UI on the platform's document, and on that of a project whose key was entered. */

/**
 * The key is a JWT that names its project (`ref`). It stays in the memory of the page, and is sent to this server alone.
 * Parameters are not prefilled unless they are required: the example of an optional filter would hide rows. Groups are collapsed,
 * because a browser takes seconds to draw hundreds of operations.
 */
export const DOCS_SCRIPT = `
'use strict';
const form = document.getElementById('project');
const problem = document.getElementById('problem');

function show(source, keys) {
  const ui = SwaggerUIBundle({
    ...source,
    dom_id: '#docs',
    deepLinking: true,
    persistAuthorization: false,
    docExpansion: 'none',
    tryItOutEnabled: true,
    onComplete() {
      for (const [scheme, value] of Object.entries(keys)) ui.preauthorizeApiKey(scheme, value);
      document.getElementById('docs').dataset.shows = keys.apikey ? 'project' : 'platform';
    },
  });
  window.ui = ui;
}

function slugOf(key) {
  const payload = key.split('.')[1] ?? '';
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)).ref;
}

async function showProject(key, token) {
  const path = 'p/' + encodeURIComponent(slugOf(key)) + '/openapi.json';
  const headers = { apikey: key, Authorization: 'Bearer ' + token };
  const response = await fetch(path, { headers, credentials: 'omit' });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error.message);
  show({ spec: body }, { apikey: key, bearer: token });
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const key = form.elements.key.value.trim();
  const token = form.elements.token.value.trim() || key;
  problem.textContent = '';
  if (key === '') return show({ url: 'openapi.json' }, {});
  showProject(key, token).catch((error) => {
    problem.textContent = error instanceof SyntaxError || error.name === 'InvalidCharacterError' ? 'This is not a key of a project.' : error.message;
  });
});

show({ url: 'openapi.json' }, {});
`;

/** Addresses are relative, so that the page works behind a proxy that adds a prefix. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Plinth API</title>
  <link rel="icon" href="docs/favicon-32x32.png">
  <link rel="stylesheet" href="docs/swagger-ui.css">
  <style>
    #project { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; max-width: 1460px; margin: 1rem auto 0; padding: 0 20px; font-family: sans-serif; }
    #project label { display: grid; gap: .2rem; flex: 1 1 16rem; font-size: .8rem; }
    #project input, #project button { padding: .4rem; font-size: .9rem; }
    #problem { flex-basis: 100%; margin: 0; color: #b00020; }
  </style>
</head>
<body>
  <form id="project">
    <label>Key of a project, to see its tables <input name="key" type="password" autocomplete="off" spellcheck="false"></label>
    <label>Access token of a user (optional) <input name="token" type="password" autocomplete="off" spellcheck="false"></label>
    <button>Open</button>
    <p id="problem" role="alert"></p>
  </form>
  <div id="docs"></div>
  <noscript>This page needs JavaScript; the document itself is at <a href="openapi.json">openapi.json</a>.</noscript>
  <script src="docs/swagger-ui-bundle.js"></script>
  <script src="docs/init.js"></script>
</body>
</html>
`;
