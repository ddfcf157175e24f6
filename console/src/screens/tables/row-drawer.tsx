/** All columns of one row, to read, change or insert. The changes wait in the grid until they are saved. */
import { Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useT } from '../../i18n';
import type { Row } from '../../lib/grid-query';
import { change, keyOf, type Values, valueOf } from '../../lib/pending-changes';
import { Icon } from '../../ui/icon';
import { isEditable } from './cell';
import { ReferenceField, targetOf } from './reference-picker';
import { RowField } from './row-field';
import type { GridState } from './use-grid';
import { WhyNot } from './why-not';
import { SideDrawer } from '../../ui/dialog';
import styles from './row-drawer.module.css';

interface RowDrawerProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  /** Null for a new row. */
  readonly row: Row | null;
  readonly isWritable: boolean;
  readonly grid: GridState;
  readonly onInsert: (values: Values) => void;
  readonly onClose: () => void;
}

export function RowDrawer(props: RowDrawerProps) {
  const { project, relation, relations, row, isWritable, grid, onInsert, onClose } = props;
  const t = useT();
  const key = row ? keyOf(relation.primaryKey, row) : null;
  const stored = key === null ? {} : { ...row, ...grid.pending.updates.get(key)?.values };
  const [values, setValues] = useState<Values>({});
  const [asksWhy, dialog] = useDisclosure();
  const canAsk = useMayWrite(project) && row !== null && relation.kind === 'table';
  const apply = (): void => {
    if (row && key !== null) grid.setPending(change(grid.pending, key, row, values));
    else onInsert(values);
    onClose();
  };
  return (
    <SideDrawer onClose={onClose} size="lg" title={row ? titleOf(relation, row) : t('insertRow')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <Stack gap="md">
          {canAsk ? (
            <Button
              size="xs"
              variant="default"
              leftSection={<Icon name="shield" size={14} />}
              onClick={dialog.open}
            >
              {t('whyButton')}
            </Button>
          ) : null}
          {relation.columns.map((column) => (
            <RowField
              key={column.name}
              column={column}
              value={valueOf(column.name, values, stored)}
              isReadOnly={!isWritable || !isEditable(column)}
              onChange={(value) => setValues({ ...values, [column.name]: value })}
              picker={pickerOf(
                column,
                { project, relation, relations },
                valueOf(column.name, values, stored),
                isWritable ? (value) => setValues({ ...values, [column.name]: value }) : null,
              )}
            />
          ))}
          {isWritable ? (
            <Group justify="end" gap="xs" className={styles.actions}>
              <Button variant="default" onClick={onClose}>
                {t('cancel')}
              </Button>
              <Button type="submit" disabled={row !== null && Object.keys(values).length === 0}>
                {t('applyToGrid')}
              </Button>
            </Group>
          ) : null}
        </Stack>
      </form>
      {asksWhy && row ? (
        <WhyNot project={project} relation={relation} row={{ ...row, ...values }} onClose={dialog.close} />
      ) : null}
    </SideDrawer>
  );
}

/** `orders · 3` */
const titleOf = ({ name, primaryKey }: Relation, row: Row): string =>
  [name, ...primaryKey.map((column) => row[column] ?? '')].join(' · ').slice(0, 120);

type Place = Pick<RowDrawerProps, 'project' | 'relation' | 'relations'>;

/** The row that a foreign key of one column refers to, and the choice of another row. */
function pickerOf(
  { name }: Column,
  { project, relation, relations }: Place,
  value: string | null | undefined,
  onPick: ((value: string) => void) | null,
) {
  const target = targetOf(project, relation, relations, name);
  return target ? (
    <ReferenceField project={project} target={target} value={value ?? null} onPick={onPick} />
  ) : null;
}
