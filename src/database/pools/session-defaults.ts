/** What RESET ALL goes back to. A request sends only the settings that it wants otherwise. */
export const SESSION_DEFAULTS: Readonly<Record<string, string>> = {
  search_path: '"public", "extensions"',
  statement_timeout: '30000',
  'request.cookies': '{}',
};
