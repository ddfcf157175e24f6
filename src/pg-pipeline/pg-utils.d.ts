/** node-postgres' own value serialiser: published under lib/, without types. */
declare module 'pg/lib/utils' {
  export function prepareValue(value: unknown): string | Buffer | null | undefined;
}
