/**
 * For clients whose errors have no type, or a union of the types of all statuses. Table REST has its own codes for each status,
 * so that the code tells which error it is.
 */

/**
 * Makes a function that gives an error the generated type of its status.
 * @param codes all codes of that type, which the compiler compares
 * @returns throws for an error with any other code
 */
export function narrowing<E extends { readonly code: string }>(
  codes: Readonly<Record<E['code'], true>>,
): (error: unknown) => E {
  const hasCode = (error: unknown): error is E =>
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    Object.hasOwn(codes, error.code);
  return (error) => {
    if (!hasCode(error)) throw new Error(`another error: ${JSON.stringify(error)}`);
    return error;
  };
}

export const UNAUTHORIZED = {
  PGRST301: true,
  PGRST302: true,
  PGRST303: true,
  PL401: true,
  PT401: true,
} as const;

export const FORBIDDEN = {
  '0L000': true,
  '0LP01': true,
  '0P000': true,
  '28000': true,
  '28P01': true,
  '42501': true,
  PL403: true,
  PT403: true,
} as const;

export const CONFLICT = { '23503': true, '23505': true, '23P01': true, PT409: true } as const;
