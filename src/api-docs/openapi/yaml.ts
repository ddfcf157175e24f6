/** A part of a document as a YAML 1.2 block, with a line break at its end. */
import { dump } from 'js-yaml';

/** @param value a mapping or a list @param indent spaces before each line */
export function yamlBlock(value: object, indent: number): string {
  const text = dump(value, { noRefs: true, lineWidth: -1, skipInvalid: true });
  return text.replace(/^(?=.)/gm, ' '.repeat(indent));
}
