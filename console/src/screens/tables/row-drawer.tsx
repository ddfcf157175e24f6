/** All columns of one row, to read, change or insert. The changes wait in the grid until they are saved. */
import { Button, Drawer, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useLanguages, useT } from '../../i18n';
import { formatBytes } from '../../lib/format';
import type { Row } from '../../lib/grid-query';
import { change, keyOf, type Values, valueOf } from '../../lib/pending-changes';
import { Icon } from '../../ui/icon';
import { saveFile } from '../../ui/save-file';
import { choicesOf, FIELD_CHARACTERS, isEditable, isLongType } from './cell';
import { ReferencePicker } from './reference-picker';
import type { GridState } from './use-grid';
import { WhyNot } from './why-not';

/** Of a value that is too long for a field. */
const PREVIEW_CHARACTERS = 2_000;

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
  const [asksWhy, setAsksWhy] = useState(false);
  const canAsk = useMayWrite(project) && row !== null && relation.kind === 'table';
  const apply = (): void => {
    if (row && key !== null) grid.setPending(change(grid.pending, key, row, values));
    else onInsert(values);
    onClose();
  };
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={row ? t('row') : t('insertRow')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
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
              onClick={() => setAsksWhy(true)}
            >
              {t('whyButton')}
            </Button>
          ) : null}
          {relation.columns.map((column) => (
            <Field
              key={column.name}
              column={column}
              value={valueOf(column.name, values, stored)}
              isReadOnly={!isWritable || !isEditable(column)}
              onChange={(value) => setValues({ ...values, [column.name]: value })}
              picker={pickerOf(column, { project, relation, relations }, (value) =>
                setValues({ ...values, [column.name]: value }),
              )}
            />
          ))}
          {isWritable ? (
            <Group justify="end" gap="xs" className="drawer-actions">
              <Button variant="default" onClick={onClose}>
                {t('cancel')}
              </Button>
              <Button type="submit" disabled={row !== null && Object.keys(values).length === 0}>
                {t('apply')}
              </Button>
            </Group>
          ) : null}
        </Stack>
      </form>
      {asksWhy && row ? (
        <WhyNot
          project={project}
          relation={relation}
          row={{ ...row, ...values }}
          onClose={() => setAsksWhy(false)}
        />
      ) : null}
    </Drawer>
  );
}

type Place = Pick<RowDrawerProps, 'project' | 'relation' | 'relations'>;

/** Rows of the table that a foreign key of one column refers to. */
function pickerOf(
  { name }: Column,
  { project, relation, relations }: Place,
  onPick: (value: string) => void,
) {
  const key = relation.foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === name);
  const target = key && relations.find((one) => one.schema === key.schema && one.name === key.table);
  const column = key?.targets[0];
  if (!target || column === undefined) return null;
  return <ReferencePicker project={project} relation={target} column={column} onPick={onPick} />;
}

interface FieldProps {
  readonly column: Column;
  readonly value: string | null | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (value: string | null) => void;
  readonly picker: React.ReactNode;
}

function Field({ column, value, isReadOnly, onChange, picker }: FieldProps) {
  const t = useT();
  const placeholder =
    value === null ? 'null' : value === undefined ? (column.default ?? t('default')) : t('emptyText');
  const description = [column.type, column.nullable ? null : 'not null', column.comment]
    .filter(Boolean)
    .join(' · ');
  const choices = choicesOf(column);
  const [showsAll, setShowsAll] = useState(false);
  if (typeof value === 'string' && value.length > FIELD_CHARACTERS && !showsAll)
    return (
      <LongValue
        column={column}
        description={description}
        value={value}
        onShowAll={() => setShowsAll(true)}
      />
    );
  const shared = { label: column.name, description, placeholder, readOnly: isReadOnly };
  const toNull =
    column.nullable && !isReadOnly && value !== null ? (
      <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChange(null)}>
        null
      </Button>
    ) : null;
  return (
    <div>
      {choices ? (
        <Select
          {...shared}
          data={choices}
          value={value ?? null}
          clearable={column.nullable}
          onChange={onChange}
          disabled={isReadOnly}
        />
      ) : isLongType(column) ? (
        <Textarea
          {...shared}
          {...(showsAll
            ? { rows: 18 }
            : { autosize: true, minRows: column.type.startsWith('json') ? 3 : 1, maxRows: 18 })}
          dir="auto"
          classNames={column.type.startsWith('json') ? { input: 'mono' } : {}}
          value={value ?? ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <TextInput
          {...shared}
          dir="auto"
          value={value ?? ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
      <Group gap={4} mt={2} justify="end">
        {isReadOnly ? null : picker}
        {toNull}
        {column.always ? (
          <Text size="xs" c="dimmed">
            {t('generated')}
          </Text>
        ) : null}
      </Group>
    </div>
  );
}

interface LongValueProps {
  readonly column: Column;
  readonly description: string;
  readonly value: string;
  readonly onShowAll: () => void;
}

/** The beginning of a long value. All of it is a file, or a field on purpose. */
function LongValue({ column, description, value, onShowAll }: LongValueProps) {
  const { t, language } = useLanguages();
  const size = formatBytes(new Blob([value]).size, language);
  return (
    <div>
      <Text size="sm" fw={500}>
        {column.name}
      </Text>
      <Text size="xs" c="dimmed">
        {description} · {size}
      </Text>
      <pre className="long-value" tabIndex={0} aria-label={column.name} dir="auto">
        {value.slice(0, PREVIEW_CHARACTERS)}…
      </pre>
      <Group gap={4} mt={2} justify="end">
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => saveFile(new Blob([value], { type: 'text/plain' }), `${column.name}.txt`)}
        >
          {t('download')}
        </Button>
        <Button size="compact-xs" variant="default" onClick={onShowAll}>
          {t('showAll')}
        </Button>
      </Group>
    </div>
  );
}
