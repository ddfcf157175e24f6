/** Settings in files: NAME_FILE names a file with the value of NAME, such as a secret of Docker, Kubernetes or systemd. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../common/errors/error-facts';

const SUFFIX = '_FILE';

/** The setting that a variable gives: its name without `_FILE`, if that is a setting. */
export function settingOf(variable: string, settings: readonly string[]): string {
  const name = variable.slice(0, -SUFFIX.length);
  return variable.endsWith(SUFFIX) && settings.includes(name) ? name : variable;
}

/**
 * The values of those settings that are given, each by its variable or in a file. The line break at the end of a file is not
 * part of the value. An empty variable counts as absent.
 * @param faults gets a message for each file that cannot be read, or is given in addition to the value
 */
export function givenSettings(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
  faults: string[],
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of settings) {
    const value = environment[name]?.trim() ? environment[name] : undefined;
    const file = environment[name + SUFFIX]?.trim();
    if (value !== undefined && file) faults.push(`${name}${SUFFIX}: give either the value or its file`);
    const found = value ?? (file ? contentOf(file, name, faults) : undefined);
    if (found !== undefined) given[name] = found;
  }
  return given;
}

function contentOf(file: string, name: string, faults: string[]): string | undefined {
  try {
    const content = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (content.trim()) return content;
    faults.push(`${name}${SUFFIX}: ${file} is empty`);
  } catch (error) {
    faults.push(`${name}${SUFFIX} cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}
