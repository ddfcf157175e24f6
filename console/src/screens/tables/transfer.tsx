/** CSV out of a table and into it, both by table REST, with progress. */
import {
  ActionIcon,
  Button,
  FileButton,
  Group,
  Menu,
  Modal,
  Progress,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useCatalogChanged } from '../../queries/projects';
import { callRows } from '../../queries/rows';
import { useLanguages } from '../../i18n';
import { parseCsv, toCsv } from '../../lib/csv';
import { formatBytes, formatNumber } from '../../lib/format';
import { FIRST_PAGE, type GridQuery, pageParameters } from '../../lib/grid-query';
import { saveFile } from '../../ui/save-file';
import { announce, announceFailure, Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';

/** Rows of one request. */
const BATCH_ROWS = 500;

interface TransferMenuProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly query: GridQuery;
  readonly identity: Identity;
  readonly canImport: boolean;
}

export function TransferMenu({ project, relation, query, identity, canImport }: TransferMenuProps) {
  const { t, language } = useLanguages();
  const [received, setReceived] = useState<number | null>(null);
  const [file, setFile] = useState<File | null>(null);
  const openFiles = useRef<(() => void) | null>(null);
  const download = useMutation({
    mutationFn: async () => {
      const parameters = pageParameters(relation, query, FIRST_PAGE, 1);
      parameters.delete('limit');
      parameters.delete('select');
      const response = await callRows({
        project,
        relation,
        identity,
        parameters,
        headers: { Accept: 'text/csv' },
      });
      const chunks: BlobPart[] = [];
      let size = 0;
      for (const reader = response.body!.getReader(); ;) {
        const { value, done } = await reader.read();
        if (done) break;
        chunks.push(value);
        setReceived((size += value.length));
      }
      saveFile(new Blob(chunks, { type: 'text/csv' }), `${relation.name}.csv`);
    },
    onError: (error) => announceFailure(error, t('close')),
    onSettled: () => setReceived(null),
  });
  return (
    <>
      {received === null ? null : (
        <Text size="xs" aria-live="polite">
          {formatBytes(received, language)}
        </Text>
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
            <ActionIcon variant="default" aria-label="CSV" loading={download.isPending}>
              <Icon name="download" size={16} />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="download" size={16} />} onClick={() => download.mutate()}>
            {t('exportCsv')}
          </Menu.Item>
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
        <Import project={project} relation={relation} file={file} onClose={() => setFile(null)} />
      ) : null}
    </>
  );
}

interface ImportProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly file: File;
  readonly onClose: () => void;
}

function Import({ project, relation, file, onClose }: ImportProps) {
  const { t, language } = useLanguages();
  const changed = useCatalogChanged(project);
  const [done, setDone] = useState({ rows: 0, of: 0 });
  const run = useMutation({
    mutationFn: async () => {
      const [head, ...records] = parseCsv(await file.text());
      if (!head) throw new Error(t('emptyFile'));
      for (let start = 0; start < records.length; start += BATCH_ROWS) {
        setDone({ rows: start, of: records.length });
        await callRows({
          project,
          relation,
          method: 'POST',
          headers: { 'Content-Type': 'text/csv', Prefer: 'return=minimal' },
          body: toCsv([head, ...records.slice(start, start + BATCH_ROWS)]),
        });
      }
      setDone({ rows: records.length, of: records.length });
      announce(t('imported', { count: formatNumber(records.length, language) }));
    },
    onSuccess: onClose,
    onSettled: changed,
  });
  return (
    <Modal opened onClose={onClose} title={t('importCsv')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack gap="sm">
        <Text size="sm" className="wrap">
          {t('importText', { file: file.name, size: formatBytes(file.size, language), table: relation.name })}
        </Text>
        {run.isPending || done.rows > 0 ? (
          <Progress
            value={done.of === 0 ? 0 : (done.rows / done.of) * 100}
            aria-label={t('progress')}
            animated
          />
        ) : null}
        {run.error ? (
          <>
            <Failure error={run.error} />
            <Text size="sm">{t('importedBefore', { count: formatNumber(done.rows, language) })}</Text>
          </>
        ) : null}
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button loading={run.isPending} onClick={() => run.mutate()}>
            {t('import')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
