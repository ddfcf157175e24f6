/**
 * The values that RESET ALL restores. A request sends only settings that differ from them. The settings that decide how values are
 * read, printed or checked are fixed here; the owner's ALTER DATABASE applies to all others, such as the time zone.
 */
export const SESSION_DEFAULTS: Readonly<Record<string, string>> = {
  search_path: '"public", "extensions"',
  statement_timeout: '30000',
  'request.cookies': '{}',
  array_nulls: 'on',
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  intervalstyle: 'postgres',
  row_security: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  xmlbinary: 'base64',
  xmloption: 'content',
};
