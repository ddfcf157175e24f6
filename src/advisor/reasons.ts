/** The advisor's findings, in English. Names in braces are values. Translations are in the console, by the same keys. */
export const REASONS = {
  rls_off_open:
    'Row-level security is off, and client roles have privileges on the table: everybody with the anon key can read or write its rows.',
  rls_off:
    'Row-level security is off. No client role has a privilege on the table, but the next grant opens all of its rows.',
  policy_true_writes:
    'The policy allows {command} on every row to anon: everybody with the anon key can change the table.',
  policy_true: 'The policy shows every row to anon. That is right for public data only.',
  definer_view:
    'The view reads with the privileges of its owner, so it shows rows that the policies of its tables hide from the reader.',
  definer_function:
    'The function runs with the privileges of its owner and looks names up in the search_path of its caller, who can put other objects in front.',
  foreign_key_without_index:
    'The foreign key has no index: each deletion, and each change of the key, in the referenced table reads the whole table, and so do embedded requests.',
  policy_column_without_index:
    'The policy {policy} compares this column in every request, and no index begins with it.',
  policy_call_per_row:
    'The policy calls a function of the schema auth for every row. In a scalar subquery, it is called only once per statement.',
  duplicate_index:
    'The index has the same columns as {other}: it costs {megabytes} MiB and time at every write, and helps no query.',
  unused_index:
    'No query has used the index since the statistics began. It takes {megabytes} MiB and time at every write. Queries of a replica are not counted.',
  unused_index_since:
    'No query has used the index since the statistics began ({since}). It takes {megabytes} MiB and time at every write. Queries of a replica are not counted.',
  bloat:
    '{percent} % of the rows ({dead}) are dead versions, which every scan reads. Autovacuum is switched off for the table, cannot keep up, or waits for a long transaction.',
  sequence_near_end:
    'The sequence has reached {percent} % of its largest value, or of that of its column. At the end every insert fails.',
  backup_never:
    'The project is {days} days old and Plinth has never backed it up. Ignore this if its server is backed up by other means.',
  backup_old: 'The newest backup that Plinth made is {days} days old.',
} as const;

export type Reason = keyof typeof REASONS;
export type ReasonValues = Readonly<Record<string, string | number>>;

export function reasonText(reason: Reason, values: ReasonValues): string {
  return REASONS[reason].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
