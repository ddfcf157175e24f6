/** Creates a table for the rows of a CSV or JSON file, and imports them. */
import { ActionIcon, FileButton, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import { CsvParser, toCsv } from '../../lib/csv';
import type { NewColumn } from '../../lib/ddl';
import { identifier, literal, qualified } from '../../lib/sql-text';
import type { Relation } from '../../queries/catalog-types';
import { type Project, runSql } from '../../queries/projects';
import { announceFailure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { CreateTable } from './create-table';
import { CsvImport } from './lazy-csv-import';

/** Number of bytes of a CSV file from which the types are guessed. */
const SAMPLE = 256 * 1024;
/** Size limit of a JSON file in bytes, because it is read as a whole. */
const MAX_JSON = 64 * 1024 * 1024;

interface Guess {
  /** The rows of the file as CSV. */
  readonly file: File;
  readonly fields: number;
  readonly name: string;
  readonly columns: readonly NewColumn[];
}

async function guessOf(file: File, tooLarge: string): Promise<Guess> {
  // Loaded here rather than with the first grid.
  const { guessColumns, recordsOfJson, tableNameOf } = await import('../../lib/guess-table');
  const isJson = /\.(json|jsonl|ndjson)$/i.test(file.name);
  if (isJson && file.size > MAX_JSON) throw new Error(tooLarge);
  const records = isJson ? recordsOfJson(await file.text()) : await sampleOf(file);
  const [head = [], ...rows] = records;
  return {
    file: isJson ? new File([toCsv(records)], file.name) : file,
    fields: head.length,
    name: tableNameOf(file.name),
    columns: guessColumns(
      head.map((name) => name ?? ''),
      rows,
    ),
  };
}

async function sampleOf(file: File): Promise<(readonly (string | null)[])[]> {
  const parser = new CsvParser();
  const records = parser.push(await file.slice(0, SAMPLE).text());
  // The last line of a sample may be incomplete.
  return [...records, ...(file.size > SAMPLE ? [] : parser.end())].map(({ fields }) => fields);
}

/** Sets the sequence of a key to the greatest value in the file. */
async function countOn(
  project: Project,
  { schema, name }: Relation,
  columns: readonly NewColumn[],
): Promise<void> {
  const key = columns.find(({ isKey, field, type }) => isKey && field !== undefined && type === 'bigint');
  if (!key) return;
  const table = qualified(schema, name);
  const sequence = `pg_get_serial_sequence(${literal(table)}, ${literal(key.name)})`;
  await runSql(project.id, `select setval(${sequence}, max(${identifier(key.name)})) from ${table}`);
}

interface ImportTableProps {
  readonly project: Project;
  readonly relations: readonly Relation[];
  readonly schema: string;
  readonly onCreated: (table: string) => void;
}

export function ImportTable({ project, relations, schema, onCreated }: ImportTableProps) {
  const t = useT();
  const [guess, setGuess] = useState<Guess | null>(null);
  const [created, setCreated] = useState<{ table: string; columns: readonly NewColumn[] } | null>(null);
  const choose = async (file: File | null): Promise<void> => {
    if (!file) return;
    try {
      const next = await guessOf(file, t('jsonTooLarge'));
      if (next.fields === 0) throw new Error(t('emptyFile'));
      setGuess(next);
      setCreated(null);
    } catch (error) {
      announceFailure(error, t('close'));
    }
  };
  const relation = created && relations.find((one) => one.schema === schema && one.name === created.table);
  return (
    <>
      <FileButton
        onChange={(file) => void choose(file)}
        accept=".csv,.json,.jsonl,.ndjson,text/csv,application/json"
      >
        {({ onClick }) => (
          <Tooltip label={t('importTable')}>
            <ActionIcon variant="default" aria-label={t('importTable')} onClick={onClick}>
              <Icon name="upload" size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </FileButton>
      {guess && !created ? (
        <CreateTable
          project={project}
          relations={relations}
          schema={schema}
          guessed={guess}
          onClose={() => setGuess(null)}
          onCreated={(table, columns) => {
            setGuess(guess);
            setCreated({ table, columns });
            onCreated(table);
          }}
        />
      ) : null}
      {guess && created && relation ? (
        <CsvImport
          project={project}
          relation={relation}
          file={guess.file}
          columns={Array.from(
            { length: guess.fields },
            (_, field) => created.columns.find((column) => column.field === field)?.name || null,
          )}
          onClose={() => {
            setGuess(null);
            void countOn(project, relation, created.columns).catch((error: unknown) =>
              announceFailure(error, t('close')),
            );
          }}
        />
      ) : null}
    </>
  );
}
