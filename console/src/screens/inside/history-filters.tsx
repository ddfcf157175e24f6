/** The filters of the history: source, outcome, text, times. */
import { Button, Group, Select } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useT } from '../../i18n';
import { AddressInput } from '../../ui/address-input';
import { Icon } from '../../ui/icon';

const route = getRouteApi('/signed-in/projects/$slug/inside');
export const SOURCES = ['rest', 'auth', 'storage', 'realtime', 'other', 'mail', 'webhook'] as const;
const OUTCOMES = ['refused', 'failed', 'database'] as const;
const SLOWER = ['100', '1000', '10000'];
const NAMES = ['source', 'status', 'filter', 'slower', 'since', 'until'] as const;
type Name = (typeof NAMES)[number];

export function HistoryFilters() {
  const t = useT();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: Name) => (value: string | null) => {
    const { [name]: _former, ...others } = search;
    void navigate({ search: value ? { ...others, [name]: value } : others, replace: true });
  };
  const { source = '', status = '', slower = '' } = search;
  const select = (name: Name, label: string, value: string, data: { value: string; label: string }[]) => (
    <Select
      size="xs"
      w={{ base: '100%', xs: 170 }}
      label={label}
      value={value}
      allowDeselect={false}
      data={[{ value: '', label: t('all') }, ...data]}
      onChange={set(name)}
    />
  );
  return (
    <Group gap="xs" align="end">
      <AddressInput
        size="xs"
        w={{ base: '100%', xs: 240 }}
        label={t('search')}
        placeholder={t('historySearch')}
        leftSection={<Icon name="search" size={14} />}
        maxLength={200}
        value={search.filter ?? ''}
        onText={set('filter')}
      />
      {select(
        'source',
        t('historySource'),
        source,
        SOURCES.map((value) => ({ value, label: t(`source_${value}`) })),
      )}
      {select(
        'status',
        t('outcome'),
        status,
        OUTCOMES.map((value) => ({ value, label: t(`outcome_${value}`) })),
      )}
      {select(
        'slower',
        t('duration'),
        slower,
        SLOWER.map((value) => ({ value, label: t('slowerThan', { ms: value }) })),
      )}
      <Moment name="since" label={t('auditSince')} onText={set('since')} />
      <Moment name="until" label={t('auditUntil')} onText={set('until')} />
      {NAMES.some((name) => search[name]) ? (
        <Button
          size="xs"
          variant="default"
          onClick={() => void navigate({ search: search.view ? { view: search.view } : {} })}
        >
          {t('clearFilters')}
        </Button>
      ) : null}
    </Group>
  );
}

interface MomentProps {
  readonly name: 'since' | 'until';
  readonly label: string;
  readonly onText: (text: string) => void;
}

function Moment({ name, label, onText }: MomentProps) {
  const value = route.useSearch()[name] ?? '';
  return (
    <AddressInput
      size="xs"
      w={{ base: '100%', xs: 190 }}
      type="datetime-local"
      step={1}
      label={label}
      value={value}
      onText={onText}
    />
  );
}
