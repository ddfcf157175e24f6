/** Selects a time zone from the time zones that the browser knows. */
import { Select } from '@mantine/core';
import { useT } from '../i18n';

export function TimeZone({ zone, onChange }: { zone: string; onChange: (zone: string) => void }) {
  const t = useT();
  return (
    <Select
      label={t('timeZone')}
      searchable
      allowDeselect={false}
      limit={50}
      data={[...new Set(['UTC', zone, ...Intl.supportedValuesOf('timeZone')])]}
      value={zone}
      onChange={(chosen) => onChange(chosen ?? zone)}
    />
  );
}
