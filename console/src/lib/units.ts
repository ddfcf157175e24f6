/** Units in which settings are shown. The API has whole numbers of the smallest unit. */

export interface Unit {
  readonly label: string;
  /** Number of API units in one unit. */
  readonly factor: number;
}

const [SECOND, MINUTE, HOUR, DAY] = [1, 60, 3_600, 86_400];
const KIB = 1024;

const SECONDS: readonly Unit[] = [
  { label: 's', factor: SECOND },
  { label: 'min', factor: MINUTE },
  { label: 'h', factor: HOUR },
  { label: 'd', factor: DAY },
];
const MILLISECONDS: readonly Unit[] = [
  { label: 'ms', factor: 1 },
  { label: 's', factor: 1_000 },
  { label: 'min', factor: 60_000 },
];
const BYTES: readonly Unit[] = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'].map((label, power) => ({
  label,
  factor: KIB ** power,
}));

const UNITS: Readonly<Record<string, readonly Unit[]>> = {
  access_token_lifetime: SECONDS,
  refresh_token_lifetime: SECONDS,
  statement_timeout: MILLISECONDS,
  max_file_size: BYTES,
  storage_quota_bytes: BYTES,
  database_quota_bytes: BYTES,
};

/** Undefined for settings without a unit, or with only one unit. */
export const unitsOf = (setting: string): readonly Unit[] | undefined => UNITS[setting];

/** The largest unit in which the value is a whole number; the smallest unit if there is no value. */
export function fittingUnit(units: readonly Unit[], value: number | null): Unit {
  const fitting = units.findLast(({ factor }) => value !== null && value > 0 && value % factor === 0);
  return fitting ?? (units[0] as Unit);
}
