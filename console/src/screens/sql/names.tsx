/** Tables and columns next to the SQL editor. A click writes the name at the cursor. */
import { ScrollArea, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import { shortIdentifier } from '../../lib/sql-text';
import type { Relation } from '../../queries/catalog-types';
import { Icon } from '../../ui/icon';
import { IconButton } from '../../ui/parts';
import styles from './names.module.css';

/** Number of listed tables; the search finds more. */
const SHOWN = 200;

interface NamesProps {
  readonly relations: readonly Relation[];
  readonly onChoose: (name: string) => void;
}

export function Names({ relations, onChoose }: NamesProps) {
  const t = useT();
  const [search, setSearch] = useState('');
  const wanted = search.toLowerCase();
  const found = relations.filter(
    ({ schema, name, columns }) =>
      `${schema}.${name}`.toLowerCase().includes(wanted) ||
      columns.some((column) => column.name.toLowerCase().includes(wanted)),
  );
  return (
    <>
      <TextInput
        size="xs"
        m="xs"
        aria-label={t('searchNames')}
        placeholder={t('searchNames')}
        leftSection={<Icon name="search" size={14} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <ScrollArea flex={1} px={6}>
        <ul className={styles.names} aria-label={t('tables')}>
          {found.slice(0, SHOWN).map((one) => (
            <Table key={JSON.stringify([one.schema, one.name])} relation={one} onChoose={onChoose} />
          ))}
        </ul>
        {found.length > SHOWN || found.length === 0 ? (
          <Text size="xs" c="dimmed" p="xs">
            {found.length === 0 ? t('nothingFound') : t('moreNames', { count: found.length - SHOWN })}
          </Text>
        ) : null}
      </ScrollArea>
    </>
  );
}

function Table({ relation, onChoose }: { relation: Relation; onChoose: (name: string) => void }) {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  const { schema, name, kind, columns } = relation;
  const shown = schema === 'public' ? name : `${schema}.${name}`;
  const written = [...(schema === 'public' ? [] : [schema]), name].map(shortIdentifier).join('.');
  return (
    <li>
      <div className={styles.table}>
        <UnstyledButton className={styles.name} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'chevron' : 'right'} size={14} />
          <Icon name={kind === 'table' ? 'table' : 'eye'} size={14} />
          <span dir="auto">{shown}</span>
        </UnstyledButton>
        <IconButton
          icon="insert"
          label={t('insertName', { name: shown })}
          onClick={() => onChoose(written)}
        />
      </div>
      {isOpen ? (
        <ul className={styles.columns} aria-label={t('columnsOf', { name: shown })}>
          {columns.map((column) => (
            <li key={column.name}>
              <UnstyledButton
                className={styles.name}
                title={t('insertName', { name: column.name })}
                onClick={() => onChoose(shortIdentifier(column.name))}
              >
                <span dir="auto">{column.name}</span>
                <span className={styles.type}>{column.type}</span>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      ) : null}
    </li>
  );
}
