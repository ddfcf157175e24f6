/** A column of one row, edited by its type. */
import { Button, Group, Select, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Column } from '../../queries/catalog-types';
import { useLanguages, useT } from '../../i18n';
import { elementsOf, isPlainList, toArrayLiteral } from '../../lib/array-literal';
import { fieldOf, toField } from '../../lib/cell-input';
import { formatBytes } from '../../lib/format';
import { saveFile } from '../../ui/save-file';
import { choicesOf, FIELD_CHARACTERS, isLongType, unsetText } from './cell';
import styles from './row-field.module.css';
import textStyles from '../../ui/text.module.css';

/** Number of characters that a field shows of a long value. */
const PREVIEW_CHARACTERS = 2_000;

interface FieldProps {
  readonly column: Column;
  readonly value: string | null | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (value: string | null) => void;
  readonly picker: React.ReactNode;
}

export function RowField({ column, value, isReadOnly, onChange, picker }: FieldProps) {
  const t = useT();
  const description = [column.type, column.nullable ? null : 'not null', column.comment]
    .filter(Boolean)
    .join(' · ');
  const [showsAll, display] = useDisclosure();
  const [isText, setText] = useState(false);
  if (typeof value === 'string' && value.length > FIELD_CHARACTERS && !showsAll)
    return <LongValue column={column} description={description} value={value} onShowAll={display.open} />;
  const elements = isPlainList(column) && !isReadOnly ? elementsOf(value ?? '{}') : null;
  const field = { column, value, isReadOnly, onChange };
  return (
    <div>
      <Input {...field} description={description} list={isText ? null : elements} isTall={showsAll} />
      <Group gap={4} mt={2} justify="end">
        {picker}
        {elements ? <Quick label={t(isText ? 'asList' : 'asText')} onClick={() => setText(!isText)} /> : null}
        {!isReadOnly && column.type.startsWith('timestamp') ? (
          <Quick label={t('now')} onClick={() => onChange(nowOf(column.type))} />
        ) : null}
        {column.nullable && !isReadOnly && value !== null ? (
          <Quick label="null" onClick={() => onChange(null)} />
        ) : null}
        {column.always ? (
          <Text size="xs" c="dimmed">
            {t('generated')}
          </Text>
        ) : null}
      </Group>
    </div>
  );
}

function Quick({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button size="compact-xs" variant="subtle" color="gray" onClick={onClick}>
      {label}
    </Button>
  );
}

interface InputProps extends Omit<FieldProps, 'picker'> {
  readonly description: string;
  /** The elements, if the value is edited as a list. */
  readonly list: readonly string[] | null;
  /** True if there are buttons for a long value. */
  readonly isTall: boolean;
}

function Input({ column, value, isReadOnly, onChange, description, list, isTall }: InputProps) {
  const t = useT();
  const placeholder = value === null ? 'null' : value === undefined ? unsetText(column, t) : t('emptyText');
  const choices = choicesOf(column);
  const shared = { label: column.name, description, placeholder, readOnly: isReadOnly };
  if (choices)
    return (
      <Select
        {...shared}
        data={choices}
        value={value ?? null}
        clearable={column.nullable}
        onChange={onChange}
        disabled={isReadOnly}
      />
    );
  if (list)
    return (
      <TagsInput
        {...shared}
        data={column.labels ?? []}
        value={[...list]}
        splitChars={[]}
        allowDuplicates
        dir="auto"
        onChange={(next) => onChange(toArrayLiteral(next))}
      />
    );
  if (isLongType(column)) {
    const isJson = column.type.startsWith('json');
    const isInvalid = isJson && value && !isReadOnly && !isValidJson(value);
    return (
      <Textarea
        {...shared}
        {...(isTall ? { rows: 18 } : { autosize: true, minRows: isJson ? 3 : 1, maxRows: 18 })}
        dir="auto"
        classNames={isJson ? { input: textStyles.mono } : {}}
        value={value ?? ''}
        error={isInvalid ? t('invalidJson') : null}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  const field = fieldOf(column.type, value ?? '');
  return (
    <TextInput
      {...shared}
      {...field}
      dir="auto"
      value={toField(value ?? '', field)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The current time: with a time zone, or in the browser's local time. */
function nowOf(type: string): string {
  const now = new Date();
  if (type.endsWith('with time zone')) return now.toISOString();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

interface LongValueProps {
  readonly column: Column;
  readonly description: string;
  readonly value: string;
  readonly onShowAll: () => void;
}

/** The beginning of a long value. The whole value can be downloaded, or opened in a field. */
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
      <pre className={styles.long} tabIndex={0} aria-label={column.name} dir="auto">
        {value.slice(0, PREVIEW_CHARACTERS)}…
      </pre>
      <Group gap={4} mt={2} justify="end">
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => saveFile(new Blob([value], { type: 'text/plain' }), `${column.name}.txt`)}
        >
          {t('downloadValue')}
        </Button>
        <Button size="compact-xs" variant="default" onClick={onShowAll}>
          {t('showAll')}
        </Button>
      </Group>
    </div>
  );
}
