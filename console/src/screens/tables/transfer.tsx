/** Export and import of CSV by table REST, with progress. */
import { ActionIcon, Button, FileButton, Menu, Text, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { callRows } from '../../queries/rows';
import { useLanguages, useT } from '../../i18n';
import { formatBytes } from '../../lib/format';
import { disarmingStream } from '../../lib/csv';
import { FIRST_PAGE, type GridQuery, pageParameters } from '../../lib/grid-query';
import { streamToFile } from '../../lib/stream-to-file';
import { announceFailure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { saveFile } from '../../ui/save-file';
import { CsvImport } from './lazy-csv-import';

interface TransferMenuProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly query: GridQuery;
  readonly identity: Identity;
  readonly canImport: boolean;
}

export function TransferMenu({ project, relation, query, identity, canImport }: TransferMenuProps) {
  const { t, language } = useLanguages();
  const { received, isPending, start, cancel } = useDownload({ project, relation, query, identity });
  const [file, setFile] = useState<File | null>(null);
  const openFiles = useRef<(() => void) | null>(null);
  return (
    <>
      {received === null ? null : (
        <>
          <Text size="xs" aria-live="polite">
            {formatBytes(received, language)}
          </Text>
          <Button size="compact-xs" variant="default" onClick={cancel}>
            {t('cancel')}
          </Button>
        </>
      )}
      <FileButton onChange={setFile} accept=".csv,text/csv">
        {({ onClick }) => {
          openFiles.current = onClick;
          return null;
        }}
      </FileButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <Tooltip label="CSV">
            <ActionIcon variant="default" aria-label="CSV" loading={isPending}>
              <Icon name="download" size={16} />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {([false, true] as const).map((isForSpreadsheets) => (
            <Menu.Item
              key={String(isForSpreadsheets)}
              leftSection={<Icon name="download" size={16} />}
              onClick={() => start({ isForSpreadsheets })}
            >
              {t(isForSpreadsheets ? 'exportForSpreadsheets' : 'exportCsv')}
            </Menu.Item>
          ))}
          <Menu.Item
            leftSection={<Icon name="upload" size={16} />}
            disabled={!canImport}
            onClick={() => openFiles.current?.()}
          >
            {t('importCsv')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {file ? (
        <CsvImport project={project} relation={relation} file={file} onClose={() => setFile(null)} />
      ) : null}
    </>
  );
}

function useDownload({ project, relation, query, identity }: Omit<TransferMenuProps, 'canImport'>) {
  const t = useT();
  /** Bytes; null while nothing is downloaded. */
  const [received, setReceived] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  const download = useMutation({
    mutationFn: async ({ isForSpreadsheets }: { isForSpreadsheets: boolean }) => {
      const { signal } = (stop.current = new AbortController());
      const parameters = pageParameters(relation, query, FIRST_PAGE, 1);
      parameters.delete('limit');
      parameters.delete('select');
      const headers = { Accept: 'text/csv' };
      const { body } = await callRows({ project, relation, identity, parameters, headers, signal });
      const stream = isForSpreadsheets ? disarmedBody(body!) : body!;
      saveFile(await streamToFile(stream, 'text/csv', setReceived), `${relation.name}.csv`);
    },
    onError: (error) => (stop.current?.signal.aborted ? null : announceFailure(error, t('close'))),
    onSettled: () => setReceived(null),
  });
  return {
    received,
    isPending: download.isPending,
    start: download.mutate,
    cancel: (): void => stop.current?.abort(),
  };
}

function disarmedBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(disarmingStream())
    .pipeThrough(new TextEncoderStream());
}
