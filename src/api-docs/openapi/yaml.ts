/** Parts of a document as YAML 1.2 blocks, with a line break at their end. */
import { dump } from 'js-yaml';

/** A member of a mapping. @param indent spaces before the key */
export const yamlMember = (key: string, value: unknown, indent: number): string =>
  indentedBlock({ [key]: value }, indent);

/** An item of a list. @param indent spaces before the dash */
export const yamlItem = (item: unknown, indent: number): string => indentedBlock([item], indent);

function indentedBlock(value: unknown, indent: number): string {
  const text = dump(value, { noRefs: true, lineWidth: -1, skipInvalid: true });
  return text.replace(/^(?=.)/gm, ' '.repeat(indent));
}
