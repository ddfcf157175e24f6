/** The type of field for a setting, by its schema. Pure. */

export interface SettingSchema {
  readonly type?: string | readonly string[];
  readonly enum?: string[];
  readonly description?: string;
}

export const GROUPS = ['auth', 'rest', 'storage'] as const;
export type SettingGroup = (typeof GROUPS)[number];

const STORAGE = /^(storage_|max_file_size|preview_|infected_|unscanned_)/;
const REST =
  /^(auto_rls|exposed_schemas|max_rows|statement_timeout|role_statement_timeouts|role_settings|pre_request|extra_search_path|read_from|plan_enabled)$/;

/** Settings without a group are shown with the auth settings, so that none is missing. */
export function groupOf(name: string): SettingGroup {
  if (STORAGE.test(name)) return 'storage';
  return REST.test(name) ? 'rest' : 'auth';
}

export function fieldKind({
  type,
  enum: options,
}: SettingSchema): 'switch' | 'choice' | 'number' | 'list' | 'json' | 'text' {
  const [first] = [type ?? 'object'].flat().filter((one) => one !== 'null');
  if (options) return 'choice';
  if (first === 'boolean') return 'switch';
  if (first === 'integer' || first === 'number') return 'number';
  if (first === 'array') return 'list';
  return first === 'object' ? 'json' : 'text';
}

/** The members that differ. `null` resets a setting to its default. */
export function changesOf(
  before: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed);
}
