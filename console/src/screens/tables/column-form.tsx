/** The fields of one new column. */
import { Autocomplete, Checkbox, Group, Select, TextInput } from '@mantine/core';
import type { Relation } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import { COLUMN_TYPES, type NewColumn } from '../../lib/ddl';
import { IconButton } from '../../ui/parts';
import styles from './column-form.module.css';
import textStyles from '../../ui/text.module.css';

interface ColumnFormProps {
  readonly column: NewColumn;
  readonly relations: readonly Relation[];
  readonly onChange: (column: NewColumn) => void;
  readonly onRemove: (() => void) | null;
  /** False for a column that is added to a table, which cannot be its key. */
  readonly withKey: boolean;
}

export function ColumnForm({ column, relations, onChange, onRemove, withKey }: ColumnFormProps) {
  const t = useT();
  return (
    <div className={styles.column}>
      <Group gap="xs" align="end" wrap="wrap">
        <TextInput
          size="xs"
          label={t('name')}
          flex="2 1 120px"
          value={column.name}
          onChange={(event) => onChange({ ...column, name: event.currentTarget.value })}
        />
        <Autocomplete
          size="xs"
          label={t('type')}
          flex="1 1 110px"
          data={[...COLUMN_TYPES]}
          value={column.type}
          onChange={(type) => onChange({ ...column, type })}
        />
        <TextInput
          size="xs"
          label={t('defaultValue')}
          flex="1 1 110px"
          classNames={{ input: textStyles.mono }}
          value={column.default}
          onChange={(event) => onChange({ ...column, default: event.currentTarget.value })}
        />
        <References column={column} relations={relations} onChange={onChange} />
      </Group>
      <Group gap="md" mt={6} justify="space-between">
        <Group gap="md">
          {withKey ? (
            <Checkbox
              size="xs"
              label={t('primaryKey')}
              checked={column.isKey}
              onChange={(event) => onChange({ ...column, isKey: event.currentTarget.checked })}
            />
          ) : null}
          <Checkbox
            size="xs"
            label={t('required')}
            checked={!column.nullable || column.isKey}
            disabled={column.isKey}
            onChange={(event) => onChange({ ...column, nullable: !event.currentTarget.checked })}
          />
          <Checkbox
            size="xs"
            label={t('unique')}
            checked={column.unique || column.isKey}
            disabled={column.isKey}
            onChange={(event) => onChange({ ...column, unique: event.currentTarget.checked })}
          />
        </Group>
        {onRemove ? <IconButton icon="trash" label={t('removeColumn')} onClick={onRemove} /> : null}
      </Group>
    </div>
  );
}

/** The column to which this column refers, which is the key of a table. */
function References({
  column,
  relations,
  onChange,
}: Pick<ColumnFormProps, 'column' | 'relations' | 'onChange'>) {
  const t = useT();
  const { references } = column;
  const targets = relations
    .filter(({ primaryKey }) => primaryKey.length === 1)
    .map(({ schema, name, primaryKey }) => ({
      value: JSON.stringify([schema, name, primaryKey[0]]),
      label: `${schema}.${name}`,
    }));
  return (
    <Select
      size="xs"
      label={t('references')}
      flex="1 1 140px"
      data={targets}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('removeReference') }}
      value={references ? JSON.stringify([references.schema, references.table, references.column]) : null}
      onChange={(value) => {
        const [schema, table, target] = value === null ? [] : (JSON.parse(value) as [string, string, string]);
        const next = schema !== undefined ? { schema, table: table!, column: target! } : null;
        onChange({ ...column, references: next });
      }}
    />
  );
}
