/** The folders and files of a folder, and the deletion of the selected files. */
import { Badge, Button, Checkbox, Group, Table, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Project } from '../../queries/projects';
import { type StoredFile } from '../../queries/storage';
import { projectClient } from '../../queries/users';
import { useLanguages, useT } from '../../i18n';
import { formatBytes, formatTime } from '../../lib/format';
import { Icon } from '../../ui/icon';
import { Confirm } from '../../ui/parts';
import dataTableStyles from '../../ui/data-table.module.css';
import textStyles from '../../ui/text.module.css';

interface FileTableProps {
  readonly folders: readonly string[];
  readonly files: readonly StoredFile[];
  readonly prefix: string;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onFolder: (prefix: string) => void;
  readonly onOpen: (file: StoredFile) => void;
}

export function FileTable({ folders, files, prefix, selected, onSelect, onFolder, onOpen }: FileTableProps) {
  const { t, language } = useLanguages();
  const shortOf = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  return (
    <Table verticalSpacing={6} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={40} aria-label={t('select')} />
          <Table.Th>{t('name')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('type')}</Table.Th>
          <Table.Th ta="right">{t('size')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('changedAt')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {folders.map((folder) => (
          <Table.Tr key={folder}>
            <Table.Td />
            <Table.Td colSpan={4}>
              <UnstyledButton className={dataTableStyles.link} onClick={() => onFolder(folder)}>
                <Group gap="xs" wrap="nowrap">
                  <Icon name="folder" size={16} />
                  <Text size="sm" dir="auto">
                    {shortOf(folder)}
                  </Text>
                </Group>
              </UnstyledButton>
            </Table.Td>
          </Table.Tr>
        ))}
        {files.map((file) => (
          <Table.Tr key={file.id}>
            <Table.Td>
              <Checkbox
                size="xs"
                aria-label={t('selectFile', { name: file.filename })}
                checked={selected.has(file.id)}
                onChange={() => toggle(file.id)}
              />
            </Table.Td>
            <Table.Td>
              <UnstyledButton className={dataTableStyles.link} onClick={() => onOpen(file)}>
                <Group gap="xs" wrap="nowrap">
                  <Icon name="file" size={16} />
                  <Text size="sm" dir="auto" className={textStyles.wrap}>
                    {shortOf(file.filename)}
                  </Text>
                  {file.scan_result === undefined ? null : (
                    <Badge size="xs" color="red" variant="light" tt="none" title={t('scanResult')}>
                      {file.scan_result === 'unscanned' ? t('scanUnscanned') : file.scan_result}
                    </Badge>
                  )}
                </Group>
              </UnstyledButton>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Text size="xs" c="dimmed">
                {file.content_type}
              </Text>
            </Table.Td>
            <Table.Td ta="right">{formatBytes(file.size, language)}</Table.Td>
            <Table.Td visibleFrom="sm">{formatTime(file.updated_at, language)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

export function BulkDelete({
  project,
  ids,
  onDone,
}: {
  project: Project;
  ids: string[];
  onDone: () => void;
}) {
  const t = useT();
  const client = useQueryClient();
  const [isAsking, dialog] = useDisclosure();
  const remove = useMutation({
    mutationFn: () =>
      projectClient(project.id).POST('/p/{project_slug}/storage/files/bulk-delete', {
        params: { path: { project_slug: project.slug } },
        body: { file_ids: ids },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['files', project.id] });
      onDone();
    },
  });
  return (
    <>
      <Button
        size="xs"
        color="red"
        variant="light"
        leftSection={<Icon name="trash" size={14} />}
        onClick={dialog.open}
      >
        {t('deleteFiles', { count: ids.length })}
      </Button>
      {isAsking ? (
        <Confirm
          title={t('deleteFiles', { count: ids.length })}
          text={t('deleteFilesText')}
          action={t('deleteFiles', { count: ids.length })}
          done={t('filesDeleted', { count: ids.length })}
          onClose={dialog.close}
          run={() => remove.mutateAsync()}
        />
      ) : null}
    </>
  );
}
