/** application/x-www-form-urlencoded (WHATWG URL, 5). */
import type { AppError } from '../../common/errors/app-error';
import { invalidBody, restError } from '../rest.errors';
import { holdsNul, textOf } from './body-text';
import { JSON_HINT, looksLikeJson } from './looks-like-json';

/** Maximum bytes of a form. Parsing a form takes as long as parsing JSON of ten times its size. */
export const MAX_FORM_BYTES = 1024 * 1024;
const MAX_FIELDS = 10_000;

export type FormField = readonly [name: string, value: string];

/** The fields, in the client's order. @throws AppError PL102 for a NUL, or too many fields; PL157 for JSON, which `curl -d` sends as a form */
export function formFields(body: Buffer): FormField[] {
  if (looksLikeJson(body)) throw noForm();
  const text = textOf(body);
  if (hasTooMany(text)) throw invalidBody(`A form may have ${MAX_FIELDS} fields`);
  return [...new URLSearchParams(text)].map(([name, value]) => {
    if (name.includes('\0') || value.includes('\0')) throw holdsNul();
    return [name, value];
  });
}

const noForm = (): AppError =>
  restError('PL157', {
    message:
      'The body is not valid form data, although its Content-Type is application/x-www-form-urlencoded',
    hint: JSON_HINT,
  });

function hasTooMany(text: string): boolean {
  let fields = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    fields += 1;
    if (fields > MAX_FIELDS) return true;
  }
  return false;
}
