/** Filters of a grid, with the operators of table REST. */
import { ActionIcon, Button, Group, Pill, Popover, Select, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Column } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import { type Filter, type GridQuery, type Operator, OPERATORS } from '../../lib/grid-query';
import { Icon } from '../../ui/icon';

const SIGNS: Readonly<Record<Operator, string>> = {
  eq: '=',
  neq: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  ilike: '~',
  is: 'is',
  in: 'in',
  cs: '⊇',
};

interface FilterBarProps {
  readonly columns: readonly Column[];
  readonly query: GridQuery;
  readonly onChange: (query: GridQuery) => void;
}

export function FilterBar({ columns, query, onChange }: FilterBarProps) {
  const t = useT();
  const [isOpen, popover] = useDisclosure();
  const { filters } = query;
  return (
    <Group gap={6} flex={1}>
      <Popover opened={isOpen} onChange={popover.toggle} position="bottom-start" trapFocus shadow="md">
        <Popover.Target>
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="filter" size={14} />}
            onClick={popover.toggle}
          >
            {t('filter')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <NewFilter
            columns={columns}
            onAdd={(filter) => {
              onChange({ ...query, filters: [...filters, filter] });
              popover.close();
            }}
          />
        </Popover.Dropdown>
      </Popover>
      {filters.map((filter, index) => (
        <Pill
          key={`${index} ${filter.column}`}
          withRemoveButton
          removeButtonProps={{ 'aria-label': t('removeFilter'), 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => onChange({ ...query, filters: filters.filter((one) => one !== filter) })}
        >
          {filter.column} {SIGNS[filter.operator]} {filter.value}
        </Pill>
      ))}
      {filters.length > 1 ? (
        <ActionIcon aria-label={t('clearFilters')} onClick={() => onChange({ ...query, filters: [] })}>
          <Icon name="trash" size={14} />
        </ActionIcon>
      ) : null}
    </Group>
  );
}

function NewFilter({ columns, onAdd }: { columns: readonly Column[]; onAdd: (filter: Filter) => void }) {
  const t = useT();
  const [filter, setFilter] = useState<Filter>({ column: columns[0]?.name ?? '', operator: 'eq', value: '' });
  const isComplete = filter.operator !== 'is' || filter.value !== '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) onAdd(filter);
      }}
    >
      <Stack gap="xs" w={260}>
        <Select
          size="xs"
          label={t('column')}
          data={columns.map(({ name }) => name)}
          value={filter.column}
          searchable
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(column) => setFilter({ ...filter, column: column ?? filter.column })}
        />
        <Select
          size="xs"
          label={t('condition')}
          data={OPERATORS.map((operator) => ({
            value: operator,
            label: `${SIGNS[operator]}  ${t(`op_${operator}`)}`,
          }))}
          value={filter.operator}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(operator) => setFilter({ ...filter, operator: operator ?? 'eq', value: '' })}
        />
        {filter.operator === 'is' ? (
          <Select
            size="xs"
            label={t('value')}
            data={['null', 'not_null', 'true', 'false']}
            value={filter.value}
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
            onChange={(value) => setFilter({ ...filter, value: value ?? 'null' })}
          />
        ) : (
          <TextInput
            size="xs"
            label={t('value')}
            description={filter.operator === 'in' ? t('inHint') : undefined}
            value={filter.value}
            onChange={(event) => setFilter({ ...filter, value: event.currentTarget.value })}
          />
        )}
        <Button type="submit" size="xs" disabled={!isComplete}>
          {t('applyFilter')}
        </Button>
      </Stack>
    </form>
  );
}
