/** The values that RESET ALL restores. A request sends only settings that differ from them. */
export const SESSION_DEFAULTS: Readonly<Record<string, string>> = {
  search_path: '"public", "extensions"',
  statement_timeout: '30000',
  'request.cookies': '{}',
};
