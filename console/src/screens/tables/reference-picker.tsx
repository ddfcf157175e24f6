/** Chooses a row of the table that a foreign key refers to, with a preview of the row. */
import { Button, Modal, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SERVICE_ROLE } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { isExposed, type Project } from '../../queries/projects';
import { fetchPage, pageRowsOf } from '../../queries/rows';
import { useT } from '../../i18n';
import { type Filter, FIRST_PAGE } from '../../lib/grid-query';
import { Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';

interface ReferencePickerProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly column: string;
  readonly onPick: (value: string) => void;
}

export function ReferencePicker(props: ReferencePickerProps) {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  if (!isExposed(props.project, props.relation)) return null;
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<Icon name="link" size={12} />}
        onClick={() => setOpen(true)}
      >
        {t('pickFrom', { table: props.relation.name })}
      </Button>
      {isOpen ? <Choice {...props} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** The first column of text tells people more than the key. */
function Choice({
  project,
  relation,
  column,
  onPick,
  onClose,
}: ReferencePickerProps & { onClose: () => void }) {
  const t = useT();
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 250);
  const title = relation.columns.find(({ type }) => /^(text|character varying)/.test(type))?.name ?? column;
  const isText = title !== column;
  const filters: Filter[] =
    wanted === '' ? [] : [{ column: title, operator: isText ? 'ilike' : 'eq', value: wanted }];
  const rows = useQuery({
    queryKey: ['rows', project.id, relation.schema, relation.name, 'pick', filters],
    queryFn: ({ signal }) =>
      fetchPage({
        project,
        relation,
        identity: SERVICE_ROLE,
        query: { filters, sort: null },
        place: FIRST_PAGE,
        limit: pageRowsOf(project),
        signal,
      }),
  });
  return (
    <Modal opened onClose={onClose} title={relation.name} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack gap="xs">
        <TextInput
          aria-label={t('search')}
          placeholder={t('searchIn', { column: title })}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          data-autofocus
        />
        {rows.error ? <Failure error={rows.error} onRetry={() => void rows.refetch()} /> : null}
        {rows.isPending ? <Loading /> : null}
        {rows.data?.rows.slice(0, 50).map((row) => (
          <UnstyledButton
            key={row[column]}
            className="choice"
            onClick={() => {
              if (typeof row[column] === 'string') onPick(row[column]);
              onClose();
            }}
          >
            <Text size="sm" truncate>
              {row[title] ?? 'null'}
            </Text>
            <Text size="xs" c="dimmed" ff="monospace" truncate>
              {row[column]}
            </Text>
          </UnstyledButton>
        ))}
      </Stack>
    </Modal>
  );
}
